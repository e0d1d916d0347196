import { styleText } from 'node:util';
import { didYouMean, formatPlace } from '../document/document.ts';
import type { HookError } from '../errors.ts';
import type { ConsideredMapping } from '../mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import { howDifferent } from './difference.ts';
import type { Evaluation, Outcome, TransformTrace } from './evaluation.ts';
import { actionLines } from './format-actions.ts';
import { indent, line, type Paint } from './format-lines.ts';
import { emptyConsequences, remedyOf, RETURNED_NOTHING, transformRemedy } from './refusal-remedy.ts';

/** How an evaluation is printed. */
export interface ExplainOptions {
  /** Printed in the first line where given. */
  readonly request?: HookRequest;
  /** Whether to use colours; default false. */
  readonly color?: boolean;
  /** False leaves the actions out, where a reader has them before him already; default true. */
  readonly actions?: boolean;
  /** What else is known of the request: see `analysis/`. */
  readonly advice?: EvaluationAdvice;
}

/** A setting, its place and what it did. */
interface SettingText {
  readonly setting: string;
  readonly at?: string;
  readonly text: string;
}

/** Settings for people; the heading is that of who prints them. */
export function settingLines(settings: readonly SettingText[]): readonly string[] {
  return settings.flatMap(({ setting, at, text }) => [
    `  ${setting}${at === undefined ? '' : `  ${line(at)}`}`,
    `      ${line(text)}`,
  ]);
}

/** Advice as it is printed. */
export interface EvaluationAdvice {
  readonly nearNames: readonly { readonly name: string; readonly why: string; readonly at: string }[];
  readonly instead: ReadonlyMap<string, string>;
  readonly foundAt: ReadonlyMap<string, { readonly at: string; readonly text: string }>;
  /** What kind of request it is, where that explains what became of it. */
  readonly notes?: readonly string[];
  /** Files of the mappings folder that are not read. */
  readonly passedOver?: readonly string[];
  /** Settings that took part, with what each did. */
  readonly settings?: readonly SettingText[];
  /** The one among them that has a mapping for the name that was asked for, and where it would be read. */
  readonly unread?: { readonly file: string; readonly wanted: string } | undefined;
  readonly alsoMatched: readonly { readonly id: string; readonly at: string }[];
}

/** Misses printed with their reason; the others are counted. */
const MAX_MISSES = 10;
/** Hook names listed where none is the one asked for. */
const MAX_NAMES = 30;
const MAX_VALUE_CHARS = 200;

/**
 * Prints an evaluation for people: the mappings considered (the nearest miss first where none matched), the first
 * conjunct that failed with what it found, what rendered empty, transform logs and stacks, each action with its prompt,
 * warnings, and for an error its remedy. Escape and control characters of the payload never come through.
 */
export function formatEvaluation(evaluation: Evaluation, options: ExplainOptions = {}): string {
  const paint: Paint = (style, text) =>
    options.color === true ? styleText(style, text, { validateStream: false }) : text;
  const { outcome, trace, warnings } = evaluation;
  const sections = [
    headLines(evaluation, options.request, paint),
    consideredLines(trace.considered, options.advice, paint),
    trace.transforms.flatMap((transform) => transformLines(transform, paint)),
    emptyLines(evaluation, options.advice, paint),
    (options.advice?.notes ?? []).map((note) => `${paint('yellow', 'note')} ${line(note)}`),
    outcome.kind === 'accepted' && options.actions !== false ? actionLines(outcome.actions, paint) : [],
    withHeading('settings that took part:', settingLines(options.advice?.settings ?? [])),
    outcome.kind === 'rejected'
      ? errorLines(outcome.error, remedyFor(evaluation, options.advice), paint)
      : [],
    warnings.map(({ code, message }) => `${paint('yellow', 'warning')} ${code}: ${line(message)}`),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const withHeading = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [heading, ...lines];

function headLines(evaluation: Evaluation, request: HookRequest | undefined, paint: Paint): string[] {
  const lines: string[] = [];
  if (request !== undefined) {
    const at = new Date(request.receivedAt).toISOString();
    lines.push(`${paint('bold', `POST ${line(request.url)}`)}  ${at}  request ${request.id}`);
  }
  const { mapping, outcome } = evaluation;
  if (mapping !== undefined)
    lines.push(`mapping ${line(mapping.id)}  ${paint('cyan', formatPlace(mapping.at))}`);
  lines.push(`outcome ${outcomeText(outcome, paint)}`);
  return lines;
}

function outcomeText(outcome: Outcome, paint: Paint): string {
  switch (outcome.kind) {
    case 'accepted':
      return paint('green', `accepted: ${outcome.actions.map(({ kind }) => kind).join(', ')}`);
    case 'skipped':
      return paint('green', `skipped by ${skipText(outcome)}`);
    case 'rejected':
      return paint('red', `rejected: ${outcome.error.status} ${outcome.error.code}`);
  }
}

/** What made a request nothing; of a payload only what the mapping itself names. */
export function skipText(outcome: Extract<Outcome, { readonly kind: 'skipped' }>): string {
  switch (outcome.by) {
    case 'action':
      return 'action: skip of the mapping';
    case 'transform':
      return 'the transform, which returned null';
    case 'forEach':
      return 'forEach, whose array is empty';
    case 'unmatched':
      return 'otherwise of its path or hooks.unmatched, as no mapping takes it';
    case 'ownComment':
      return `the mark of our own comment, which run ${line(outcome.runId)} wrote`;
    case 'ignoreSenders':
      return `ignoreSenders of the mapping, which names ${line(outcome.sender)}`;
  }
}

function consideredLines(
  considered: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
  paint: Paint,
): string[] {
  if (considered.length === 0) {
    const asked = advice?.nearNames ?? [];
    return asked.map(({ name, why, at }) => `the hook name ${line(name)} ${why}  ${paint('cyan', at)}`);
  }
  const taken = considered.findIndex(({ matched }) => matched);
  const misses = (taken === -1 ? considered : considered.slice(0, taken)).filter(({ matched }) => !matched);
  const onPath = misses.filter(({ failed }) => failed?.part !== 'path');
  const shown = onPath.toSorted(byNearness).slice(0, MAX_MISSES);
  const more = onPath.length - shown.length;
  const elsewhere = misses.length - onPath.length;
  const lines =
    taken === -1
      ? missedLines(onPath, misses, advice)
      : ['mappings considered:', takenLine(considered[taken]!, paint)];
  lines.push(...shown.flatMap((miss) => missLines(miss, advice, paint)));
  if (more > 0) lines.push(`  and ${more} more of this hook name`);
  if (elsewhere > 0 && elsewhere < misses.length) lines.push(`  and ${elsewhere} of other hook names`);
  for (const { id, at } of advice?.alsoMatched ?? []) {
    lines.push(`  ${line(id)} would have taken it, too, but stands later  ${paint('cyan', at)}`);
  }
  return lines;
}

/** Fewest failing parts first, then most that held; sorting is stable, so the rest stays in first-match order. */
function byNearness(a: ConsideredMapping, b: ConsideredMapping): number {
  return (a.failing ?? 0) - (b.failing ?? 0) || b.held - a.held;
}

function takenLine({ mapping }: ConsideredMapping, paint: Paint): string {
  return `  ${paint('green', '✓')} ${line(mapping.id)}  ${paint('cyan', formatPlace(mapping.at))}`;
}

/** The heading where nothing matched; where no mapping even has the hook name, the names there are, with their places. */
function missedLines(
  onPath: readonly ConsideredMapping[],
  misses: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
): string[] {
  if (onPath.length > 0) return ['no mapping matched; the nearest miss first:'];
  const found = misses[0]?.failed?.part === 'path' ? misses[0].failed.found : '';
  const places = new Map<string, string>();
  for (const { mapping } of misses) {
    const { path, pathAt } = mapping.match;
    if (path !== undefined && !places.has(path)) places.set(path, formatPlace(pathAt ?? mapping.at));
  }
  const near = didYouMean(found, places.keys());
  const nearLines =
    advice === undefined
      ? near === undefined
        ? []
        : [`  did you mean ${line(near)}?`]
      : advice.nearNames.map(({ name, why, at }) => `  ${line(name)} ${why}  ${at}`);
  const listed = [...places].slice(0, MAX_NAMES);
  const unread = advice?.unread;
  return [
    `no mapping has the hook name ${value(found)}${unread === undefined ? '' : `, but ${line(unread.file)} has it, and is not read`}`,
    ...nearLines,
    places.size === 0 ? '  there is no mapping with a hook name' : '  the hook names are:',
    ...listed.map(([name, at]) => `    ${line(name)}  ${at}`),
    ...(places.size > listed.length ? [`    and ${places.size - listed.length} more`] : []),
    ...(advice?.passedOver ?? []).map((text) => `  ${line(text)}`),
  ];
}

/** The nearest miss in one line: the part that failed, and with what; undefined where no mapping has the hook name. */
export function nearestMiss(considered: readonly ConsideredMapping[]): string | undefined {
  const [nearest] = considered
    .filter(({ matched, failed }) => !matched && failed !== undefined && failed.part !== 'path')
    .toSorted(byNearness);
  if (nearest?.failed === undefined) return undefined;
  const [, ...why] = missLines(nearest, undefined, (_style, text) => text);
  return `${nearest.mapping.id}: ${why.map((each) => each.trim()).join('; ')}`;
}

function missLines(
  { mapping, failed }: ConsideredMapping,
  advice: EvaluationAdvice | undefined,
  paint: Paint,
): string[] {
  const head = `  ${paint('red', '✗')} ${line(mapping.id)}  ${paint('cyan', formatPlace(mapping.at))}`;
  if (failed === undefined) return [head];
  if (failed.part !== 'when') {
    const at = failed.at === undefined ? '' : `  ${paint('cyan', formatPlace(failed.at))}`;
    return [head, `      ${failed.part} is ${value(failed.found)}, expected ${value(failed.expected)}${at}`];
  }
  const { node } = failed;
  const { found, expected, missing, result } = node;
  // `!=` and `!==` fail on the very value they name.
  const wanted = node.expression.startsWith('{"!=') ? 'anything but ' : '';
  const why =
    missing === undefined
      ? `is ${result}${found === undefined ? '' : `: found ${value(found)}`}` +
        (expected === undefined ? '' : `, expected ${wanted}${value(expected)}`)
      : `is ${result}: ${line(missing)} is missing`;
  const values = elsewhere(expected, advice);
  // Where the text that was asked for is found, the variable that was meant is known better than by its name.
  const how =
    result === 'false' && node.expression.startsWith('{"==') ? howDifferent(found, expected) : undefined;
  const near = missing === undefined || values.length > 0 ? undefined : advice?.instead.get(missing);
  return [
    head,
    `      when ${line(node.expression)} ${why}  ${paint('cyan', formatPlace(node.at))}`,
    ...(near === undefined ? [] : [`      the request has ${line(near)}: did you mean that?`]),
    ...(how === undefined ? [] : [`      ${how}`]),
    ...values,
  ];
}

/** Where the text that was expected stands in the body. */
function elsewhere(expected: JsonValue | undefined, advice: EvaluationAdvice | undefined): string[] {
  const found = typeof expected === 'string' ? advice?.foundAt.get(expected) : undefined;
  return found === undefined ? [] : [`      ${line(found.at)} is ${value(found.text)}: did you mean that?`];
}

function transformLines({ call, reply, at, index, problem }: TransformTrace, paint: Paint): string[] {
  const element = index === undefined ? '' : ` for element ${index}`;
  const lines = [
    `transform ${line(call.ref.module)}${element}  ${paint('cyan', formatPlace(at))}  ${reply.tookMs.toFixed(1)} ms`,
  ];
  for (const { level, text } of reply.logs) lines.push(...indent(`console.${level}: ${text}`));
  if (reply.logsDropped > 0) lines.push(`    ${reply.logsDropped} more console lines were dropped`);
  if (problem !== undefined) lines.push(`    ${paint('red', line(problem))}`);
  if (reply.kind === 'ok') {
    if (problem === undefined) lines.push(`    returned ${cut(line(reply.json ?? 'undefined'))}`);
    if (reply.json === undefined) lines.push(`    ${paint('yellow', RETURNED_NOTHING)}`);
    return lines;
  }
  const { position, failure, name, message, stack } = reply;
  const where =
    position === undefined
      ? ''
      : `  ${paint('cyan', `${position.file}:${position.line}:${position.column}`)}`;
  lines.push(
    `    ${paint('red', failure)}: ${name === undefined ? '' : `${line(name)}: `}${line(message)}${where}`,
  );
  if (stack !== undefined) lines.push(...indent(stack));
  return lines;
}

function emptyLines({ trace }: Evaluation, advice: EvaluationAdvice | undefined, paint: Paint): string[] {
  const lines = trace.templates.flatMap(({ field, empty, index }) =>
    empty.map(({ expression, at }) => {
      const element = index === undefined ? '' : ` of element ${index}`;
      const near = advice?.instead.get(expression.trim());
      const hint = near === undefined ? '' : `; the request has ${line(near)}`;
      return `  ${field}${element}: ${line(expression)}${hint}  ${paint('cyan', formatPlace(at))}`;
    }),
  );
  const fields = trace.templates.filter(({ empty }) => empty.length > 0).map(({ field }) => field);
  return lines.length === 0 ? [] : ['rendered empty:', ...lines, ...emptyConsequences(fields)];
}

const MISSED =
  'change the condition shown above, or the hook name; "otherwise: skip" in a mapping of the path answers 204 to requests that no mapping takes (GitLab and Shopify switch a webhook off after a few 404s)';

function remedyFor({ outcome, trace }: Evaluation, advice: EvaluationAdvice | undefined): string | undefined {
  if (outcome.kind !== 'rejected') return undefined;
  const { code } = outcome.error;
  const isName = trace.considered.every(({ failed }) => failed?.part === 'path');
  const failed = code === 'transform_failed' ? transformRemedy(trace.transforms.at(-1)) : undefined;
  if (code !== 'no_mapping_matched') return failed ?? remedyOf(code, true);
  const unread = advice?.unread;
  if (isName && unread !== undefined)
    return `move ${line(unread.file)} to ${line(unread.wanted)}: it has a mapping of this name`;
  return isName
    ? 'send it to one of the hook names, or correct match.path of the mapping that was meant'
    : MISSED;
}

function errorLines(error: HookError, remedy: string | undefined, paint: Paint): string[] {
  const lines = [`${paint('red', error.code)}: ${line(error.detail)}`];
  for (const { field, index, message } of error.errors) {
    const where = [index === undefined ? '' : `element ${index}`, field === undefined ? '' : line(field)];
    if (message !== error.detail || index !== undefined) {
      lines.push(`  ${where.filter((part) => part !== '').join(', ')}: ${line(message)}`);
    }
  }
  if (error.cause instanceof Error) lines.push(`  ${line(error.cause.message)}`);
  if (remedy !== undefined) lines.push(`  ${paint('green', 'remedy:')} ${remedy}`);
  return lines;
}

function value(found: JsonValue | undefined): string {
  return found === undefined ? 'missing' : cut(line(JSON.stringify(found)));
}

function cut(text: string): string {
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS - 1)}…` : text;
}
