/**
 * What a person sees of a request first, in `sluice explain` and in the log of `sluice dev`: the verdict, one hint (a
 * second only of the same kind), and how to see more.
 */
import { inLine, quoted, say, splitAtFix, write } from '../../base/finding.ts';
import { formatPlace, type Place } from '../../base/document/document.ts';
import type { Evaluation, TransformTrace } from '../../engine/hook/hook.ts';
import {
  adviceIn,
  type EvaluationAdvice,
  type EvaluationNote,
  evaluationNotes,
  nearestMiss,
  pathsIn,
  tellsWhatToWrite,
  warningsLeft,
} from '../advice/requests.ts';
import { advise } from '../advice/advice.ts';
import { changedLine, hintLines, noteLines, type NoteOptions } from './format-notes.ts';
import { wrap } from './format-lines.ts';

/** What a request became and what to do, in lines. */
export interface Brief {
  readonly verdict: readonly string[];
  readonly hints: readonly string[];
  /** The notes that the hints are made of; of a warning with its code. */
  readonly told: readonly Hint[];
}

type Hint = EvaluationNote & { readonly warning?: string };

const MAX_EMPTY = 3;
const MAX_HINTS = 2;

/** Says what became of an evaluated request, and what is surest to be done about it. */
export function briefOf(
  evaluation: Evaluation,
  advice: EvaluationAdvice | undefined,
  options: NoteOptions = {},
): Brief {
  const notes = evaluationNotes(evaluation, advice);
  const all = candidates(evaluation, notes);
  const told = surest(all);
  const how = { ...options, places: placesIn(evaluation) };
  const isEmpty = told[0]?.code === 'rendered_empty';
  const hints = isEmpty ? emptyHints(all, how) : told;
  return {
    verdict: verdictOf(evaluation, notes, options),
    hints: hints.flatMap((note) => hintLines(note, how)),
    told,
  };
}

/** The first, and a second of the same kind. */
const surest = <Of extends EvaluationNote>(notes: readonly Of[]): readonly Of[] =>
  notes
    .filter(({ code }, at) => at === 0 || (code === notes[0]?.code && code !== 'setting'))
    .slice(0, MAX_HINTS);

type NotesOf = (...codes: readonly EvaluationNote['code'][]) => readonly EvaluationNote[];

const among =
  (notes: readonly EvaluationNote[]): NotesOf =>
  (...codes) =>
    notes.filter(({ code }) => codes.includes(code));

/** Everything that says what to do, the surest first. */
function candidates(evaluation: Evaluation, notes: readonly EvaluationNote[]): readonly Hint[] {
  const { mapping, outcome, trace, warnings } = evaluation;
  // It is as the operator wrote it.
  if (outcome.kind === 'skipped') return [];
  const of = among(notes);
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
    ...warningsLeft(advise(warnings), notes).map((warning): Hint => ({
      code: 'warning',
      warning: warning.code,
      text: say`${warning.code}: ${inLine(warning)}`,
    })),
    ...(isAmiss ? [] : others),
    ...of('setting').filter(({ isFine }) => isFine !== true),
  ];
}

/** Why it was not taken, or what is not in what was made of it. */
function verdictOf(
  { mapping, outcome, trace }: Evaluation,
  notes: readonly EvaluationNote[],
  options: NoteOptions,
): readonly string[] {
  const of = among(notes);
  if (outcome.kind === 'skipped') return [];
  if (mapping === undefined) {
    const isOfKind = adviceIn(notes).ofKind.length > 0;
    const miss = isOfKind ? undefined : nearestMiss(trace.considered, notes);
    const names = of('hook_name').map(({ text }) => text);
    const known = names
      .slice(0, 10)
      .reduce((all, name, at) => say`${all}${at === 0 ? '; the hook names are: ' : ', '}${name}`, say``);
    return [
      ...(miss?.notes ?? []).slice(0, 1).flatMap((note) => noteLines(note, options)),
      ...of('unknown_name').flatMap((note) =>
        noteLines({ ...note, text: say`${note.text}${known}` }, options),
      ),
    ];
  }
  const error = outcome.kind === 'rejected' ? outcome.error : undefined;
  return [
    ...(error === undefined ? [] : wrap('✗ ', `${error.code}: ${error.detail}`, options)),
    ...trace.transforms.flatMap(failureOf).flatMap((text) => wrap('  ', text, options)),
    ...of('cause').flatMap((note) => noteLines(note, options)),
    ...emptyLines(of('rendered_empty'), options),
    ...of('empty_key').flatMap((note) => noteLines(note, options)),
  ];
}

/** What is not in what was made of it; what the request has in its place is a hint. */
function emptyLines(notes: readonly EvaluationNote[], options: NoteOptions): readonly string[] {
  const more = notes.length - MAX_EMPTY;
  return [
    ...(more > 1 ? notes.slice(0, MAX_EMPTY) : notes).flatMap((note) =>
      noteLines(
        { ...note, text: note.expression === undefined ? note.text : quoted(note.expression) },
        options,
      ),
    ),
    ...(more > 1 ? [`· and ${more} more`] : []),
  ];
}

/** What a transform threw and where, or what is wrong with its result. */
function failureOf({ reply, problem }: TransformTrace): readonly string[] {
  if (reply.kind !== 'failed') return problem === undefined ? [] : [problem];
  const { name, message, position: at } = reply;
  const where = at === undefined ? '' : `  ${at.file}:${at.line}:${at.column}`;
  return [`${name === undefined ? '' : `${name}: `}${message.split('\n', 1)[0] ?? ''}${where}`];
}

/** The same of notes on a request that was not kept: what was answered, and what the store knows of why. */
export function notesBrief(notes: readonly EvaluationNote[], options: NoteOptions = {}): Brief {
  const of = among(notes);
  const [miss] = of('not_held');
  const told = surest([
    ...of('difference')
      .filter(({ mapping }) => mapping?.id === miss?.mapping?.id)
      .slice(0, 1),
    ...of('refusal', 'new_event', 'remedy'),
    ...of('warning', 'empty_key', 'transform'),
    ...of('setting').filter(({ isFine }) => isFine !== true),
  ]);
  return {
    verdict: [
      ...of('repeat', 'older', 'detail').flatMap((note) => noteLines(note, options)),
      ...of('refusal').flatMap(({ field = '' }) => wrap('✗ ', field, options)),
      ...(miss === undefined ? [] : noteLines(miss, options)),
      ...emptyLines(of('rendered_empty'), options),
    ],
    hints: told.flatMap((note) => hintLines(note, options)),
    told,
  };
}

/** Places of the mappings that an evaluation went through, by how notes write them. */
export function placesIn({ trace: { considered, templates } }: Evaluation): ReadonlyMap<string, Place> {
  const places = [
    ...considered.flatMap(({ nodes = [], parts = [] }) => [...nodes, ...parts].map(({ at }) => at)),
    ...templates.flatMap(({ empty }) => empty.map(({ at }) => at)),
  ];
  return new Map(places.map((place) => [formatPlace(place), place]));
}

/** What a template reads in vain and the request has elsewhere: each line of a file once, with all that is to be changed. */
function emptyHints(notes: readonly EvaluationNote[], options: NoteOptions): readonly EvaluationNote[] {
  const empty = notes.filter(({ code }) => code === 'rendered_empty');
  const groups = Map.groupBy(empty, ({ at = '' }) => at.replace(/:\d+$/, ''));
  return [...groups.values()].slice(0, MAX_HINTS).flatMap((group) => {
    const edits = group.flatMap((note) => editOf(note, options) ?? []);
    const whole = edits.length === group.length ? changedLine(edits) : undefined;
    const [first] = group;
    if (whole === undefined || first === undefined)
      return group.slice(0, MAX_HINTS).map((note) => {
        const { expression = '', paths: [path, ...others] = [] } = note;
        const isAlone =
          path !== undefined && others.length === 0 && pathsIn(expression)[0] === expression.trim();
        return isAlone ? { ...note, text: say`${note.text}: ${write(`{{${path}}}`)}` } : note;
      });
    const why = group.slice(1).reduce((all, { text }) => say`${all}; ${text}`, first.text);
    return [{ ...first, text: say`${why}: ${write(whole)}` }];
  });
}

function editOf({ expression = '', at = '', paths = [] }: EvaluationNote, { places }: NoteOptions) {
  const [found, ...others] = paths;
  const [name = '', ...more] = pathsIn(expression);
  const place = places?.get(at);
  const old = place?.source.text.slice(place.start, place.end) ?? '';
  const start = old.lastIndexOf(name);
  const isOne = others.length === 0 && more.length === 0 && start !== -1;
  if (place === undefined || found === undefined || !isOne) return undefined;
  return { at: place, text: `${old.slice(0, start)}${found}${old.slice(start + name.length)}` };
}
