/**
 * One round of a path: what the sender could not deliver is asked for, the oldest first and one at a time. How often an
 * event was asked for is stored before each request, and up to when all is settled after the last: a round that was cut
 * off is begun again where nothing is settled yet, and the store knows what came.
 */
import * as z from 'zod';
import { defined, isJsonObject, type JsonValue, valueAt } from '../../base/json.ts';
import { pause } from '../../base/timers/timers.ts';
import { type OwnAnswer, type OwnHook, eventIdKey } from '../server/server.ts';
import type { AcceptResult, Storage } from '../../engine/storage/storage.ts';
import {
  type Asker,
  askSender,
  checkAnswer,
  findWebhook,
  type LoggedEvent,
  look,
  type Look,
  OVERLAP_MS,
  type Webhook,
} from './look.ts';

/** How long the next event waits for the one before. */
const ARRIVAL_MS = 30_000;
/** Another service may get the event; it is looked for in the store. */
const POLL_MS = 500;
const MAX_ASKS = 3;
/** What was asked for just before a stop may still be on its way. */
const ON_ITS_WAY_MS = 60_000;

const Count = z.int().nonnegative();
const Asked = z.object({
  /** When the sender tried first, by its clock. */
  at: z.number(),
  asks: Count,
  askedAt: z.number().optional(),
  /** From whom it was fetched. */
  host: z.string().optional(),
  /** What settled it. */
  end: z.enum(['came', 'gaveUp']).optional(),
});
type AskedEvent = z.output<typeof Asked>;

const Report = z.object({
  /** Which wish it answers; empty where nobody asked. */
  wanted: z.string(),
  since: z.number(),
  /** How many events the log tells of. */
  events: Count,
  missed: Count,
  toAsk: Count,
  asked: Count,
  came: Count,
  started: Count,
  gaveUp: Count,
  isEnded: z.boolean(),
  trouble: z.string().optional(),
});
export type RecoveryReport = z.output<typeof Report>;

/** A report before anything is found. */
export const NOTHING: RecoveryReport = {
  wanted: '',
  since: 0,
  events: 0,
  missed: 0,
  toAsk: 0,
  asked: 0,
  came: 0,
  started: 0,
  gaveUp: 0,
  isEnded: false,
};

/** The row of a path. Times of the log are by the sender's clock. */
export const RecoveryState = z.object({
  /** All of the log before this is settled. */
  upTo: z.number(),
  /** When the log was last read to its end, by the clock of this machine. */
  lookedAt: z.number(),
  asked: z.record(z.string(), Asked),
  totals: z.object({ missed: Count, asked: Count, came: Count, gaveUp: Count }),
  unwell: z.string().optional(),
  last: Report,
});
export type RecoveryState = z.output<typeof RecoveryState>;

/** Makes the state of a path that was never looked at. */
export const newState = (): RecoveryState => ({
  upTo: 0,
  lookedAt: 0,
  asked: {},
  totals: { missed: 0, asked: 0, came: 0, gaveUp: 0 },
  last: { ...NOTHING, isEnded: true },
});

/** What somebody wants. */
export const Wish = z.object({ id: z.string(), since: z.number().optional(), refused: z.boolean() });
export type Wish = z.output<typeof Wish>;

export interface RoundParts {
  readonly storage: Pick<Storage, 'findIdempotent' | 'findDeduped'>;
  readonly wish: Wish | undefined;
  /** Stores how far it is. */
  save(): Promise<void>;
  /** Resolves when every service that may get an event knows what has been saved. */
  othersKnow(): Promise<void>;
  /** Resolves when the event has been answered here. */
  arrival(event: string): Promise<unknown>;
  deliver(hook: OwnHook): Promise<OwnAnswer>;
  /** How long the next event waits for the one before; default half a minute. */
  readonly arrivalMs?: number;
  /** Says what was given up. */
  gaveUp(event: string): void;
}

/** What a look comes to: events that were not delivered and can be asked for. */
export interface Plan {
  readonly seen: Look;
  /** What is found, before anything is asked for. */
  readonly report: RecoveryReport;
  readonly missed: readonly LoggedEvent[];
  /** What of that was not taken meanwhile. */
  readonly open: readonly LoggedEvent[];
}

/** Looks, and asks for nothing. @throws InterfaceError */
export async function planRecovery(
  asker: Asker,
  { upTo }: Pick<RecoveryState, 'upTo'>,
  { storage, wish }: Pick<RoundParts, 'storage' | 'wish'>,
  known?: Webhook,
): Promise<Plan> {
  const webhook = known ?? (await findWebhook(asker));
  const since = wish?.since ?? (upTo === 0 ? webhook.now : upTo) - OVERLAP_MS;
  const seen = await look(asker, webhook, { from: since, isAll: wish?.since !== undefined });
  const missed = seen.events.filter(
    ({ isDelivered, isRefused }) => !isDelivered && (!isRefused || wish?.refused === true),
  );
  const open: LoggedEvent[] = [];
  for (const each of missed) {
    // One after the other: a service at work has other things to do.
    if ((await takenAs(asker, each.event, storage)) === undefined) open.push(each);
  }
  const counts = { since, events: seen.events.length, missed: missed.length };
  const toAsk = open.filter(({ isLost }) => !isLost).length;
  const report = {
    ...NOTHING,
    wanted: wish?.id ?? '',
    ...counts,
    toAsk,
    ...defined({ trouble: seen.incomplete }),
  };
  return { seen, report, missed, open };
}

/** What the store knows of an event, over all mappings of the path; true where only one of them knows it. */
async function takenAs(
  { path, dedupedBy }: Asker,
  event: string,
  storage: RoundParts['storage'],
): Promise<AcceptResult | true | undefined> {
  // In this order: what is taken in between is then found with what became of it.
  const known = await Promise.all(dedupedBy.map((id) => storage.findDeduped(id, event, Date.now())));
  const { scope, key } = eventIdKey(path, event);
  const found = await storage.findIdempotent(scope, key, Date.now());
  return found?.result ?? (known.some((first) => first !== undefined) ? true : undefined);
}

/** Asks for all that is missed, and writes it into the state. @throws InterfaceError, and where the signal fires */
export async function recoverPath(asker: Asker, state: RecoveryState, parts: RoundParts): Promise<void> {
  const webhook = await findWebhook(asker);
  if (state.upTo === 0) state.upTo = webhook.now;
  await watchWebhook(asker, state, webhook);
  const plan = await planRecovery(asker, state, parts, webhook);
  const round = new Round(asker, state, { ...parts, hook: webhook.id });
  const last = round.begin(plan);
  await parts.save();
  if (last.toAsk > 0) await parts.othersKnow();
  for (const each of plan.open) {
    if (last.asked === asker.settings.max) break;
    await round.ask(each);
  }
  if (plan.seen.incomplete === undefined) settle(state, plan, parts.wish);
  last.isEnded = true;
}

/** Moves the moment up to which all is settled; who looks further back does not look at all before that. */
function settle(state: RecoveryState, { seen, open }: Plan, wish: Wish | undefined): void {
  state.lookedAt = Date.now();
  if (wish?.since !== undefined) return;
  const unsettled = open.find(({ event }) => state.asked[event]?.end === undefined);
  state.upTo = unsettled?.at ?? Math.max(state.upTo, seen.until);
  for (const [event, { at }] of Object.entries(state.asked))
    if (at < state.upTo - OVERLAP_MS) delete state.asked[event];
}

/** Notes whether the sender still sends, and has it send again where that is wanted. */
async function watchWebhook(asker: Asker, state: RecoveryState, { unwell, id }: Webhook): Promise<void> {
  const reactivate = asker.settings.reactivate === true ? asker.sender.health?.reactivate : undefined;
  delete state.unwell;
  if (unwell !== undefined && reactivate === undefined) state.unwell = unwell;
  else if (unwell !== undefined && reactivate !== undefined)
    checkAnswer(await askSender(asker, reactivate, { hook: encodeURIComponent(id) }), asker);
}

/** The asking of one round, and what is counted of it. */
class Round {
  readonly #asker: Asker;
  readonly #state: RecoveryState;
  readonly #parts: RoundParts & { readonly hook: string };

  constructor(asker: Asker, state: RecoveryState, parts: RoundParts & { readonly hook: string }) {
    this.#asker = asker;
    this.#state = state;
    this.#parts = parts;
  }

  begin({ report: last, missed, open }: Plan): RecoveryReport {
    const { asked } = this.#state;
    const { wish } = this.#parts;
    this.#state.last = last;
    const isOpen = new Set(open.map(({ event }) => event));
    let unsettled = Object.values(asked).filter(({ end }) => end === undefined).length;
    for (const { event, at } of missed) {
      const entry = asked[event];
      const isNew = entry === undefined && isOpen.has(event) && unsettled < 2 * this.#asker.settings.max;
      // The event came after the round before had stopped to wait.
      if (!isOpen.has(event)) this.#count('came', entry);
      else if (isNew || (entry !== undefined && wish !== undefined)) asked[event] = { at, asks: 0 };
      if (!isNew) continue;
      unsettled += 1;
      this.#state.totals.missed += 1;
    }
    last.toAsk = open.filter(({ event, isLost }) => !isLost && asked[event]?.end === undefined).length;
    return last;
  }

  /** Asks for one event, unless that is settled, and waits for it. */
  async ask(each: LoggedEvent): Promise<void> {
    const { save, arrival, arrivalMs = ARRIVAL_MS, wish, gaveUp } = this.#parts;
    const entry = this.#state.asked[each.event];
    if (entry === undefined || entry.end !== undefined) return;
    if (wish === undefined && (entry.askedAt ?? 0) > Date.now() - ON_ITS_WAY_MS) return;
    if (entry.asks >= MAX_ASKS || each.isLost) {
      this.#count('gaveUp', entry);
      return gaveUp(each.event);
    }
    // The event may have come by itself while others were asked for.
    if ((await this.#taken(each.event)) !== undefined) return this.#count('came', entry);
    this.#countAsk(entry, 1);
    entry.askedAt = Date.now();
    await save();
    const arrived = arrival(each.event);
    const isAgain = await this.#sendAgain(each, entry);
    const came = !isAgain && (await this.#fetch(each, entry));
    const taken =
      isAgain || came ? await this.#awaitTaken(each.event, isAgain ? arrivalMs : 0, arrived) : undefined;
    if (taken === undefined && !came) return;
    this.#count('came', entry);
    if (typeof taken === 'object' && taken.accepted.some(({ duplicate }) => !duplicate))
      this.#state.last.started += 1;
  }

  #taken(event: string): ReturnType<typeof takenAs> {
    return takenAs(this.#asker, event, this.#parts.storage);
  }

  #count(what: 'came' | 'gaveUp', entry: AskedEvent | undefined): void {
    if (entry === undefined || entry.end !== undefined) return;
    entry.end = what;
    this.#state.totals[what] += 1;
    this.#state.last[what] += 1;
  }

  #countAsk(entry: AskedEvent, by: 1 | -1): void {
    entry.asks += by;
    this.#state.totals.asked += by;
    this.#state.last.asked += by;
  }

  /** Whether the sender sends the event again. Where it was not asked at all, that does not count. */
  async #sendAgain({ id, event }: LoggedEvent, entry: AskedEvent): Promise<boolean> {
    const { redeliver, fetch } = this.#asker.sender.deliveries;
    if (redeliver === undefined) return false;
    try {
      const answer = await askSender(this.#asker, redeliver, {
        hook: encodeURIComponent(this.#parts.hook),
        event: encodeURIComponent(event),
        id,
      });
      // The address may have changed, or the log may have forgotten it.
      if ([404, 409, 422].includes(answer.status)) return fetch === undefined;
      checkAnswer(answer, this.#asker);
      return true;
    } catch (error) {
      this.#countAsk(entry, -1);
      throw error;
    }
  }

  /** Hands the event over as it stands in the log; whether it came, also where no mapping takes it. */
  async #fetch({ item, event }: LoggedEvent, entry: AskedEvent): Promise<boolean> {
    const { path, settings, sender, asked } = this.#asker;
    const { fetch } = sender.deliveries;
    if (fetch === undefined || item === undefined || settings.fetched === 'refuse') return false;
    entry.host = asked.api.host;
    const body = fetch.body === undefined ? item : (valueAt(item, fetch.body.split('.')) ?? null);
    const headers = headersOf(fetch.headers && valueAt(item, fetch.headers.split('.')));
    const hook = { name: path, body: Buffer.from(JSON.stringify(body)), idempotencyKey: event };
    const { status } = await this.#parts.deliver({ ...hook, again: { headers, query: {} }, isQuiet: true });
    return status < 300 || status === 404;
  }

  /** Waits until the store has the event, here or by another service; undefined where that takes too long. */
  async #awaitTaken(event: string, ms: number, arrived: Promise<unknown>): ReturnType<typeof takenAs> {
    const { signal } = this.#asker;
    const end = performance.now() + ms;
    let isAnswered = false;
    const answered = arrived.then(() => (isAnswered = true));
    for (;;) {
      const wasAnswered = isAnswered;
      const taken = await this.#taken(event);
      if (taken !== undefined || wasAnswered || performance.now() >= end) return taken;
      await Promise.race([pause(POLL_MS, signal), answered]);
      signal.throwIfAborted();
    }
  }
}

/** What the sender sent with the event, but for what it hides in its log. */
function headersOf(written: JsonValue | undefined): Readonly<Record<string, string>> {
  const headers = Object.entries(isJsonObject(written) ? written : {}).flatMap(([name, value]) =>
    /^[\w-]{1,100}$/.test(name) && typeof value === 'string' && value.length < 1_000 && value !== '[REDACTED]'
      ? [[name.toLowerCase(), value] as const]
      : [],
  );
  return { ...Object.fromEntries(headers.slice(0, 50)), 'content-type': 'application/json' };
}
