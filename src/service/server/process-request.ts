import type { HookError } from '../../base/errors.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import type { AcceptedWork, AcceptResult, IdempotencyKey } from '../../engine/storage/storage.ts';
import type { RequestOutcome } from './deps.ts';
import type { Judged } from './ending.ts';
import type { RequestFacts } from './exchange.ts';
import type { Repeat } from './idempotency.ts';
import { toHookError } from './problem.ts';
import type { ServerContext } from './server-context.ts';
import { warningToJson } from '../../base/finding.ts';
import { senderWarnings } from './sender-view.ts';

/** One request to be evaluated and stored. */
export interface Work {
  readonly request: HookRequest;
  /** An idempotency key is there and cannot be used. */
  readonly blankKey: boolean;
  readonly idempotency: IdempotencyKey | undefined;
  /** The key is an id that the sender signed; a request that made nothing leaves it free. */
  readonly isSignedId: boolean;
}

/** What became of it: stored (or nothing to store), or not accepted. */
export type Processed =
  | {
      readonly kind: 'stored';
      readonly outcome: RequestOutcome;
      readonly result: AcceptResult;
      readonly judged: Judged;
    }
  | {
      readonly kind: 'failed';
      readonly outcome: RequestOutcome;
      readonly error: HookError;
      readonly judged: Judged;
    };

/** Evaluates and stores one request; one with an idempotency key only if it is no repeat. */
export function processOnce(
  context: ServerContext,
  exchange: RequestFacts,
  work: Work,
): Promise<Processed | Repeat> {
  const { idempotency } = work;
  return idempotency === undefined
    ? processRequest(context, exchange, work)
    : processGuarded(context, exchange, { ...work, idempotency });
}

async function processGuarded(
  context: ServerContext,
  exchange: RequestFacts,
  work: Work & { readonly idempotency: IdempotencyKey },
): Promise<Processed | Repeat> {
  try {
    return await context.repeats.once(work.idempotency, exchange.receivedAt, () =>
      processRequest(context, exchange, work),
    );
  } catch (error) {
    return { kind: 'failed', outcome: 'refused', error: toHookError(error), judged: {} };
  }
}

async function processRequest(
  context: ServerContext,
  exchange: RequestFacts,
  work: Work,
): Promise<Processed> {
  const { request } = work;
  let judged: Judged = { request };
  try {
    const begun = performance.now();
    const pending = exchange.generation.evaluate(request);
    const evaluation = pending instanceof Promise ? await pending : pending;
    const evaluated = performance.now();
    judged = { request, evaluation, evaluateMs: evaluated - begun };
    if (evaluation.outcome.kind === 'rejected') {
      return { kind: 'failed', outcome: 'rejected', error: evaluation.outcome.error, judged };
    }
    const actions = evaluation.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
    const result = await store(context, work, { actions, found: evaluation.warnings });
    const storeMs = performance.now() - evaluated;
    const outcome = actions.length === 0 ? 'skipped' : result.duplicate ? 'duplicate' : 'accepted';
    return { kind: 'stored', outcome, result, judged: { ...judged, storeMs, result } };
  } catch (error) {
    if (judged.evaluation === undefined)
      return { kind: 'failed', outcome: 'refused', error: toHookError(error), judged };
    return { kind: 'failed', outcome: 'rejected', error: toHookError(error, 'storage_unavailable'), judged };
  }
}

interface Findings {
  readonly actions: AcceptedWork['actions'];
  readonly found: Evaluation['warnings'];
}

/** One transaction for all actions of the request. */
function store(
  context: ServerContext,
  work: Work,
  { actions, found }: Findings,
): AcceptResult | Promise<AcceptResult> {
  const { request, idempotency, isSignedId } = work;
  const told = senderWarnings(request.path, found).map(warningToJson);
  const warnings = work.blankKey ? [BLANK_KEY_WARNING, ...told] : told;
  if (actions.length === 0 && (idempotency === undefined || isSignedId)) {
    return { accepted: [], warnings, duplicate: false };
  }
  return context.deps.storage.accept({
    requestId: request.id,
    receivedAt: request.receivedAt,
    actions,
    warnings,
    ...(idempotency === undefined ? {} : { idempotency }),
  });
}

const BLANK_KEY_WARNING = {
  code: 'blank_idempotency_key',
  field: 'Idempotency-Key',
  message: 'the key is blank or too long, so a repeat of this request will be taken as a new one',
} as const;
