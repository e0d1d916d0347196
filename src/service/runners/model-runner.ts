/*
 * Turns taken by a language model through the AI SDK.
 *
 * The SDK's own retries are off. What proves that nothing ran (no connection, 401, 402, 429, 503, Anthropic's 529, any
 * 5xx with Retry-After) is reported as not started and repeated by the gateway; everything else ends the run, since the
 * provider may have done, and billed, the work.
 */
import { defined } from '../../base/json.ts';
import { providerOf } from '../../engine/config/config.ts';
import { type ModelSettings, explainMissingModelPackages, unknownModel } from './model-problems.ts';
import { loadModelRegistry, type ModelRegistry } from './model-registry.ts';
import {
  connectionCode,
  connectionText,
  describe,
  parseRetryAfter,
  retryDelay,
} from '../../base/outgoing/outgoing.ts';
import { deriveSignal, isTimeOver } from '../../base/timers/timers.ts';
import {
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from './runner.ts';

export interface ModelRunnerOptions {
  /** `agents.defaults.model`, aliases resolved: used where a turn names none. */
  readonly defaultModel: string | undefined;
}

/** Statuses of a refusal before anything ran: key, credit, too many requests, unavailable, overloaded (Anthropic). */
const NOT_STARTED = new Map([
  [401, 'unauthorized'],
  [402, 'no_credit'],
  [429, 'rate_limited'],
  [503, 'unavailable'],
  [529, 'unavailable'],
]);

/** Reasoning levels of the providers by the level of a turn, which the request's evaluation has brought to these. */
const REASONING = {
  off: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
} as const;

/** A runner that asks a model of the configured providers, with the session's history; loaded on its first turn. */
export function createModelRunner(settings: ModelSettings, options: ModelRunnerOptions): Runner {
  const load = loadedOnce(() => loadModelRegistry(settings));
  return {
    kind: 'model',
    run: async (turn, { signal }) => {
      const name = turn.model ?? options.defaultModel;
      if (name === undefined) return notStarted('unknown_model', NO_MODEL, { final: true });
      const problem = unknownModel(settings, name);
      if (problem !== undefined) return notStarted('unknown_model', problem, { final: true });
      const registry = await load().catch((error: unknown) => ({ loadError: error }));
      if ('loadError' in registry)
        return notStarted('not_configured', loadProblem(settings, registry.loadError), { final: true });
      return runTurn(registry, settings, { turn, name, signal });
    },
  };
}

const NO_MODEL = 'the turn names no model and agents.defaults.model is not set';

/** Loads on the first call, and again where that failed. */
function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}

interface ModelTurn {
  readonly turn: Turn;
  readonly name: string;
  readonly signal: RunnerOptions['signal'];
}

async function runTurn(
  registry: ModelRegistry,
  settings: ModelSettings,
  { name, signal, turn }: ModelTurn,
): Promise<TurnResult> {
  using bounded = deriveSignal(signal, turn.timeoutSeconds * 1000);
  const provider = settings.providers[providerOf(name) ?? ''];
  const asked = questionOf(turn, settings, provider?.reasoning === true);
  try {
    const model = registry.getModel(name);
    return resultOf(await registry.generateText({ model, ...asked, abortSignal: bounded.signal }));
  } catch (error) {
    if (isTimeOver(bounded.signal)) return timedOut(turn);
    return failureOf(registry, error, provider?.apiKey === undefined ? [] : [provider.apiKey]);
  }
}

function questionOf(turn: Turn, { system, maxOutputTokens }: ModelSettings, reasons: boolean) {
  const reasoning = reasons ? reasoningOf(turn.thinking) : undefined;
  return {
    messages: messagesOf(turn),
    ...defined({ instructions: system, reasoning, maxOutputTokens }),
    maxRetries: 0,
  };
}

function reasoningOf(thinking = ''): (typeof REASONING)[keyof typeof REASONING] | undefined {
  return Object.hasOwn(REASONING, thinking) ? REASONING[thinking as keyof typeof REASONING] : undefined;
}

/** The session's history, oldest first, and the prompt; providers refuse blank messages. */
function messagesOf(turn: Turn): { role: 'user' | 'assistant'; content: string }[] {
  const history = turn.history.filter(({ text }) => text.trim() !== '');
  return [
    ...history.map(({ role, text }) => ({ role, content: text })),
    { role: 'user', content: turn.prompt },
  ];
}

type ModelAnswer = Awaited<ReturnType<ModelRegistry['generateText']>>;

function resultOf(result: ModelAnswer): TurnResult {
  const { inputTokens, outputTokens } = result.usage;
  const usage = defined({ inputTokens, outputTokens });
  const reply = result.text.trim();
  if (result.finishReason === 'content-filter')
    return { ...failedTurn('refused', 'the model or its provider refused to answer'), reply, usage };
  if (reply === '')
    return { ...failedTurn('no_text', `the model ended without text (${result.finishReason})`), usage };
  return { kind: 'completed', outcome: 'ok', reply, usage };
}

function timedOut({ timeoutSeconds }: Turn): TurnResult {
  const message = `the model did not answer within ${timeoutSeconds} s`;
  return failedTurn('timeout', message, 'timeout');
}

function failureOf(registry: ModelRegistry, error: unknown, secrets: readonly string[]): TurnResult {
  const connection = connectionCode(error);
  if (connection !== undefined) {
    const message = `the provider cannot be reached (${connectionText(connection)})`;
    return notStarted('connection_refused', message, { affects: 'model' });
  }
  if (!registry.isApiError(error))
    return failedTurn('model_failed', 'the answer of the provider cannot be used');
  const { statusCode: status, responseHeaders = {} } = error;
  if (status === undefined) return failedTurn('connection_lost', 'the connection to the provider broke off');
  const said = describe(error.message, secrets) ?? 'no reason given';
  const retryAfterMs = retryAfterOf(responseHeaders);
  // A provider that says when to come again has not done the work.
  const code =
    NOT_STARTED.get(status) ?? (status >= 500 && retryAfterMs !== undefined ? 'unavailable' : undefined);
  if (code === undefined) return failedWith(status, said);
  return notStarted(code, `the provider answered ${status}: ${said}`, { retryAfterMs, affects: 'model' });
}

/** The result of a refusal that no repeat can change. */
function failedWith(status: number, said: string): TurnResult {
  if (status < 300)
    return failedTurn('malformed_answer', 'the answer of the provider cannot be read or was cut off');
  if (status < 400) {
    const hint = 'a redirect, which is not followed: check baseUrl';
    return failedTurn('rejected', `the provider answered ${status} (${hint})`);
  }
  const code = status === 403 ? 'unauthorized' : status < 500 ? 'rejected' : 'provider_error';
  return failedTurn(code, `the provider answered ${status}: ${said}`);
}

function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = headers['retry-after-ms'];
  return ms === undefined ? parseRetryAfter(headers['retry-after']) : retryDelay(Number(ms));
}

function loadProblem(settings: ModelSettings, error: unknown): string {
  const missing = explainMissingModelPackages(settings);
  if (missing !== undefined) return missing;
  return `the providers cannot be set up: ${error instanceof Error ? error.message : 'unknown reason'}`;
}
