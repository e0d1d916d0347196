/*
 * Turns taken by another gateway: an OpenClaw gateway's hooks, or another Sluice.
 *
 * The remote gets the whole prompt as its message: its own boundary around ours does no harm, and the operator's
 * instructions stay with it. `Prefer: wait` asks for the outcome in the answer; Sluice holds the request and answers
 * 200 with the reply, OpenClaw ignores it and answers 202 at once. A 202 that came only after the wait is asked again
 * under the same Idempotency-Key until the deadline, so a run may last longer than one request.
 *
 * `deliver` is false and `wakeMode` is next-heartbeat: delivery and waking stay with this gateway, whose heartbeat
 * turns go to the remote's `/wake`.
 */
import type { RunnerSettings } from '../config/config.ts';
import { HEARTBEAT_OK } from './acknowledgement.ts';
import {
  connectionCode,
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  StatusError,
  textField,
} from '../outgoing/outgoing.ts';
import type { Runner, Turn, TurnResult } from './runner.ts';
import { armTimer, pause } from '../timers/timers.ts';

export type ForwardSettings = Extract<RunnerSettings, { readonly kind: 'forward' }>;

/** Below the 300 s after which fetch gives up on an answer that has not begun. */
const MAX_WAIT_SECONDS = 240;
/** A 202 that took this part of the wait was waited for; an earlier one comes from a remote that does not wait. */
const WAITED_PART = 0.5;
/** Between two requests for the same run, should a remote answer early again and again. */
const ASK_AGAIN_MS = 250;

/** A runner that hands turns to another gateway's hook endpoints. */
export function createForwardRunner(settings: ForwardSettings): Runner {
  return {
    kind: 'forward',
    run: async (turn, options) => {
      const deadline = new AbortController();
      const cancel = armTimer(turn.timeoutSeconds * 1000, () => deadline.abort());
      const signal = AbortSignal.any([options.signal, deadline.signal]);
      try {
        return turn.kind === 'heartbeat'
          ? await forwardWake(settings, turn, signal)
          : await forwardAgent(settings, turn, signal);
      } catch (error) {
        return failureOf(error, { timedOut: deadline.signal.aborted, token: settings.token });
      } finally {
        cancel();
      }
    },
  };
}

/** A turn of the main session becomes a wake of the remote's. */
async function forwardWake(settings: ForwardSettings, turn: Turn, signal: AbortSignal): Promise<TurnResult> {
  const body = { text: turn.prompt, mode: 'now' };
  const answer = await post(settings, { path: 'wake', key: turn.runId, body, signal, waitSeconds: 0 });
  return refusalOf(answer, settings.token) ?? { kind: 'completed', outcome: 'ok', reply: HEARTBEAT_OK };
}

async function forwardAgent(settings: ForwardSettings, turn: Turn, signal: AbortSignal): Promise<TurnResult> {
  const endsAt = performance.now() + turn.timeoutSeconds * 1000;
  const body = agentBody(turn);
  for (;;) {
    const askedAt = performance.now();
    const waitSeconds = Math.max(1, Math.min(Math.ceil((endsAt - askedAt) / 1000), MAX_WAIT_SECONDS));
    const answer = await post(settings, { path: 'agent', key: turn.runId, body, signal, waitSeconds });
    const refusal = refusalOf(answer, settings.token);
    if (refusal) return refusal;
    if (answer.status !== 202) return outcomeOf(answer);
    const waited = performance.now() - askedAt >= waitSeconds * 1000 * WAITED_PART;
    if (!waited) return acceptedOf(answer);
    await pause(ASK_AGAIN_MS, signal);
    signal.throwIfAborted();
  }
}

/** The same for every request of a turn, as an Idempotency-Key demands. */
function agentBody(turn: Turn): object {
  return {
    message: turn.prompt,
    name: turn.name,
    sessionKey: turn.sessionKey,
    wakeMode: 'next-heartbeat',
    deliver: false,
    timeoutSeconds: turn.timeoutSeconds,
    ...(turn.model === undefined ? {} : { model: turn.model }),
    ...(turn.thinking === undefined ? {} : { thinking: turn.thinking }),
  };
}

interface Posting {
  readonly path: 'wake' | 'agent';
  readonly key: string;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly waitSeconds: number;
}

async function post(settings: ForwardSettings, posting: Posting): Promise<JsonAnswer> {
  const { body, key, path, signal, waitSeconds } = posting;
  return fetchJson(`${settings.url.replace(/\/+$/, '')}/${path}`, {
    headers: {
      authorization: `Bearer ${settings.token}`,
      'idempotency-key': key,
      ...(waitSeconds === 0 ? {} : { prefer: `wait=${waitSeconds}` }),
    },
    body,
    signal,
  });
}

/** What became of a run whose end the remote waited for. */
function outcomeOf(answer: JsonAnswer): TurnResult {
  const { body } = answer;
  const reply = textField(body, 'reply') ?? '';
  const outcome = field(body, 'outcome');
  if (outcome === 'ok' || (outcome === undefined && reply !== ''))
    return { kind: 'completed', outcome: 'ok', reply };
  if (outcome === undefined && field(body, 'state') === undefined) return acceptedOf(answer);
  const error = field(body, 'error');
  return {
    kind: 'completed',
    outcome: outcome === 'timeout' ? 'timeout' : 'error',
    reply,
    error: {
      code: textField(error, 'code') ?? 'remote_error',
      message: textField(error, 'message') ?? 'the run ended badly on the other gateway',
    },
  };
}

/** The remote took the run and does not tell its end. */
function acceptedOf(answer: JsonAnswer): TurnResult {
  const runId = textField(answer.body, 'runId');
  const named = runId === undefined ? '' : ` as run ${runId.slice(0, 64)}`;
  return { kind: 'completed', outcome: 'ok', reply: `Accepted by the other gateway${named}.` };
}

/** The failure an answer stands for; undefined for 2xx. */
function refusalOf(answer: JsonAnswer, token: string): TurnResult | undefined {
  const { body, retryAfterMs, status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const said = textField(body, 'detail') ?? textField(body, 'title') ?? textField(body, 'error');
  return refusedWith(status, { retryAfterMs, code: textField(body, 'code'), said: describe(said, [token]) });
}

interface RemoteRefusal {
  readonly retryAfterMs: number | undefined;
  readonly code?: string | undefined;
  readonly said?: string | undefined;
}

/** 429 and 503 say that nothing was begun; any other refusal ends the run. */
function refusedWith(status: number, { code, retryAfterMs, said }: RemoteRefusal): TurnResult {
  const message = `the other gateway answered ${status}${said === undefined ? '' : `: ${said}`}`;
  if (status === 429 || status === 503) {
    const retryAfter = retryAfterMs === undefined ? {} : { retryAfterMs };
    const reason = status === 429 ? 'rate_limited' : 'unavailable';
    return { kind: 'not-started', code: reason, message, ...retryAfter, final: false, affects: 'model' };
  }
  const usual = status === 401 ? 'unauthorized' : status < 500 ? 'rejected' : 'remote_error';
  return completedWith('error', (code ?? usual).slice(0, 64), message);
}

function failureOf(error: unknown, what: { timedOut: boolean; token: string }): TurnResult {
  const connection = connectionCode(error);
  if (connection !== undefined) {
    const message = `the other gateway cannot be reached (${connection})`;
    return { kind: 'not-started', code: 'connection_refused', message, final: false, affects: 'runner' };
  }
  if (error instanceof StatusError) {
    return refusedWith(error.status, { retryAfterMs: error.retryAfterMs });
  }
  if (what.timedOut) {
    return completedWith('timeout', 'ambiguous', 'the other gateway did not answer in time: it may have run');
  }
  return completedWith(
    'error',
    'ambiguous',
    'the connection to the other gateway broke off: it may have run',
  );
}

function completedWith(outcome: 'error' | 'timeout', code: string, message: string): TurnResult {
  return { kind: 'completed', outcome, reply: '', error: { code, message } };
}
