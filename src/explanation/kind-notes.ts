/* Requests of several kinds that one mapping took, where nothing in it reads of which kind they are. */
import type { Place } from '../document/document.ts';
import { fieldAt } from '../json.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { compareBodies, note, type Judged } from './compared-requests.ts';
import type { SettingNote } from './setting-notes.ts';

/** Fields that say what happened, at the top of a body or one level below it. */
const OF_A_KIND = /^(?:[A-Za-z_]\w*\.)?(?:action|event|event_?(?:type|name)|type|kind|status|state)$/i;
const VALUE = /^[\w .:/-]{1,40}$/;

/** Says which field would tell them apart; it may well be that all of them are meant. */
export function kindNotes(now: Judged, others: readonly Judged[]): readonly SettingNote[] {
  const { mapping } = now.evaluation;
  const when = mapping?.match.when;
  if (mapping === undefined || when === undefined || mapping.transform !== undefined) return [];
  if (!isTaken(now)) return [];
  const written = textOf(mapping);
  for (const other of others) {
    if (other.evaluation.mapping?.id !== mapping.id || !isTaken(other)) continue;
    const { different } = compareBodies(other.request.payload, now.request.payload);
    const field = different.find((path) => OF_A_KIND.test(path) && !written.includes(path));
    if (field === undefined) continue;
    const [here, there] = [valueOf(now, field), valueOf(other, field)];
    if (here === undefined || there === undefined) continue;
    const first = now.request.receivedAt < other.request.receivedAt ? here : there;
    return [
      note('match.when', when.at, [
        `nothing in the mapping reads ${field}, which is "${here}" here and "${there}" in the request ${other.request.id}: both were taken`,
        `if only one kind is meant, ${addition(when.at, `{"===":[{"var":"payload.${field}"},"${first}"]}`)}`,
      ]),
    ];
  }
  return [];
}

function addition({ source, start, end }: Place, leaf: string): string {
  const isList = /^\s*\{?\s*['"]?and['"]?\s*:/.test(source.text.slice(start, end));
  return isList ? `add ${leaf} to the list of "and"` : `join it with the condition: {"and": [ … , ${leaf}]}`;
}

const isTaken = ({ evaluation: { outcome } }: Judged): boolean => outcome.kind === 'accepted';

/** Its condition, templates and keys, as they are written. */
function textOf({ match, text, sessionKey, name, dedupe, debounce }: CompiledMapping): string {
  const { when } = match;
  const keys = [dedupe?.key === 'body' ? undefined : dedupe?.key, debounce?.key];
  return [
    when?.at.source.text.slice(when.at.start, when.at.end),
    ...[text, sessionKey, name, ...keys].map((template) => template?.source),
  ].join('\n');
}

function valueOf({ request }: Judged, field: string): string | undefined {
  const value = fieldAt(request.payload, field.split('.'));
  return typeof value === 'string' && VALUE.test(value) ? value : undefined;
}
