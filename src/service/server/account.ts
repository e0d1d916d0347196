/**
 * The one place that accounts for a request: from its ending alone it wakes the worker, and writes the decision, the
 * metrics and the log.
 */
import type { HookError } from '../../base/errors.ts';
import { printSentence, quoted, type StoredFinding } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import { accountsIn } from '../../engine/hook/hook.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import type { LogLevel } from '../../base/telemetry/telemetry.ts';
import { networksOf } from './addresses.ts';
import { decisionOf, failedTransformOf, refusedWhy } from './decision.ts';
import type { RequestAdvice, RequestAdvisor } from './advisor.ts';
import type { ServerGeneration } from './deps.ts';
import {
  type AnyExchange,
  type Ending,
  type HookJudgement,
  nameOutside,
  ownName,
  type RequestProof,
  type RequestFacts,
} from './exchange.ts';
import { keepRequest } from './keep-request.ts';
import { describeFault } from './problem.ts';
import { addressOf } from './prove.ts';
import { loadAdvisor, type ServerContext } from './server-context.ts';

/**
 * Wakes the worker and keeps the decision; called once, before an answer that waits for its run, and else in the turn
 * of the event loop in which the answer went out: nobody can ask for the decision before it is there.
 */
export function concludeRequest(
  context: ServerContext,
  exchange: AnyExchange,
  ending: Ending,
  advisor?: RequestAdvisor,
): void {
  const { deps } = context;
  const { evaluation, result } = ending.judged ?? {};
  const { outcome } = evaluation ?? {};
  if (result !== undefined && outcome?.kind === 'accepted')
    guarded(context, exchange, () => deps.onAccepted(result, outcome.actions));
  exchange.recovered?.ended();
  const kind = kindOf(ending);
  if (kind === 'none') return;
  guarded(context, exchange, () => {
    const advice = advisor && adviceOn(context, exchange, { ending, advisor });
    const decision = decisionOf(exchange, ending, { advice, advisor });
    if (kind === 'stranger')
      return deps.storage.recordStranger(decision, networksOf(addressOf(context, exchange)).own);
    deps.storage.recordDecision(decision);
    keepRequest(context, exchange, ending);
    showDecision(context, exchange, ending);
  });
}

/** Bytes that are no request, with what is known of them. */
export interface UnreadRequest {
  readonly requestId: string;
  readonly error: HookError;
  readonly finding: StoredFinding | undefined;
  /** The method as far as it is known. */
  readonly method: string;
  readonly address: string | undefined;
}

/** Keeps what was answered to bytes that are no request, so that the id of the answer is found; with one line. */
export function concludeBytes(context: ServerContext, refused: UnreadRequest): void {
  const { deps, unread, clock } = context;
  const { requestId, error, finding, method, address = '' } = refused;
  const { status, code } = error;
  const receivedAt = clock();
  const generation = deps.generation();
  const decision: DecisionRecord = {
    path: '',
    outcome: 'rejected',
    actionIds: [],
    tookMs: 0,
    bodyBytes: 0,
    bodyUnread: true,
    requestId,
    receivedAt,
    method,
    status,
    code,
    findings: finding && [finding],
    generation: generation.id,
  };
  deps.storage.recordStranger(decision, networksOf(address).own);
  const line = { requestId, outcome: 'refused', status, code, tookMs: 0 };
  if (unread.take(receivedAt)) void logBytes(context, line, { generation, refused });
  else deps.log.debug({ ...line, why: error.detail }, 'request');
}

/** Logs the bytes with what most likely sent them, which is looked up a few times a second at most. */
async function logBytes(
  context: ServerContext,
  line: { readonly requestId: string },
  { generation, refused: { error, finding } }: { generation: ServerGeneration; refused: UnreadRequest },
): Promise<void> {
  const ids = { id: line.requestId };
  const advisor = finding === undefined ? undefined : await loadAdvisor(context, { generation, ids });
  const said = finding === undefined ? undefined : advisor?.say([finding], '');
  context.deps.log.info({ ...line, why: printSentence(said ?? quoted(error.detail)) }, 'request');
}

/**
 * What is known of mistakes, where the decision may say something beside what happened. Asked before the answer goes
 * out, which waits only while it is loaded for the first time.
 */
export function findAdvisor(
  context: ServerContext,
  exchange: RequestFacts,
  ending: Ending,
): Promise<RequestAdvisor | undefined> | undefined {
  if (kindOf(ending) !== 'decision') return undefined;
  const { error, judged = {} } = ending;
  const isDoubtful = error !== undefined || judged.result?.duplicate === true || hasGaps(judged);
  return isDoubtful ? loadAdvisor(context, exchange) : undefined;
}

function hasGaps({ request, evaluation }: HookJudgement): boolean {
  if (request === undefined || evaluation === undefined) return false;
  const { mapping, outcome, trace } = evaluation;
  const ignored = mapping?.ignoreSenders;
  // `ignoreSenders` of the chosen mapping found nothing to compare at the usual places.
  const isUnknown = ignored !== undefined && ignored.from === undefined && outcome.kind !== 'skipped';
  return (
    (mapping === undefined && outcome.kind !== 'accepted') ||
    (isUnknown && accountsIn(request.payload, mapping ?? {}).length === 0) ||
    trace.templates.some(({ empty }) => empty.length > 0)
  );
}

/** Advice where something found nothing; a few times a second, as looking for it reads the whole body. */
function adviceOn(
  { advices }: ServerContext,
  { receivedAt }: RequestFacts,
  { ending: { judged = {} }, advisor }: { readonly ending: Ending; readonly advisor: RequestAdvisor },
): RequestAdvice | undefined {
  const { request, evaluation } = judged;
  if (request === undefined || evaluation === undefined) return undefined;
  return hasGaps(judged) && advices.take(receivedAt) ? advisor.onEvaluation(evaluation, request) : undefined;
}

/**
 * What came as far as mappings, and what was refused to a proved sender, is a decision. What proved nothing goes to a
 * ring of its own: strangers must not be able to flush the decisions on others. Health and runs are neither.
 */
function kindOf({ judged, proof, error, outcome, hookName = '' }: Ending): 'decision' | 'stranger' | 'none' {
  if (judged !== undefined) return 'decision';
  if (outcome === 'served' || error === undefined || hookName.startsWith('runs/')) return 'none';
  return proof === undefined || proof.kind === 'refused' ? 'stranger' : 'decision';
}

function showDecision(
  { deps }: ServerContext,
  { generation, otherFormat, startedAt }: RequestFacts,
  { answer: { status }, judged: { request, evaluation, result } = {} }: Ending,
): void {
  if (deps.onDecision === undefined || request === undefined || evaluation === undefined) return;
  const tookMs = performance.now() - startedAt;
  const seen = { request, evaluation, status, generation: generation.id, tookMs };
  deps.onDecision({ ...seen, ...defined({ result, otherFormat }) });
}

/** Keeps an onlooker from changing the answer: after the commit the sender has to read that it was accepted. */
function guarded({ deps }: ServerContext, exchange: RequestFacts, call: () => void): void {
  try {
    call();
  } catch (error) {
    const fault = describeFault(error);
    deps.log.error({ requestId: exchange.ids.id, fault }, 'an observer of requests failed');
  }
}

/** Counts a request that was answered and writes its one line: no text of the payload, no header value, no token. */
export function logRequest(
  context: ServerContext,
  exchange: AnyExchange,
  ending: Ending,
  advisor?: RequestAdvisor,
): void {
  const { metrics, log } = context.deps;
  const { answer, outcome, proof, proofMs, judged = {} } = ending;
  const { bodyBytes } = exchange;
  const tookMs = performance.now() - exchange.startedAt;
  if (metrics !== undefined) {
    const mappingId = judged.evaluation?.mapping?.id;
    const made = judged.evaluation?.outcome;
    const { evaluateMs, storeMs } = judged;
    const seen = {
      status: answer.status,
      outcome: made?.kind === 'skipped' && made.by === 'not_allowed' ? made.by : outcome,
      mappingId,
      bodyBytes,
      proofMs,
      evaluateMs,
      storeMs,
      tookMs,
    };
    metrics.observeRequest(proof?.kind === 'refused' ? { ...seen, refusal: proof } : seen);
  }
  exchange.trace?.end({ status: answer.status, outcome, failure: ending.error?.code });
  if (proof?.kind === 'proved') warnOfProof(context, exchange, proof);
  const code = ending.error?.code;
  if (code === 'too_many_failures') context.tooManyFailures.count('refused');
  if (code === 'bodies_full') context.bodiesFull.count('refused');
  const level = levelOf(context, exchange, ending);
  if (log.isEnabled(level)) log[level](lineOf(exchange, ending, { tookMs, advisor }), 'request');
}

/** Warns of carriers, tokens and secrets that will not be accepted much longer. */
function warnOfProof({ deps }: ServerContext, { ids }: RequestFacts, proof: RequestProof): void {
  const requestId = ids.id;
  const { retired } = proof;
  if (proof.by === 'sender') {
    const { scheme } = proof;
    if (retired > 0) deps.log.warn({ requestId, scheme, retired }, 'a retired secret of the path was used');
    return;
  }
  if (proof.carrier === 'query') {
    deps.log.warn(
      { requestId },
      'hook token came in the query, which is deprecated: send it as "Authorization: Bearer"',
    );
  }
  if (retired > 0) deps.log.warn({ requestId, retired }, 'a retired hook token was used');
}

function lineOf(
  exchange: AnyExchange,
  ending: Ending,
  { tookMs, advisor }: { readonly tookMs: number; readonly advisor: RequestAdvisor | undefined },
): Record<string, unknown> {
  const { answer, outcome, error, hookName, proof, judged = {} } = ending;
  const { evaluation } = judged;
  const line = {
    requestId: exchange.ids.id,
    outcome,
    status: answer.status,
    // The log of a stranger's request has only names of the operator's own files.
    hook: hookName ?? ownName(exchange),
    mapping: evaluation?.mapping?.id,
    skippedBy: evaluation?.outcome.kind === 'skipped' ? evaluation.outcome.by : undefined,
    bytes: exchange.bodyBytes,
    tookMs: rounded(tookMs),
    evaluateMs: rounded(judged.evaluateMs),
    storeMs: rounded(judged.storeMs),
  };
  if (error === undefined) return line;
  // The log says why a proof failed, but nothing that the sender sent.
  const refused = proof?.kind === 'refused' ? proof : undefined;
  const why = refused?.why ?? refusedWhy(exchange, ending, advisor);
  return {
    ...line,
    code: error.code,
    why: why && printSentence(why),
    address: refused?.address,
    reason: refused?.reason,
    scheme: refused?.scheme,
    finding: refused?.finding?.code,
    transform: failedTransformOf(ending),
    fault: error.cause === undefined ? undefined : describeFault(error.cause),
  };
}

/** The level of the line: probes, floods of refusals and strangers at other paths would bury the hooks. */
function levelOf(
  { unread }: ServerContext,
  exchange: AnyExchange,
  { answer: { status }, outcome, error, hookName }: Ending,
): LogLevel {
  // The limit on lines leaves out paths that end in a hook name, but for a few a second.
  if (hookName === undefined && status === 404)
    return nameOutside(exchange) !== undefined && unread.take(exchange.receivedAt) ? 'info' : 'debug';
  const isCounted = error?.code === 'too_many_failures' || error?.code === 'bodies_full';
  // What is counted is one line a second.
  if (outcome === 'served' || isCounted) return 'debug';
  // A 501 is the sender's mistake: it wrote in a way that is not served.
  if (status < 500 || status === 501) return 'info';
  return status === 503 && error?.cause === undefined ? 'warn' : 'error';
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
