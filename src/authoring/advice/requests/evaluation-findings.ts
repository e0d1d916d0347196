import { inOpenClawFile } from '../openclaw-files.ts';
import { quoted, say, todo, write, type Finding, type Sentence } from '../../../base/finding.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { defined, valueAt } from '../../../base/json.ts';
import { consideredFindings, nearestMiss } from './considered-findings.ts';
import { NO_ADVICE, type EvaluationAdvice } from './evaluation-advice.ts';
import { ADVICE_CODES, requestFinding, tellsWhatToWrite, withCodes } from './findings.ts';
import type { NearName } from './near-names.ts';
import { type Evaluation, skipText, type TransformTrace } from '../../../engine/hook/hook.ts';
import { consequenceOf, remedyOf, RETURNED_NOTHING } from './refusal-remedy.ts';

/** Says of an evaluation all that is not its outcome, actions or warnings. */
export function evaluationFindings(evaluation: Evaluation, advice = NO_ADVICE): readonly Finding[] {
  const { mapping, outcome, trace } = evaluation;
  // Nothing is said of mappings that were passed over on purpose.
  const isMiss = mapping === undefined && outcome.kind === 'rejected';
  const told = advice.findings.filter((each) => isMiss || !tellsWhatToWrite(each));
  const considered = consideredFindings(trace.considered, { ...advice, findings: told });
  const findings: readonly Finding[] = [
    ...(outcome.kind === 'skipped' ? [requestFinding('skipped', quoted(skipText(outcome)))] : []),
    ...considered,
    ...trace.transforms.flatMap(ofTransform),
    ...ofTemplates(evaluation, advice),
    ...withCodes(advice.findings, ...ADVICE_CODES),
    ...withCodes(advice.findings, 'setting'),
    ...ofRefusal(evaluation, { advice, considered }),
  ];
  return findings.map((each) => ({ ...each, message: inOpenClawFile(each.message, evaluation.mapping?.at) }));
}

function ofTransform({ reply, at, index }: TransformTrace): readonly Finding[] {
  const about = { at, ...defined({ index }) };
  const isIdle = reply.kind === 'ok' && reply.json === undefined;
  return [
    ...(reply.logsDropped > 0
      ? [requestFinding('lines_dropped', say`${reply.logsDropped} more console lines were dropped`, about)]
      : []),
    ...(isIdle ? [requestFinding('returned_nothing', RETURNED_NOTHING, about)] : []),
  ];
}

function ofTemplates(evaluation: Evaluation, { suggestions }: EvaluationAdvice): readonly Finding[] {
  const { trace, warnings } = evaluation;
  const { templates } = trace;
  const groups = Map.groupBy(
    templates.flatMap(({ field, empty, index }) => empty.map((each) => ({ ...each, field, index }))),
    ({ field, at, expression }) => `${field} ${formatPlace(at)} ${expression}`,
  );
  const empty = [...groups.values()].map((group): Finding => {
    const [{ expression, at, field, index }] = group as [(typeof group)[number]];
    const near = suggestions.get(expression.trim());
    const rendered = templates.filter((each) => each.field === field && each.index !== undefined).length;
    const of = elementsText(
      group.flatMap((each) => each.index ?? []),
      rendered,
    );
    const text = near === undefined ? '' : say`; the request has ${near.shown}`;
    return requestFinding('rendered_empty', say`${expression}${of}${text}`, {
      at,
      field,
      expression,
      ...(of === '' ? defined({ index }) : {}),
      ...(near === undefined ? {} : { paths: near.names }),
    });
  });
  const fields = empty.flatMap(({ subject }) => subject?.field ?? []);
  return [
    ...(empty.length === 0 ? ofOurNames(evaluation) : empty),
    ...emptyKeys(
      fields,
      warnings.map(({ code }) => code),
    ),
  ];
}

/** Says of one of our names in a text that the body has a field of that name, which is not read. */
function ofOurNames({ mapping, trace }: Evaluation): readonly Finding[] {
  const { source } = trace.templates.find(({ field }) => /^(?:message|text)Template$/.test(field)) ?? {};
  const reads = source?.template.readsAt?.map(({ keys, at }) => ({ name: keys.join('.'), at })) ?? [];
  return reads.flatMap(({ name, at }) => {
    const path = `payload.${name}`;
    const isKnown = reads.some((other) => `${other.name}.`.startsWith(`${path}.`));
    // Without match.path the hook name is new in each request.
    const isMeant = name === 'path' && mapping?.match.path === undefined;
    const field = valueAt(source?.scope.request.payload, [name]) ?? null;
    if ((name !== 'path' && name !== 'query') || isKnown || isMeant || field === null) return [];
    const text = say`{{${name}}} is ${name === 'path' ? 'the hook name' : 'the parameters of the address'}, and the body has a field of that name, too: ${write(path, undefined, 'for the field')}`;
    return [requestFinding('instead', text, { at, paths: [path] })];
  });
}

const MAX_ELEMENTS = 3;

function elementsText(elements: readonly number[], all: number): string {
  if (elements.length < 2) return ``;
  if (elements.length === all) return ` (in each of the ${all} elements)`;
  const more = elements.length - MAX_ELEMENTS;
  const shown = elements.slice(0, MAX_ELEMENTS).join(', ');
  return ` (in the elements ${shown}${more > 0 ? ` and ${more} more` : ''})`;
}

/** Says what follows where these keys of a mapping have an empty part. */
export function emptyKeys(fields: readonly string[], warnings: readonly string[]): readonly Finding[] {
  // A warning already covers a key that is empty as a whole.
  const blank = (field: string): string =>
    `blank_${field.replace('.', '_').replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`;
  const partly = fields.filter((field) => !warnings.some((each) => each.startsWith(blank(field))));
  return [...new Set(partly)].flatMap((field) => {
    const text = consequenceOf(field);
    return text === undefined ? [] : [requestFinding('empty_key', text, { field })];
  });
}

interface FindingSources {
  readonly advice: EvaluationAdvice;
  readonly considered: readonly Finding[];
}

function ofRefusal(evaluation: Evaluation, said: FindingSources): readonly Finding[] {
  const { outcome } = evaluation;
  const { advice } = said;
  if (outcome.kind !== 'rejected') return [];
  const { cause } = outcome.error;
  const isSaid = advice.findings.some(({ code }) => SETTLES[code]?.includes(outcome.error.code));
  // A transform that returned nothing has its own note.
  const isIdle =
    BLANK.includes(outcome.error.code) &&
    evaluation.trace.transforms.some(({ reply }) => reply.kind === 'ok' && reply.json === undefined);
  const [given] = withCodes(advice.findings, 'remedy');
  const remedy =
    isSaid || isIdle ? undefined : (given?.message ?? remedyFor(outcome.error.code, evaluation, said));
  return [
    ...(cause instanceof Error ? [requestFinding('cause', quoted(cause.message))] : []),
    ...(remedy === undefined ? [] : [requestFinding('remedy', remedy)]),
  ];
}

const BLANK: readonly string[] = ['mapping_requires_message', 'mapping_requires_text'];
const NO_MAPPING = ['no_mapping_matched'];
const OF_PRESETS: ReadonlySet<string> = new Set(['mail', 'gmail']);

/** The note says what to do about these errors better than the general remedy. */
const SETTLES: Readonly<Record<string, readonly string[] | undefined>> = {
  body_is_list: BLANK,
  body_is_text: BLANK,
  address_check: NO_MAPPING,
  github_ping: NO_MAPPING,
  json_text: [...BLANK, ...NO_MAPPING],
};

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

function remedyFor(
  code: string,
  evaluation: Evaluation,
  { advice, considered }: FindingSources,
): Sentence | undefined {
  const { trace } = evaluation;
  const isName = trace.considered.every(({ failed }) => failed?.part === 'path');
  if (code !== 'no_mapping_matched') return blankRemedy(code, evaluation) ?? remedyOf(code, true);
  if (!isName) return missRemedy(trace.considered, considered);
  const [miss] = trace.considered;
  const [near] = withCodes(advice.findings, 'near_name');
  return nameRemedy(near as NearName | undefined, miss?.failed?.part === 'path' ? miss.failed.found : '');
}

function nameRemedy(near: NearName | undefined, name: string): Sentence {
  if (near === undefined && OF_PRESETS.has(name))
    return say`the preset of that name takes the messages of a mailbox, and is not on: ${write(`presets: [${name}]`, 'below hooks')}`;
  if (near === undefined)
    return say`send it to one of the hook names, or correct match.path of the mapping that was meant`;
  return near.hint === undefined
    ? say`let the sender call ${near.facts.name}, or correct match.path of that mapping`
    : say`${near.hint} (${near.facts.at})`;
}

/** Where the nearest condition found another value, the request may be of a kind that nobody wants. */
function missRemedy(
  considered: Evaluation['trace']['considered'],
  findings: readonly Finding[],
): Sentence | undefined {
  const nearest = nearestMiss(findings);
  if (nearest?.findings.some(tellsWhatToWrite) !== false) return undefined;
  const isAnother = considered.some(
    ({ mapping, failed }) =>
      mapping.id === nearest.id && failed?.part === 'when' && failed.node.result === 'false',
  );
  return isAnother
    ? say`change the condition shown above, if ${nearest.id} should take such requests; only if they are to do nothing, otherwise: skip in ${nearest.id} (${nearest.at}) answers them 204`
    : say`change the condition shown above, if ${nearest.id} should take such requests (${nearest.at})`;
}
