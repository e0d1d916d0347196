import type { Action } from '../action.ts';
import { HookError } from '../errors.ts';
import type { CompiledMapping, Scope } from '../mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';
import { startCourse, type Course } from './course.ts';
import { isObject, renderDraft } from './draft.ts';
import type { Evaluation, EvaluationSteps, Outcome } from './evaluation.ts';
import { fieldError, kindOf } from './fields.ts';
import { finish } from './finish.ts';
import type { Rules } from './rules.ts';
import { transformDraft } from './transform-draft.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';

/** How much of the way is recorded; the outcome and the warnings are the same. */
export interface EvaluateOptions {
  readonly detail: 'brief' | 'full';
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

/** The two routes of the contract that need no mapping. */
export function isBuiltInRoute(path: string): path is 'wake' | 'agent' {
  return path === 'wake' || path === 'agent';
}

function* decide(course: Course): Generator<TransformCall, Outcome, TransformReply> {
  const { path } = course.request;
  if (isBuiltInRoute(path)) return decideBuiltIn(course, path);
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
    throw new HookError('invalid_body', `the body must be a JSON object, found ${kindOf(payload)}`);
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
  const message = `forEach reads ${text}, which must be an array, found ${kindOf(value)}`;
  throw fieldError(text, message, 'invalid_body');
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
