/*
 * Two requests of one mapping that were kept: one event that was taken for two, or two that were taken for one, since a key
 * of dedupe is another one for each of them, though they are the same, or the same, though they differ.
 */
import { quoted, say, write, type Sentence } from '../finding.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import {
  compareBodies,
  EVENT_ID,
  isPlainPath,
  keysOf,
  list,
  nameFirst,
  note,
  OF_A_TRY,
  readsOf,
  seconds,
  type Fields,
  type Judged,
} from './compared-requests.ts';
import type { SettingText } from '../advice/requests.ts';

/**
 * Compares a request with one that came before it; empty where nothing is sure enough to be told. `first` is the
 * request of which it was taken for a repeat.
 */
export function keyNotes(now: Judged, before: Judged, first?: string): readonly SettingText[] {
  const { mapping } = now.evaluation;
  if (mapping === undefined || before.evaluation.mapping?.id !== mapping.id) return [];
  const fields = compareBodies(before.request.payload, now.request.payload);
  const rule = before.request.id === first ? repeatNote : dedupeNote;
  const found = rule(mapping, { now, before, fields });
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
  const keys = [before, now].map(({ evaluation }) => keysOf(evaluation).dedupe);
  if (dedupe !== undefined && keys[0] !== undefined && keys[0] === keys[1])
    return afterItsTime(mapping, compared, dedupe);
  if (dedupe !== undefined && keys[0] === undefined) return undefined;
  // Two events of one kind differ in more than what tells of a delivery.
  if (!fields.different.every((path) => OF_A_TRY.test(path))) return undefined;
  const identity = identityOf(mapping, compared);
  if (identity === undefined) return undefined;
  const apart = seconds(now.request.receivedAt - before.request.receivedAt);
  const what = say`the request ${before.request.id}, ${apart} before`;
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
  return note(key === undefined ? 'dedupe' : 'dedupe.key', key?.at ?? mapping.at, [
    say`${how}: most likely one event was sent twice, and ${why}`,
    say`${write(identity, undefined, 'to take such a request once,')}, which is the same in both`,
  ]);
}

/** Of the same key that came when `ttlSeconds` had passed. */
function afterItsTime(
  { at }: CompiledMapping,
  { now, before, fields }: Compared,
  { key, ttlSeconds }: NonNullable<CompiledMapping['dedupe']>,
): SettingText | undefined {
  const apartMs = now.request.receivedAt - before.request.receivedAt;
  const isSame = fields.different.every((path) => OF_A_TRY.test(path));
  if (!isSame || apartMs <= ttlSeconds * 1_000 || ttlSeconds >= DAY) return undefined;
  return note('dedupe.ttlSeconds', key === 'body' ? at : key.at, [
    say`the request ${before.request.id}, ${seconds(apartMs)} before, has the same key, and ttlSeconds: ${ttlSeconds} had passed, so this one was taken as another event`,
    say`if one event was sent twice, ${write(`ttlSeconds: ${DAY}`)}`,
  ]);
}

const DAY = 86_400;

/** Milliseconds in which the same body is most likely the same event, where nothing in it or beside it names that. */
const SOON = 600_000;
/** Headers that a sender writes anew for each event, and not for each try. */
const SAME_EVENT = /(?:^|-)(?:event-(?:uu)?id|message-id|delivery|notification-id)$|^(?:webhook|svix)-id$/;

/** What is the same in both requests and names the event, as `dedupe` to write. */
function identityOf({ dedupe }: CompiledMapping, { now, before, fields }: Compared): string | undefined {
  const [path] = nameFirst(fields.same.filter((each) => EVENT_ID.test(each) && isPlainPath(each)));
  const header = Object.keys(now.request.headers)
    .filter((name) => SAME_EVENT.test(name) && now.request.headers[name] === before.request.headers[name])
    .toSorted((a, b) => Number(b.includes('event')) - Number(a.includes('event')))[0];
  const found = header === undefined ? path : `headers.${header}`;
  if (found !== undefined) return `dedupe: {key: '{{${found}}}'}`;
  const apart = now.request.receivedAt - before.request.receivedAt;
  const isSame = fields.different.length === 0 && apart < SOON && dedupe?.key !== 'body';
  return isSame ? 'dedupe: body' : undefined;
}

/** Of another event that was taken for a repeat, since the key is that of what several events are about. */
function repeatNote(mapping: CompiledMapping, { now, before, fields }: Compared): SettingText | undefined {
  const { dedupe } = mapping;
  if (dedupe === undefined || dedupe.key === 'body') return undefined;
  const keys = [before, now].map(({ evaluation }) => keysOf(evaluation).dedupe);
  if (keys[0] === undefined || keys[0] !== keys[1]) return undefined;
  const apartBy = seconds(now.request.receivedAt - before.request.receivedAt);
  if (fields.different.length === 0) {
    const same = note('dedupe.key', dedupe.key.at, [
      say`all fields of the body are the same in the request ${before.request.id}, ${apartBy} before: one event that was sent again`,
    ]);
    return { ...same, isFine: true };
  }
  const apart = newField(dedupe.key.source, { now, before, fields });
  if (apart === undefined) return undefined;
  return note('dedupe.key', dedupe.key.at, [
    say`the key reads ${readsText(dedupe.key.source)} the same in the request ${before.request.id}, ${apartBy} before, so this one was taken for a repeat of it. But ${differText(apart, fields)}`,
    say`if it was a new event, ${write(`key: '${apart.key}'`)}`,
    ...(apart.kind === 'state'
      ? [
          say`Where ${apart.field} comes back within ttlSeconds (${dedupe.ttlSeconds}), that is a repeat again: then write an id or a time of the event behind it`,
        ]
      : []),
  ]);
}

function readsText(template: string): Sentence {
  const reads = readsOf(template);
  return reads.length === 0 ? say`nothing of the request, so it is` : say`${list(reads)}, which is`;
}

interface Apart {
  readonly field: string;
  readonly key: string;
  readonly kind: 'id' | 'time' | 'state';
}

/** What else differs is named up to so many. */
const MAX_DIFFERENT = 3;

function differText({ field, kind }: Apart, { changed }: Fields): Sentence {
  if (kind === 'id') return say`${field} differs and looks like the id of the event`;
  const states = changed.filter((path) => path !== field && OF_A_STATE.test(path));
  const all = [field, ...states].slice(0, MAX_DIFFERENT);
  const text = all.length === 1 ? `${field} differs` : `${all.join(', ')} differ`;
  return kind === 'time' ? say`${text}, and ${field} is new for each event` : quoted(text);
}

/** A header in which a sender names the event. */
const EVENT_HEADER = /(?:^|-)(?:delivery|event-(?:uu)?id|webhook-id|webhook-identifier|message-id)$/;
/** When it happened: another for each event, and the same where one is sent again. A time of the top may be that of a try. */
const TIMES_OF_EVENTS = [
  /(?:^|[._])(?:updated|modified|changed|occurred|fired|triggered|started)_?(?:at|on|time|date)?$/i,
  /\.(?:time|timestamp|ts|date)$/i,
  /(?:^|[._])(?:starts|created)_?(?:at|on|time|date)?$/i,
];
/** What changes with what happened, and may come back. */
const OF_A_STATE = /(?:^|[._])(?:\w*type|action|event|status|state)$/i;

/** What tells the two events apart, and the key to write; undefined where it is one event that was sent twice. */
function newField(key: string, { now, before, fields }: Compared): Apart | undefined {
  const { different, changed, same } = fields;
  const reads = readsOf(key);
  if (different.every((path) => OF_A_TRY.test(path) && !EVENT_ID.test(path))) return undefined;
  const isPath = (path: string): boolean => isPlainPath(path) && !reads.includes(path);
  // What only one of the two has makes no key of the other.
  const [id] = [...changed, ...same]
    .filter((path) => EVENT_ID.test(path) && isPath(path))
    .toSorted((a, b) => idRank(a) - idRank(b));
  if (id !== undefined) return changed.includes(id) ? { field: id, key: `{{${id}}}`, kind: 'id' } : undefined;
  const header = Object.keys(now.request.headers).find((name) => EVENT_HEADER.test(name));
  if (header !== undefined) {
    const isNew = now.request.headers[header] !== before.request.headers[header];
    const field = `headers.${header}`;
    return isNew ? { field, key: `{{${field}}}`, kind: 'id' } : undefined;
  }
  return changedField(key, (changed.some(isPath) ? changed : different).filter(isPath));
}

/** A time of the event before what changed with it, which may come back. */
function changedField(key: string, different: readonly string[]): Apart | undefined {
  const time = TIMES_OF_EVENTS.map((form) => different.find((path) => form.test(path))).find(Boolean);
  const changed = different.filter((path) => !OF_A_TRY.test(path));
  const field = time ?? changed.find((path) => OF_A_STATE.test(path)) ?? changed[0];
  if (field === undefined) return undefined;
  return { field, key: `${key}-{{${field}}}`, kind: time === undefined ? 'state' : 'time' };
}

const ID_KINDS = [/event/i, /^(?:id|uuid|guid)$/i, /message|msg/i, /notification/i];

/** Those of the event before those of its message or delivery, which several of one event may have. */
function idRank(path: string): number {
  const kind = ID_KINDS.findIndex((form) => form.test(path));
  return (kind === -1 ? ID_KINDS.length : kind) * 10 + path.split('.').length;
}
