/* All that is said of an evaluation, as data: see `EvaluationNote`. */
import { inTheirFile } from '../their-files.ts';
import { printSentence, quoted, say, todo, write, type Sentence } from '../../../base/finding.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';
import { consideredNotes } from './considered-notes.ts';
import { nearestMiss } from './nearest-miss.ts';
import type { AdviceNote, EvaluationAdvice, SettingText } from './evaluation-advice.ts';
import { placed, tellsWhatToWrite, type AdviceCode, type EvaluationNote } from './evaluation-note.ts';
import { type Evaluation, skipText, type TransformTrace } from '../../../engine/hook/hook.ts';
import { consequenceOf, remedyOf, RETURNED_NOTHING } from './refusal-remedy.ts';
import { transformRemedy } from './transform-remedy.ts';

/** Says of an evaluation what is to be said beside its outcome, actions and warnings; `advice` is of `analysis/`. */
export function evaluationNotes(
  evaluation: Evaluation,
  advice?: EvaluationAdvice,
): readonly EvaluationNote[] {
  const { outcome, trace } = evaluation;
  const considered = consideredNotes(trace.considered, advice);
  const isTheirs = evaluation.mapping?.dialect === 'openclaw' ? true : undefined;
  const notes: readonly EvaluationNote[] = [
    ...(outcome.kind === 'skipped' ? [{ code: 'skipped', text: quoted(skipText(outcome)) } as const] : []),
    ...considered,
    ...trace.transforms.flatMap(transformNotes),
    ...emptyNotes(evaluation, advice),
    ...(advice?.notes ?? []).map(adviceNote),
    ...(advice?.settings ?? []).map(settingNote),
    ...refusalNotes(evaluation, { advice, considered }),
  ];
  return notes.map((note) => ({ ...note, text: inTheirFile(note.text, isTheirs) }));
}

/** A setting as plain data. */
export type SettingJson = Omit<SettingText, 'text' | 'isFine'> & { readonly text: string };

export const settingToJson = ({ text, isFine: _fine, ...setting }: SettingText): SettingJson => ({
  ...setting,
  text: printSentence(text),
});

/** A setting that took part. */
export const settingNote = ({ setting, at, text, isFine }: SettingText): EvaluationNote => ({
  code: 'setting',
  setting,
  text,
  ...defined({ at, isFine }),
});

function adviceNote({ code, text, names, at }: AdviceNote): EvaluationNote {
  return { code, text, ...placed(at), ...(names.length === 0 ? {} : { paths: names }) };
}

function transformNotes({ reply, at, index }: TransformTrace): readonly EvaluationNote[] {
  const about = { ...placed(at), ...defined({ index }) };
  const dropped = say`${reply.logsDropped} more console lines were dropped`;
  const isIdle = reply.kind === 'ok' && reply.json === undefined;
  return [
    ...(reply.logsDropped > 0 ? [{ code: 'lines_dropped', text: dropped, ...about } as const] : []),
    ...(isIdle ? [{ code: 'returned_nothing', text: RETURNED_NOTHING, ...about } as const] : []),
  ];
}

function emptyNotes(
  { trace: { templates }, warnings }: Evaluation,
  advice: EvaluationAdvice | undefined,
): readonly EvaluationNote[] {
  const groups = Map.groupBy(
    templates.flatMap(({ field, empty, index }) => empty.map((each) => ({ ...each, field, index }))),
    ({ field, at, expression }) => `${field} ${formatPlace(at)} ${expression}`,
  );
  const empty = [...groups.values()].map((group): EvaluationNote => {
    const [{ expression, at, field, index }] = group as [(typeof group)[number]];
    const near = advice?.suggestions.get(expression.trim());
    const rendered = templates.filter((each) => each.field === field && each.index !== undefined).length;
    const of = elementsText(
      group.flatMap((each) => each.index ?? []),
      rendered,
    );
    const text = near === undefined ? '' : say`; the request has ${near.shown ?? near.text}`;
    const paths = near === undefined || near.names.length === 0 ? {} : { paths: near.names };
    return {
      code: 'rendered_empty',
      text: say`${expression}${of}${text}`,
      field,
      expression,
      ...(of === '' ? defined({ index }) : {}),
      ...placed(at),
      ...paths,
    };
  });
  return [
    ...empty,
    ...emptyKeyNotes(
      empty.flatMap(({ field }) => field ?? []),
      warnings.map(({ code }) => code),
    ),
  ];
}

/** Elements named at most. */
const MAX_ELEMENTS = 3;

/** Which elements of a batch it is of, where there are several. */
function elementsText(elements: readonly number[], all: number): string {
  if (elements.length < 2) return ``;
  if (elements.length === all) return ` (in each of the ${all} elements)`;
  const more = elements.length - MAX_ELEMENTS;
  const shown = elements.slice(0, MAX_ELEMENTS).join(', ');
  return ` (in the elements ${shown}${more > 0 ? ` and ${more} more` : ''})`;
}

/** What follows where these keys of a mapping have an empty part. */
export function emptyKeyNotes(
  fields: readonly string[],
  warnings: readonly string[],
): readonly EvaluationNote[] {
  // Of a key that is empty as a whole the warning says what is true.
  const blank = (field: string): string =>
    `blank_${field.replace('.', '_').replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`;
  const partly = fields.filter((field) => !warnings.some((each) => each.startsWith(blank(field))));
  return [...new Set(partly)].flatMap((field) => {
    const text = consequenceOf(field);
    return text === undefined ? [] : [{ code: 'empty_key', text, field } as const];
  });
}

/** What else is said of an evaluation. */
interface Said {
  readonly advice: EvaluationAdvice | undefined;
  /** Of the mappings that were considered. */
  readonly considered: readonly EvaluationNote[];
}

function refusalNotes(evaluation: Evaluation, said: Said): readonly EvaluationNote[] {
  const { outcome } = evaluation;
  const { advice } = said;
  if (outcome.kind !== 'rejected') return [];
  const { cause } = outcome.error;
  const isSaid = advice?.notes?.some(({ code }) => SETTLES[code]?.includes(outcome.error.code)) === true;
  // A transform that returned nothing has its note.
  const isIdle =
    BLANK.includes(outcome.error.code) &&
    evaluation.trace.transforms.some(({ reply }) => reply.kind === 'ok' && reply.json === undefined);
  const remedy =
    isSaid || isIdle ? undefined : (advice?.refused ?? remedyFor(outcome.error.code, evaluation, said));
  return [
    ...(cause instanceof Error ? [{ code: 'cause', text: quoted(cause.message) } as const] : []),
    ...(remedy === undefined ? [] : [{ code: 'remedy', text: remedy } as const]),
  ];
}

const BLANK: readonly string[] = ['mapping_requires_message', 'mapping_requires_text'];
const NO_MAPPING = ['no_mapping_matched'];
/** Hook names that a preset takes, under its own name or the older one. */
const OF_PRESETS: ReadonlySet<string> = new Set(['mail', 'gmail']);

/** The errors that a note settles: it says what to do about them, better than the remedy that is right in general. */
const SETTLES: Partial<Readonly<Record<AdviceCode, readonly string[]>>> = {
  body_is_list: BLANK,
  body_is_text: BLANK,
  list_read: BLANK,
  address_check: NO_MAPPING,
  github_ping: NO_MAPPING,
  json_text: [...BLANK, ...NO_MAPPING],
};

/** A transform that gave an object, and no text in it. */
function blankRemedy(code: string, { trace, outcome }: Evaluation): Sentence | undefined {
  if (!BLANK.includes(code) || outcome.kind !== 'rejected') return undefined;
  const last = trace.transforms.at(-1);
  if (last?.reply.kind !== 'ok' || last.reply.json === undefined) return undefined;
  const isText = last.call.json.startsWith('{"payload":"');
  const why = isText
    ? say`payload is one text in this request (bodyFormat: text), and has no fields: ${todo}read it as a text, return { message: payload }, or split it`
    : say`what it puts there is empty or undefined in this request: ${todo}look at the field that it reads`;
  return say`the transform gave no text in ${code.endsWith('text') ? 'text' : 'message'}; ${why}`;
}

function remedyFor(code: string, evaluation: Evaluation, { advice, considered }: Said): Sentence | undefined {
  const { trace } = evaluation;
  const isName = trace.considered.every(({ failed }) => failed?.part === 'path');
  const failed =
    code === 'transform_failed' ? (advice?.transform ?? transformRemedy(trace.transforms.at(-1))) : undefined;
  if (code !== 'no_mapping_matched') return failed ?? blankRemedy(code, evaluation) ?? remedyOf(code, true);
  if (!isName) return missRemedy(trace.considered, considered);
  const [miss] = trace.considered;
  return nameRemedy(advice?.nearNames[0], miss?.failed?.part === 'path' ? miss.failed.found : '');
}

function nameRemedy(near: EvaluationAdvice['nearNames'][number] | undefined, name: string): Sentence {
  if (near === undefined && OF_PRESETS.has(name))
    return say`the preset of that name takes the messages of a mailbox, and is not on: ${write(`presets: [${name}]`, 'below hooks')}`;
  if (near === undefined)
    return say`send it to one of the hook names, or correct match.path of the mapping that was meant`;
  return near.remedy === undefined
    ? say`let the sender call ${near.name}, or correct match.path of that mapping`
    : say`${near.remedy} (${near.at})`;
}

/** Where the nearest condition was asked and found another value, the request may be of a kind that nobody wants. */
function missRemedy(
  considered: Evaluation['trace']['considered'],
  notes: readonly EvaluationNote[],
): Sentence | undefined {
  const nearest = nearestMiss(considered, notes);
  if (nearest?.notes.some(({ code }) => tellsWhatToWrite(code)) !== false) return undefined;
  const isAnother = considered.some(
    ({ mapping, failed }) =>
      mapping.id === nearest.id && failed?.part === 'when' && failed.node.result === 'false',
  );
  return isAnother
    ? say`change the condition shown above, if ${nearest.id} should take such requests; only if they are to do nothing, otherwise: skip in ${nearest.id} (${nearest.at}) answers them 204`
    : say`change the condition shown above, if ${nearest.id} should take such requests (${nearest.at})`;
}
