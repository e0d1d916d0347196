/**
 * Writes what a person sees of a request first, in `sluice explain` and in the log of `sluice dev`: the
 * verdict, one hint (a second only of the same kind), and how to see more.
 */
import { quoted, say, todo, write, type Finding } from '../../base/finding.ts';
import type { Evaluation, TransformTrace } from '../../engine/hook/hook.ts';
import {
  type EvaluationAdvice,
  HINT_CODES,
  isHint,
  isOfKind,
  type NoteCode,
  pathsIn,
  requestFinding,
  tellsWhatToWrite,
  withCodes,
} from '../advice/requests.ts';
import { findingsOn } from './format-evaluation.ts';
import { findingLines, hintLines, type LineOptions } from './format-findings.ts';
import { wrap } from './format-lines.ts';

export interface Brief {
  readonly verdict: readonly string[];
  readonly hints: readonly string[];
  /** The findings behind the hints. The `code` of a warning is in its facts. */
  readonly reported: readonly Finding[];
}

const MAX_EMPTY = 3;
const MAX_HINTS = 2;
const MAX_NAMES = 10;

/** Says what became of an evaluated request, and what is most certainly to be done about it. */
export function briefOf(
  evaluation: Evaluation,
  advice: EvaluationAdvice | undefined,
  options: LineOptions = {},
): Brief {
  const { outcome, trace } = evaluation;
  // The operator wrote it so.
  if (outcome.kind === 'skipped') return { verdict: [], hints: [], reported: [] };
  // Where a mapping took the request, those before it were passed over as they were meant to.
  const findings = findingsOn(evaluation, advice).filter(
    ({ code }) => code !== 'not_held' || evaluation.mapping === undefined,
  );
  const failures = trace.transforms
    .flatMap(failureOf)
    .map((text) => requestFinding('decision', quoted(text)));
  return findingsBrief([...failures, ...findings], options);
}

/** Makes the brief of any findings on a request, whether it was evaluated or read from the store. */
export function findingsBrief(findings: readonly Finding[], options: LineOptions = {}): Brief {
  const of = (...codes: readonly NoteCode[]): readonly Finding[] => withCodes(findings, ...codes);
  const print = (some: readonly Finding[]): readonly string[] =>
    some.flatMap((each) => findingLines(each, options));
  const [miss] = findings.some(isOfKind) ? [] : of('not_held');
  const reported = mostCertain(
    findings
      .filter((each) => !tellsWhatToWrite(each) || each.subject?.mapping?.at === miss?.subject?.mapping?.at)
      .flatMap(hintOf),
  );
  const names = of('hook_name');
  return {
    verdict: [
      ...print(of('repeat', 'older', 'detail')),
      ...of('refusal').flatMap(({ subject }) => wrap('✗ ', subject?.field ?? '', options)),
      ...print([...of('decision', 'cause'), ...(miss === undefined ? [] : [miss])]),
      ...print(of('unknown_name').map((each) => ({ ...each, message: namesIn(each, names) }))),
      ...emptyLines(of('rendered_empty'), options),
      ...print(of('empty_key')),
    ],
    hints: reported.flatMap((each) => hintLines(each, options)),
    reported,
  };
}

function mostCertain(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ code }: Finding): number => (HINT_CODES as readonly string[]).indexOf(code);
  const [first, ...more] = findings.toSorted((a, b) => rank(a) - rank(b));
  if (first === undefined || first.code === 'setting') return first === undefined ? [] : [first];
  return [first, ...more.filter(({ code }) => code === first.code)].slice(0, MAX_HINTS);
}

function hintOf(finding: Finding): readonly Finding[] {
  const { code, message, subject: { expression = '', paths = [] } = {} } = finding;
  if (code !== 'rendered_empty') return code === 'transform' || isHint(finding) ? [finding] : [];
  const [path, ...others] = paths;
  // A block over a path whose beginning is not there is for other events.
  if (path === undefined || /^#\w+ [\w-]+\./.test(expression)) return [];
  const isAlone = others.length === 0 && pathsIn(expression)[0] === expression.trim();
  const remedy = isAlone ? say`${write(`{{${path}}}`)}` : say`${todo}read ${paths.join(' or ')}`;
  return [{ ...finding, message: say`${message}: ${remedy}` }];
}

function namesIn({ message }: Finding, names: readonly Finding[]): Finding['message'] {
  const begin = names.length > MAX_NAMES ? 'some hook names (sluice routes shows all)' : 'the hook names are';
  return names
    .slice(0, MAX_NAMES)
    .reduce((all, name, at) => say`${all}${at === 0 ? `; ${begin}: ` : ', '}${name.message}`, message);
}

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

function failureOf({ reply, problem }: TransformTrace): readonly string[] {
  if (reply.kind !== 'failed') return problem === undefined ? [] : [problem];
  const { name, message, position: at } = reply;
  const where = at === undefined ? '' : `  ${at.file}:${at.line}:${at.column}`;
  return [`${name === undefined ? '' : `${name}: `}${message.split('\n', 1)[0] ?? ''}${where}`];
}
