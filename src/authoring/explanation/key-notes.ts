/*
 * Two requests of one mapping that were kept: one event that was taken for two, since a key of dedupe is another one for
 * each of them, though they are the same. Names of fields are told, and no value.
 */
import { joinSentences, say, write } from '../../base/finding.ts';
import { formatPlace, shorten } from '../../base/document/document.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';
import { holdsUnkept, isUnkept, type HookRequest } from '../../base/request.ts';
import { EVENT_ID, type SettingText } from '../advice/requests.ts';

/** A kept request as it is judged now. */
export interface Judged {
  readonly request: HookRequest;
  readonly evaluation: Evaluation;
}

/** Leaves of a body that are compared. */
const MAX_LEAVES = 2_000;
const MAX_NAMED = 4;
/** Longer paths are cut: patterns look at each, and their names are the sender's. */
const MAX_PATH_CHARS = 200;

interface Fields {
  /** Paths whose values differ, or that only one of the two has. */
  readonly different: readonly string[];
  readonly same: readonly string[];
}

/** Fields that tell of the try of a delivery, and nothing of the event. */
const OF_A_TRY =
  /(?:^|[._])(?:\w*(?:attempt|retr|deliver|redeliver)\w*|\w*(?:sent|received|processed)_?at|timestamp|\w*time|nonce|signature|token|request_?id|trace_?id|date)$/i;

const list = (paths: readonly string[]): string =>
  paths.length <= MAX_NAMED
    ? paths.join(', ')
    : `${paths.slice(0, MAX_NAMED).join(', ')} and ${String(paths.length - MAX_NAMED)} more`;

function dedupeKeyOf({ outcome }: Evaluation): string | undefined {
  const [action] = outcome.kind === 'accepted' ? outcome.actions : [];
  return action !== undefined && 'dedupe' in action ? action.dedupe?.key : undefined;
}

/** Compares a request with one that came before it; empty where nothing is sure enough to be told. */
export function keyNotes(now: Judged, before: Judged): readonly SettingText[] {
  const { mapping } = now.evaluation;
  if (mapping === undefined || before.evaluation.mapping?.id !== mapping.id) return [];
  if ([before, now].some(({ request }) => holdsUnkept(request.payload))) return [];
  const fields = compareBodies(before.request.payload, now.request.payload);
  const found = dedupeNote(mapping, { now, before, fields });
  return found === undefined ? [] : [found];
}

interface Compared {
  readonly now: Judged;
  readonly before: Judged;
  readonly fields: Fields;
}

/** Of an event that was probably sent twice, and made work twice: its key is another one, or it has none. */
function dedupeNote(mapping: CompiledMapping, compared: Compared): SettingText | undefined {
  const { now, before, fields } = compared;
  const { dedupe } = mapping;
  const keys = [before, now].map(({ evaluation }) => dedupeKeyOf(evaluation));
  if (dedupe !== undefined && (keys[0] === undefined || keys[0] === keys[1])) return undefined;
  // Two events of one kind differ in more than what tells of a delivery.
  if (!fields.different.every((path) => OF_A_TRY.test(path))) return undefined;
  const identity = identityOf(mapping, compared);
  if (identity === undefined) return undefined;
  const apart = ((now.request.receivedAt - before.request.receivedAt) / 1_000).toFixed(1);
  const what = say`the request ${before.request.id}, ${apart} s before`;
  const how =
    fields.different.length === 0
      ? say`this body is the same as that of ${what}`
      : say`this body differs from that of ${what}, only in ${list(fields.different)}`;
  const key = dedupe === undefined || dedupe.key === 'body' ? undefined : dedupe.key;
  const reads = key === undefined ? say`the whole body` : list(readsOf(key.source));
  const why =
    dedupe === undefined
      ? say`the mapping has no dedupe, so each made work of its own`
      : say`the key reads ${reads}, so it was taken as another one`;
  const text = joinSentences(
    [
      say`${how}: most likely one event was sent twice, and ${why}`,
      say`${write(identity, undefined, 'to take such a request once,')}, which is the same in both`,
    ],
    '. ',
  );
  const setting = key === undefined ? 'dedupe' : 'dedupe.key';
  return { setting, at: formatPlace(key?.at ?? mapping.at), text };
}

/** Milliseconds in which the same body is most likely the same event, where nothing in it or beside it names that. */
const SOON = 600_000;
/** Headers that a sender writes anew for each event, and not for each try. */
const SAME_EVENT = /(?:^|-)(?:event-(?:uu)?id|message-id|delivery|notification-id)$|^(?:webhook|svix)-id$/;

/** What is the same in both requests and names the event, as `dedupe` to write. */
function identityOf({ dedupe }: CompiledMapping, { now, before, fields }: Compared): string | undefined {
  // Ids near the root name the event, and others what it is about.
  const [path] = fields.same
    .filter((each) => EVENT_ID.test(each) && isPlainPath(each))
    .toSorted((a, b) => a.split('.').length - b.split('.').length);
  const header = Object.keys(now.request.headers)
    .filter((name) => SAME_EVENT.test(name) && !isUnkept(now.request.headers[name]))
    .filter((name) => now.request.headers[name] === before.request.headers[name])
    .toSorted((a, b) => Number(b.includes('event')) - Number(a.includes('event')))[0];
  const found = header === undefined ? path : `headers.${header}`;
  if (found !== undefined) return `dedupe: {key: '{{${found}}}'}`;
  const apart = now.request.receivedAt - before.request.receivedAt;
  const isSame = now.request.bodySha256 === before.request.bodySha256;
  return isSame && apart < SOON && dedupe?.key !== 'body' ? 'dedupe: body' : undefined;
}

/** Paths of the body that a template prints, without the root. */
function readsOf(template: string): readonly string[] {
  const found = template.matchAll(/\{\{\s*(?:[a-z]\w*\s+)?((?:payload\.)?[A-Za-z_][\w.-]*)[^}]*\}\}/g);
  return [...new Set([...found].map(([, path = '']) => path.replace(/^payload\./, '')))];
}

/** Whether a template can write a path as it is. */
const isPlainPath = (path: string): boolean => /^[\w.-]+$/.test(path);

function compareBodies(before: JsonValue, now: JsonValue): Fields {
  const [was, is] = [leavesOf(before), leavesOf(now)];
  const paths = [...new Set([...was.keys(), ...is.keys()])];
  const isSame = (path: string): boolean => was.has(path) && was.get(path) === is.get(path);
  // What is empty or a switch in both says nothing of what they are about.
  return {
    different: paths.filter((path) => !isSame(path)),
    same: paths.filter((path) => isSame(path) && !/^(?:null|true|false|""|0)$/.test(was.get(path) ?? '')),
  };
}

function leavesOf(value: JsonValue): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const visit = (each: JsonValue, path: string): void => {
    if (leaves.size >= MAX_LEAVES) return;
    const entries = Array.isArray(each)
      ? [...each.entries()]
      : isJsonObject(each)
        ? Object.entries(each)
        : [];
    if (entries.length === 0) leaves.set(shorten(path, MAX_PATH_CHARS), JSON.stringify(each));
    for (const [key, inner] of entries)
      visit(inner as JsonValue, path === '' ? String(key) : `${path}.${key}`);
  };
  visit(value, '');
  return leaves;
}
