import { HookError } from '../errors.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import type { AcceptResult, IdempotencyKey } from '../storage/storage.ts';
import { acceptedAnswer, acceptedStatus, runAnswer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { checkBodyHeaders, parseBody, readBody } from './body.ts';
import { type Decided, decisionOf, failedTransformOf, requestJson } from './decision.ts';
import type { Answer, Exchange } from './exchange.ts';
import { derivedFrom, type Front } from './front.ts';
import { HEALTHY } from './health.ts';
import { idempotencyKey, readIdempotencyKey } from './idempotency.ts';
import { describeFault, problemAnswer, toHookError } from './problem.ts';
import { logRequest } from './request-log.ts';
import { send } from './send.ts';
import { findHookName } from './target.ts';
import { readWaitSeconds, waitForOutcome } from './wait.ts';

/** Longer hook names match nothing; they are kept out of decisions and logs. */
const MAX_HOOK_NAME = 512;
const MAX_RUN_ID = 64;

/** Answers one request, whatever happens on the way, and accounts for it. Never rejects. */
export async function serve(front: Front, exchange: Exchange): Promise<void> {
  let answer: Answer;
  try {
    answer = await answerRequest(front, exchange);
  } catch (error) {
    const hookError = toHookError(error);
    exchange.code = hookError.code;
    if (hookError.cause !== undefined) exchange.fault = describeFault(hookError.cause);
    answer = problemAnswer(hookError, exchange.ids.id);
    keepDecision(front, exchange, { status: answer.status });
  }
  send(exchange, answer, { close: front.stopping.signal.aborted, limits: front.limits });
  logRequest(front, exchange, answer.status);
}

async function answerRequest(front: Front, exchange: Exchange): Promise<Answer> {
  const { target, generation } = exchange;
  const { hooks } = generation;
  const name = target === undefined ? undefined : findHookName(target.path, hooks.path);
  if (name === undefined || !hooks.enabled) return answerOutside(front, exchange, name !== undefined);
  await admit(front, exchange);
  exchange.hookName = name.slice(0, MAX_HOOK_NAME);
  if (hooks.exposeRuns && name.startsWith('runs/')) return answerRun(front, exchange, name.slice(5));
  const { method } = exchange.req;
  if (method === 'GET' && name.startsWith('runs/'))
    throw new HookError('not_found', 'runs are not exposed here');
  if (method !== 'POST') throw wrongMethod(exchange, 'POST');
  if (front.stopping.signal.aborted) throw new HookError('stopping', 'the service is stopping');
  return answerHook(front, exchange, name);
}

/** Everything outside `hooks.path`, and inside it while hooks are off. */
async function answerOutside(front: Front, exchange: Exchange, hooksAreOff: boolean): Promise<Answer> {
  const path = exchange.target?.path;
  if (path !== '/healthz' && path !== '/readyz') {
    throw new HookError(
      'not_found',
      hooksAreOff ? 'hooks are switched off' : 'nothing is served at this path',
    );
  }
  const { method } = exchange.req;
  if (method !== 'GET' && method !== 'HEAD') throw wrongMethod(exchange, 'GET, HEAD');
  exchange.outcome = 'served';
  return path === '/healthz' ? HEALTHY : front.probe.answer(front.stopping.signal.aborted);
}

/**
 * Lets the sender in or throws.
 * @throws HookError `unauthorized`, `too_many_failures`
 */
async function admit(front: Front, exchange: Exchange): Promise<void> {
  const { tokens, limiter } = derivedFrom(front, exchange.generation.hooks);
  const { req, headers, target } = exchange;
  if (target === undefined) throw new HookError('not_found', 'nothing is served at this path');
  const judged = authenticate(tokens, headers, target);
  if (judged.kind === 'accepted') {
    const requestId = exchange.ids.id;
    if (judged.carrier === 'query') {
      front.deps.log.warn(
        { requestId },
        'hook token came in the query, which is deprecated: send it as "Authorization: Bearer"',
      );
    }
    if (judged.retired > 0) {
      front.deps.log.warn({ requestId, retired: judged.retired }, 'a retired hook token was used');
    }
    return;
  }
  exchange.address = front.findAddress(req.socket.remoteAddress, headers.values['x-forwarded-for']);
  const retryAfterSeconds = await limiter.fail(exchange.address);
  if (retryAfterSeconds !== undefined) {
    throw new HookError('too_many_failures', 'too many requests without a valid hook token', {
      retryAfterSeconds,
    });
  }
  throw new HookError('unauthorized', REFUSALS[judged.reason]);
}

const REFUSALS = {
  missing: 'the request carries no hook token; send it as "Authorization: Bearer"',
  wrong: 'the hook token is wrong',
  'query-rejected': 'the hook token is not taken from the query here; send it as "Authorization: Bearer"',
} as const;

function wrongMethod(exchange: Exchange, allowed: string): HookError {
  exchange.res.setHeader('allow', allowed);
  return new HookError('method_not_allowed', `this path takes only ${allowed}`);
}

async function answerRun(front: Front, exchange: Exchange, runId: string): Promise<Answer> {
  if (exchange.req.method !== 'GET') throw wrongMethod(exchange, 'GET');
  const run = runId.length > MAX_RUN_ID ? undefined : await front.deps.storage.findRun(runId);
  // The main session's own turns are runs too, and not a sender's business.
  if (run === undefined || run.kind !== 'hook') throw new HookError('not_found', 'no run has this id');
  exchange.outcome = 'served';
  return runAnswer(run);
}

/** The way of a hook request from its body to its answer. */
async function answerHook(front: Front, exchange: Exchange, name: string): Promise<Answer> {
  const { generation, headers } = exchange;
  if (name === '' || name.length > MAX_HOOK_NAME || !generation.canTake(name)) {
    exchange.owesDecision = true;
    throw new HookError('no_mapping_matched', 'no mapping takes this hook name');
  }
  const maxBytes = generation.settingsOf(name).maxBodyBytes ?? generation.hooks.maxBodyBytes;
  checkBodyHeaders(exchange, maxBytes);
  const key = readIdempotencyKey(headers.values['idempotency-key']);
  const waitSeconds = readWaitSeconds(headers.values['prefer'], front.limits.maxWaitSeconds);
  const body = await readBody(exchange, maxBytes);
  const payload = parseBody(body, front.decoder);
  if ((name === 'wake' || name === 'agent') && !isObject(payload)) {
    throw new HookError(
      'invalid_body',
      `the body of ${name} is a JSON object, and this is another JSON value`,
    );
  }
  exchange.owesDecision = true;
  const request = hookRequest(exchange, name, payload);
  let result: AcceptResult;
  if (key === undefined || key === '') {
    result = await perform(front, exchange, { request, blankKey: key === '', idempotency: undefined });
  } else {
    const idempotency = idempotencyKey(name, key, body);
    result = await front.repeats.once(idempotency, exchange.receivedAt, () =>
      perform(front, exchange, { request, blankKey: false, idempotency }),
    );
    if (exchange.owesDecision) {
      exchange.outcome = 'duplicate';
      keepDecision(front, exchange, { status: acceptedStatus(result), result });
    }
  }
  const waited = waitSeconds === 0 ? undefined : await waitForOutcome(front, exchange, result, waitSeconds);
  return waited ?? acceptedAnswer(result);
}

function isObject(payload: JsonValue): boolean {
  return payload !== null && typeof payload === 'object' && !Array.isArray(payload);
}

function hookRequest(exchange: Exchange, name: string, payload: JsonValue): HookRequest {
  const { ids, target } = exchange;
  return {
    id: ids.id,
    receivedAt: exchange.receivedAt,
    seed: ids.seed,
    nonce: ids.nonce,
    path: name,
    url: target?.url ?? '',
    headers: exchange.headers.values,
    query: target?.query ?? {},
    payload,
  };
}

interface Performance {
  readonly request: HookRequest;
  readonly blankKey: boolean;
  readonly idempotency: IdempotencyKey | undefined;
}

/** Evaluates and stores one request, and keeps the decision whatever it was. */
async function perform(front: Front, exchange: Exchange, work: Performance): Promise<AcceptResult> {
  const { generation } = exchange;
  const { request } = work;
  const begun = performance.now();
  const pending = generation.evaluate(request);
  const evaluation = pending instanceof Promise ? await pending : pending;
  const evaluated = performance.now();
  exchange.evaluateMs = evaluated - begun;
  exchange.mappingId = evaluation.mapping?.id;
  let result: AcceptResult | undefined;
  let status = 500;
  try {
    result = await store(front, exchange, evaluation, work);
    exchange.storeMs = performance.now() - evaluated;
    status = acceptedStatus(result);
    return result;
  } catch (error) {
    const hookError = toHookError(error);
    exchange.code = hookError.code;
    status = hookError.status;
    throw hookError;
  } finally {
    const conclusion = { request, evaluation, result, status };
    guarded(front, exchange, () => conclude(front, exchange, conclusion));
  }
}

/** One transaction for all actions of the request; nothing is stored for a rejected one. */
async function store(
  front: Front,
  exchange: Exchange,
  evaluation: Evaluation,
  work: Performance,
): Promise<AcceptResult> {
  const { outcome } = evaluation;
  if (outcome.kind === 'rejected') {
    exchange.outcome = 'rejected';
    throw outcome.error;
  }
  const actions = outcome.kind === 'accepted' ? outcome.actions : [];
  const warnings = work.blankKey ? [BLANK_KEY_WARNING, ...evaluation.warnings] : evaluation.warnings;
  if (actions.length === 0 && work.idempotency === undefined) {
    exchange.outcome = 'skipped';
    return { accepted: [], warnings, duplicate: false };
  }
  let result: AcceptResult;
  try {
    result = await front.deps.storage.accept({
      requestId: work.request.id,
      receivedAt: work.request.receivedAt,
      actions,
      warnings,
      ...(work.idempotency === undefined ? {} : { idempotency: work.idempotency }),
    });
  } catch (error) {
    exchange.outcome = 'rejected';
    if (error instanceof HookError) throw error;
    throw new HookError('storage_unavailable', 'the request could not be stored', { cause: error });
  }
  exchange.outcome = actions.length === 0 ? 'skipped' : result.duplicate ? 'duplicate' : 'accepted';
  if (actions.length > 0) guarded(front, exchange, () => front.deps.onAccepted(result, actions));
  return result;
}

const BLANK_KEY_WARNING = {
  code: 'blank_idempotency_key',
  field: 'Idempotency-Key',
  message: 'the header is blank, so a repeat of this request will be taken as a new one',
} as const;

interface Conclusion {
  readonly request: HookRequest;
  readonly evaluation: Evaluation;
  readonly result: AcceptResult | undefined;
  readonly status: number;
}

function conclude(front: Front, exchange: Exchange, conclusion: Conclusion): void {
  const { deps } = front;
  const { request, evaluation, result, status } = conclusion;
  const { outcome } = evaluation;
  keepDecision(front, exchange, conclusion);
  if (outcome.kind === 'rejected' && outcome.error.status >= 500) {
    exchange.failedTransform = failedTransformOf(evaluation);
    if (outcome.error.code === 'transform_failed') {
      deps.storage.keepRequest({
        requestId: request.id,
        receivedAt: request.receivedAt,
        json: requestJson(request),
      });
    }
  }
  deps.onDecision?.({
    request,
    evaluation,
    status,
    ...(result === undefined ? {} : { result }),
    generation: exchange.generation.id,
    tookMs: performance.now() - exchange.startedAt,
  });
}

/** What only looks on must not change the answer: after the commit the sender has to hear that it was accepted. */
function guarded(front: Front, exchange: Exchange, call: () => void): void {
  try {
    call();
  } catch (error) {
    const fault = describeFault(error);
    front.deps.log.error({ requestId: exchange.ids.id, fault }, 'an observer of requests failed');
  }
}

/** Keeps the decision of a request that came as far as mappings, once. */
function keepDecision(front: Front, exchange: Exchange, decided: Decided): void {
  if (!exchange.owesDecision) return;
  exchange.owesDecision = false;
  front.deps.storage.recordDecision(decisionOf(exchange, decided));
}
