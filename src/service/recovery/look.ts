/**
 * Reads the log of a sender: which webhook is ours, and what it could not deliver. Whatever stands in an answer is a
 * stranger's text: ids are parts of a path, the next page is a query of the same address, and pages are counted.
 */
import type { PathRecovery } from '../generation/generation.ts';
import {
  defined,
  isJsonObject,
  isNumeric,
  type JsonObject,
  type JsonValue,
  valueAt,
} from '../../base/json.ts';
import type { JsonAnswer } from '../../base/outgoing/outgoing.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import {
  askInterface,
  type Filling,
  InterfaceError,
  type InterfaceRequest,
  refusalText,
} from '../../engine/senders/senders.ts';

/** Far more than a webhook has in the time for which a sender keeps its log. */
const MAX_PAGES = 500;
const MAX_HOOK_PAGES = 10;
/** The list of some senders has whole events. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;
const MAX_WAITS = 5;
const MAX_WAIT_MS = 3_600_000;
/** Where a sender asks for patience and does not say for how long. */
const USUAL_WAIT_MS = 60_000;
const MAX_ID = 255;
const MAX_ADDRESS = 2_000;
/** Deliveries that are under way, or written down late, stand in the log before this. */
export const OVERLAP_MS = 300_000;

/** A path whose sender can be asked. */
export interface Asker extends PathRecovery {
  readonly token: string;
  /** The address of the path, as the sender calls it; absent where it is not known. */
  readonly url: string | undefined;
  /** Where it stands behind the host. */
  readonly urlPath: string;
  readonly signal: AbortSignal;
}

/** One event of the log, with all attempts at it. */
export interface LoggedEvent {
  readonly event: string;
  /** The newest of its deliveries, which can be sent again. */
  id: string;
  /** When it was delivered first, by the clock of the sender. */
  at: number;
  isDelivered: boolean;
  /** Whether the event came, and this service, or what stands before it, did not take it. */
  isRefused: boolean;
  isLost: boolean;
  /** As it stands in the list, where it can be fetched. */
  item?: JsonObject;
}

export interface Webhook {
  readonly id: string;
  /** When the sender said so, by its clock. */
  readonly now: number;
  /** What the sender says of it, where that is not well. */
  readonly unwell?: string;
  /** Absent: all. */
  readonly kinds?: ReadonlySet<string>;
}

/** What was found in the log from one moment to another, by the clock of the sender. */
export interface Look {
  /** The oldest first. */
  readonly events: readonly LoggedEvent[];
  readonly until: number;
  /** Why the log was not read to its end. */
  readonly incomplete?: string;
}

/** Asks, and obeys where the sender wants to be left alone for a while. @throws InterfaceError */
export async function askSender(
  asker: Asker,
  request: InterfaceRequest,
  filling: Filling,
): Promise<JsonAnswer> {
  const { asked, token, signal } = asker;
  const given = { ...asked, token, interface: { ...asked.interface, token: asker.sender.deliveries.token } };
  const more = { exact: true, maxBytes: MAX_PAGE_BYTES, signal };
  for (let waits = 0; ; waits += 1) {
    const answer = await askInterface(given, { ...request, ...more }, filling);
    const waitMs = limitedFor(answer);
    if (waitMs === undefined) return answer;
    if (waits === MAX_WAITS || waitMs > MAX_WAIT_MS)
      throw new InterfaceError('answer', `${clearLine(asked.title)} takes no further requests for now`);
    await pause(waitMs, signal);
    signal.throwIfAborted();
  }
}

/** How long the sender wants no further request; undefined where it has answered. */
function limitedFor({ status, headers, retryAfterMs }: JsonAnswer): number | undefined {
  const left = headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining');
  const isTold = retryAfterMs !== undefined || left === '0';
  const isLimited = status === 429 || ((status === 403 || status === 503) && isTold);
  if (!isLimited) return undefined;
  const resetAt = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? Number.NaN);
  const sentAt = Date.parse(headers.get('date') ?? '') || Date.now();
  const waitMs = retryAfterMs ?? (Number.isFinite(resetAt) ? resetAt * 1000 - sentAt : USUAL_WAIT_MS);
  return Math.max(waitMs, 1_000);
}

/** @throws InterfaceError where the answer is a refusal */
export function checkAnswer(answer: JsonAnswer, { asked, sender }: Asker): JsonAnswer {
  if (answer.status < 300) return answer;
  const { token } = sender.deliveries;
  throw new InterfaceError(
    'answer',
    clearLine(refusalText(answer.status, { ...asked, token: '', interface: { ...asked.interface, token } })),
  );
}

type List = Pick<Asker['sender']['deliveries']['list'], 'path' | 'items' | 'next'>;

/** The pages of a list, one after the other. */
async function* pagesOf(
  asker: Asker,
  { path, items, next, filling }: List & { readonly filling: Filling },
): AsyncGenerator<{ readonly items: readonly JsonObject[]; readonly answer: JsonAnswer }> {
  for (let query = ''; ;) {
    const answer = checkAnswer(await askSender(asker, { method: 'GET', path: path + query }, filling), asker);
    const body = (answer.body ?? null) as JsonValue;
    const list = items === undefined ? body : valueAt(body, items.split('.'));
    if (!Array.isArray(list))
      throw new InterfaceError('answer', `${asker.asked.title} answered with no list`);
    const page = (list as readonly JsonValue[]).filter(isJsonObject);
    yield { items: page, answer };
    const following = nextQuery(answer, page.at(-1), { path, items, next });
    if (following === undefined) return;
    query = following;
  }
}

/** What the address of the next page has more; never another address. */
function nextQuery(
  { headers, body }: JsonAnswer,
  last: JsonObject | undefined,
  { path, next }: List,
): string | undefined {
  if (last === undefined) return undefined;
  if (next !== 'link') {
    const { parameter, more, is = true, from } = next;
    if (valueAt(body as JsonValue, more.split('.')) !== is) return undefined;
    const cursor = from === undefined ? textAt(last, 'id') : textAt(body as JsonObject, from);
    return `&${parameter}=${encodeURIComponent(cursor ?? '')}`;
  }
  const [, link = ''] = /<([^<>\s]{1,2000})>\s*;[^,<]*\brel="?next\b/.exec(headers.get('link') ?? '') ?? [];
  if (!URL.canParse(link, 'https://x')) return undefined;
  const own = new URLSearchParams(path.slice(path.indexOf('?') + 1));
  const more = [...new URL(link, 'https://x').searchParams].filter(([name]) => !own.has(name)).slice(0, 5);
  return more.length === 0 ? undefined : `&${new URLSearchParams(more).toString()}`;
}

/** Which webhook is ours: the one that is named, or has our address, or is the only one with our path. */
export async function findWebhook(asker: Asker): Promise<Webhook> {
  const { sender, settings, url, urlPath, asked } = asker;
  const { webhooks } = sender;
  const found: JsonObject[] = [];
  let now = Date.now();
  let pages = 0;
  for await (const { items, answer } of pagesOf(asker, { next: 'link', ...webhooks, filling: {} })) {
    now = Date.parse(answer.headers.get('date') ?? '') || now;
    found.push(...items);
    pages += 1;
    if (pages === MAX_HOOK_PAGES) break;
  }
  const addressOf = (each: JsonObject): string => textAt(each, webhooks.url, MAX_ADDRESS) ?? '';
  const ours = found.filter((each) =>
    settings.hook === undefined ? addressOf(each) === url : textAt(each, 'id') === settings.hook,
  );
  const samePath = found.filter(
    (each) => URL.canParse(addressOf(each)) && new URL(addressOf(each)).pathname === urlPath,
  );
  const [hook] = ours.length > 0 || settings.hook !== undefined || samePath.length > 1 ? ours : samePath;
  if (hook !== undefined) return webhookOf(hook, now, asker);
  throw new InterfaceError(
    'answer',
    settings.hook === undefined
      ? `${asked.title} has ${samePath.length === 0 ? 'no webhook' : 'several webhooks'} with the path ${urlPath}${url === undefined ? '' : `, and none has the address ${url}`}: name it as hook in recover, or set server.publicUrl`
      : `${asked.title} has no webhook ${settings.hook}: correct hook in recover`,
  );
}

function webhookOf(hook: JsonObject, now: number, { sender: { health, webhooks } }: Asker): Webhook {
  const says = health && valueAt(hook, health.active.split('.'));
  const kinds = webhooks.kinds && valueAt(hook, webhooks.kinds.split('.'));
  return {
    id: textAt(hook, 'id') ?? '',
    now,
    ...(health === undefined || says === health.well || says === undefined
      ? {}
      : { unwell: clearLine(`${health.active}: ${JSON.stringify(says)}`).slice(0, 100) }),
    ...(Array.isArray(kinds) && !kinds.includes('*') ? { kinds: new Set(kinds.map(String)) } : {}),
  };
}

/** Reads the log back to `from`; what is younger than the tries of the sender is left out, but for `isAll`. */
export async function look(
  asker: Asker,
  { id: hook, now, kinds }: Webhook,
  { from, isAll }: { readonly from: number; readonly isAll: boolean },
): Promise<Look> {
  const { list, triesSeconds = 0 } = asker.sender.deliveries;
  const until = now - (isAll ? 0 : triesSeconds * 1000);
  const oldest = Math.max(from, now - asker.maxAgeMs);
  // What comes while the log is read is read, too; the next look reads it again.
  const newest = until === now ? Infinity : until;
  const log: EventLog = { events: new Map(), kept: [], kinds };
  const seen = new Set<string>();
  const filling = { hook: encodeURIComponent(hook), since: String(Math.floor(oldest / 1000)) };
  let incomplete: string | undefined;
  let pages = 0;
  for await (const { items } of pagesOf(asker, { ...list, filling })) {
    const before = seen.size;
    let last = Infinity;
    for (const item of items) {
      const id = textAt(item, list.id);
      const event = textAt(item, list.event);
      const at = timeOf(valueAt(item, list.at.split('.'))) ?? Number.NaN;
      const counts = Object.entries(list.only ?? {}).every(([field, text]) => textAt(item, field) === text);
      if (counts && Number.isFinite(at)) last = at;
      if (id === undefined || seen.has(id)) continue;
      seen.add(id);
      if (counts && event !== undefined && at >= oldest && at <= newest)
        take(asker, log, { item, id, event, at });
    }
    pages += 1;
    if (last < oldest) break;
    if (seen.size === before && items.length > 0) incomplete = 'its list has the same page again';
    else if (pages === MAX_PAGES) incomplete = `its list has more than ${MAX_PAGES} pages`;
    if (incomplete !== undefined) break;
  }
  // The list has the newest first, and times of whole seconds.
  const events = [...log.events.values()].toReversed().toSorted((a, b) => a.at - b.at);
  return { events, until, ...defined({ incomplete }) };
}

/** The deliveries of a log by their events. */
interface EventLog {
  readonly events: Map<string, LoggedEvent>;
  /** Events whose body is kept. */
  readonly kept: LoggedEvent[];
  readonly kinds: Webhook['kinds'];
}

function take(
  { sender, settings }: Asker,
  { events, kept, kinds }: EventLog,
  { item, ...delivery }: Pick<LoggedEvent, 'id' | 'event' | 'at'> & { readonly item: JsonObject },
): void {
  const { list, fetch } = sender.deliveries;
  if (kinds !== undefined && !kinds.has(textAt(item, sender.kind ?? '') ?? '')) return;
  const status = list.status === undefined ? 0 : Number(textAt(item, list.status) ?? 0);
  const unknown = { ...delivery, isDelivered: false, isRefused: false, isLost: false };
  const known: LoggedEvent = events.get(delivery.event) ?? unknown;
  events.set(delivery.event, known);
  known.at = Math.min(known.at, delivery.at);
  known.isDelivered ||= status >= 200 && status < 300;
  known.isRefused ||= status >= 300 && status < 500 && status !== 429;
  known.isLost ||= list.lost !== undefined && valueAt(item, list.lost.split('.')) === true;
  if (fetch === undefined || known.item !== undefined || known.isDelivered) return;
  known.item = item;
  // The newest come first: where there are too many, they wait for the next look.
  kept.push(known);
  if (kept.length > settings.max) delete kept.shift()?.item;
}

/** A text or a number, which may be any. */
function textAt(item: JsonObject, field: string, most = MAX_ID): string | undefined {
  const value = valueAt(item, field.split('.'));
  const text = typeof value === 'string' || isNumeric(value) ? String(value) : '';
  return text === '' || text.length > most ? undefined : text;
}

function timeOf(value: JsonValue | undefined): number | undefined {
  const at =
    typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
