/**
 * The way of one request: place, proof, method, whether a mapping takes the name, body, evaluation, store. Each step
 * returns a value or throws a `HookError`; `account.ts` alone accounts for the ending that they lead to.
 */
import { HookError } from '../../base/errors.ts';
import { memberAt } from '../../base/json.ts';
import { checkEncoding } from '../../base/payload/payload.ts';
import { answerChallenge, readsBody } from '../../engine/verify/verify.ts';
import { concludeRequest, findAdvisor, logRequest } from './account.ts';
import { readWaitSeconds, runAnswer, waitForOutcome } from './answer.ts';
import { aborted, readBody, unpackBody } from './body.ts';
import { answerApproval } from './answer-approval.ts';
import { answerWorker, isOfWorker } from './answer-worker.ts';
import type { HttpAnswer, Ending, Exchange, IncomingHook, RequestProof } from './exchange.ts';
import { HEALTHY } from './readiness.ts';
import { openClawIdempotencyKey, readIdempotencyKey, SOURCE_TTL_SECONDS } from './idempotency.ts';
import { maskName } from './mask-secrets.ts';
import { failedEnding } from './problem.ts';
import { offersUpgrade } from './pipelined.ts';
import { addressOf, isMailPath, isOperator, prove, refuse } from './prove.ts';
import { sendAnswer } from './send-answer.ts';
import type { ServerContext } from './server-context.ts';
import { bodyLimit, canTake, MAX_HOOK_NAME, takeHook, traceHook } from './take-hook.ts';
import { checkProtocol, findHookName, MAX_TARGET_CHARS } from './received.ts';

const MAX_RUN_ID = 64;

export interface ServeRequestOptions {
  /** Called as soon as the sender is proved. */
  readonly onProved: () => void;
  /** Called before the answer to a sender that failed too often to prove itself: it may be closed instead. */
  readonly onTooManyFailures: () => void;
}

/** Answers one request, whatever happens on the way, and accounts for it. Never rejects. */
export async function serveRequest(
  context: ServerContext,
  exchange: Exchange,
  options: ServeRequestOptions,
): Promise<Ending> {
  const ending = await handle(context, exchange, options);
  const waits = ending.waitSeconds !== undefined;
  const advisor = await findAdvisor(context, exchange, ending);
  if (waits) concludeRequest(context, exchange, ending, advisor);
  if (ending.error?.code === 'too_many_failures') options.onTooManyFailures();
  const outcome = waits ? await waitForOutcome(context, exchange, ending) : undefined;
  const answered = { ...ending, answer: withDeprecation(exchange, ending.proof, outcome ?? ending.answer) };
  // A body that was only read to explain a refusal is no longer needed.
  exchange.failBody?.(aborted());
  context.unproved.release(exchange);
  sendAnswer(exchange, answered.answer, {
    close: context.stopping.signal.aborted || offersUpgrade(exchange),
    limits: context.limits,
  });
  // Advice can take as long as the whole request: the sender does not wait for it.
  if (!waits) concludeRequest(context, exchange, ending, advisor);
  logRequest(context, exchange, answered, advisor);
  return answered;
}

/** The date since which `?token=` is deprecated (RFC 9745), and where that is said. */
const DEPRECATION = ['deprecation', '@1795910400', 'link'];
const DEPRECATED = '<https://github.com/OWNER/sluice/blob/main/docs/http.md#token>; rel="deprecation"';

/** Says with the answer where a token in the address was to be the proof, also a wrong one. */
function withDeprecation(
  { headers, target }: Exchange,
  proof: Ending['proof'],
  answer: HttpAnswer,
): HttpAnswer {
  if (proof === undefined || (headers.bearer ?? headers.serviceToken) !== undefined) return answer;
  const { scheme = 'token' } = 'scheme' in proof ? proof : {};
  if (scheme !== 'token' || (proof.kind === 'refused' && target?.token === undefined)) return answer;
  return { ...answer, headers: [...(answer.headers ?? []), ...DEPRECATION, DEPRECATED] };
}

async function handle(
  context: ServerContext,
  exchange: Exchange,
  { onProved }: ServeRequestOptions,
): Promise<Ending> {
  try {
    checkProtocol(exchange.req, exchange.headers);
    const { target, generation } = exchange;
    const { hooks } = generation;
    if (isOfWorker(context, exchange)) return await answerWorker(context, exchange, onProved);
    if (exchange.side === 'workers') return await answerOutside(context, exchange, false);
    const name = target === undefined ? undefined : findHookName(target.path, hooks.path);
    if (target === undefined || name === undefined || !hooks.enabled) {
      return await answerOutside(context, exchange, name !== undefined);
    }
    if (name.length > MAX_HOOK_NAME) throw tooLong('hook name', MAX_HOOK_NAME);
    const approval = name.startsWith('approvals/') && (await answerApproval(context, exchange, name));
    if (approval) return approval;
    const hook = incomingHook(context, exchange, { name, target });
    const { challenge } = hook.settings;
    const asked = challenge && (await answerQuestion(context, exchange, hook, challenge));
    if (asked !== undefined) return asked;
    const begun = performance.now();
    const proving = prove(context, exchange, hook);
    const proof = proving instanceof Promise ? await proving : proving;
    const proofMs = performance.now() - begun;
    if (proof.kind === 'refused') {
      // The name of a path with a proof of its own is the operator's: the log may show it for a stranger's request, too.
      const known = hook.settings.verify === undefined ? {} : { hookName: hook.name };
      return { ...failedEnding(exchange, proof.error, { proof, ...known }), proofMs };
    }
    exchange.isProved = true;
    context.unproved.release(exchange);
    onProved();
    const ending = await answerProved(context, exchange, { hook, proof });
    return { ...ending, proofMs };
  } catch (error) {
    return failedEnding(exchange, error);
  }
}

/** Answers everything outside `hooks.path`, and inside it while hooks are off. */
function answerOutside(
  context: ServerContext,
  exchange: Exchange,
  hooksAreOff: boolean,
): Ending | Promise<Ending> {
  const { target, req } = exchange;
  if ((req.url ?? '').length > MAX_TARGET_CHARS) throw tooLong('address', MAX_TARGET_CHARS);
  const path = target?.path;
  if (path !== '/healthz' && path !== '/readyz') {
    const detail = hooksAreOff ? 'hooks are switched off' : 'nothing is served at this path';
    throw new HookError('not_found', detail);
  }
  const { method } = req;
  if (method !== 'GET' && method !== 'HEAD') return wrongMethod(exchange, 'GET, HEAD');
  if (path === '/healthz') return served(HEALTHY);
  const query = { stopping: context.stopping.signal.aborted, withDetails: isOperator(exchange) };
  return context.probe(query).then(served);
}

function tooLong(what: 'address' | 'hook name', most: number): HookError {
  const detail = `the ${what} is longer than ${most} characters; send what is long in the body`;
  return new HookError('not_found', detail, { facts: { what, most } });
}

function served(answer: HttpAnswer): Ending {
  return { answer, outcome: 'served' };
}

function incomingHook(
  { unproved }: ServerContext,
  exchange: Exchange,
  { name, target }: Pick<IncomingHook, 'name' | 'target'>,
): IncomingHook {
  const { generation } = exchange;
  const settings = generation.settingsOf(name);
  const maxBytes = bodyLimit(generation, name).bytes;
  const limits = { maxBytes, unproved };
  let body: Promise<Buffer> | undefined;
  let unpacked: Promise<Buffer> | undefined;
  const readOnce = (): Promise<Buffer> => (body ??= readBody(exchange, limits));
  return {
    name: maskName(name, generation.tokens),
    target,
    settings,
    body: readOnce,
    unpacked: () => (unpacked ??= readOnce().then((bytes) => unpackBody(exchange, bytes, limits))),
  };
}

interface ProvedHook {
  readonly hook: IncomingHook;
  readonly proof: RequestProof;
}

async function answerProved(
  context: ServerContext,
  exchange: Exchange,
  { hook, proof }: ProvedHook,
): Promise<Ending> {
  const known = { proof, hookName: hook.name };
  try {
    const { exposeRuns } = exchange.generation.hooks;
    if (hook.name.startsWith('runs/') && (exposeRuns || exchange.req.method === 'GET'))
      return { ...(await answerRunQuery(context, exchange, hook.name)), ...known };
    const { method = 'POST' } = hook.settings;
    if (exchange.req.method !== method) return wrongMethod(exchange, method, known);
    if (context.stopping.signal.aborted) throw new HookError('stopping', 'the service is stopping');
    if (hook.name === exchange.generation.noticePath) {
      // Pub/Sub takes a 2xx as read; what the notice says does not matter, as the mailbox itself is asked.
      context.deps.onNotice?.();
      return { ...served({ status: 204 }), ...known };
    }
    if (!canTake(exchange, hook.name)) {
      const error = new HookError('no_mapping_matched', 'no mapping takes this hook name');
      return failedEnding(exchange, error, { ...known, judged: {} });
    }
    return { ...(await answerHook(context, exchange, { hook, proof })), ...known };
  } catch (error) {
    return failedEnding(exchange, error, known);
  }
}

function wrongMethod(
  exchange: Exchange,
  allowed: string,
  known: Pick<Ending, 'proof' | 'hookName'> = {},
): Ending {
  const error = new HookError(
    'method_not_allowed',
    `this path takes only ${allowed}, found ${exchange.req.method ?? 'nothing'}`,
  );
  return failedEnding(exchange, error, { ...known, headers: ['allow', allowed] });
}

/** Answers `GET {hooks.path}/runs/<id>`. */
async function answerRunQuery(context: ServerContext, exchange: Exchange, name: string): Promise<Ending> {
  const { req, generation } = exchange;
  if (!generation.hooks.exposeRuns) throw new HookError('not_found', 'runs are not exposed here');
  if (req.method !== 'GET') return wrongMethod(exchange, 'GET');
  const runId = name.slice('runs/'.length);
  const run = runId.length > MAX_RUN_ID ? undefined : await context.deps.storage.findRun(runId);
  // The main session's own turns are runs too, and not a sender's business.
  if (run === undefined || run.kind !== 'hook') throw new HookError('not_found', 'no run has this id');
  return served(runAnswer(run));
}

/** The way of a hook request from its body to its answer. */
async function answerHook(
  context: ServerContext,
  exchange: Exchange,
  { hook, proof }: ProvedHook,
): Promise<Ending> {
  const { headers } = exchange;
  traceHook(context, exchange, { name: hook.name, method: exchange.req.method });
  const { readsGatewayBodies } = exchange.generation.hooks.behaviours;
  const sentKey = readsGatewayBodies ? undefined : readIdempotencyKey(headers.values['idempotency-key']);
  const { maxWaitSeconds } = context.limits;
  const waitSeconds = readWaitSeconds(headers.values['prefer'], maxWaitSeconds);
  let completion = false;
  const { name, target, settings } = hook;
  if (settings.rate !== undefined) context.rates.take(name, settings.rate, exchange.receivedAt);
  checkEncoding(headers.values['content-encoding']);
  const body = await hook.body();
  const ending = await takeHook(context, exchange, {
    name,
    target,
    body,
    settings,
    unpacked: await hook.unpacked(),
    secretHeaders: proof.by === 'sender' ? proof.secretHeaders : [],
    signedId: proof.by === 'sender' ? proof.signedId : undefined,
    ttlSeconds: proof.by === 'token' && isMailPath(exchange, name) ? SOURCE_TTL_SECONDS : undefined,
    keyOf: (request) => {
      if (!readsGatewayBodies) return sentKey;
      completion = name === 'agent' && memberAt(request.payload, ['waitForCompletion']) === true;
      return openClawIdempotencyKey(headers.values, request);
    },
  });
  if (ending.error !== undefined) return ending;
  const { answer } = settings;
  if (answer !== undefined) return { ...ending, answer };
  if (completion) return { ...ending, waitSeconds: maxWaitSeconds, completion };
  return waitSeconds === 0 ? ending : { ...ending, waitSeconds };
}

/**
 * Answers the challenge of a provider, without a proof, on a path that names one; undefined for all other requests.
 * Nothing of it reaches mappings or the store.
 */
async function answerQuestion(
  context: ServerContext,
  exchange: Exchange,
  hook: IncomingHook,
  challenge: NonNullable<IncomingHook['settings']['challenge']>,
): Promise<Ending | undefined> {
  const { allows } = context.access.ofPath(hook.settings);
  if (!allows(addressOf(context, exchange))) return undefined;
  const { method = '', rawHeaders } = exchange.req;
  const hasBody = readsBody(challenge, method) || exchange.hasBody;
  const asked = hasBody ? await hook.body() : Buffer.alloc(0);
  const { name: hookName, target } = hook;
  const { query } = target;
  const result = answerChallenge(challenge, { method, url: '', rawHeaders, body: asked, query });
  if (result.kind === 'none') return undefined;
  if (result.kind === 'answer') {
    const { body, contentType, headers } = result;
    return { ...served({ status: 200, body, contentType, headers }), hookName };
  }
  if (result.kind === 'key' && (await exchange.generation.takeKey?.(hookName, result.key)) === true)
    return { ...served({ status: 200, body: '', contentType: 'text/plain' }), hookName };
  const why = result.kind === 'key' ? 'key' : result.why;
  const facts = { asks: challenge.kind, why };
  const proof = await refuse(context, exchange, {
    reason: 'challenge',
    finding: { code: 'challenge', facts },
  });
  return failedEnding(exchange, proof.error, { proof, hookName });
}
