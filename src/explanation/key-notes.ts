/*
 * Two requests of one mapping that were kept, and did not meet: a key of debounce or dedupe that is another one for
 * each of them, though they have much in common. Names of fields are told, never values.
 */
import { formatPlace, type Place } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { CompiledMapping, CompiledTemplate } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import type { SettingNote } from './setting-notes.ts';

/** A kept request as it is judged now. */
export interface Judged {
  readonly request: HookRequest;
  readonly evaluation: Evaluation;
}

/** Leaves of a body that are compared. */
const MAX_LEAVES = 2_000;
const MAX_NAMED = 4;

/** Compares a request with one that came before it; empty where nothing is sure enough to be told. */
export function keyNotes(now: Judged, before: Judged): readonly SettingNote[] {
  const { mapping } = now.evaluation;
  if (mapping === undefined || before.evaluation.mapping?.id !== mapping.id) return [];
  const fields = compareBodies(before.request.payload, now.request.payload);
  const told = [debounceNote(mapping, { now, before, fields }), dedupeNote(mapping, { now, before, fields })];
  return told.flatMap((note) => (note === undefined ? [] : [note]));
}

/**
 * Says that each request begins a conversation of its own, where the key reads the id of the single event: all that
 * are kept have another one, though two of them share the id of something else. `before` has the newest first.
 */
export function sessionNotes(now: Judged, before: readonly Judged[]): readonly SettingNote[] {
  const { mapping } = now.evaluation;
  const template = mapping?.sessionKey;
  const others = before.filter(({ evaluation }) => evaluation.mapping?.id === mapping?.id);
  if (template === undefined || others.length === 0) return [];
  const keys = [now, ...others].map(({ evaluation }) => keysOf(evaluation).session);
  if (keys.includes(undefined) || new Set(keys).size < keys.length) return [];
  const [read, ...more] = readsOf(template.source);
  if (read === undefined || more.length > 0 || !EVENT_ID.test(read)) return [];
  for (const other of others) {
    const { different, same } = compareBodies(other.request.payload, now.request.payload);
    const shared = nameFirst(
      same.filter((path) => /^[\w.-]+$/.test(path) && ANY_ID.test(path) && !OF_ALL.test(path)),
    );
    if (different.includes(read) && shared.length > 0) {
      return [sessionNote(template, { read, shared, now, other, count: keys.length })];
    }
  }
  return [];
}

interface Apart {
  /** The field that the key reads. */
  readonly read: string;
  readonly shared: readonly string[];
  readonly now: Judged;
  readonly other: Judged;
  /** Kept requests that were looked at. */
  readonly count: number;
}

function sessionNote(template: CompiledTemplate, { read, shared, now, other, count }: Apart): SettingNote {
  const [field = ''] = shared;
  const apartMs = now.request.receivedAt - other.request.receivedAt;
  const all = count === 2 ? 'both requests' : `all ${String(count)} requests`;
  const written = template.source.replace(/\{\{[^{}]*\}\}/, `{{${field}}}`);
  return note('sessionKey', template.at, [
    `the key reads ${read}, which is another one in ${all} of this mapping that are kept: each begins a conversation that knows nothing of the others, such as that of the request ${other.request.id}, ${seconds(apartMs)} before`,
    `if they belong together, use a field that they share: sessionKey: '${written}' (the same in both: ${list(shared)})`,
  ]);
}

interface Compared {
  readonly now: Judged;
  readonly before: Judged;
  readonly fields: Fields;
}

interface Fields {
  /** Paths whose values differ, or that only one of the two has. */
  readonly different: readonly string[];
  readonly same: readonly string[];
}

function debounceNote(mapping: CompiledMapping, { now, before, fields }: Compared): SettingNote | undefined {
  const { debounce } = mapping;
  if (debounce === undefined) return undefined;
  const keys = [before, now].map(({ evaluation }) => keysOf(evaluation).debounce);
  const apartMs = now.request.receivedAt - before.request.receivedAt;
  if (keys[0] === undefined || keys[1] === undefined || keys[0] === keys[1]) return undefined;
  if (apartMs > debounce.maxSeconds * 1_000) return undefined;
  const own = readsOf(debounce.key.source);
  const differs = own.filter((path) => fields.different.includes(path));
  const common = nameFirst(fields.same);
  if (differs.length === 0 || common.length === 0) return undefined;
  return note('debounce.key', debounce.key.at, [
    `the request ${before.request.id}, ${seconds(apartMs)} before, has another key, so each became a run of its own: ${list(differs)} ${differs.length === 1 ? 'is' : 'are'} another in each of the two`,
    `if both belong into one run, use a field that they share, such as key: '{{${common[0] ?? ''}}}' (the same in both: ${list(common)})`,
  ]);
}

/** Fields that tell of the try of a delivery, and nothing of the event. */
const OF_A_TRY =
  /(?:^|[._])(?:\w*(?:attempt|retr|deliver|redeliver)\w*|\w*(?:sent|received|processed)_?at|timestamp|\w*time|nonce|signature|token|request_?id|trace_?id|date)$/i;
/** Fields that tell one event from others; an id of an account or a subscription is the same in all of them. */
const EVENT_ID =
  /^(?:id|uuid|guid)$|(?:^|[._])(?:event|message|msg|notification|delivery|transmission)[._]?(?:id|uuid)$/i;
/** Ids in general, and those that all events of a sender share. */
const ANY_ID = /(?:^|[._])(?:id|uuid|guid|key|number)$|(?:_id|Id|_key|_number)$/;
const OF_ALL =
  /(?:app|account|org\w*|team|tenant|workspace|webhook|subscription|installation|site|client)_?id$/i;

function dedupeNote(mapping: CompiledMapping, { now, before, fields }: Compared): SettingNote | undefined {
  const { dedupe } = mapping;
  if (dedupe === undefined) return undefined;
  const keys = [before, now].map(({ evaluation }) => keysOf(evaluation).dedupe);
  if (keys[0] === undefined || keys[1] === undefined || keys[0] === keys[1]) return undefined;
  const { different, same } = fields;
  const [identity] = nameFirst(same.filter((path) => EVENT_ID.test(path)));
  // Two events of one kind differ in more than what tells of a delivery.
  if (identity === undefined || different.length === 0 || !different.every((path) => OF_A_TRY.test(path))) {
    return undefined;
  }
  const [setting, at]: [string, Place] =
    dedupe.key === 'body' ? ['dedupe', mapping.at] : ['dedupe.key', dedupe.key.at];
  const reads = dedupe.key === 'body' ? 'the whole body' : list(readsOf(dedupe.key.source));
  const apartMs = now.request.receivedAt - before.request.receivedAt;
  return note(setting, at, [
    `this body differs from that of the request ${before.request.id}, ${seconds(apartMs)} before, only in ${list(different)}: most likely the sender sent one event twice, and the key reads ${reads}, so it was taken as another one`,
    `write dedupe: {key: '{{${identity}}}'}, which is the same in both`,
  ]);
}

function note(setting: string, at: Place, sentences: readonly string[]): SettingNote {
  return {
    setting,
    at: formatPlace(at),
    text: sentences.join('. ').replace(/\. w/, '. W').replace(/\. i/, '. I'),
  };
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const list = (paths: readonly string[]): string =>
  paths.length <= MAX_NAMED
    ? paths.join(', ')
    : `${paths.slice(0, MAX_NAMED).join(', ')} and ${String(paths.length - MAX_NAMED)} more`;

interface Keys {
  readonly debounce: string | undefined;
  readonly dedupe: string | undefined;
  readonly session: string | undefined;
}

function keysOf({ outcome }: Evaluation): Keys {
  const [action] = outcome.kind === 'accepted' ? outcome.actions : [];
  const agent = action?.kind === 'agent' ? action : undefined;
  return {
    debounce: agent?.debounce?.key,
    dedupe: action !== undefined && 'dedupe' in action ? action.dedupe?.key : undefined,
    session: agent?.sessionKey,
  };
}

/** Paths of the body that a template prints, without the root. */
function readsOf(template: string): readonly string[] {
  const found = template.matchAll(/\{\{\s*(?:[a-z]\w*\s+)?((?:payload\.)?[A-Za-z_][\w.-]*)[^}]*\}\}/g);
  return [...new Set([...found].map(([, path = '']) => path.replace(/^payload\./, '')))];
}

function rankOf(path: string): number {
  if (OF_ALL.test(path)) return 3;
  if (ANY_ID.test(path)) return 0;
  return /(?:name|host|service|project)$/i.test(path) ? 1 : 2;
}

/** Those first that name what an event is about: short paths, ids before names and links. */
function nameFirst(paths: readonly string[]): readonly string[] {
  const rank = (path: string): number => rankOf(path) * 10 + path.split('.').length;
  return paths.toSorted((a, b) => rank(a) - rank(b));
}

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
    if (entries.length === 0) leaves.set(path, JSON.stringify(each));
    for (const [key, inner] of entries)
      visit(inner as JsonValue, path === '' ? String(key) : `${path}.${key}`);
  };
  visit(value, '');
  return leaves;
}
