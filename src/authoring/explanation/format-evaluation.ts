import { formatPlace } from '../../base/document/document.ts';
import { inLine, quoted, requestFindingToJson, say, type Finding } from '../../base/finding.ts';
import type { HookRequest } from '../../base/request.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import {
  cut,
  type EvaluationAdvice,
  evaluationFindings,
  nearestMisses,
  requestFinding,
  warningsLeft,
} from '../advice/requests.ts';
import { advise } from '../advice/advice.ts';
import { type Evaluation, skipText, type TransformTrace } from '../../engine/hook/hook.ts';
import type { Outcome } from '../../engine/hook/facts.ts';
import type { ConsideredMapping } from '../../engine/mapping/mapping.ts';
import { actionLines, unmadeLines } from './format-actions.ts';
import { indent, painter, type Paint } from './format-lines.ts';
import { findingLines } from './format-findings.ts';

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
 * Prints an evaluation for people: its findings in their order, transform logs and stacks, and each action with its
 * prompt. Escape and control characters of the payload never come through.
 */
export function formatEvaluation(evaluation: Evaluation, options: ExplainOptions = {}): string {
  const paint = painter(options.color);
  return `${sectionsOf(evaluation, options, paint)
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function sectionsOf(
  evaluation: Evaluation,
  options: ExplainOptions,
  paint: Paint,
): readonly (readonly string[])[] {
  const { advice, actions, isRepeat, stored, hasChannels } = options;
  const { mapping, outcome, trace } = evaluation;
  const findings = findingsOn(evaluation, advice);
  const dedupe =
    mapping?.dedupe === undefined || mapping.dedupe.key === 'body' ? undefined : mapping.dedupe.key.source;
  return [
    headOf(evaluation, options),
    [...findings.flatMap((each) => findingLines(each, { paint })), ...moreMisses(trace.considered, findings)],
    trace.transforms.flatMap((transform) => transformLines(transform, paint)),
    outcome.kind === 'accepted' && actions !== false
      ? isRepeat === true
        ? unmadeLines(outcome.actions, paint, { dedupe })
        : actionLines(outcome.actions, paint, { stored, hasChannels, dedupe, nonce: options.request?.nonce })
      : [],
  ];
}

/** All that is said of an evaluation; which rule skipped it stands in its outcome. */
export function findingsOn(evaluation: Evaluation, advice: EvaluationAdvice | undefined): readonly Finding[] {
  const { outcome, warnings } = evaluation;
  const findings = evaluationFindings(evaluation, advice).filter(({ code }) => code !== 'skipped');
  const error = outcome.kind === 'rejected' ? outcome.error : undefined;
  return [
    ...(error === undefined || error.code === 'no_mapping_matched'
      ? []
      : [
          requestFinding('detail', quoted(`${error.code}: ${error.detail}`)),
          ...error.errors.filter(
            (each) =>
              each.subject?.index !== undefined || requestFindingToJson(each).message !== error.detail,
          ),
        ]),
    ...findings,
    ...warningsLeft(advise(warnings), findings).map((each) => ({
      ...requestFinding('warning', say`${each.code}: ${inLine(each)}`),
      facts: { code: each.code },
    })),
  ];
}

function moreMisses(
  considered: readonly ConsideredMapping[],
  findings: readonly Finding[],
): readonly string[] {
  const more = nearestMisses(considered).length - findings.filter(({ code }) => code === 'not_held').length;
  return more > 0 ? [`and ${more} more of this hook name`] : [];
}

export function headOf(evaluation: Evaluation, options: ExplainOptions): readonly string[] {
  const { request, method = 'POST', isRepeat } = options;
  const paint = painter(options.color);
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

function transformLines({ call, reply, at, index, problem }: TransformTrace, paint: Paint): string[] {
  const element = index === undefined ? '' : ` for element ${index}`;
  const lines = [
    `transform ${clearLine(call.ref.module)}${element}  ${paint('cyan', formatPlace(at))}  ran now in ${reply.tookMs.toFixed(1)} ms`,
  ];
  for (const { level, text } of reply.logs) lines.push(...indent(`console.${level}: ${text}`));
  if (problem !== undefined) lines.push(`    ${paint('red', clearLine(problem))}`);
  if (reply.kind === 'failed') return [...lines, ...failureLines(reply, paint)];
  return problem === undefined
    ? [...lines, `    returned ${cut(clearLine(reply.json ?? 'undefined'))}`]
    : lines;
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
