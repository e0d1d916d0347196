/*
 * Two requests of one mapping beside each other: which fields of their bodies differ, which of them name the event,
 * and what their keys are. Names of fields are told; values only of what names a thing.
 */
import { joinSentences, type Sentence } from '../finding.ts';
import { formatPlace, shorten, type Place } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { HookRequest } from '../request.ts';
import type { SettingText } from '../advice/requests.ts';

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

export interface Fields {
  /** Paths whose values differ, or that only one of the two has. */
  readonly different: readonly string[];
  /** Those of them that both have. */
  readonly changed: readonly string[];
  readonly same: readonly string[];
}

/** Fields that tell of the try of a delivery, and nothing of the event. */
export const OF_A_TRY =
  /(?:^|[._])(?:\w*(?:attempt|retr|deliver|redeliver)\w*|\w*(?:sent|received|processed)_?at|timestamp|\w*time|nonce|signature|token|request_?id|trace_?id|date)$/i;
export { EVENT_ID } from '../advice/requests.ts';
/** Ids in general, and those that all events of a sender share. */
export const ANY_ID = /(?:^|[._])(?:id|uuid|guid|key|number)$|(?:_id|Id|_key|_number)$/;
export const OF_ALL =
  /(?:app|account|org\w*|team|tenant|workspace|webhook|subscription|installation|site|client)[._]?id$/i;

export function note(setting: string, at: Place, sentences: readonly Sentence[]): SettingText {
  return { setting, at: formatPlace(at), text: joinSentences(sentences, '. ') };
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const list = (paths: readonly string[]): string =>
  paths.length <= MAX_NAMED
    ? paths.join(', ')
    : `${paths.slice(0, MAX_NAMED).join(', ')} and ${String(paths.length - MAX_NAMED)} more`;

interface Keys {
  readonly debounce: string | undefined;
  readonly dedupe: string | undefined;
  readonly session: string | undefined;
}

export function keysOf({ outcome }: Evaluation): Keys {
  const [action] = outcome.kind === 'accepted' ? outcome.actions : [];
  const agent = action?.kind === 'agent' ? action : undefined;
  return {
    debounce: agent?.debounce?.key,
    dedupe: action !== undefined && 'dedupe' in action ? action.dedupe?.key : undefined,
    session: agent?.sessionKey,
  };
}

/** Paths of the body that a template prints, without the root. */
export function readsOf(template: string): readonly string[] {
  const found = template.matchAll(/\{\{\s*(?:[a-z]\w*\s+)?((?:payload\.)?[A-Za-z_][\w.-]*)[^}]*\}\}/g);
  return [...new Set([...found].map(([, path = '']) => path.replace(/^payload\./, '')))];
}

/** Whether a template can write a path as it is. */
export const isPlainPath = (path: string): boolean => /^[\w.-]+$/.test(path);

function rankOf(path: string): number {
  if (OF_ALL.test(path)) return 3;
  if (ANY_ID.test(path)) return 0;
  return /(?:name|host|service|project)$/i.test(path) ? 1 : 2;
}

/** Those first that name what an event is about: short paths, ids before names and links. */
export function nameFirst(paths: readonly string[]): readonly string[] {
  const rank = (path: string): number => rankOf(path) * 10 + path.split('.').length;
  return paths.toSorted((a, b) => rank(a) - rank(b));
}

export function compareBodies(before: JsonValue, now: JsonValue): Fields {
  const [was, is] = [leavesOf(before), leavesOf(now)];
  const paths = [...new Set([...was.keys(), ...is.keys()])];
  const isSame = (path: string): boolean => was.has(path) && was.get(path) === is.get(path);
  // What is empty or a switch in both says nothing of what they are about.
  return {
    different: paths.filter((path) => !isSame(path)),
    changed: paths.filter((path) => !isSame(path) && was.has(path) && is.has(path)),
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
