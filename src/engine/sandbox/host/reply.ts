/** Words the outcome of a call for those who asked for it. */
import type { WorkerAnswer } from '../frames.ts';
import { STATUS } from '../names.ts';
import type { JobOutcome } from './job-queue.ts';
import type { MappedStack, StackMapper } from './map-stack.ts';
import type { TransformFailure, TransformLogLine, TransformRef, TransformReply } from '../transform.ts';

type FailureReply = Extract<TransformReply, { kind: 'failed' }>;
/** What a call adds to its metrics. */
type FailureWords = Pick<FailureReply, 'failure' | 'message'> &
  Partial<Pick<FailureReply, 'name' | 'stack' | 'position' | 'retryAfterSeconds'>>;

export interface ReplyContext {
  readonly ref: TransformRef;
  readonly timeoutMs: number;
  readonly sha256: string;
  readonly mapper: StackMapper;
}

const NOT_JSON: Readonly<Record<string, string>> = {
  bigint: 'the result holds a BigInt, which JSON cannot carry',
  symbol: 'the result is a symbol, expected an object, an array, null or undefined',
  function: 'the result is a function, expected an object, an array, null or undefined',
  number: 'the result is a number that JSON cannot carry, expected an object, an array, null or undefined',
  circular: 'the result refers to itself, which JSON cannot carry',
  deep: 'the result is nested too deeply',
  long: 'the result is too large to be written as JSON',
  map: 'the result is a Map, which JSON cannot carry, return Object.fromEntries(map)',
  set: 'the result is a Set, which JSON cannot carry, return [...set]',
  iterator: 'the result is a generator or another iterator, which JSON cannot carry, return [...iterator]',
  nothing: 'the result has no JSON form, expected an object, an array, null or undefined',
};

export function replyTo(outcome: JobOutcome, context: ReplyContext): TransformReply {
  switch (outcome.kind) {
    case 'answered':
      return replyToAnswer(outcome.answer, outcome.tookMs, context);
    case 'killed': {
      const reply = failedReply(outcome.failure, hostWords(outcome.failure, context), context.sha256);
      return { ...reply, tookMs: outcome.tookMs };
    }
    case 'deferred': {
      const retryAfterSeconds = Math.max(1, Math.ceil(Math.round(outcome.retryAfterMs) / 1000));
      return { ...failedReply('deferred', outcome.reason, context.sha256), retryAfterSeconds };
    }
  }
}

/** A failure before anything ran. */
export function failedReply(failure: TransformFailure, message: string, moduleSha256?: string): FailureReply {
  const sha256 = moduleSha256 === undefined ? {} : { moduleSha256 };
  return { kind: 'failed', failure, message, logs: [], logsDropped: 0, tookMs: 0, ...sha256 };
}

function replyToAnswer(answer: WorkerAnswer, tookMs: number, context: ReplyContext): TransformReply {
  const metrics = {
    ...readLogs(answer.logs),
    tookMs,
    cpuMs: answer.cpuMicros / 1000,
    heapBytes: answer.heapKb * 1024,
    moduleSha256: context.sha256,
  };
  if (answer.status === STATUS.ok) return { kind: 'ok', ...metrics, json: answer.value };
  if (answer.status === STATUS.instance)
    return { kind: 'ok', ...metrics, json: answer.value, isInstance: true };
  if (answer.status === STATUS.undefined) return { kind: 'ok', ...metrics, json: undefined };
  return { kind: 'failed', ...metrics, ...failureWords(answer, context) };
}

function failureWords(answer: WorkerAnswer, context: ReplyContext): FailureWords {
  switch (answer.status) {
    case STATUS.userError:
      return userError(answer.value, context.mapper);
    case STATUS.notJson:
      return { failure: 'not-json', message: NOT_JSON[answer.value] ?? 'the result has no JSON form' };
    case STATUS.tooLarge:
      return {
        failure: 'result-too-large',
        message: `the result is over ${context.ref.maxResultBytes} bytes (maxResultBytes)`,
      };
    case STATUS.pending:
      return {
        failure: 'pending-promise',
        message:
          'it waits for a promise that nothing settles: a transform has no timers and no network, and never sees another request, as each call begins with a fresh module; to make one run of several requests, write debounce in the mapping',
      };
    case STATUS.timeout:
      return {
        failure: 'timeout',
        ...placed(hostWords('timeout', context), context.mapper.map(answer.value)),
      };
    case STATUS.memory:
      return { failure: 'memory', message: hostWords('memory', context) };
    case STATUS.loadError:
    case STATUS.ready:
    case STATUS.ok:
    case STATUS.instance:
    case STATUS.undefined: {
      // V8's words about the code itself, before it has seen any payload.
      const [words = ''] = answer.value.split('\n');
      return {
        failure: 'load-error',
        message: `the module cannot be set up in its isolate: ${words.slice(0, 200)}`,
      };
    }
  }
}

/** The host's own words, and behind them the frames of where that was; V8's words in the first line go. */
function placed(
  message: string,
  { position, text }: MappedStack,
): Pick<FailureReply, 'message' | 'position' | 'stack'> {
  if (position === undefined) return { message };
  const frames = text.split('\n').filter((line) => /^\s+at /.test(line));
  return { message, position, stack: [message, ...frames].join('\n') };
}

function hostWords(failure: 'timeout' | 'memory' | 'crashed', context: ReplyContext): string {
  switch (failure) {
    case 'timeout':
      return `it ran longer than ${context.timeoutMs} ms (timeoutMs)`;
    case 'memory':
      return `it used more memory than ${context.ref.memoryMb} MB (memoryMb)`;
    case 'crashed':
      return 'its worker process died while it ran alone in it';
  }
}

function userError(json: string, mapper: StackMapper): FailureWords {
  const { name, message, stack } = JSON.parse(json) as { name: string; message: string; stack: string };
  const mapped = mapper.map(stack);
  const place = mapped.position === undefined ? {} : { position: mapped.position };
  return {
    failure: 'user-error',
    name,
    message,
    ...(stack === '' ? {} : { stack: mapped.text }),
    ...place,
  };
}

function readLogs(json: string): { logs: readonly TransformLogLine[]; logsDropped: number } {
  if (json === '') return { logs: [], logsDropped: 0 };
  const { lines, dropped } = JSON.parse(json) as { lines: TransformLogLine[]; dropped: number };
  return { logs: lines, logsDropped: dropped };
}
