/**
 * What a person sees of a request first, in `sluice explain` and in the log of `sluice dev`: the verdict, one hint (a
 * second only of the same kind), and how to see more. A hint begins with the verb; what is to be written stands on a
 * line of its own, as the whole line of the file where that is known.
 */
import { printSentence, say, splitAtFix, type Sentence } from '../finding.ts';
import { formatPlace, type Place } from '../document/document.ts';
import type { Evaluation, TransformTrace } from '../hook/hook.ts';
import {
  advisedWarnings,
  adviceIn,
  type EvaluationAdvice,
  type EvaluationNote,
  evaluationNotes,
  nearestMiss,
  tellsWhatToWrite,
  untold,
} from '../advice/requests.ts';
import { clearLine } from '../telemetry/telemetry.ts';
import { wrap } from './format-lines.ts';

/** How it is printed. */
export interface BriefOptions {
  /** Letters in a line; absent where the terminal breaks them. */
  readonly columns?: number | undefined;
}

/** A note; of a warning with its code. */
export type Hint = EvaluationNote & { readonly warning?: string };

/** What a request became and what to do, in lines. */
export interface Brief {
  readonly verdict: readonly string[];
  readonly hints: readonly string[];
  /** The notes that the hints are made of. */
  readonly told: readonly Hint[];
}

const MAX_EMPTY = 3;
/** A longer line is a file of its own: what is to be changed of it says more. */
const MAX_LINE = 300;
const MAX_HINTS = 2;

/** Says what became of an evaluated request, and what is surest to be done about it. */
export function briefOf(
  evaluation: Evaluation,
  advice: EvaluationAdvice | undefined,
  options: BriefOptions = {},
): Brief {
  const notes = evaluationNotes(evaluation, advice);
  const [first, ...others] = candidates(evaluation, notes);
  const told = [first, ...others.filter((note) => isAsSure(note, first))]
    .filter((note) => note !== undefined)
    .slice(0, MAX_HINTS);
  const how = { ...options, places: placesIn(evaluation) };
  return {
    verdict: verdictOf(evaluation, notes, adviceIn(notes).ofKind.length > 0, options),
    hints:
      first?.code === 'rendered_empty'
        ? emptyHints(
            [first, ...others].filter(({ code }) => code === 'rendered_empty'),
            how,
          )
        : told.flatMap((note) => noteHint(note, how)),
    told,
  };
}

/** Of the same kind. */
const isAsSure = (note: EvaluationNote, first: EvaluationNote | undefined): boolean =>
  note.code === first?.code && note !== first && note.code !== 'setting';

/** Everything that says what to do, the surest first. */
function candidates(evaluation: Evaluation, notes: readonly EvaluationNote[]): readonly Hint[] {
  const { mapping, outcome, trace, warnings } = evaluation;
  // It is as the operator wrote it.
  if (outcome.kind === 'skipped') return [];
  const of = (code: EvaluationNote['code']): readonly EvaluationNote[] =>
    notes.filter((note) => note.code === code);
  const { ofKind, others } = adviceIn(notes);
  // A block over a path whose beginning is not there is for other events.
  const empty = of('rendered_empty').filter(
    ({ paths = [], expression = '' }) => paths.length > 0 && !/^#\w+ [\w-]+\./.test(expression),
  );
  const isAmiss = mapping === undefined || outcome.kind === 'rejected' || of('rendered_empty').length > 0;
  const held = others.filter(({ code }) => code === 'held_otherwise');
  const miss = mapping === undefined ? nearestMiss(trace.considered, notes) : undefined;
  const telling = (miss?.notes ?? []).filter(({ code }) => tellsWhatToWrite(code));
  const sure = telling.filter(({ text }) => splitAtFix(text).fix?.line !== undefined);
  return [
    ...(isAmiss ? [...ofKind, ...others] : held),
    ...(sure.length > 0 ? sure : telling),
    ...empty,
    ...of('near_name'),
    ...of('passed_over'),
    ...of('remedy'),
    ...of('returned_nothing'),
    ...untold(advisedWarnings(warnings), notes).map(({ code, message }): Hint => ({
      code: 'warning',
      warning: code,
      text: say`${code}: ${message}`,
    })),
    ...(isAmiss ? [] : others),
    ...of('setting').filter(({ isFine }) => isFine !== true),
    ...of('only_first_acts'),
  ];
}

type LinesOf = (notes: readonly EvaluationNote[], mark: string) => readonly string[];

const linesBy =
  (options: BriefOptions): LinesOf =>
  (notes, mark) =>
    notes.flatMap((note) => wrap(mark, `${printSentence(note.text)}${placeOf(note)}`, options));

/** Why it was not taken, or what is not in what was made of it. */
function verdictOf(
  { mapping, outcome, trace }: Evaluation,
  notes: readonly EvaluationNote[],
  isOfKind: boolean,
  options: BriefOptions,
): readonly string[] {
  const of = (code: EvaluationNote['code']): readonly EvaluationNote[] =>
    notes.filter((note) => note.code === code);
  const lines = (texts: readonly string[], mark: string): readonly string[] =>
    texts.flatMap((text) => wrap(mark, text, options));
  const said = linesBy(options);
  if (outcome.kind === 'skipped') return [];
  if (mapping === undefined) {
    const miss = isOfKind ? undefined : nearestMiss(trace.considered, notes);
    const names = of('hook_name').map(({ text }) => printSentence(text));
    const known = names.length === 0 ? '' : `; the hook names are: ${names.slice(0, 10).join(', ')}`;
    return [
      ...said((miss?.notes ?? []).slice(0, 1), `✗ ${miss?.id ?? ''}: `).map((line, at) =>
        at === 0 ? line : `  ${line.trimStart()}`,
      ),
      ...lines(
        of('unknown_name').map(({ text }) => `${printSentence(text)}${known}`),
        '✗ ',
      ),
    ];
  }
  const error = outcome.kind === 'rejected' ? outcome.error : undefined;
  return [
    ...lines(error === undefined ? [] : [`${error.code}: ${error.detail}`], '✗ '),
    ...lines(trace.transforms.flatMap(failureOf), '  '),
    ...said(of('cause'), '  '),
    ...emptyLines(of('rendered_empty'), options),
    ...said(of('empty_key'), '  '),
  ];
}

/** What is not in what was made of it. */
function emptyLines(notes: readonly EvaluationNote[], options: BriefOptions): readonly string[] {
  const texts = notes.map(
    ({ field = '', index, expression = '', ...note }) =>
      `${field}${index === undefined ? '' : ` of element ${index}`} has nothing for ${expression}${placeOf(note)}`,
  );
  const more = texts.length - MAX_EMPTY;
  return (more > 1 ? [...texts.slice(0, MAX_EMPTY), `and ${more} more`] : texts).flatMap((text) =>
    wrap('· ', text, options),
  );
}

/** What a transform threw and where, or what is wrong with its result. */
function failureOf({ reply, problem }: TransformTrace): readonly string[] {
  if (reply.kind !== 'failed') return problem === undefined ? [] : [problem];
  const { name, message, position: at } = reply;
  const where = at === undefined ? '' : `  ${at.file}:${at.line}:${at.column}`;
  return [`${name === undefined ? '' : `${name}: `}${message.split('\n', 1)[0] ?? ''}${where}`];
}

const placeOf = ({ at }: Pick<EvaluationNote, 'at'>): string => (at === undefined ? '' : `  ${at}`);

/** The same of notes on a request that was not kept: what was answered, and what the store knows of why. */
export function notesBrief(notes: readonly EvaluationNote[], options: BriefOptions = {}): Brief {
  const of = (...codes: readonly EvaluationNote['code'][]): readonly EvaluationNote[] =>
    notes.filter(({ code }) => codes.includes(code));
  const said = linesBy(options);
  const [miss] = of('not_held');
  const hints = [
    ...of('difference')
      .filter(({ mapping }) => mapping?.id === miss?.mapping?.id)
      .slice(0, 1),
    ...of('refusal', 'new_event', 'remedy'),
    ...of('warning', 'empty_key', 'transform'),
    ...of('setting').filter(({ isFine }) => isFine !== true),
  ];
  const told = hints.filter((note, at) => at === 0 || isAsSure(note, hints[0])).slice(0, MAX_HINTS);
  return {
    verdict: [
      ...said(of('repeat'), '· '),
      ...said(of('older', 'detail'), '✗ '),
      ...of('refusal').flatMap(({ field = '' }) => wrap('✗ ', field, options)),
      ...said(miss === undefined ? [] : [miss], `✗ ${miss?.mapping?.id ?? ''}: `),
      ...emptyLines(of('rendered_empty'), options),
    ],
    hints: told.flatMap((note) => noteHint(note, options)),
    told,
  };
}

/** How hints are printed: with the lines of the files that they are about. */
interface HintOptions extends BriefOptions {
  readonly places?: ReadonlyMap<string, Place>;
}

/** A hint on lines of its own: the verb, what is to be written as it is pasted, and why. */
export function noteHint(
  { setting, text, at }: EvaluationNote,
  options: HintOptions = {},
): readonly string[] {
  const place = at === undefined ? undefined : options.places?.get(at);
  const { verb, line, why } = hintParts(text);
  const whole =
    line !== undefined && line.startsWith('{') && place !== undefined
      ? changedLine([{ at: place, text: line }])
      : undefined;
  const [reason = '', ...block] = why.split('\n');
  const what = setting === undefined ? reason : [setting, reason].filter((part) => part !== '').join(': ');
  return [
    ...written({ verb, line: whole ?? line, at, why: what }, options),
    ...block.map((each) => `    ${clearLine(each)}`),
  ];
}

/** What to do, what is to be pasted, and why. */
function hintParts(sentence: Sentence): {
  readonly verb: string;
  readonly line?: string | undefined;
  readonly why: string;
} {
  const { before, fix, after } = splitAtFix(sentence);
  const found = printSentence(before).replace(/[:;,.]? ?$/, '');
  const rest = printSentence(after).replace(/^[\s,;.:]+/, '');
  if (fix === undefined) {
    const [verb = '', ...block] = found.split('\n');
    return { verb, why: block.length === 0 ? '' : ['', ...block].join('\n') };
  }
  // All that follows says what to do.
  if (fix.verb === '') return { verb: printSentence(after), why: found };
  const { verb, where, purpose, line } = fix;
  return {
    verb: `${verb.replace(/:$/, '')}${where === undefined ? '' : ` ${where}`}${purpose === undefined ? '' : `, ${purpose.replace(/,$/, '')}`}`,
    line,
    why: [found, rest].filter((part) => part !== '').join('; '),
  };
}

function written(
  {
    verb,
    line,
    at,
    why,
  }: {
    readonly verb: string;
    readonly line: string | undefined;
    readonly at: string | undefined;
    readonly why: string;
  },
  options: BriefOptions,
): readonly string[] {
  const where = at === undefined || why.includes(at) || verb.includes(at) ? '' : ` (${at})`;
  return [
    ...wrap('hint: ', `${verb}${where}${line === undefined ? '' : ':'}`, options),
    ...(line === undefined ? [] : [`    ${clearLine(line)}`]),
    ...(why === '' ? [] : wrap('  ', why, options)),
  ];
}

/** Places of the mappings that an evaluation went through, by how notes write them. */
function placesIn({ trace: { considered, templates } }: Evaluation): ReadonlyMap<string, Place> {
  const places = [
    ...considered.flatMap(({ nodes = [], parts = [] }) => [...nodes, ...parts].map(({ at }) => at)),
    ...templates.flatMap(({ empty }) => empty.map(({ at }) => at)),
  ];
  return new Map(places.map((place) => [formatPlace(place), place]));
}

/** What a template reads in vain and the request has elsewhere: each line of a file once, with all that is to be changed. */
function emptyHints(notes: readonly EvaluationNote[], options: HintOptions): readonly string[] {
  const groups = Map.groupBy(notes, ({ at = '' }) => at.replace(/:\d+$/, ''));
  return [...groups.values()].slice(0, MAX_HINTS).flatMap((group) => {
    const edits = group.flatMap((note) => editOf(note, options) ?? []);
    const whole = edits.length === group.length ? changedLine(edits) : undefined;
    if (whole === undefined)
      return group.slice(0, MAX_HINTS).flatMap(({ at, paths = [], text }) =>
        written(
          {
            verb: 'write',
            line: paths.map((path) => `{{${path}}}`).join(' or '),
            at,
            why: printSentence(text),
          },
          options,
        ),
      );
    const why = group.map(({ text }) => printSentence(text)).join('; ');
    return written({ verb: 'write', line: whole, at: group[0]?.at, why }, options);
  });
}

function editOf({ expression = '', at = '', paths = [] }: EvaluationNote, { places }: HintOptions) {
  const [found, ...others] = paths;
  const place = places?.get(at);
  const old = place?.source.text.slice(place.start, place.end) ?? '';
  const name = expression.trim();
  if (place === undefined || found === undefined || others.length > 0 || !old.includes(name))
    return undefined;
  return { at: place, text: old.replace(name, () => found) };
}

/** The one line of the places with other texts there; undefined where a place has several lines or no end. */
function changedLine(edits: readonly { readonly at: Place; readonly text: string }[]): string | undefined {
  const [{ at: first }] = edits as [(typeof edits)[number]];
  const { source } = first;
  const from = source.text.lastIndexOf('\n', Math.max(0, first.start - 1)) + 1;
  const [line = ''] = source.text.slice(from).split('\n', 1);
  let changed = line;
  for (const { at, text } of edits.toSorted((a, b) => b.at.start - a.at.start)) {
    if (at.end <= at.start || at.end > from + line.length || at.start < from) return undefined;
    changed = `${changed.slice(0, at.start - from)}${text}${changed.slice(at.end - from)}`;
  }
  return changed.length > MAX_LINE ? undefined : changed.trim();
}
