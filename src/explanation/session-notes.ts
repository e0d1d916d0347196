/* Conversations of requests that were kept: a key that is too fine, so that what belongs together is apart. */
import { say, write } from '../finding.ts';
import { fieldAt, isJsonObject, type JsonValue } from '../json.ts';
import type { CompiledMapping, CompiledTemplate } from '../mapping/mapping.ts';
import { SECRET_KEY } from '../telemetry/telemetry.ts';
import {
  ANY_ID,
  compareBodies,
  EVENT_ID,
  isPlainPath,
  keysOf,
  list,
  nameFirst,
  note,
  OF_A_TRY,
  OF_ALL,
  readsOf,
  seconds,
  type Judged,
} from './compared-requests.ts';
import type { SettingText } from '../advice/requests.ts';

/** Compares a request with others of its mapping; empty where nothing is sure enough to be told. */
export function sessionNotes(now: Judged, others: readonly Judged[]): readonly SettingText[] {
  const { mapping } = now.evaluation;
  const template = mapping?.sessionKey;
  const near = others
    .filter(({ evaluation }) => evaluation.mapping?.id === mapping?.id)
    .toSorted((a, b) => Math.abs(apartMs(now, a)) - Math.abs(apartMs(now, b)));
  if (mapping === undefined || near.length === 0) return [];
  const found = template === undefined ? withoutKey(mapping, now, near) : tooFine(template, now, near);
  return found === undefined ? [] : [found];
}

const apartMs = (now: Judged, other: Judged): number => now.request.receivedAt - other.request.receivedAt;

const sessionOf = ({ evaluation }: Judged): string | undefined => keysOf(evaluation).session;

/** The other request of a pair, and when it came. */
function told(now: Judged, other: Judged): string {
  const ms = apartMs(now, other);
  return `the request ${other.request.id}, ${seconds(Math.abs(ms))} ${ms < 0 ? 'later' : 'before'}`;
}

/** No key at all: each request begins a conversation of its own, though two of them are about one thing. */
function withoutKey(
  mapping: CompiledMapping,
  now: Judged,
  others: readonly Judged[],
): SettingText | undefined {
  if (mapping.transform !== undefined || !isAgent(now)) return undefined;
  for (const other of others) {
    const { same, different } = compareBodies(other.request.payload, now.request.payload);
    const [field] = nameFirst(
      same.filter((path) => isThing(path) && !isOfOneEvent(path, now.request.payload)),
    );
    // One event that was sent twice needs no conversation.
    if (field === undefined || different.every((path) => OF_A_TRY.test(path))) continue;
    return note('sessionKey', mapping.at, [
      say`the mapping has none, so each run begins a conversation that knows nothing of the others, such as that of ${told(now, other)}, though ${field} is the same`,
      say`${write(`sessionKey: 'hook:${now.request.path}:{{${field}}}'`, undefined, 'if they belong together,')}`,
    ]);
  }
  return undefined;
}

const isAgent = ({ evaluation: { outcome } }: Judged): boolean =>
  outcome.kind === 'accepted' && outcome.actions.some((action) => action.kind === 'agent' && action.oneShot);

/**
 * Each request begins a conversation of its own, where the key reads the id of the single event: all that are kept
 * have another one, though two of them share the id of something else.
 */
function tooFine(
  template: CompiledTemplate,
  now: Judged,
  others: readonly Judged[],
): SettingText | undefined {
  const keys = [now, ...others].map(sessionOf);
  const [read, ...more] = readsOf(template.source);
  if (keys.includes(undefined) || new Set(keys).size < keys.length) return undefined;
  if (read === undefined || more.length > 0 || !isOfOneEvent(read, now.request.payload)) return undefined;
  for (const other of others) {
    const fields = compareBodies(other.request.payload, now.request.payload);
    const shared = nameFirst(fields.same.filter(isThing));
    if (!fields.different.includes(read) || shared.length === 0) continue;
    const all = keys.length === 2 ? 'both requests' : `all ${String(keys.length)} requests`;
    return note('sessionKey', template.at, [
      say`the key reads ${read}, which is another one in ${all} of this mapping that are kept: each begins a conversation that knows nothing of the others, such as that of ${told(now, other)}`,
      say`${write(`sessionKey: '${withField(template.source, shared[0] ?? '')}'`, undefined, 'if they belong together,')} (the same in both: ${list(shared)})`,
    ]);
  }
  return undefined;
}

const withField = (template: string, field: string): string =>
  template.replace(/\{\{[^{}]*\}\}/, () => `{{${field}}}`);

/** Things of which each event brings a new one. */
const OF_EVENTS =
  /^(?:event|message|msg|notification|delivery|transmission|comment|note|reply|activity|audit|log|push|review|action)s?$/i;

/** Whether a path is the id of an event, or of a thing that comes with one, by its name or by the type beside it. */
function isOfOneEvent(path: string, payload: JsonValue): boolean {
  if (EVENT_ID.test(path)) return true;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const owner = keys.at(-1) ?? last.replace(/[._]?(?:id|uuid|guid)$/i, '');
  if (!ANY_ID.test(last)) return false;
  if (OF_EVENTS.test(owner.replace(/^.*_/, ''))) return true;
  const value = fieldAt(payload, keys);
  const type =
    isJsonObject(value) && keys.length > 0 ? (value['type'] ?? value['kind'] ?? value['object']) : undefined;
  return typeof type === 'string' && OF_EVENTS.test(type);
}

/** Ids of people and of places of a sender in which many things happen. */
const OF_MANY =
  /(?:author|user|sender|actor|creator|owner|member|person|by|bot|integration|project|repo|repository)s?(?:\.\d+)?[._]?id$/i;

/** Whether a path is the id of a thing that several events may be about. */
const isThing = (path: string): boolean =>
  isPlainPath(path) &&
  ANY_ID.test(path) &&
  ![OF_ALL, OF_A_TRY, OF_MANY, SECRET_KEY].some((form) => form.test(path));
