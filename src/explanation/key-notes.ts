/*
 * Two requests of one mapping that were kept: one event that was taken for two, since a key of dedupe is another one for
 * each of them, though they are the same.
 */
import { say, write } from '../finding.ts';
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

/** Compares a request with one that came before it; empty where nothing is sure enough to be told. */
export function keyNotes(now: Judged, before: Judged): readonly SettingText[] {
  const { mapping } = now.evaluation;
  if (mapping === undefined || before.evaluation.mapping?.id !== mapping.id) return [];
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
  const keys = [before, now].map(({ evaluation }) => keysOf(evaluation).dedupe);
  if (dedupe !== undefined && (keys[0] === undefined || keys[0] === keys[1])) return undefined;
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
