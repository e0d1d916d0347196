import { HookError } from '../../base/errors.ts';
import { defined, isJsonObject, readJson } from '../../base/json.ts';
import type { Scope } from '../mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../../base/request.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';
import type { EvaluationState } from './evaluation-state.ts';
import type { Draft } from './draft.ts';
import type { EvaluationPart, TransformTrace } from './evaluation.ts';
import { warn } from './action-fields.ts';
import { mergeResult, type MergeResult } from './merge.ts';
import { warnOfResult } from './transform-warnings.ts';

/** Characters of a call that are handed over in the time of a step. */
const CHARACTERS = 32;

/** Yields the call of a mapping's transform for one scope, and merges the reply over the draft. */
export function* transformDraft(
  state: EvaluationState,
  ref: TransformCall['ref'],
  draft: Draft,
  scope: Scope,
): EvaluationPart<readonly Draft[]> {
  const call = callOf(state, scope, { ref, budgetMs: remainingMs(state) });
  // Written and read once more on its way to the sandbox and back.
  state.work.pass(call.json.length / CHARACTERS);
  const reply = (yield call) as TransformReply;
  if (reply.kind === 'ok') state.work.pass(reply.json?.length ?? 0);
  state.transformMs += reply.tookMs;
  if (reply.kind === 'ok' && reply.json !== undefined)
    warnOfResult(state.warnings, { json: reply.json, input: call.json }, scope);
  const merged: MergeResult = reply.kind === 'ok' ? mergeReply(state, draft, reply) : {};
  const isIdle = reply.kind === 'ok' && reply.json === undefined;
  if (state.full || isIdle || merged.drafts === undefined || reply.logs.length > 0)
    state.transforms.push(traceOf(call, reply, merged, scope));
  if (merged.drafts !== undefined) return merged.drafts;
  throw transformError(reply);
}

function remainingMs({ settings, transformMs }: EvaluationState): number {
  const budgetMs = settings.transformBudgetMs - transformMs;
  if (budgetMs > 0) return budgetMs;
  const limit = `${settings.transformBudgetMs} ms`;
  throw new HookError('transform_failed', `the transforms of this request used up their ${limit}`);
}

const CLASS_INSTANCE =
  'the transform returned an instance of a class, of which only its own properties count';

function mergeReply(
  { warnings, settings, mapping }: EvaluationState,
  draft: Draft,
  { json, isInstance }: Extract<TransformReply, { readonly kind: 'ok' }>,
): MergeResult {
  if (isInstance === true) warn(warnings, { code: 'class_instance', message: CLASS_INSTANCE, facts: {} });
  const { behaviours = {}, conversation } = mapping ?? {};
  const takesKeys = conversation !== undefined;
  return mergeResult(draft, json, { warnings, lenient: settings.lenient, behaviours, takesKeys });
}

function traceOf(
  call: TransformCall,
  reply: TransformReply,
  { problem, mappingKey }: MergeResult,
  { request, index }: Scope,
): TransformTrace {
  // The keys of a body are those of the sender.
  const said =
    problem !== undefined && isBody(request, reply)
      ? { problem: 'the transform returned the body itself; expected { message: … }' }
      : { problem, mappingKey };
  return { call, reply, at: call.ref.at, ...defined({ index, ...said }) };
}

function callOf(
  state: EvaluationState,
  scope: Scope,
  { ref, budgetMs }: Pick<TransformCall, 'ref' | 'budgetMs'>,
): TransformCall {
  const { request } = state;
  return {
    ref,
    json: callJson(state, scope),
    now: request.receivedAt,
    // Every element of a batch gets random numbers of its own; the golden ratio keeps the seeds apart.
    seed: (request.seed + (scope.index ?? 0) * 0x9e37_79b9) >>> 0,
    key: randomKey(request, scope.index),
    budgetMs,
  };
}

/** Whether it gives the body itself in place of a result, as transforms of other tools hand it on: the fields it was given. */
function isBody({ payload }: HookRequest, reply: TransformReply): boolean {
  if (reply.kind !== 'ok') return false;
  const result = readJson(reply.json ?? '');
  const names = isJsonObject(payload) ? Object.keys(payload) : [];
  return isJsonObject(result) && names.length > 0 && names.every((name) => Object.hasOwn(result, name));
}

/** The error of a transform that failed. Its detail says nothing of the cause: that is in the trace. */
function transformError(reply: TransformReply): HookError {
  if (reply.kind === 'failed' && reply.failure === 'deferred') {
    return new HookError('transform_unavailable', 'the mapping has a transform that cannot run right now', {
      retryAfterSeconds: reply.retryAfterSeconds ?? 1,
    });
  }
  return new HookError('transform_failed', 'the transform of the mapping failed');
}

/** The key of a call's random bytes; every element of a batch gets bytes of its own. */
export function randomKey({ id, nonce }: HookRequest, index?: number): string {
  return `${id}\n${nonce}\n${index ?? ''}`;
}

/** The argument of a transform outside a batch; inside one `item` and `index` come with it. */
export function transformInput(request: HookRequest): Readonly<Record<string, JsonValue>> {
  const { payload, headers, query, path, url, receivedAt } = request;
  return { payload, headers, query, path, url, now: new Date(receivedAt).toISOString() };
}

function callJson(state: EvaluationState, { request, item, index }: Scope): string {
  // An element of an OpenClaw batch has a payload of its own.
  const isOwn = request !== state.request;
  const json = isOwn
    ? JSON.stringify(transformInput(request))
    : (state.callJson ??= JSON.stringify(transformInput(request)));
  return index === undefined ? json : `${json.slice(0, -1)},"item":${JSON.stringify(item)},"index":${index}}`;
}
