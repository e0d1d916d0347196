import { styleText } from 'node:util';
import { formatPlace } from '../document/document.ts';
import type { HookError } from '../errors.ts';
import type { HookRequest } from '../request.ts';
import type { EvaluationAdvice, SettingText } from './evaluation-advice.ts';
import type { Evaluation, Outcome, TransformTrace } from './evaluation.ts';
import { actionLines } from './format-actions.ts';
import { consideredLines } from './format-considered.ts';
import { fieldLines } from './format-fields.ts';
import { cut, indent, line, type Paint } from './format-lines.ts';
import { emptyConsequences, remedyOf, RETURNED_NOTHING } from './refusal-remedy.ts';
import { transformRemedy } from './transform-remedy.ts';

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

/** Settings for people; the heading is that of who prints them. */
export function settingLines(settings: readonly SettingText[]): readonly string[] {
  return settings.flatMap(({ setting, at, text }) => [
    `  ${setting}${at === undefined ? '' : `  ${line(at)}`}`,
    `      ${line(text)}`,
  ]);
}

/**
 * Prints an evaluation for people: the mappings considered (the nearest miss first where none matched), the first
 * conjunct that failed with what it found, what rendered empty, transform logs and stacks, each action with its prompt,
 * warnings, and for an error its remedy. Escape and control characters of the payload never come through.
 */
export function formatEvaluation(evaluation: Evaluation, options: ExplainOptions = {}): string {
  const paint: Paint = (style, text) =>
    options.color === true ? styleText(style, text, { validateStream: false }) : text;
  return `${sectionsOf(evaluation, options, paint)
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function sectionsOf(
  evaluation: Evaluation,
  { request, advice, actions }: ExplainOptions,
  paint: Paint,
): readonly (readonly string[])[] {
  const { outcome, trace, warnings } = evaluation;
  return [
    headLines(evaluation, request, paint),
    consideredLines(trace.considered, advice, paint),
    trace.transforms.flatMap((transform) => transformLines(transform, paint)),
    emptyLines(evaluation, advice, paint),
    (advice?.notes ?? []).map((note) => `${paint('yellow', 'note')} ${line(note)}`),
    outcome.kind === 'accepted' && actions !== false ? actionLines(outcome.actions, paint) : [],
    advice?.fields === undefined ? [] : fieldLines(advice.fields, paint),
    withHeading('settings that took part:', settingLines(advice?.settings ?? [])),
    outcome.kind === 'rejected' ? errorLines(outcome.error, remedyFor(evaluation, advice), paint) : [],
    warnings.map(({ code, message }) => `${paint('yellow', 'warning')} ${code}: ${line(message)}`),
  ];
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

function transformLines({ call, reply, at, index, problem }: TransformTrace, paint: Paint): string[] {
  const element = index === undefined ? '' : ` for element ${index}`;
  const lines = [
    `transform ${line(call.ref.module)}${element}  ${paint('cyan', formatPlace(at))}  ${reply.tookMs.toFixed(1)} ms`,
  ];
  for (const { level, text } of reply.logs) lines.push(...indent(`console.${level}: ${text}`));
  if (reply.logsDropped > 0) lines.push(`    ${reply.logsDropped} more console lines were dropped`);
  if (problem !== undefined) lines.push(`    ${paint('red', line(problem))}`);
  if (reply.kind === 'failed') return [...lines, ...failureLines(reply, paint)];
  if (problem === undefined) lines.push(`    returned ${cut(line(reply.json ?? 'undefined'))}`);
  if (reply.json === undefined) lines.push(`    ${paint('yellow', RETURNED_NOTHING)}`);
  return lines;
}

function failureLines({ position, failure, name, message, stack }: FailedReply, paint: Paint): string[] {
  const at = position && `${position.file}:${position.line}:${position.column}`;
  const where = at === undefined ? '' : `  ${paint('cyan', at)}`;
  const what = `${name === undefined ? '' : `${line(name)}: `}${line(message)}`;
  return [`    ${paint('red', failure)}: ${what}${where}`, ...(stack === undefined ? [] : indent(stack))];
}

type FailedReply = Extract<TransformTrace['reply'], { readonly kind: 'failed' }>;

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
