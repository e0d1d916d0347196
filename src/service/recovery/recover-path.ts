/**
 * One round of a path: what the sender could not deliver is asked for, the oldest first and one at a time. How often an
 * event was asked for is stored before each request, and up to when all is settled after the last: a round that was cut
 * off is begun again where nothing is settled yet, and the store knows what came.
 */
import * as z from 'zod';
import { isJsonObject, type JsonValue, valueAt } from '../../base/json.ts';
import { pause } from '../../base/timers/timers.ts';
import { type OwnAnswer, type OwnHook, signedIdKey } from '../server/server.ts';
import type { AcceptResult, Storage } from '../../engine/storage/storage.ts';
import {
  type Asker,
  askSender,
  checkAnswer,
  findWebhook,
  type LoggedEvent,
  look,
  type Look,
  MAX_EVENTS,
  OVERLAP_MS,
} from './look.ts';

/** How long the next event waits for the one before. */
const ARRIVAL_MS = 30_000;
/** Another service may get the event; it is looked for in the store. */
const POLL_MS = 500;
const MAX_ASKS = 3;
/** What was asked for just before a stop may still be on its way. */
const ON_ITS_WAY_MS = 60_000;
const DAY_MS = 86_400_000;

const Count = z.int().nonnegative();
const Asked = z.object({
  /** When the sender tried first, by its clock. */
  at: z.number(),
  asks: Count,
  askedAt: z.number().optional(),
  /** From whom it was fetched. */
  host: z.string().optional(),
  end: z.enum(['came', 'untaken', 'gave-up']).optional(),
});
export type AskedEvent = z.output<typeof Asked>;

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

/** The last round of a row, which may have no more. */
export const Ended = z.object({ last: Report });

/** The row of a path. Times of the log are by the sender's clock. */
export const RecoveryState = z.object({
  /** All of the log before this is settled. */
  upTo: z.number(),
  /** When the log was last read to its end, by the clock of this machine. */
  lookedAt: z.number(),
  asked: z.record(z.string(), Asked),
  totals: z.object({ missed: Count, asked: Count, came: Count, gaveUp: Count }),
  unwell: z.string().optional(),
  last: Report.optional(),
});
export type RecoveryState = z.output<typeof RecoveryState>;

/** What somebody wants. */
export const Wish = z.object({ id: z.string(), since: z.number().optional(), refused: z.boolean() });
export type Wish = z.output<typeof Wish>;

export interface RoundParts {
  readonly storage: Pick<Storage, 'findIdempotent' | 'isDeduped'>;
  readonly wish: Wish | undefined;
  /** Stores how far it is. */
  save(state: RecoveryState): Promise<void>;
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
  readonly since: number;
  readonly missed: readonly LoggedEvent[];
  /** What of that was not taken meanwhile. */
  readonly open: readonly LoggedEvent[];
}

type Found = Awaited<ReturnType<typeof findWebhook>>;

/** Looks, and asks for nothing. @throws RecoveryTrouble */
export async function planRecovery(
  asker: Asker,
  state: Pick<RecoveryState, 'upTo'> | undefined,
  { storage, wish }: Pick<RoundParts, 'storage' | 'wish'>,
  found?: Found,
): Promise<Plan> {
  const at = found ?? (await findWebhook(asker));
  const since = wish?.since ?? (state?.upTo ?? at.now) - OVERLAP_MS;
  const seen = await look(asker, at, { from: since, isAll: wish?.since !== undefined });
  const missed = seen.events.filter(
    ({ isDelivered, isRefused }) => !isDelivered && (!isRefused || wish?.refused === true),
  );
  const open: LoggedEvent[] = [];
  for (const each of missed) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: a service at work has other things to do
    if ((await takenAs(asker, each.event, storage)) === undefined) open.push(each);
  }
  return { seen, since, missed, open };
}

/** What the store knows of an event, over all mappings of the path; true where only one of them knows it. */
async function takenAs(
  { path, dedupedBy }: Asker,
  event: string,
  storage: RoundParts['storage'],
): Promise<AcceptResult | true | undefined> {
  // In this order: what is taken in between is then found with what became of it.
  const known = await Promise.all(dedupedBy.map((id) => storage.isDeduped(id, event, Date.now())));
  const { scope, key } = signedIdKey(path, event);
  const found = await storage.findIdempotent(scope, key, Date.now());
  return found?.result ?? (known.includes(true) ? true : undefined);
}

/** Asks for all that is missed. @throws RecoveryTrouble, and where the signal fires */
export async function recoverPath(
  asker: Asker,
  known: RecoveryState | undefined,
  parts: RoundParts,
): Promise<RecoveryState> {
  const { wish } = parts;
  const found = await findWebhook(asker);
  const state: RecoveryState = known ?? {
    upTo: found.now,
    lookedAt: 0,
    asked: {},
    totals: { missed: 0, asked: 0, came: 0, gaveUp: 0 },
  };
  await watchWebhook(asker, state, found);
  const plan = await planRecovery(asker, state, parts, found);
  const last = beginReport(asker, state, plan, wish);
  await parts.save(state);
  for (const each of plan.open) {
    if (last.asked === (asker.settings.max ?? MAX_EVENTS)) break;
    const entry = state.asked[each.event];
    if (entry === undefined || entry.end !== undefined || isOnItsWay(entry, wish)) continue;
    if (entry.asks >= MAX_ASKS || each.isLost) giveUp(state, each, parts);
    // oxlint-disable-next-line no-await-in-loop -- the next comes after the one before
    else await askFor(asker, each, { state, entry, parts, hook: found.webhook.id });
  }
  settle(state, plan, { found, wish });
  last.isEnded = true;
  return state;
}

const isOnItsWay = ({ askedAt = 0 }: AskedEvent, wish: Wish | undefined): boolean =>
  wish === undefined && askedAt > Date.now() - ON_ITS_WAY_MS;

function beginReport(
  { settings, maxAgeMs }: Asker,
  state: RecoveryState,
  { seen, since, missed, open }: Plan,
  wish: Wish | undefined,
): RecoveryReport {
  const { asked, totals } = state;
  const forgotten = seen.until - maxAgeMs - DAY_MS;
  for (const [event, { at }] of Object.entries(asked)) if (at < forgotten) delete asked[event];
  const isOpen = new Set(open.map(({ event }) => event));
  for (const { event, at } of missed) {
    const entry = asked[event];
    // It came after the round before had stopped to wait.
    if (entry !== undefined && !isOpen.has(event)) came(state, entry);
    if (!isOpen.has(event)) continue;
    if (entry === undefined && Object.keys(asked).length < 2 * (settings.max ?? MAX_EVENTS)) {
      asked[event] = { at, asks: 0 };
      totals.missed += 1;
    } else if (entry !== undefined && wish !== undefined) asked[event] = { at, asks: 0 };
  }
  const toAsk = open.filter(({ event, isLost }) => !isLost && asked[event]?.end === undefined).length;
  const counts = { asked: 0, came: 0, started: 0, gaveUp: 0, isEnded: false };
  const events = seen.events.length;
  const made = { wanted: wish?.id ?? '', since, events, missed: missed.length, toAsk, ...counts };
  state.last = { ...made, ...(seen.incomplete === undefined ? {} : { trouble: seen.incomplete }) };
  return state.last;
}

function came({ totals, last }: RecoveryState, entry: AskedEvent): void {
  if (entry.end === 'came') return;
  entry.end = 'came';
  totals.came += 1;
  if (last !== undefined) last.came += 1;
}

function giveUp(
  { asked, totals, last }: RecoveryState,
  { event }: LoggedEvent,
  { gaveUp }: RoundParts,
): void {
  const entry = asked[event];
  if (entry === undefined) return;
  entry.end = 'gave-up';
  totals.gaveUp += 1;
  if (last !== undefined) last.gaveUp += 1;
  gaveUp(event);
}

interface Asking {
  readonly state: RecoveryState;
  readonly entry: AskedEvent;
  readonly parts: RoundParts;
  /** Id of the webhook. */
  readonly hook: string;
}

async function askFor(asker: Asker, each: LoggedEvent, asking: Asking): Promise<void> {
  const { state, entry, parts } = asking;
  const { last, totals } = state;
  // It may have come by itself while others were asked for.
  if ((await takenAs(asker, each.event, parts.storage)) !== undefined) return came(state, entry);
  entry.asks += 1;
  entry.askedAt = Date.now();
  totals.asked += 1;
  if (last !== undefined) last.asked += 1;
  await parts.save(state);
  const arrival = parts.arrival(each.event);
  const isAgain = await sendAgain(asker, each, asking);
  const wait = { ms: isAgain ? (parts.arrivalMs ?? ARRIVAL_MS) : 0, arrival };
  if (!isAgain && !(await fetchEvent(asker, each, asking))) return;
  const taken = await awaitTaken(asker, each.event, parts, wait);
  if (taken === undefined) return;
  came(state, entry);
  const isNew = taken !== true && taken.accepted.some(({ duplicate }) => !duplicate);
  if (isNew && last !== undefined) last.started += 1;
}

/** Whether the sender sends the event again. @throws RecoveryTrouble where it was not asked, which does not count */
async function sendAgain(
  asker: Asker,
  { id }: LoggedEvent,
  { state, entry, hook }: Asking,
): Promise<boolean> {
  const { redeliver, fetch } = asker.sender.deliveries;
  if (redeliver === undefined) return false;
  try {
    const answer = await askSender(asker, redeliver, { hook: encodeURIComponent(hook), id });
    // The address may have changed, or the log may have forgotten it.
    const isRefused = answer.status === 404 || answer.status === 409 || answer.status === 422;
    if (isRefused && fetch === undefined) return true;
    return !isRefused && checkAnswer(answer, asker).status < 300;
  } catch (error) {
    entry.asks -= 1;
    state.totals.asked -= 1;
    if (state.last !== undefined) state.last.asked -= 1;
    throw error;
  }
}

/** Hands the event over as it stands in the log; whether it may have become something. */
async function fetchEvent(
  asker: Asker,
  { item, event }: LoggedEvent,
  { state, entry, parts }: Asking,
): Promise<boolean> {
  const { fetch } = asker.sender.deliveries;
  if (fetch === undefined || item === undefined || asker.settings.fetched === 'refuse') return false;
  entry.host = asker.asked.api.host;
  const body = fetch.body === undefined ? item : valueAt(item, fetch.body.split('.'));
  const written = fetch.headers === undefined ? undefined : valueAt(item, fetch.headers.split('.'));
  const { status } = await parts.deliver({
    name: asker.path,
    body: Buffer.from(JSON.stringify(body ?? null)),
    idempotencyKey: event,
    again: { headers: headersOf(written), query: {} },
    isQuiet: true,
  });
  // Events of others, for whom the sender keeps one log.
  if (status === 204 || status === 404) {
    entry.end = 'untaken';
    if (state.last !== undefined) state.last.toAsk -= 1;
  }
  return status < 300 && entry.end === undefined;
}

/** What the sender sent with the event, but for what it hides in its log. */
function headersOf(written: JsonValue | undefined): Readonly<Record<string, string>> {
  const headers = Object.entries(isJsonObject(written ?? null) ? (written as object) : {}).flatMap(
    ([name, value]: [string, unknown]) =>
      /^[\w-]{1,100}$/.test(name) &&
      typeof value === 'string' &&
      value.length < 1_000 &&
      !value.includes('[REDACTED]')
        ? [[name.toLowerCase(), value] as const]
        : [],
  );
  return { ...Object.fromEntries(headers.slice(0, 50)), 'content-type': 'application/json' };
}

/** Waits until the store has the event, here or by another service; undefined where that takes too long. */
async function awaitTaken(
  asker: Asker,
  event: string,
  { storage }: RoundParts,
  { ms, arrival }: { readonly ms: number; readonly arrival: Promise<unknown> },
): Promise<AcceptResult | true | undefined> {
  const end = performance.now() + ms;
  let isAnswered = false;
  const answered = arrival.then(() => (isAnswered = true));
  for (;;) {
    const wasAnswered = isAnswered;
    // oxlint-disable-next-line no-await-in-loop -- until it is there
    const taken = await takenAs(asker, event, storage);
    if (taken !== undefined || wasAnswered || performance.now() >= end) return taken;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await Promise.race([pause(POLL_MS, asker.signal), answered]);
    asker.signal.throwIfAborted();
  }
}

/** Moves the moment up to which all is settled. */
function settle(
  state: RecoveryState,
  { seen, open }: Plan,
  { found, wish }: { readonly found: Found; readonly wish: Wish | undefined },
): void {
  if (seen.incomplete !== undefined) return;
  state.lookedAt = Date.now();
  // Who looks further back does not look at all before.
  if (wish?.since !== undefined) return;
  const unsettled = open.find(({ event }) => state.asked[event]?.end === undefined);
  state.upTo = unsettled === undefined ? Math.max(state.upTo, seen.until) : unsettled.at;
  state.upTo = Math.min(state.upTo, found.now);
}

/** Notes whether the sender still sends, and has it send again where that is wanted. */
async function watchWebhook(asker: Asker, state: RecoveryState, { webhook }: Found): Promise<void> {
  const { unwell, id } = webhook;
  delete state.unwell;
  if (unwell === undefined) return;
  state.unwell = unwell;
  const reactivate = asker.sender.health?.reactivate;
  if (asker.settings.reactivate !== true || reactivate === undefined) return;
  checkAnswer(await askSender(asker, reactivate, { hook: encodeURIComponent(id) }), asker);
  delete state.unwell;
}
