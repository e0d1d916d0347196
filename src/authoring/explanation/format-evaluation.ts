import { styleText } from 'node:util';
import { formatPlace } from '../../base/document/document.ts';
import type { HookError } from '../../base/errors.ts';
import { printInLine, requestFindingToJson, type Finding } from '../../base/finding.ts';
import type { HookRequest } from '../../base/request.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import {
  cut,
  type EvaluationAdvice,
  evaluationFindings,
  findingsOf,
  inOrderOf,
  isAdvice,
  isHint,
  nearestMisses,
  type NoteCode,
  placeOf,
  placesOf,
  warningsLeft,
} from '../advice/requests.ts';
import { advise } from '../advice/advice.ts';
import { type Evaluation, skipText, type TransformTrace } from '../../engine/hook/hook.ts';
import type { Outcome } from '../../engine/hook/facts.ts';
import type { ConsideredMapping } from '../../engine/mapping/mapping.ts';
import { actionLines, unmadeLines } from './format-actions.ts';
import { indent, type Paint } from './format-lines.ts';
import { findingLines, type LineOptions } from './format-findings.ts';

export interface ExplainOptions {
  /** Printed in the first line where given. */
  readonly request?: HookRequest | undefined;
  /** How it came; default POST. */
  readonly method?: string;
  /** Whether to use colours; default false. */
  readonly color?: boolean;
  /** False leaves the actions out, where a reader has them before him already; default true. */
  readonly actions?: boolean;
  /** A repeat prints in short what it would have become. */
  readonly isRepeat?: boolean;
  /** Ids of what was stored. Actions with other ids joined the run of another request, or would be made only now. */
  readonly stored?: ReadonlySet<string>;
  /** Whether a channel is configured, where that is known. */
  readonly hasChannels?: boolean;
  /** What else is known of the request. */
  readonly advice?: EvaluationAdvice;
}

/**
 * Prints an evaluation for people: the considered mappings (the nearest miss first where none matched), the first part
 * that failed with what it found, what rendered empty, transform logs and stacks, each action with its prompt,
 * warnings, and the remedy of an error. Escape and control characters of the payload never come through.
 */
export function formatEvaluation(evaluation: Evaluation, options: ExplainOptions = {}): string {
  const paint = paintOf(options);
  return `${sectionsOf(evaluation, options, paint)
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const paintOf =
  ({ color }: ExplainOptions): Paint =>
  (style, text) =>
    color === true ? styleText(style, text, { validateStream: false }) : text;

/** Settings that say what to do stand before those that worked as intended. */
export const settingsFirst = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ code }) => code === 'setting').toSorted((a, b) => Number(isHint(b)) - Number(isHint(a)));

type LinesOf = (code: NoteCode) => readonly string[];

function sectionsOf(
  evaluation: Evaluation,
  options: ExplainOptions,
  paint: Paint,
): readonly (readonly string[])[] {
  const { advice, actions, isRepeat, stored, hasChannels } = options;
  const { mapping, outcome, trace, warnings } = evaluation;
  const findings = evaluationFindings(evaluation, advice);
  const how = { paint };
  const print = (some: readonly Finding[]): readonly string[] =>
    some.flatMap((each) => findingLines(each, how));
  const of: LinesOf = (code) => print(findings.filter((each) => each.code === code));
  const dedupe =
    mapping?.dedupe === undefined || mapping.dedupe.key === 'body' ? undefined : mapping.dedupe.key.source;
  return [
    [
      ...headOf(evaluation, options),
      ...print(settingsFirst(findings)),
      ...warningsLeft(advise(warnings), findings).map(
        (warning) => `${paint('yellow', 'warning')} ${warning.code}: ${clearLine(printInLine(warning))}`,
      ),
    ],
    consideredLines(trace.considered, findings, how),
    trace.transforms.flatMap((transform) => transformLines(transform, findings, how)),
    [...of('rendered_empty'), ...of('empty_key')],
    print(findings.filter(isAdvice)),
    outcome.kind === 'rejected' ? errorLines(outcome.error, of, paint) : [],
    outcome.kind === 'accepted' && actions !== false
      ? isRepeat === true
        ? unmadeLines(outcome.actions, paint, { dedupe })
        : actionLines(outcome.actions, paint, { stored, hasChannels, dedupe, nonce: options.request?.nonce })
      : [],
  ];
}

const MAX_MISSES = 10;

function consideredLines(
  considered: readonly ConsideredMapping[],
  findings: readonly Finding[],
  how: LineOptions,
): readonly string[] {
  const of: LinesOf = (code) =>
    findings.filter((each) => each.code === code).flatMap((each) => findingLines(each, how));
  if (considered.length === 0) return of('near_name');
  const taken = considered.filter(({ matched }) => matched);
  const onPath = inOrderOf(findings, nearestMisses(considered));
  const near = onPath.slice(0, MAX_MISSES);
  const more = onPath.length - near.length;
  // Mappings without a hook name match every name.
  const all = considered.filter(
    ({ matched, mapping, failed }) =>
      !matched && (mapping.match.path !== undefined || failed?.part !== 'path'),
  ).length;
  const others = all - onPath.length;
  return [
    ...(taken.length > 0
      ? ['mappings considered:', ...taken.flatMap((one) => mappingLines(one, findings, how))]
      : onPath.length > 0
        ? ['no mapping matched; the nearest miss first:']
        : nameLines(considered, of)),
    ...near.flatMap((miss) => mappingLines(miss, findings, how)),
    ...(more > 0 ? [`  and ${more} more of this hook name`] : []),
    ...(others > 0 && others < all ? [`  and ${others} of other hook names`] : []),
    ...of('also_matched'),
  ];
}

function nameLines(considered: readonly ConsideredMapping[], of: LinesOf): readonly string[] {
  const names = of('hook_name');
  const more = placesOf(considered).size - names.length;
  return [
    ...of('unknown_name'),
    ...of('near_name'),
    names.length === 0 ? '  there is no mapping with a hook name' : '  the hook names are:',
    ...names.map((name) => `  ${name}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
    ...of('passed_over'),
  ];
}

function mappingLines(
  { mapping, matched }: ConsideredMapping,
  findings: readonly Finding[],
  how: LineOptions,
): readonly string[] {
  const all = findingsOf(findings, mapping);
  const isExplained = all[0]?.code === 'not_held';
  return [
    ...(isExplained ? [] : [`  ${matched ? '✓' : '✗'} ${clearLine(mapping.id)}  ${formatPlace(mapping.at)}`]),
    ...all.flatMap((each) => findingLines(each, how, each.code === 'not_held' ? '  ' : '    ')),
  ];
}

export function headOf(evaluation: Evaluation, options: ExplainOptions): readonly string[] {
  const { request, method = 'POST', isRepeat } = options;
  const paint = paintOf(options);
  const lines: string[] = [];
  if (request !== undefined) {
    const at = new Date(request.receivedAt).toISOString();
    lines.push(`${paint('bold', `${method} ${clearLine(request.url)}`)}  ${at}  request ${request.id}`);
  }
  const { mapping, further = [], outcome } = evaluation;
  for (const { id, at } of mapping === undefined ? [] : [mapping, ...further])
    lines.push(`mapping ${clearLine(id)}  ${paint('cyan', formatPlace(at))}`);
  const repeat = isRepeat === true ? `${paint('yellow', 'a repeat')}; a new event would be ` : '';
  lines.push(`outcome ${repeat}${outcomeText(outcome, paint)}`);
  return lines;
}

function outcomeText(outcome: Outcome, paint: Paint): string {
  switch (outcome.kind) {
    case 'accepted':
      return paint('green', `accepted: ${outcome.actions.map(({ kind }) => kind).join(', ')}`);
    case 'skipped':
      return paint('green', `skipped by ${clearLine(skipText(outcome))}`);
    case 'rejected':
      return paint('red', `rejected: ${outcome.error.status} ${outcome.error.code}`);
  }
}

function transformLines(
  { call, reply, at, index, problem }: TransformTrace,
  findings: readonly Finding[],
  { paint }: { readonly paint: Paint },
): string[] {
  const place = formatPlace(at);
  const of: LinesOf = (code) =>
    findings
      .filter((each) => each.code === code && each.subject?.index === index && placeOf(each) === place)
      .flatMap(({ at: _at, ...each }) => findingLines(each, { paint }, '    '));
  const element = index === undefined ? '' : ` for element ${index}`;
  const lines = [
    `transform ${clearLine(call.ref.module)}${element}  ${paint('cyan', place)}  ran now in ${reply.tookMs.toFixed(1)} ms`,
  ];
  for (const { level, text } of reply.logs) lines.push(...indent(`console.${level}: ${text}`));
  lines.push(...of('lines_dropped'));
  if (problem !== undefined) lines.push(`    ${paint('red', clearLine(problem))}`);
  if (reply.kind === 'failed') return [...lines, ...failureLines(reply, paint)];
  if (problem === undefined) lines.push(`    returned ${cut(clearLine(reply.json ?? 'undefined'))}`);
  return [...lines, ...of('returned_nothing')];
}

function failureLines({ position, failure, name, message, stack }: FailedReply, paint: Paint): string[] {
  const at = position && `${position.file}:${position.line}:${position.column}`;
  const where = at === undefined ? '' : `  ${paint('cyan', at)}`;
  const what = `${name === undefined ? '' : `${clearLine(name)}: `}${clearLine(message)}`;
  const frames = stack === undefined ? [] : framesOf(stack, { name, message, at });
  return [`    ${paint('red', failure)}: ${what}${where}`, ...frames.flatMap(indent)];
}

/** Removes the words of the error, which stand before the stack, and the one frame that is its position. */
function framesOf(
  stack: string,
  {
    name,
    message,
    at,
  }: { readonly name: string | undefined; readonly message: string; readonly at: string | undefined },
): readonly string[] {
  const words = [`${name ?? ''}: ${message}`, message].find((each) => stack.startsWith(each)) ?? '';
  const frames = stack
    .slice(words.length)
    .split('\n')
    .filter((each) => each.trim() !== '');
  return frames.length === 1 && frames[0]?.trim() === `at ${at ?? ''}` ? [] : frames;
}

type FailedReply = Extract<TransformTrace['reply'], { readonly kind: 'failed' }>;

function errorLines(error: HookError, of: LinesOf, paint: Paint): string[] {
  const lines = [`${paint('red', error.code)}: ${clearLine(error.detail)}`];
  for (const { field, index, message } of error.errors.map(requestFindingToJson)) {
    const where = [
      index === undefined ? '' : `element ${index}`,
      field === undefined ? '' : clearLine(field),
    ];
    if (message !== error.detail || index !== undefined) {
      lines.push(`  ${where.filter((part) => part !== '').join(', ')}: ${clearLine(message)}`);
    }
  }
  return [...lines, ...of('cause'), ...of('remedy')];
}
