import { printSentence, type Sentence } from '../finding.ts';
import { formatPlace } from '../document/document.ts';
import type { ConsideredMapping } from '../mapping/mapping.ts';
import { clearLine } from '../telemetry/telemetry.ts';
import {
  type EvaluationNote,
  inOrderOf,
  nearestMisses,
  notesOfMapping,
  placesOf,
  tellsWhatToWrite,
} from '../advice/requests.ts';
import { type Paint } from './format-lines.ts';

/** A sentence in one line. */
const shown = (text: Sentence): string => clearLine(printSentence(text));

/** Misses printed with their reason; the others are counted. */
const MAX_MISSES = 10;

/** The mappings that were considered, the nearest miss first where none matched. */
export function consideredLines(
  considered: readonly ConsideredMapping[],
  notes: readonly EvaluationNote[],
  paint: Paint,
): string[] {
  const of = (code: EvaluationNote['code']): readonly EvaluationNote[] =>
    notes.filter((note) => note.code === code);
  if (considered.length === 0)
    return of('near_name').map((note) => `the hook name ${placedLine(note, paint)}`);
  const at = considered.findIndex(({ matched }) => matched);
  const taken = considered[at];
  // Those without a hook name are of no other one.
  const before = at === -1 ? considered : considered.slice(0, at);
  const all = before.filter(
    ({ mapping, failed }) => mapping.match.path !== undefined || failed?.part !== 'path',
  ).length;
  const onPath = inOrderOf(notes, nearestMisses(considered));
  const near = onPath.slice(0, MAX_MISSES);
  return [
    ...(taken === undefined
      ? onPath.length > 0
        ? ['no mapping matched; the nearest miss first:']
        : nameLines(considered, of)
      : ['mappings considered:', ...mappingLines(taken, notes, paint)]),
    ...near.flatMap((miss) => mappingLines(miss, notes, paint)),
    ...countLines({ shown: near.length, onPath: onPath.length, all }),
    ...of('also_matched').map((note) => `  ${placedLine(note, paint)}`),
    ...of('only_first_acts').map(({ text }) => `  ${paint('green', 'hint:')} ${shown(text)}`),
  ];
}

/** A note and its place. */
const placedLine = ({ text, at }: EvaluationNote, paint: Paint): string =>
  `${shown(text)}${at === undefined ? '' : `  ${paint('cyan', at)}`}`;

/** How many misses are not shown: of this hook name, and of others. */
function countLines(misses: { readonly shown: number; readonly onPath: number; readonly all: number }) {
  const more = misses.onPath - misses.shown;
  const others = misses.all - misses.onPath;
  return [
    ...(more > 0 ? [`  and ${more} more of this hook name`] : []),
    ...(others > 0 && others < misses.all ? [`  and ${others} of other hook names`] : []),
  ];
}

/** Where no mapping even has the hook name: what may have been meant, and the names there are. */
function nameLines(
  considered: readonly ConsideredMapping[],
  of: (code: EvaluationNote['code']) => readonly EvaluationNote[],
): readonly string[] {
  const names = of('hook_name');
  const more = placesOf(considered).size - names.length;
  return [
    ...of('unknown_name').map(({ text }) => shown(text)),
    ...of('near_name').map(({ text, at }) => `  ${shown(text)}${at === undefined ? '' : `  ${at}`}`),
    names.length === 0 ? '  there is no mapping with a hook name' : '  the hook names are:',
    ...names.map(({ text, at = '' }) => `    ${shown(text)}  ${at}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
    ...of('passed_over').map(({ text }) => `  ${shown(text)}`),
  ];
}

/** Notes of a mapping whose place is shown behind them; that of others is the same as of the line above. */
const WITH_PLACE: ReadonlySet<EvaluationNote['code']> = new Set(['held', 'not_held']);

/** A mapping that was considered, and why it was taken or not. */
function mappingLines(
  { mapping, matched }: ConsideredMapping,
  notes: readonly EvaluationNote[],
  paint: Paint,
): string[] {
  const at = formatPlace(mapping.at);
  const mark = matched ? paint('green', '✓') : paint('red', '✗');
  return [
    `  ${mark} ${clearLine(mapping.id)}  ${paint('cyan', at)}`,
    ...notesOfMapping(notes, { id: mapping.id, at }).map((note) => {
      const indent = note.code === 'part' ? '        ' : '      ';
      const label = tellsWhatToWrite(note.code) ? `${paint('green', 'hint:')} ` : '';
      return `${indent}${label}${WITH_PLACE.has(note.code) ? placedLine(note, paint) : shown(note.text)}`;
    }),
  ];
}
