/*
 * Turns taken by another gateway: another Sluice, or an OpenClaw gateway's hooks. Which of the two it is says one
 * question that only Sluice answers with problem+json. It is asked until Sluice has answered: what stands between may
 * answer for a Sluice that starts.
 *
 * Sluice gets the whole prompt and is asked for the outcome (`Prefer: wait`), so reply, outcome and error come back:
 * delivery stays here. It answers 202 where it does not wait any longer: the run goes on, the service there stops, or too
 * many wait. Then it is asked again under the same Idempotency-Key until the deadline. So it is where a connection broke
 * off, and after 5xx of a run that was taken: a store that is away there ends no run here.
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
/** A 202 that took this part of the wait was waited for. */
const WAITED_PART = 0.5;
/** The pause between two requests for the same run; twice as long each time where the remote has not waited. */
const ASK_AGAIN_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** The longest reply that a service allows its runners (64 MB), as JSON. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** A runner that hands turns to another gateway's hook endpoints; `name` is what summaries call it. */
export function createForwardRunner(settings: ForwardSettings, name: string): Runner {
  let isSluice = false;
  const forward = async (turn: Turn, signal: AbortSignal): Promise<TurnResult> => {
    if (turn.kind === 'heartbeat') return forwardWake(settings, turn, signal);
    try {
      isSluice ||= await recognisesSluice(settings, signal);
    } catch (error) {
      return failureBefore(error);
    }
    if (isSluice) return forwardAgent(settings, turn, signal);
    return handOver(settings, turn, { signal, name });
  };
  return {
    kind: 'forward',
    isForgetful: true,
    run: async (turn, { signal }) => {
      using bounded = deriveSignal(signal, turn.timeoutSeconds * 1000);
      try {
        return await forward(turn, bounded.signal);
      } catch (error) {
        return failureOf(error, isTimeOver(bounded.signal));
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
    return waitingFor(refusal, answer.status);
  } catch (error) {
    return failureBefore(error);
  }
}

/** The failure of what begins no run, or of a wake, which the remote makes once of all requests with one key. */
function failureBefore(error: unknown): TurnResult {
  if (error instanceof StatusError) return waitingFor(failureOf(error), error.status);
  return connectionCode(error) === undefined
    ? away('no_answer', 'the other gateway does not answer')
    : failureOf(error);
}

/** Lets runs and events wait for a remote in trouble. */
function waitingFor(failure: TurnResult, status: number): TurnResult {
  const isLater = failure.kind === 'completed' && (status >= 500 || status === 401);
  return isLater ? away('unavailable', failure.error?.message ?? '') : failure;
}

/** Asks for a run that cannot exist: Sluice answers with problem+json, OpenClaw with plain text. */
async function recognisesSluice(settings: ForwardSettings, signal: AbortSignal): Promise<boolean> {
  try {
    const { body } = await fetchJson(`${baseOf(settings)}/runs/0`, {
      headers: { authorization: `Bearer ${settings.token}` },
      signal,
    });
    return textField(body, 'title') !== undefined && textField(body, 'code') !== undefined;
  } catch (error) {
    if (error instanceof StatusError && !isForLater(error)) return false;
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
  const waitSeconds = Math.max(1, Math.min(Math.ceil(turn.timeoutSeconds), MAX_WAIT_SECONDS));
  const body = { ...agentBody(turn), deliver: false };
  const key = keyOf(turn);
  let isAccepted = false;
  let pauseMs = ASK_AGAIN_MS;
  for (;;) {
    const askedAt = performance.now();
    const answer = await post(settings, { path: 'agent', key, body, signal, waitSeconds }).catch(
      (error: unknown) => troubleOf(error, isAccepted),
    );
    signal.throwIfAborted();
    const isInTrouble = answer === undefined || (isAccepted && isForLater(answer));
    if (!isInTrouble) {
      const refusal = refusalOf(answer, settings.token);
      if (refusal) return refusal;
      if (answer.status !== 202) return outcomeOf(answer);
    }
    // The remote may have the run, or has it: whatever trouble it has, the end comes from it.
    isAccepted = true;
    const waited = !isInTrouble && performance.now() - askedAt >= waitSeconds * 1000 * WAITED_PART;
    const askedMs = answer?.retryAfterMs ?? 0;
    pauseMs = waited ? ASK_AGAIN_MS : Math.min(Math.max(pauseMs * 2, askedMs), MAX_PAUSE_MS);
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
}

type WithStatus = Pick<JsonAnswer, 'status'>;

const isForLater = ({ status }: WithStatus): boolean => status === 408 || status === 429 || status >= 500;

/** Whether the answer comes from what stands between, which may have passed the run on: Sluice has no such 5xx. */
const isOfProxy = ({ status }: WithStatus): boolean => status === 502 || status >= 504;

/** Undefined where the request may have arrived, or has before; throws every other error. */
function troubleOf(error: unknown, isAccepted: boolean): undefined {
  const mayHaveArrived =
    error instanceof StatusError
      ? isOfProxy(error) || (isAccepted && isForLater(error))
      : isAccepted || connectionCode(error) === undefined;
  if (!mayHaveArrived) throw error;
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
    maxBytes: MAX_ANSWER_BYTES,
  });
}

function outcomeOf(answer: JsonAnswer): TurnResult {
  const { body } = answer;
  const reply = textField(body, 'reply') ?? '';
  const outcome = field(body, 'outcome');
  if (outcome === 'ok' || (outcome === undefined && reply !== ''))
    return { kind: 'completed', outcome: 'ok', reply };
  if (outcome === 'forwarded' || (outcome === undefined && field(body, 'state') === undefined))
    return { kind: 'completed', outcome: 'forwarded', reply: '', remark: 'handed to the other gateway' };
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

/** 408, 429 and 503 say that nothing was begun; any other refusal ends the run. */
function refusedWith(
  status: number,
  {
    code,
    retryAfterMs,
    said,
  }: Partial<Record<'code' | 'said', string | undefined>> & Pick<StatusError, 'retryAfterMs'>,
): TurnResult {
  const message = `the other gateway answered ${status}${said === undefined ? '' : `: ${said}`}`;
  if (status === 408 || status === 429 || status === 503) {
    const reason = status === 429 ? 'rate_limited' : 'unavailable';
    return notStarted(reason, message, { retryAfterMs, affects: 'model' });
  }
  const usual = status === 401 ? 'unauthorized' : status < 500 ? 'rejected' : 'remote_error';
  return failedTurn((code ?? usual).slice(0, 64), message);
}

function failureOf(error: unknown, timedOut = false): TurnResult {
  const connection = connectionCode(error);
  if (connection !== undefined)
    return away('connection_refused', `the other gateway cannot be reached (${connectionText(connection)})`);
  if (error instanceof StatusError) return refusedWith(error.status, { retryAfterMs: error.retryAfterMs });
  return timedOut
    ? failedTurn('ambiguous', 'the other gateway did not answer in time: it may have run', 'timeout')
    : failedTurn('ambiguous', 'the connection to the other gateway broke off: it may have run');
}

/** The result where nothing was started, so that runs wait. */
const away = (code: string, message: string): TurnResult => notStarted(code, message, { affects: 'runner' });
