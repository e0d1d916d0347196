/*
 * Turns taken by another gateway: another Sluice, or an OpenClaw gateway's hooks. Which of the two it is says one
 * question that only Sluice answers with problem+json; it is asked once.
 *
 * Sluice gets the whole prompt, is asked for the outcome (`Prefer: wait`) and answers only when there is one, so reply,
 * outcome and error come back: delivery stays here. A 202 that came only after the wait is asked again under the same
 * Idempotency-Key until the deadline, so a run may last longer than one request. So is a connection that broke off, and
 * 5xx of a run that was taken: a store that is away there ends no run here.
 *
 * An OpenClaw gateway says how the run ended (`waitForCompletion`) but never what was answered. So the delivery goes
 * along, a session key only where a sender or mapping named one (it refuses any other way unless opted in), and the run
 * ends here as `forwarded`, without a reply.
 *
 * The main session's own turns go to the remote's `/wake`.
 */
import { defined } from '../../base/json.ts';
import { createHash } from 'node:crypto';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { LAST_CHANNEL } from '../../base/action.ts';
import { HEARTBEAT_OK } from './acknowledgement.ts';
import {
  connectionCode,
  connectionText,
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  StatusError,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { failedTurn, notStarted, type Runner, type Turn, type TurnResult } from './runner.ts';
import { deriveSignal, isTimeOver, pause } from '../../base/timers/timers.ts';

export type ForwardSettings = Extract<RunnerSettings, { readonly kind: 'forward' }>;

/** A wait below the 300 s after which fetch gives up on an answer that has not begun. */
const MAX_WAIT_SECONDS = 240;
/** A 202 that took this part of the wait was waited for; an earlier one comes from a remote that does not wait. */
const WAITED_PART = 0.5;
/** The pause between two requests for the same run; in trouble twice as long each time. */
const ASK_AGAIN_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** The kind of the other gateway; asked again until it answers. */
type Remote = 'sluice' | 'other';

/** A runner that hands turns to another gateway's hook endpoints; `name` is what summaries call it. */
export function createForwardRunner(settings: ForwardSettings, name: string): Runner {
  let remote: Remote | undefined;
  const forward = async (turn: Turn, signal: AbortSignal): Promise<TurnResult> => {
    if (turn.kind === 'heartbeat') return forwardWake(settings, turn, signal);
    try {
      remote ??= await recognise(settings, signal);
    } catch (error) {
      return failureOf(error, { timedOut: false, started: false });
    }
    if (remote === 'sluice') return forwardAgent(settings, turn, signal);
    return handOver(settings, turn, { signal, name });
  };
  return {
    kind: 'forward',
    isForgetful: true,
    run: async (turn, { signal }) => {
      const bounded = deriveSignal(signal, turn.timeoutSeconds * 1000);
      try {
        return await forward(turn, bounded.signal);
      } catch (error) {
        return failureOf(error, { timedOut: isTimeOver(bounded.signal), started: true });
      } finally {
        bounded.release();
      }
    },
  };
}

/** A turn of the main session becomes a wake of the remote's. */
async function forwardWake(settings: ForwardSettings, turn: Turn, signal: AbortSignal): Promise<TurnResult> {
  const body = { text: turn.prompt, mode: 'now' };
  // A turn that is repeated may read more events: under its old key the remote would not take them.
  const key = `${turn.runId}-${createHash('sha256').update(turn.prompt).digest('hex').slice(0, 16)}`;
  try {
    const answer = await post(settings, { path: 'wake', key, body, signal, waitSeconds: 0 });
    const refusal = refusalOf(answer, settings.token);
    if (refusal === undefined) return { kind: 'completed', outcome: 'ok', reply: HEARTBEAT_OK };
    return wakeLater(refusal, answer.status);
  } catch (error) {
    const failure = failureOf(error, { timedOut: false, started: false });
    return error instanceof StatusError ? wakeLater(failure, error.status) : failure;
  }
}

/** Lets the events wait for a remote in trouble, which makes one wake of all requests with one key. */
function wakeLater(failure: TurnResult, status: number): TurnResult {
  const isLater = failure.kind === 'completed' && (status >= 500 || status === 401);
  return isLater ? away('unavailable', failure.error?.message ?? '') : failure;
}

/** Asks for a run that cannot exist: Sluice answers with problem+json, OpenClaw with plain text. */
async function recognise(settings: ForwardSettings, signal: AbortSignal): Promise<Remote> {
  try {
    const { body } = await fetchJson(`${baseOf(settings)}/runs/0`, {
      headers: { authorization: `Bearer ${settings.token}` },
      signal,
    });
    return textField(body, 'title') !== undefined && textField(body, 'code') !== undefined
      ? 'sluice'
      : 'other';
  } catch (error) {
    if (error instanceof StatusError && error.status < 500) return 'other';
    throw error;
  }
}

/** Hands over a run whose reply stays with the other gateway. */
async function handOver(
  settings: ForwardSettings,
  turn: Turn,
  { signal, name }: { readonly signal: AbortSignal; readonly name: string },
): Promise<TurnResult> {
  const body = { ...agentBody(turn), ...deliveryOf(turn), waitForCompletion: true };
  const answer = await post(settings, { path: 'agent', key: keyOf(turn), body, signal, waitSeconds: 0 });
  const refusal = refusalOf(answer, settings.token);
  if (refusal !== undefined) return refusal;
  const status = textField(field(answer.body, 'completion'), 'status');
  if (status === 'error') {
    return failedTurn('remote_error', `the run failed on ${name}: its own log says why`);
  }
  const remark = status === 'ok' ? `handed to ${name}, which has answered it` : `handed to ${name}`;
  return { kind: 'completed', outcome: 'forwarded', reply: '', remark };
}

/** OpenClaw needs channel and recipient, and has nobody for `last`: else the reply goes to its main session. */
function deliveryOf({ deliverTo }: Turn): object {
  if (deliverTo === undefined) return { deliver: false };
  const { channel, to } = deliverTo;
  return channel === LAST_CHANNEL || to === undefined ? { deliver: true } : { deliver: true, channel, to };
}

function baseOf({ url }: ForwardSettings): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** Sends a run. All requests of it have one key, of which the remote makes one run: asking again is always safe. */
async function forwardAgent(settings: ForwardSettings, turn: Turn, signal: AbortSignal): Promise<TurnResult> {
  const endsAt = performance.now() + turn.timeoutSeconds * 1000;
  const body = { ...agentBody(turn), deliver: false };
  const key = keyOf(turn);
  let isAccepted = false;
  let pauseMs = ASK_AGAIN_MS;
  for (;;) {
    const askedAt = performance.now();
    const waitSeconds = Math.max(1, Math.min(Math.ceil((endsAt - askedAt) / 1000), MAX_WAIT_SECONDS));
    const answer = await post(settings, { path: 'agent', key, body, signal, waitSeconds }).catch(
      (error: unknown) => troubleOf(error, isAccepted),
    );
    signal.throwIfAborted();
    if (answer === undefined || (isAccepted && isForLater(answer))) {
      // The remote may have the run, or has it: whatever trouble it has, the end comes from it.
      isAccepted = true;
      pauseMs = Math.max(
        Math.min(pauseMs * 2, MAX_PAUSE_MS),
        Math.min(answer?.retryAfterMs ?? 0, MAX_PAUSE_MS),
      );
    } else {
      const refusal = refusalOf(answer, settings.token);
      if (refusal) return refusal;
      if (answer.status !== 202) return outcomeOf(answer);
      const waited = performance.now() - askedAt >= waitSeconds * 1000 * WAITED_PART;
      if (!waited && !isAccepted) return endUnknown();
      isAccepted = true;
      pauseMs = ASK_AGAIN_MS;
    }
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
}

const isForLater = ({ status }: Pick<JsonAnswer, 'status'>): boolean => status === 429 || status >= 500;

/** Undefined where the request may have arrived, or has before; throws every other error. */
function troubleOf(error: unknown, isAccepted: boolean): undefined {
  const isRefused = connectionCode(error) !== undefined;
  const isLater = error instanceof StatusError && isForLater(error);
  if (isAccepted ? error instanceof StatusError && !isLater : isRefused || error instanceof StatusError)
    throw error;
  return undefined;
}

/** The key of a turn. A run that was begun anew has another key than before, which would bring its old end. */
function keyOf({ runId, endedBeforeAt }: Turn): string {
  return endedBeforeAt === undefined ? runId : `${runId}-${endedBeforeAt}`;
}

/** The body, which is the same for every request of a turn, as an Idempotency-Key demands. */
function agentBody(turn: Turn): object {
  return {
    message: turn.prompt,
    name: turn.name,
    // The other gateway makes a key of its own where nobody chose one.
    ...(turn.isOneShot === true ? {} : { sessionKey: turn.sessionKey }),
    wakeMode: 'next-heartbeat',
    timeoutSeconds: turn.timeoutSeconds,
    ...defined({ model: turn.model, thinking: turn.thinking }),
  };
}

interface ForwardedTurn {
  readonly path: 'wake' | 'agent';
  readonly key: string;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly waitSeconds: number;
}

async function post(settings: ForwardSettings, posting: ForwardedTurn): Promise<JsonAnswer> {
  const { body, key, path, signal, waitSeconds } = posting;
  return fetchJson(`${baseOf(settings)}/${path}`, {
    headers: {
      authorization: `Bearer ${settings.token}`,
      'idempotency-key': key,
      ...(waitSeconds === 0 ? {} : { prefer: `wait=${waitSeconds}` }),
    },
    body,
    signal,
  });
}

function outcomeOf(answer: JsonAnswer): TurnResult {
  const { body } = answer;
  const reply = textField(body, 'reply') ?? '';
  const outcome = field(body, 'outcome');
  if (outcome === 'ok' || (outcome === undefined && reply !== ''))
    return { kind: 'completed', outcome: 'ok', reply };
  if (outcome === undefined && field(body, 'state') === undefined) return endUnknown();
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

/** The result where the remote accepted the run and does not report its end. */
function endUnknown(): TurnResult {
  return { kind: 'completed', outcome: 'forwarded', reply: '', remark: 'handed to the other gateway' };
}

/** The failure an answer stands for; undefined for 2xx. */
function refusalOf(answer: JsonAnswer, token: string): TurnResult | undefined {
  const { body, retryAfterMs, status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const said = textField(body, 'detail') ?? textField(body, 'title') ?? textField(body, 'error');
  const remedy = status === 400 && said?.includes('sessionKey') === true ? SESSION_KEY_REMEDY : '';
  const shown = describe(said, [token]);
  return refusedWith(status, {
    retryAfterMs,
    code: textField(body, 'code'),
    said: shown === undefined ? undefined : shown + remedy,
  });
}

/** An OpenClaw gateway takes session keys of requests only where its file says so. */
const SESSION_KEY_REMEDY =
  ' (set hooks.allowRequestSessionKey: true there, or leave the session key of the mapping out)';

/** 429 and 503 say that nothing was begun; any other refusal ends the run. */
function refusedWith(
  status: number,
  {
    code,
    retryAfterMs,
    said,
  }: Partial<Record<'code' | 'said', string | undefined>> & Pick<StatusError, 'retryAfterMs'>,
): TurnResult {
  const message = `the other gateway answered ${status}${said === undefined ? '' : `: ${said}`}`;
  if (status === 429 || status === 503) {
    const reason = status === 429 ? 'rate_limited' : 'unavailable';
    return notStarted(reason, message, { retryAfterMs, affects: 'model' });
  }
  const usual = status === 401 ? 'unauthorized' : status < 500 ? 'rejected' : 'remote_error';
  return failedTurn((code ?? usual).slice(0, 64), message);
}

/** `started` is false where only the kind of the other gateway was asked for so far. */
function failureOf(
  error: unknown,
  { timedOut, started }: { readonly timedOut: boolean; readonly started: boolean },
): TurnResult {
  const connection = connectionCode(error);
  if (connection !== undefined)
    return away('connection_refused', `the other gateway cannot be reached (${connectionText(connection)})`);
  if (error instanceof StatusError) return refusedWith(error.status, { retryAfterMs: error.retryAfterMs });
  if (!started) return away('no_answer', 'the other gateway does not answer');
  return timedOut
    ? failedTurn('ambiguous', 'the other gateway did not answer in time: it may have run', 'timeout')
    : failedTurn('ambiguous', 'the connection to the other gateway broke off: it may have run');
}

/** The result where nothing was started, so that runs wait. */
const away = (code: string, message: string): TurnResult => notStarted(code, message, { affects: 'runner' });
