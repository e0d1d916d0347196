/**
 * What a person sees of a request first, in `sluice explain` and in the log of `sluice dev`: the verdict, one hint (a
 * second only of the same kind), and how to see more.
 */
import { inLine, quoted, say, splitAtFix, write, type Finding } from '../../base/finding.ts';
import type { Evaluation, TransformTrace } from '../../engine/hook/hook.ts';
import {
  adviceIn,
  type EvaluationAdvice,
  evaluationFindings,
  isHint,
  type NoteCode,
  requestFinding,
  nearestMiss,
  pathsIn,
  placeOf,
  tellsWhatToWrite,
  warningsLeft,
} from '../advice/requests.ts';
import { advise } from '../advice/advice.ts';
import { changedLine, findingLines, hintLines, type LineOptions } from './format-findings.ts';
import { wrap } from './format-lines.ts';

/** What a request became and what to do, in lines. */
export interface Brief {
  readonly verdict: readonly string[];
  readonly hints: readonly string[];
  /** The findings that the hints are made of; of a warning with its code. */
  readonly told: readonly Hint[];
}

type Hint = Finding & { readonly warning?: string };

const MAX_EMPTY = 3;
const MAX_HINTS = 2;

/** Says what became of an evaluated request, and what is surest to be done about it. */
export function briefOf(
  evaluation: Evaluation,
  advice: EvaluationAdvice | undefined,
  options: LineOptions = {},
): Brief {
  const findings = evaluationFindings(evaluation, advice);
  const all = candidates(evaluation, findings);
  const told = surest(all);
  const isEmpty = told[0]?.code === 'rendered_empty';
  const hints = isEmpty ? emptyHints(all) : told;
  return {
    verdict: verdictOf(evaluation, findings, options),
    hints: hints.flatMap((each) => hintLines(each, options)),
    told,
  };
}

/** The first, and a second of the same kind. */
const surest = <Of extends Finding>(findings: readonly Of[]): readonly Of[] =>
  findings
    .filter(({ code }, at) => at === 0 || (code === findings[0]?.code && code !== 'setting'))
    .slice(0, MAX_HINTS);

type FindingsOf = (...codes: readonly NoteCode[]) => readonly Finding[];

const among =
  (findings: readonly Finding[]): FindingsOf =>
  (...codes) =>
    findings.filter(({ code }) => codes.includes(code as NoteCode));

/** Everything that says what to do, the surest first. */
function candidates(evaluation: Evaluation, findings: readonly Finding[]): readonly Hint[] {
  const { mapping, outcome, trace, warnings } = evaluation;
  // It is as the operator wrote it.
  if (outcome.kind === 'skipped') return [];
  const of = among(findings);
  const { ofKind, others } = adviceIn(findings);
  // A block over a path whose beginning is not there is for other events.
  const empty = of('rendered_empty').filter(
    ({ subject: { paths = [], expression = '' } = {} }) =>
      paths.length > 0 && !/^#\w+ [\w-]+\./.test(expression),
  );
  const isAmiss = mapping === undefined || outcome.kind === 'rejected' || of('rendered_empty').length > 0;
  const miss = mapping === undefined ? nearestMiss(trace.considered, findings) : undefined;
  const telling = (miss?.findings ?? []).filter(tellsWhatToWrite);
  const sure = telling.filter(({ message }) => splitAtFix(message).fix?.line !== undefined);
  return [
    ...(isAmiss ? [...ofKind, ...others] : []),
    ...(sure.length > 0 ? sure : telling),
    ...empty,
    ...of('near_name'),
    ...of('passed_over'),
    ...of('remedy'),
    ...of('returned_nothing'),
    ...warningsLeft(advise(warnings), findings).map((warning): Hint => ({
      ...requestFinding('warning', say`${warning.code}: ${inLine(warning)}`),
      warning: warning.code,
    })),
    ...(isAmiss ? [] : others),
    ...of('setting').filter(isHint),
  ];
}

/** Why it was not taken, or what is not in what was made of it. */
function verdictOf(
  { mapping, outcome, trace }: Evaluation,
  findings: readonly Finding[],
  options: LineOptions,
): readonly string[] {
  const of = among(findings);
  if (outcome.kind === 'skipped') return [];
  if (mapping === undefined) {
    const isOfKind = adviceIn(findings).ofKind.length > 0;
    const miss = isOfKind ? undefined : nearestMiss(trace.considered, findings);
    const names = of('hook_name').map(({ message }) => message);
    const known = names
      .slice(0, 10)
      .reduce((all, name, at) => say`${all}${at === 0 ? '; the hook names are: ' : ', '}${name}`, say``);
    return [
      ...(miss?.findings ?? []).slice(0, 1).flatMap((each) => findingLines(each, options)),
      ...of('unknown_name').flatMap((each) =>
        findingLines({ ...each, message: say`${each.message}${known}` }, options),
      ),
    ];
  }
  const error = outcome.kind === 'rejected' ? outcome.error : undefined;
  return [
    ...(error === undefined ? [] : wrap('✗ ', `${error.code}: ${error.detail}`, options)),
    ...trace.transforms.flatMap(failureOf).flatMap((text) => wrap('  ', text, options)),
    ...of('cause').flatMap((each) => findingLines(each, options)),
    ...emptyLines(of('rendered_empty'), options),
    ...of('empty_key').flatMap((each) => findingLines(each, options)),
  ];
}

/** What is not in what was made of it; what the request has in its place is a hint. */
function emptyLines(findings: readonly Finding[], options: LineOptions): readonly string[] {
  const more = findings.length - MAX_EMPTY;
  return [
    ...(more > 1 ? findings.slice(0, MAX_EMPTY) : findings).flatMap((each) => {
      const { expression } = each.subject ?? {};
      return findingLines(
        { ...each, message: expression === undefined ? each.message : quoted(expression) },
        options,
      );
    }),
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

/** The same of findings on a request that was not kept: what was answered, and what the store knows of why. */
export function findingsBrief(findings: readonly Finding[], options: LineOptions = {}): Brief {
  const of = among(findings);
  const [miss] = of('not_held');
  const told = surest([
    ...of('difference')
      .filter(({ subject }) => subject?.mapping?.id === miss?.subject?.mapping?.id)
      .slice(0, 1),
    ...of('refusal', 'new_event', 'remedy'),
    ...of('warning', 'empty_key', 'transform'),
    ...of('setting').filter(isHint),
  ]);
  return {
    verdict: [
      ...of('repeat', 'older', 'detail').flatMap((each) => findingLines(each, options)),
      ...of('refusal').flatMap(({ subject }) => wrap('✗ ', subject?.field ?? '', options)),
      ...(miss === undefined ? [] : findingLines(miss, options)),
      ...emptyLines(of('rendered_empty'), options),
    ],
    hints: told.flatMap((each) => hintLines(each, options)),
    told,
  };
}

/** What a template reads in vain and the request has elsewhere: each line of a file once, with all that is to be changed. */
function emptyHints(findings: readonly Finding[]): readonly Finding[] {
  const empty = findings.filter(({ code }) => code === 'rendered_empty');
  const groups = Map.groupBy(empty, (each) => (placeOf(each) ?? '').replace(/:\d+$/, ''));
  return [...groups.values()].slice(0, MAX_HINTS).flatMap((group) => {
    const edits = group.flatMap((each) => editOf(each) ?? []);
    const whole = edits.length === group.length ? changedLine(edits) : undefined;
    const [first] = group;
    if (whole === undefined || first === undefined)
      return group.slice(0, MAX_HINTS).map((each) => {
        const { expression = '', paths: [path, ...others] = [] } = each.subject ?? {};
        const isAlone =
          path !== undefined && others.length === 0 && pathsIn(expression)[0] === expression.trim();
        return isAlone ? { ...each, message: say`${each.message}: ${write(`{{${path}}}`)}` } : each;
      });
    const why = group.slice(1).reduce((all, { message }) => say`${all}; ${message}`, first.message);
    return [{ ...first, message: say`${why}: ${write(whole)}` }];
  });
}

function editOf({ at: place, subject: { expression = '', paths = [] } = {} }: Finding) {
  const [found, ...others] = paths;
  const [name = '', ...more] = pathsIn(expression);
  const old = place?.source.text.slice(place.start, place.end) ?? '';
  const start = old.lastIndexOf(name);
  const isOne = others.length === 0 && more.length === 0 && start !== -1;
  if (place === undefined || found === undefined || !isOne) return undefined;
  return { at: place, text: `${old.slice(0, start)}${found}${old.slice(start + name.length)}` };
}
