/* Why a request became what it is, for the log of `sluice dev`: the nearest miss whole, with its advice. */
import { moveBefore } from '../advice/file-order.ts';
import {
  advisedWarnings,
  adviceFor,
  adviceIn,
  type EvaluationNote,
  evaluationNotes,
  laterMappings,
  longWaitText,
  nearestMiss,
  untold,
} from '../advice/requests.ts';
import { formatPlace } from '../document/document.ts';
import { type RoutingTable } from '../mapping/mapping.ts';
import type { SeenRequest } from '../server/server.ts';
import { clearLine } from '../telemetry/telemetry.ts';

/** How the log is written. */
export interface DevLog {
  /** The command that tells all of a request. */
  readonly explain: string;
  /** The mappings as they are. */
  readonly table: RoutingTable;
  /** Letters in a line. */
  readonly columns: number;
  /** Warnings that were printed whole: they come again with every request of their mapping. */
  readonly told: Set<string>;
}

/** Letters of one note, and lines of one request; what is more is left to `sluice explain`. */
const MAX_NOTE_CHARS = 1_500;
const MAX_LINES = 24;
const MAX_EMPTY = 5;
const MAX_TOLD = 200;

/** Why no mapping took it, what rendered empty, and what else is odd; with the command that tells all of it. */
export function whyLines(seen: SeenRequest, log: DevLog): readonly string[] {
  const { request, evaluation, status } = seen;
  const { mapping, trace, warnings } = evaluation;
  const isOdd = mapping === undefined || trace.templates.some(({ empty }) => empty.length > 0);
  const notes = isOdd ? evaluationNotes(evaluation, adviceFor(evaluation, request, log.table)) : [];
  const empty = notes.filter(({ code }) => code === 'rendered_empty');
  const advice = adviceIn(notes);
  const lines = [
    ...adviceLines(advice.ofKind, log),
    ...(mapping === undefined && advice.ofKind.length === 0 ? missLines(evaluation, notes, log) : []),
    ...emptyLines(empty, log),
    ...adviceLines(
      notes.filter(({ code }) => code === 'empty_key'),
      log,
    ),
    ...adviceLines(advice.others, log),
    ...laterLines(seen, log),
    ...waitLines(seen, log),
    ...untold(advisedWarnings(warnings), notes).flatMap((warning) => warningLines(warning, log)),
  ];
  if (lines.length > MAX_LINES)
    return [...lines.slice(0, MAX_LINES - 1), `      …; ${log.explain} tells all`];
  return lines.length === 0 && status < 400 && seen.result?.duplicate !== true
    ? []
    : [...lines, `  why: ${log.explain}`];
}

/** What rendered empty, the first of it. */
function emptyLines(empty: readonly EvaluationNote[], log: DevLog): readonly string[] {
  // "And 1 more" takes as much room as that one.
  const count = empty.length > MAX_EMPTY + 1 ? MAX_EMPTY : empty.length;
  const more = empty.length - count;
  return [
    ...empty.slice(0, count).flatMap(({ field = '', index, text, at = '' }) => {
      const element = index === undefined ? '' : ` of element ${index}`;
      return wrap('  · ', `empty: ${field}${element}: ${text}  ${at}`, log);
    }),
    ...(more > 0 ? [`  · and ${more} more`] : []),
  ];
}

function adviceLines(notes: readonly EvaluationNote[], log: DevLog): readonly string[] {
  return notes.flatMap(({ text }) => noteLines(text, log));
}

/** A note with what is to be written below it: lines of code stay as they are. */
function noteLines(
  text: string,
  log: Pick<DevLog, 'columns' | 'explain'>,
  mark = '  note ',
): readonly string[] {
  const [first = '', ...more] = text.split('\n');
  return [
    ...wrap(mark, first, log),
    ...more.flatMap((each) =>
      each.startsWith('  ') ? [`      ${clearLine(each)}`] : wrap('      ', each, log),
    ),
  ];
}

/** What only the explanation has to say of a mapping, in lines that fit; other lines may stand between it and its request. */
export function hintLines(
  { mappingId, requestId }: { readonly mappingId: string; readonly requestId: string },
  { setting = '', at, text }: EvaluationNote,
  log: Pick<DevLog, 'columns' | 'explain'>,
): readonly string[] {
  const what = [`request ${requestId}`, mappingId, setting].filter(Boolean).join(', ');
  return noteLines(`${what}${at === undefined ? '' : ` (${at})`}: ${text}`, log, '  hint ');
}

/** A mapping that would have taken it, too, and does not only take what others leave; once for each two mappings. */
function laterLines({ request, evaluation }: SeenRequest, log: DevLog): readonly string[] {
  const rival = laterMappings(evaluation, request, log.table).find(({ takesAny }) => !takesAny);
  if (rival === undefined) return [];
  const { id = '', at } = evaluation.mapping ?? {};
  const first = { id, at: at === undefined ? '' : formatPlace(at) };
  const text = `${rival.id} would have taken it, too, but stands behind ${id}, and only the first mapping that matches acts: if it should take such requests, ${moveBefore(rival, first)}`;
  return toldOnce(text, log);
}

/** Of a run that begins only after a while, what acts at once; once for each mapping. */
function waitLines({ evaluation: { mapping } }: SeenRequest, log: DevLog): readonly string[] {
  const text = mapping && longWaitText(mapping);
  return text === undefined ? [] : toldOnce(`debounce of ${mapping?.id ?? ''}: ${text}`, log);
}

function toldOnce(text: string, log: DevLog): readonly string[] {
  if (log.told.has(text) || log.told.size >= MAX_TOLD) return [];
  log.told.add(text);
  return wrap('  note ', text, log);
}

/** A warning; in short where it was printed before. */
function warningLines(
  { code, message }: SeenRequest['evaluation']['warnings'][number],
  log: DevLog,
): readonly string[] {
  if (log.told.has(message)) return [`  ! ${code}, as above`];
  if (log.told.size < MAX_TOLD) log.told.add(message);
  return wrap('  ! ', message, log);
}

/** The nearest miss, with each note on lines of its own. */
function missLines(
  { trace }: SeenRequest['evaluation'],
  notes: readonly EvaluationNote[],
  log: DevLog,
): readonly string[] {
  const miss = nearestMiss(trace.considered, notes);
  if (miss === undefined) return [];
  const [first, ...more] = miss.notes;
  const place = first?.at === undefined ? '' : `  ${first.at}`;
  return [
    ...wrap('  ✗ ', `${miss.id}: ${first?.text ?? ''}${place}`, log),
    ...more.flatMap(({ text }) => wrap('      ', text, log)),
  ];
}

/** A text in lines behind a mark; what is between braces or quotes stays on one line, as it is there to be copied. */
function wrap(
  mark: string,
  text: string,
  { columns, explain }: Pick<DevLog, 'columns' | 'explain'>,
): readonly string[] {
  const cleared = clearLine(text).trim();
  const isCut = cleared.length > MAX_NOTE_CHARS;
  const shown = isCut ? `${cleared.slice(0, MAX_NOTE_CHARS)} …; ${explain} tells all` : cleared;
  const room = columns - mark.length;
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(shown)) {
    // What fits on no line stays where it is: the terminal breaks it, and copying does not.
    const isFull = line !== '' && line.length + word.length > room && word.length <= room;
    if (isFull) lines.push(line);
    line = isFull || line === '' ? word.trimStart() : `${line}${word}`;
  }
  const indent = ' '.repeat(Math.max(mark.length, 6));
  return [...lines, line].map((each, number) => `${number === 0 ? mark : indent}${each}`);
}

/** Words with the spaces before them; what stands between braces is one. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') at = closeOf(text, at) ?? at;
    if (text[at + 1] !== ' ' || text[at] === ' ') continue;
    words.push(text.slice(from, at + 1));
    from = at + 1;
  }
  return [...words, text.slice(from)];
}

/** Where a brace is closed; undefined where the text was cut before that. */
function closeOf(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
