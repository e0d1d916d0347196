import { oneLine, sealAgentAction, type PreparedAgentAction } from '../boundary/boundary.ts';
import { hash } from 'node:crypto';
import type { Action, ActionOrigin, DedupeKey, Warning } from '../action.ts';
import { HookError } from '../errors.ts';
import type { CompiledMapping, ConsideredMapping, Scope } from '../mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';
import { createRender, isObject, renderDraft, type Draft, type Render } from './draft.ts';
import type { Evaluation, EvaluationSteps, Outcome, RenderedTemplate, TransformTrace } from './evaluation.ts';
import * as field from './fields.ts';
import { deriveId } from './ids.ts';
import { mergeResult } from './merge.ts';
import type { Rules } from './rules.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';

/** How much of the way is recorded; the outcome and the warnings are the same. */
export interface EvaluateOptions {
  readonly detail: 'brief' | 'full';
}

/** One evaluation under way: its request and rules, and what it has found so far. */
interface Course {
  readonly request: HookRequest;
  readonly rules: Rules;
  readonly full: boolean;
  readonly warnings: Warning[];
  readonly considered: ConsideredMapping[];
  readonly templates: RenderedTemplate[];
  readonly transforms: TransformTrace[];
  readonly render: Render;
  mapping: CompiledMapping | undefined;
  transformMs: number;
  /** The constant part of every transform call's JSON, without its closing brace; made on first use. */
  callJson: string | undefined;
}

/**
 * Evaluates one request: route, condition, template, transform, validation, boundary. Deterministic and without any
 * I/O; it yields each transform call and is resumed with the reply. It never throws: what goes wrong is its outcome.
 */
export function* evaluate(request: HookRequest, rules: Rules, options: EvaluateOptions): EvaluationSteps {
  const course = startCourse(request, rules, options.detail === 'full');
  let outcome: Outcome;
  try {
    outcome = yield* decide(course);
  } catch (error) {
    outcome = { kind: 'rejected', error: asHookError(error) };
  }
  const { mapping, warnings, considered, templates, transforms } = course;
  const evaluation: Evaluation = { outcome, warnings, trace: { considered, templates, transforms } };
  return mapping === undefined ? evaluation : { ...evaluation, mapping };
}

function startCourse(request: HookRequest, rules: Rules, full: boolean): Course {
  const templates: RenderedTemplate[] = [];
  return {
    request,
    rules,
    full,
    warnings: [],
    considered: [],
    templates,
    transforms: [],
    render: createRender(full ? templates : undefined),
    mapping: undefined,
    transformMs: 0,
    callJson: undefined,
  };
}

function* decide(course: Course): Generator<TransformCall, Outcome, TransformReply> {
  const { path } = course.request;
  if (path === 'wake' || path === 'agent') return decideBuiltIn(course, path);
  const mapping = pickMapping(course);
  course.mapping = mapping;
  if (mapping.action === 'skip') return { kind: 'skipped', by: 'action' };
  if (mapping.forEach === undefined) {
    const actions = yield* actOn(course, mapping, { request: course.request }, 0);
    return actions.length === 0 ? { kind: 'skipped', by: 'transform' } : { kind: 'accepted', actions };
  }
  return yield* decideEach(course, mapping, mapping.forEach);
}

/** `wake` and `agent`: the body is the draft, every other step is that of a mapped hook. */
function decideBuiltIn(course: Course, kind: 'wake' | 'agent'): Outcome {
  const { payload } = course.request;
  if (!isObject(payload)) {
    throw new HookError('invalid_body', `the body must be a JSON object, found ${field.kindOf(payload)}`);
  }
  const action = finish(course, { kind, fields: payload }, { request: course.request }, 0);
  warnOfUnknownFields(kind, payload, course.warnings);
  return { kind: 'accepted', actions: [action] };
}

function pickMapping(course: Course): CompiledMapping {
  const { request, rules } = course;
  const mapping = rules.table.route({ request });
  if (course.full || mapping === undefined) course.considered.push(...rules.table.explain({ request }));
  if (mapping !== undefined) return mapping;
  throw new HookError(
    'no_mapping_matched',
    'no mapping takes this request; sluice explain shows the nearest miss',
  );
}

function* decideEach(
  course: Course,
  mapping: CompiledMapping,
  forEach: NonNullable<CompiledMapping['forEach']>,
): Generator<TransformCall, Outcome, TransformReply> {
  const elements = readElements(course.request.payload, forEach);
  const { maxActions } = course.rules;
  if (elements.length > maxActions) throw tooMany(elements.length, maxActions);
  const actions: Action[] = [];
  for (const [index, item] of elements.entries()) {
    try {
      actions.push(
        ...(yield* actOn(course, mapping, { request: course.request, item, index }, actions.length)),
      );
    } catch (error) {
      throw atIndex(asHookError(error), index);
    }
  }
  if (actions.length > 0) return { kind: 'accepted', actions };
  return { kind: 'skipped', by: elements.length === 0 ? 'forEach' : 'transform' };
}

function readElements(
  payload: JsonValue,
  { keys, text }: NonNullable<CompiledMapping['forEach']>,
): readonly JsonValue[] {
  let value: JsonValue | undefined = payload;
  for (const key of keys) value = ownValue(value, key);
  if (Array.isArray(value)) return value as readonly JsonValue[];
  const message = `forEach reads ${text}, which must be an array, found ${field.kindOf(value)}`;
  throw field.fieldError(text, message, 'invalid_body');
}

function ownValue(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, JsonValue>>)[key];
}

/** One scope (the request, or one element) to its actions: none where a transform skips, several where it says so. */
function* actOn(
  course: Course,
  mapping: CompiledMapping,
  scope: Scope,
  firstIndex: number,
): Generator<TransformCall, readonly Action[], TransformReply> {
  const draft = renderDraft(mapping, scope, course.render);
  if (mapping.transform === undefined) return [finish(course, draft, scope, firstIndex)];
  const drafts = yield* transformDraft(course, mapping.transform, draft, scope);
  const { maxActions } = course.rules;
  if (firstIndex + drafts.length > maxActions) throw tooMany(firstIndex + drafts.length, maxActions);
  return drafts.map((each, index) => {
    try {
      return finish(course, each, scope, firstIndex + index, index);
    } catch (error) {
      throw drafts.length > 1 && scope.index === undefined ? atIndex(asHookError(error), index) : error;
    }
  });
}

function* transformDraft(
  course: Course,
  ref: TransformCall['ref'],
  draft: Draft,
  scope: Scope,
): Generator<TransformCall, readonly Draft[], TransformReply> {
  const { request, rules } = course;
  const budgetMs = rules.transformBudgetMs - course.transformMs;
  if (budgetMs <= 0) {
    const limit = `${rules.transformBudgetMs} ms`;
    throw new HookError('transform_failed', `the transforms of this request used up their ${limit}`);
  }
  const call: TransformCall = {
    ref,
    json: callJson(course, scope),
    now: request.receivedAt,
    // Every element of a batch gets random numbers of its own; the golden ratio keeps the seeds apart.
    seed: (request.seed + (scope.index ?? 0) * 0x9e37_79b9) >>> 0,
    budgetMs,
  };
  const reply = yield call;
  course.transformMs += reply.tookMs;
  const merged =
    reply.kind === 'ok'
      ? mergeResult(draft, reply.json, { warnings: course.warnings, lenient: rules.lenient })
      : ({ kind: 'failed' } as const);
  if (course.full || merged.kind !== 'drafts' || reply.logs.length > 0) {
    course.transforms.push({
      call,
      reply,
      at: ref.at,
      ...(scope.index === undefined ? {} : { index: scope.index }),
      ...(merged.kind === 'problem' ? { problem: merged.problem } : {}),
    });
  }
  if (merged.kind === 'drafts') return merged.drafts;
  throw transformError(reply);
}

/** The error of a transform that failed. Its detail says nothing of the cause: that is in the trace. */
function transformError(reply: TransformReply): HookError {
  if (reply.kind === 'failed' && reply.failure === 'deferred') {
    return new HookError('transform_unavailable', 'the mapping has a transform that cannot run right now', {
      retryAfterSeconds: reply.retryAfterSeconds ?? 1,
    });
  }
  return new HookError('transform_failed', 'the transform of the mapping failed; sluice explain shows how');
}

function callJson(course: Course, scope: Scope): string {
  const { payload, headers, query, path, url, receivedAt } = course.request;
  course.callJson ??= JSON.stringify({
    payload,
    headers,
    query,
    path,
    url,
    now: new Date(receivedAt).toISOString(),
  }).slice(0, -1);
  if (scope.index === undefined) return `${course.callJson}}`;
  return `${course.callJson},"item":${JSON.stringify(scope.item)},"index":${scope.index}}`;
}

/** A draft to an action: validation, then the boundary. `part` counts the actions one transform made of one scope. */
function finish(course: Course, draft: Draft, scope: Scope, index: number, part = 0): Action {
  const { request, mapping } = course;
  const { fields } = draft;
  const origin = originOf(request, mapping);
  const dedupe = dedupeKey(course, scope, part);
  const id = deriveId(request.id, index);
  if (draft.kind === 'wake') {
    const text = field.requiredText(fields, 'text', mapping ? 'mapping_requires_text' : 'missing_text');
    const mode = field.wakeMode(fields, 'mode', course);
    return { kind: 'wake', id, text, mode, ...(dedupe === undefined ? {} : { dedupe }), origin };
  }
  const prepared = prepareAgent(course, draft, { id, origin });
  const instructions = mapping?.instructions;
  return sealAgentAction(dedupe === undefined ? prepared : { ...prepared, dedupe }, {
    ...(instructions === undefined ? {} : { instructions }),
    nonce: request.nonce,
  });
}

/** Fields in the order in which their failures count: message, channel, model, then the others. */
function prepareAgent(
  course: Course,
  { fields }: Draft,
  { id, origin }: { readonly id: string; readonly origin: ActionOrigin },
): PreparedAgentAction {
  const { mapping } = course;
  const missing = mapping ? 'mapping_requires_message' : 'missing_message';
  const message = field.requiredText(fields, 'message', missing);
  const channel = field.channel(fields, course);
  const model = field.model(fields, course);
  const wakeMode = field.wakeMode(fields, 'wakeMode', course);
  const name = field.hookName(fields, course);
  const chosenKey =
    field.sessionKey(fields, mapping ? 'operator' : 'request', course) ?? course.rules.sessionKeys.default;
  const deliver = field.deliver(fields, course);
  const to = field.recipient(fields, channel, course);
  const thinking = field.thinking(fields, course);
  const timeoutSeconds = field.timeoutSeconds(fields, course);
  return {
    id,
    message,
    name,
    sessionKey: chosenKey ?? `hook:${id}`,
    oneShot: chosenKey === undefined,
    wakeMode,
    deliver,
    channel,
    ...(to === undefined ? {} : { to }),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(mapping === undefined ? {} : operatorSettings(mapping)),
    origin,
  };
}

function operatorSettings(mapping: CompiledMapping): Partial<PreparedAgentAction> {
  const { runner, fallback, callbackUrl } = mapping;
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(fallback === undefined ? {} : { fallback }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  };
}

function originOf(request: HookRequest, mapping: CompiledMapping | undefined): ActionOrigin {
  const { payload } = request;
  const own = isObject(payload) && Object.hasOwn(payload, 'source') ? payload['source'] : undefined;
  const source = typeof own === 'string' ? oneLine(own, 200) : '';
  return {
    requestId: request.id,
    path: request.path,
    ...(mapping === undefined ? {} : { mappingId: mapping.id }),
    ...(source === '' ? {} : { source }),
    trusted: mapping?.allowUnsafeExternalContent ?? false,
  };
}

/** Longest key kept as it is; a longer one is kept as its SHA-256. */
const MAX_DEDUPE_CHARS = 256;

function dedupeKey(course: Course, scope: Scope, part: number): DedupeKey | undefined {
  const { mapping, request } = course;
  const rule = mapping?.dedupe;
  if (mapping === undefined || rule === undefined) return undefined;
  const rendered =
    rule.key === 'body'
      ? hash('sha256', JSON.stringify(scope.index === undefined ? request.payload : scope.item))
      : course.render('dedupe.key', rule.key, scope).trim();
  if (rendered === '') {
    const message = 'the dedupe key was blank, so a repeat of this request is not recognised';
    field.warn(course.warnings, { code: 'blank_dedupe_key', field: 'dedupe.key', message });
    return undefined;
  }
  const short = rendered.length > MAX_DEDUPE_CHARS ? hash('sha256', rendered) : rendered;
  // Several actions made of one scope are not repeats of each other.
  return { scope: mapping.id, key: part === 0 ? short : `${short}#${part}`, ttlSeconds: rule.ttlSeconds };
}

function tooMany(found: number, limit: number): HookError {
  return new HookError('too_many_actions', `one request can make at most ${limit} actions, found ${found}`);
}

/** The same error, saying which element of a batch it is about. */
function atIndex(error: HookError, index: number): HookError {
  const { code, detail, errors, retryAfterSeconds, cause } = error;
  const items = errors.length === 0 ? [{ code, message: detail }] : errors;
  return new HookError(code, detail, {
    errors: items.map((item) => ({ ...item, index: item.index ?? index })),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    cause,
  });
}

function asHookError(error: unknown): HookError {
  if (error instanceof HookError) return error;
  return new HookError('mapping_failed', 'the mapping could not be evaluated', { cause: error });
}
