/** Finds what templates read that no sample has, and conditions that no sample satisfies, in the words of `explain`. */
import { say, type Finding, type Place, type Sentence } from '../../../base/finding.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { compileReader } from '../../../engine/mapping/facts.ts';
import {
  type CompiledTemplate,
  type ConditionTrace,
  type ConsideredMapping,
  type RenderTrace,
  withoutPayload,
} from '../../../engine/mapping/mapping.ts';
import { emptyPath } from '../empty-paths.ts';
import { consideredFindings } from '../requests/considered-findings.ts';
import { type EvaluationAdvice, NO_ADVICE } from '../requests/evaluation-advice.ts';
import { tellsWhatToWrite } from '../requests/findings.ts';
import { adviceFor } from '../requests/request-advice.ts';
import { replacing, type LookFinding, type Look } from '../rule.ts';
import type { SampledMapping, SampledScope } from '../samples/sampled-mapping.ts';

function templatePaths(subject: SampledMapping): readonly LookFinding[] {
  const { mapping, taken, scopes, named } = subject;
  const what = mapping.forEach === undefined ? named(taken) : `elements in ${taken.length} ${named(taken)}`;
  return [...mapping.templates.values()].flatMap((template) =>
    countPrinted(template, scopes)
      .filter(isUnknown)
      .flatMap((read) => {
        const found = unknownPath(subject, read, what);
        return found.isGeneral === true && isKnownEmpty(read) ? [] : [found];
      }),
  );
}

/** An expectation already lists the path as empty, so only what was probably meant is reported. */
const isKnownEmpty = ({ absent, expression }: PrintedPath): boolean =>
  absent.every(({ sample }) => sample.knownEmpty?.has(expression) === true);

function isUnknown({ path, at, total, absent }: PrintedPath): boolean {
  return (
    absent.length === total &&
    !/^(?:now|path|index|item)$/.test(path) &&
    emptyPath(path.split('.'), at, { of: 'template', withItem: true }) === undefined
  );
}

function unknownPath(subject: SampledMapping, read: PrintedPath, what: string): LookFinding {
  const { path, at, expression, total, absent } = read;
  const shown = withoutPayload(path);
  const message = say`${shown} is absent in ${total} of ${total} ${what}`;
  const [first] = absent;
  const { suggestions, findings } = (first && adviceOnReads(subject, first)) ?? NO_ADVICE;
  const near = suggestions.get(expression.trim());
  const [only, ...others] = near?.names ?? [];
  if (only !== undefined && others.length === 0)
    return replacing(
      { message, at, hint: say`did you mean ${only}?` },
      expression.includes(shown) ? shown : expression.trim(),
      only,
    );
  const note = findings.find((each) => TELLING.has(each.code) && isAbout(each, shown));
  const said =
    near === undefined ? note && say`: ${note.message}` : say`, which have ${near.names.join(' and ')}`;
  if (said !== undefined)
    return {
      message,
      at,
      hint: say`look at the samples${said}`,
    };
  const hint = say`guard it with {{#if}} or default where only other events have it, and keep a sample that has it`;
  return { message, at, hint, isGeneral: true };
}

/** A field that is a text explains only what is read below it. */
const isAbout = ({ code, subject }: Finding, path: string): boolean =>
  code !== 'json_text' || subject?.paths?.some((name) => path.startsWith(name)) === true;

/** What a request is, so that paths find nothing. */
const TELLING: ReadonlySet<string> = new Set('body_is_list body_is_text json_text other_kind'.split(' '));

function conditions(subject: SampledMapping): readonly LookFinding[] {
  const { mapping, taken, ofPath, named } = subject;
  const missed = mapping.match.when === undefined || taken.length > 0 ? undefined : adviceOnMiss(subject);
  if (missed === undefined) return [];
  const { node, text } = missed;
  const what = `${ofPath.length} ${named(ofPath)}`;
  const isPath = node.missing !== undefined;
  const message = isPath
    ? say`${node.missing} is absent in ${ofPath.length} of ${what}, so the condition holds for none of them`
    : say`${node.expression} holds for none of ${what}`;
  const code = isPath ? 'CONDITION_UNKNOWN_PATH' : 'CONDITION_UNKNOWN_VALUE';
  return [{ code, message, at: node.at, hint: say`look at the samples: in one of them ${text}` }];
}

/**
 * An expression of a template, and how often it printed nothing because its path is not there. A guard such
 * as `{{#if}}` or a `default` makes an empty path intended, so such paths do not count.
 */
interface PrintedPath {
  readonly path: string;
  readonly at: Place;
  readonly expression: string;
  readonly total: number;
  readonly absent: readonly SampledScope[];
}

function countPrinted(template: CompiledTemplate, scopes: readonly SampledScope[]): readonly PrintedPath[] {
  const counted = new Map<number, PrintedPath & { total: number; readonly absent: SampledScope[] }>();
  for (const sampled of scopes) {
    for (const { at, path, text, expression = '' } of piecesOf(template, sampled)) {
      if (at === undefined || path === undefined) continue;
      const known = counted.get(at.start) ?? { at, path, expression, total: 0, absent: [] };
      counted.set(at.start, known);
      known.total += 1;
      const isAbsent = text === '' && compileReader(path.split('.'))(sampled.scope) === undefined;
      if (isAbsent) known.absent.push(sampled);
    }
  }
  return [...counted.values()];
}

/** A sample that costs too much to render is left out. */
function piecesOf(
  template: CompiledTemplate,
  { scope }: SampledScope,
): ReturnType<CompiledTemplate['pieces']> {
  try {
    return template.pieces(scope);
  } catch {
    return [];
  }
}

const MAX_ASKED = 20;

const NOTHING = { outcome: { kind: 'accepted', actions: [] }, warnings: [] } as const;

/** Returns what a matching sample has in place of what templates read in vain. */
function adviceOnReads({ mapping, table }: SampledMapping, { scope }: SampledScope): EvaluationAdvice {
  const templates = [...mapping.templates].map(([field, template]) => {
    const trace: RenderTrace = { empty: [], branches: [] };
    try {
      template.render(scope, trace);
    } catch {
      // A sample that costs too much to render is left out.
    }
    return { field, at: template.at, ...trace };
  });
  const trace = { considered: [], templates, transforms: [] };
  return adviceFor({ ...NOTHING, mapping, trace } satisfies Evaluation, scope.request, table);
}

interface MissedPart {
  readonly node: ConditionTrace;
  readonly text: Sentence;
}

/** Looks at samples that a mapping misses by one part, or only by names that are not there. */
function adviceOnMiss({ mapping, table, ofPath }: SampledMapping): MissedPart | undefined {
  const misses = ofPath.slice(0, MAX_ASKED).map(({ request }) => {
    const considered = consideredOf({ mapping, table }, request);
    return considered && isNear(considered) ? { considered, request } : undefined;
  });
  if (misses.length === 0 || misses.includes(undefined)) return undefined;
  for (const each of misses) {
    if (each === undefined || each.considered.failed?.part !== 'when') continue;
    const { considered, request } = each;
    const trace = { considered: [considered], templates: [], transforms: [] };
    const advice = adviceFor({ ...NOTHING, trace }, request, table);
    const found = consideredFindings([considered], advice).find(tellsWhatToWrite);
    if (found !== undefined) return { node: each.considered.failed.node, text: found.message };
  }
  return undefined;
}

const isNear = ({ failed, failing, parts = [] }: ConsideredMapping): boolean =>
  failed?.part === 'when' &&
  (failing === 1 || (parts.length === failing && parts.every(({ missing }) => missing !== undefined)));

function consideredOf(
  { mapping, table }: Pick<SampledMapping, 'mapping' | 'table'>,
  request: HookRequest,
): ConsideredMapping | undefined {
  try {
    return [...table.explain({ request })].find((each) => each.mapping === mapping);
  } catch {
    // A sample that costs too much to judge is left out.
    return undefined;
  }
}

export const SAMPLES: readonly Look[] = [
  { on: 'sampled-mapping', codes: ['TEMPLATE_UNKNOWN_PATH'], find: templatePaths },
  {
    on: 'sampled-mapping',
    codes: ['CONDITION_UNKNOWN_PATH', 'CONDITION_UNKNOWN_VALUE'],
    find: conditions,
  },
];
