import { readJson } from '../../base/json.ts';
import { field, textField } from '../../base/outgoing/outgoing.ts';
import type { TokenUsage } from '../../engine/storage/storage.ts';

export interface AgentReport {
  readonly reply: string;
  /** What went wrong, in the agent's words; absent where nothing did. */
  readonly error?: string | undefined;
  readonly usage?: TokenUsage | undefined;
  /** The name the agent gave the conversation. */
  readonly sessionId?: string | undefined;
  /** The status of the model's server, where an error has it. */
  readonly status?: number | undefined;
  /** Whether the model has said or done anything before an error; absent where the agent does not report it. */
  readonly hasActed?: boolean | undefined;
}

/**
 * The report is the last element of type `result`: of the lines, or of a list where Claude is verbose. The report of a
 * turn that it broke off has no text; there `errors` say why, or the subtype alone.
 */
export function readClaude(stdout: string): AgentReport | undefined {
  const elements = jsonIn(stdout);
  const report = elements.findLast(isOf('result')) ?? elements.findLast(({ result }) => result !== undefined);
  if (report === undefined) return undefined;
  const { subtype, is_error: isError, errors, usage, modelUsage, structured_output: output } = report;
  const text = textFrom(report['result']) || textFrom(output);
  const isBrokenOff = typeof subtype === 'string' && subtype.startsWith('error');
  const failed = isError === true || isBrokenOff || (text === '' && subtype !== 'success');
  const reasons = Array.isArray(errors) ? errors.map(reasonIn).filter((reason) => reason !== undefined) : [];
  const error = reasons.join('; ') || (isError === true && text) || (isBrokenOff && subtype) || 'no reason';
  // A turn that failed before its model answered has no tokens.
  const hasActed = numberFrom(field(usage, 'output_tokens')) !== 0 || numberFrom(report['num_turns']) !== 1;
  const models = Object.values(modelUsage ?? {});
  return {
    reply: failed && error === text ? '' : text,
    usage: used({
      inputTokens: field(usage, 'input_tokens') ?? sumOf(models, 'inputTokens'),
      outputTokens: field(usage, 'output_tokens') ?? sumOf(models, 'outputTokens'),
      costUsd: report['total_cost_usd'] ?? sumOf(models, 'costUSD'),
    }),
    ...(failed ? { error, status: numberFrom(report['api_error_status']), hasActed } : {}),
  };
}

export function readCodex(stdout: string): AgentReport | undefined {
  const events = jsonIn(stdout);
  if (events.length === 0) return undefined;
  const items = events.map((event) => field(event, 'item'));
  const texts = items.filter(isOf('agent_message')).map(textOf);
  const started = events.find(isOf('thread.started'));
  const completed = events.findLast(isOf('turn.completed'));
  // The agent reports tries that it repeats as errors, too: one counts where no turn came to an end.
  const failure =
    events.find(isOf('turn.failed')) ?? (completed === undefined && events.findLast(isOf('error')));
  const usage = field(completed, 'usage');
  return {
    reply: texts.at(-1) ?? '',
    sessionId: textField(started, 'thread_id'),
    usage: used({ inputTokens: field(usage, 'input_tokens'), outputTokens: field(usage, 'output_tokens') }),
    error: failure ? (reasonIn(failure) ?? 'no reason') : undefined,
    hasActed: items.some((item) => item !== undefined && !isOf('error')(item)),
  };
}

/** Gemini's exit code, and the code of its error, where it could not log in: no model was asked yet. */
const GEMINI_NO_LOGIN = 41;

export function readGemini(stdout: string): AgentReport | undefined {
  const report = jsonIn(stdout).findLast(
    ({ response, error }) => typeof response === 'string' || error !== undefined,
  );
  if (report === undefined) return undefined;
  const failure = report['error'];
  const reply = textField(report, 'response');
  const error = failure === undefined ? undefined : (reasonIn(failure) ?? 'no reason');
  const code = numberFrom(field(failure, 'code'));
  const isLogin = code === GEMINI_NO_LOGIN;
  const models = field(field(report, 'stats'), 'models');
  const tokens = Object.values(models ?? {}).map((model) => field(model, 'tokens'));
  const usage = used({
    inputTokens: sumOf(tokens, 'prompt'),
    outputTokens: sumOf(tokens, 'candidates'),
  });
  return {
    reply: reply ?? '',
    error,
    usage,
    ...(isLogin ? { status: 401, hasActed: false } : { status: code }),
  };
}

export function readOpencode(stdout: string): AgentReport | undefined {
  const events = jsonIn(stdout);
  if (events.length === 0) return undefined;
  const parts = events.map((event) => field(event, 'part'));
  const texts = parts.filter(isOf('text')).map(textOf);
  const failure = events.find(isOf('error'))?.['error'];
  const name = textField(failure, 'name');
  const steps = parts.filter(isOf('step-finish'));
  const tokens = steps.map((step) => field(step, 'tokens'));
  return {
    reply: texts.join('\n\n'),
    sessionId: textField(events[0], 'sessionID'),
    usage: used({
      inputTokens: sumOf(tokens, 'input'),
      outputTokens: sumOf(tokens, 'output'),
      costUsd: sumOf(steps, 'cost'),
    }),
    error: failure === undefined ? undefined : (reasonIn(failure) ?? 'no reason'),
    status: name === 'ProviderAuthError' ? 401 : numberFrom(field(field(failure, 'data'), 'statusCode')),
    hasActed: parts.some((part) => isOf('text')(part) || isOf('tool')(part)),
  };
}

/** A number, also one that is written as text; undefined where it is none. */
function numberFrom(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A text, or a value as JSON; empty where there is none. */
function textFrom(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** What went wrong, in the words of an error in one of the forms that agents have. */
function reasonIn(error: unknown): string | undefined {
  if (typeof error === 'string') return error || undefined;
  const inner = field(error, 'error') ?? field(error, 'data');
  return (
    (inner === undefined ? undefined : reasonIn(inner)) ??
    textField(error, 'message') ??
    textField(error, 'name')
  );
}

const isOf =
  (type: string) =>
  (value: unknown): boolean =>
    field(value, 'type') === type;

const textOf = (item: unknown): string => textField(item, 'text') ?? '';

/** The fields that are numbers; undefined where none is. */
function used(reported: Readonly<Partial<Record<keyof TokenUsage, unknown>>>): TokenUsage | undefined {
  const numbers = Object.entries(reported).flatMap(([name, value]) => {
    const number = numberFrom(value);
    return number === undefined || number < 0 ? [] : [[name, number] as const];
  });
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
}

/** The sum of a field; undefined where no part has it as a number. */
function sumOf(parts: readonly unknown[], name: string): number | undefined {
  const numbers = parts.flatMap((part) => numberFrom(field(part, name)) ?? []);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0);
}

type Json = Readonly<Record<string, unknown>>;

/** Most texts that look like JSON and are none: reading them must not delay the service. */
const MAX_SLIPS = 10_000;
/** Most documents of several lines that look like JSON and are none. */
const MAX_LONG_SLIPS = 10;

/** The JSON objects of an output, also those in lists; what else programs print may stand around them. */
function jsonIn(stdout: string): readonly Json[] {
  const whole = objects(stdout);
  if (whole !== undefined) return whole;
  const lines = stdout.split('\n');
  const found: Json[] = [];
  let slips = 0;
  let longSlips = 0;
  for (let at = 0; at < lines.length && slips < MAX_SLIPS; at += 1) {
    const line = (lines[at] ?? '').trimEnd();
    const close = line.startsWith('{') ? '}' : line.startsWith('[') ? ']' : undefined;
    const isLong = line.length === 1;
    if (close === undefined || (isLong ? longSlips === MAX_LONG_SLIPS : !line.endsWith(close))) continue;
    // A document of several lines ends with the first one that closes it at the margin.
    const end = isLong ? lines.findIndex((other, index) => index > at && other.startsWith(close)) : at;
    const value = objects(lines.slice(at, end + 1).join('\n'));
    if (value === undefined) {
      slips += 1;
      longSlips += Number(isLong);
      continue;
    }
    found.push(...value);
    at = end;
  }
  return found;
}

/** A JSON object, or those of a list; undefined where the text is neither. */
function objects(text: string): readonly Json[] | undefined {
  const value = readJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const isObject = (each: unknown): each is Json => typeof each === 'object' && each !== null;
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}
