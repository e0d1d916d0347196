import type { Action } from '../../base/action.ts';
import { errorFinding, HookError } from '../../base/errors.ts';
import { listOf, takesRequest, WorkBudget, type CompiledMapping, type Scope } from '../mapping/mapping.ts';
import { isJsonObject, valueAt, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import { startEvaluation, type EvaluationState } from './evaluation-state.ts';
import { renderDraft } from './draft.ts';
import type {
  Evaluation,
  EvaluationPart,
  EvaluationSteps,
  Outcome,
  Pause,
  EvaluationSettings,
} from './evaluation.ts';
import { fieldError, kindOf } from './action-fields.ts';
import { finish } from './finish.ts';
import { findOwnMarks, findSkip } from './skip-rules.ts';
import { judgeStart } from './started-by.ts';
import { transformDraft } from './transform-draft.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';
import type { TransformCall, Transforms } from '../sandbox/sandbox.ts';
import type { Tracing } from '../../base/telemetry/telemetry.ts';

/** A mapping that is out comes back when an operator has corrected it. */
const OUT_RETRY_SECONDS = 60;

/** How much of the way is recorded; the outcome and the warnings are the same. */
export interface EvaluateOptions {
  readonly detail: 'brief' | 'full';
}

/**
 * Evaluates one request: route, condition, template, transform, validation, boundary. Deterministic and without any
 * I/O; it yields each transform call and is resumed with the reply. It never throws: what goes wrong is its outcome.
 */
export function* evaluate(
  request: HookRequest,
  settings: EvaluationSettings,
  options: EvaluateOptions,
): EvaluationSteps {
  const state = startEvaluation(request, settings, options.detail === 'full');
  let outcome: Outcome;
  try {
    outcome = yield* decide(state);
  } catch (error) {
    outcome = { kind: 'rejected', error: asHookError(error) };
  }
  const { mapping, further, warnings, considered, templates, transforms } = state;
  const evaluation: Evaluation = { outcome, warnings, trace: { considered, templates, transforms } };
  if (mapping === undefined) return evaluation;
  return { ...evaluation, mapping, ...(further.length > 0 ? { further } : {}) };
}

/** The two routes of the contract that need no mapping. */
export function isBuiltInRoute(path: string): path is 'wake' | 'agent' {
  return path === 'wake' || path === 'agent';
}

function* decide(state: EvaluationState): EvaluationPart<Outcome> {
  const { path } = state.request;
  if (isBuiltInRoute(path)) return decideBuiltIn(state, path);
  const [first, ...further] = yield* pickMappings(state);
  if (first === undefined) return skippedByPath(state);
  const outcome = yield* decideBy(state, first, 0);
  const outcomes = [outcome];
  for (const mapping of further) outcomes.push(yield* decideBy(state, mapping, actionsOf(outcomes).length));
  state.mapping = first;
  state.further = further;
  const actions = actionsOf(outcomes);
  return actions.length === 0 ? outcome : { kind: 'accepted', actions };
}

const actionsOf = (outcomes: readonly Outcome[]): readonly Action[] =>
  outcomes.flatMap((outcome) => (outcome.kind === 'accepted' ? outcome.actions : []));

/** What one mapping makes of the request; its actions are counted from `firstIndex`. */
function* decideBy(
  state: EvaluationState,
  mapping: CompiledMapping,
  firstIndex: number,
): EvaluationPart<Outcome> {
  state.mapping = mapping;
  // The keys belong to the mapping before.
  state.keys.clear();
  state.dedupeKeys.clear();
  if (mapping.isOut === true) throw mappingIsOut();
  const skipped = findSkip(state, mapping);
  const isIgnored = skipped?.by === 'ignoreSenders';
  const marks = isIgnored || mapping.startedBy !== undefined ? findOwnMarks(state, mapping) : [];
  // An agent's own account starts nothing, and can say what it opened.
  const isOwn = isIgnored && marks.length > 0;
  if (skipped !== undefined && !isOwn) return skipped;
  const start = isOwn ? undefined : judgeStart(state, mapping);
  state.marks = { marks, isOwn };
  const { notAllowed, asksOthers } = start ?? {};
  if (notAllowed !== undefined && asksOthers !== true)
    return { kind: 'skipped', by: 'not_allowed', ...notAllowed };
  state.startedBy = start;
  if (mapping.action === 'skip') return { kind: 'skipped', by: 'action' };
  if (mapping.forEach === undefined) {
    const actions = yield* actOn(state, mapping, state.scope, firstIndex);
    return actions.length === 0 ? { kind: 'skipped', by: 'transform' } : { kind: 'accepted', actions };
  }
  return yield* decideEach(state, mapping, { forEach: mapping.forEach, firstIndex });
}

function skippedByPath({ settings: { table }, request: { path } }: EvaluationState): Outcome {
  const at = table.settingsOf(path).otherwiseAt;
  return {
    kind: 'skipped',
    by: 'unmatched',
    setBy: at === undefined ? 'hooks.unmatched' : `otherwise (${at})`,
  };
}

function mappingIsOut(): HookError {
  return new HookError('not_configured', 'the mapping of this hook has errors; sluice check shows them', {
    retryAfterSeconds: OUT_RETRY_SECONDS,
  });
}

/** `wake` and `agent`: the body is the draft, every other step is that of a mapped hook. */
function decideBuiltIn(state: EvaluationState, kind: 'wake' | 'agent'): Outcome {
  const { payload } = state.request;
  if (!isJsonObject(payload)) {
    throw new HookError('invalid_body', `the body must be a JSON object, found ${kindOf(payload)}`);
  }
  const { readsGatewayBodies } = state.settings.behaviours;
  if (readsGatewayBodies && kind === 'agent') requireFlag(payload, 'waitForCompletion');
  const action = finish(state, { kind, fields: payload }, state.scope, { index: 0, part: 0 });
  warnOfUnknownFields(kind, payload, state.warnings, readsGatewayBodies ? GATEWAY_FIELDS : []);
  return { kind: 'accepted', actions: [action] };
}

/** Fields of an OpenClaw body that the server reads. */
const GATEWAY_FIELDS: readonly string[] = ['idempotencyKey', 'waitForCompletion'];

function requireFlag(payload: JsonObject, name: string): void {
  const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (value === undefined || typeof value === 'boolean') return;
  throw fieldError(name, `${name} must be true or false, found ${kindOf(value)}`);
}

/** None where none takes the request, and its path or `hooks.unmatched` has it skipped. */
function* pickMappings(state: EvaluationState): EvaluationPart<readonly CompiledMapping[]> {
  const { settings, scope } = state;
  const taken: CompiledMapping[] = [];
  for (const candidate of settings.table.candidates(scope)) {
    const isTaken = takesRequest(candidate, scope);
    yield* pauseIfDue(state);
    if (!isTaken) continue;
    taken.push(candidate);
    if (candidate.continues !== true) break;
  }
  if (state.full || taken.length === 0) yield* considerAll(state);
  const { otherwise = settings.unmatched } = settings.table.settingsOf(state.request.path);
  if (taken.length > 0 || otherwise === 'skip') return taken;
  throw new HookError('no_mapping_matched', 'no mapping takes this request');
}

/** Records why each mapping was taken or not; with a budget of its own, so that looking changes no outcome. */
function* considerAll(state: EvaluationState): EvaluationPart<void> {
  const { settings, request } = state;
  const work = new WorkBudget(settings.limits);
  try {
    for (const considered of settings.table.explain({ request, work })) {
      state.considered.push(considered);
      if (work.endsTurn()) yield PAUSE;
    }
  } catch (error) {
    // What was considered so far is shown.
    if (!(error instanceof HookError) || error.code !== 'too_much_work') throw error;
  }
}

const PAUSE = { kind: 'pause' } as const;

/** Gives others a turn where much was done since the last one. */
function* pauseIfDue({ work }: EvaluationState): EvaluationPart<void> {
  if (work.endsTurn()) yield PAUSE;
}

type ForEach = NonNullable<CompiledMapping['forEach']>;

function* decideEach(
  state: EvaluationState,
  mapping: CompiledMapping,
  { forEach, firstIndex }: { readonly forEach: ForEach; readonly firstIndex: number },
): EvaluationPart<Outcome> {
  const elements = readElements(state.scope, forEach, mapping.behaviours);
  const { maxActions } = state.settings;
  if (elements.length > maxActions) throw tooMany(elements.length, maxActions);
  const actions: Action[] = [];
  for (const [index, item] of elements.entries()) {
    try {
      const scope = elementScope(state.scope, mapping, { item, index });
      actions.push(...(yield* actOn(state, mapping, scope, firstIndex + actions.length)));
    } catch (error) {
      throw atIndex(asHookError(error), index);
    }
  }
  if (actions.length > 0) return { kind: 'accepted', actions };
  return { kind: 'skipped', by: elements.length === 0 ? 'forEach' : 'transform' };
}

function elementScope(
  scope: Scope,
  { behaviours, forEach }: CompiledMapping,
  { item, index }: { readonly item: JsonValue; readonly index: number },
): Scope {
  const [key, ...deeper] = forEach?.keys ?? [];
  if (!behaviours.hasGatewayBatches || key === undefined || deeper.length > 0)
    return { ...scope, item, index };
  const { request } = scope;
  const payload = { ...(request.payload as JsonObject), [key]: [item] };
  return { ...scope, request: { ...request, payload }, item, index };
}

function readElements(
  scope: Scope,
  { keys, text }: ForEach,
  { hasGatewayBatches }: CompiledMapping['behaviours'],
): readonly JsonValue[] {
  const value = valueAt(scope.request.payload, keys);
  const list = listOf(scope, value);
  if (list !== undefined) return list;
  if (hasGatewayBatches) return [];
  const message = `forEach reads ${text}, which must be an array, found ${kindOf(value)}`;
  throw fieldError(text, message, 'invalid_body');
}

/** One scope (the request, or one element) to its actions: none where a transform skips, several where it says so. */
function* actOn(
  state: EvaluationState,
  mapping: CompiledMapping,
  scope: Scope,
  firstIndex: number,
): EvaluationPart<readonly Action[]> {
  const draft = renderDraft(mapping, scope, state.render);
  yield* pauseIfDue(state);
  const drafts =
    mapping.transform === undefined ? [draft] : yield* transformDraft(state, mapping.transform, draft, scope);
  const { maxActions } = state.settings;
  if (firstIndex + drafts.length > maxActions) throw tooMany(firstIndex + drafts.length, maxActions);
  const actions: Action[] = [];
  for (const [part, each] of drafts.entries()) {
    try {
      actions.push(finish(state, each, scope, { index: firstIndex + part, part }));
    } catch (error) {
      throw drafts.length > 1 && scope.index === undefined ? atIndex(asHookError(error), part) : error;
    }
    yield* pauseIfDue(state);
  }
  return actions;
}

function tooMany(found: number, limit: number): HookError {
  return new HookError('too_many_actions', `one request can make at most ${limit} actions, found ${found}`);
}

/** The same error, saying which element of a batch it is about. */
function atIndex(error: HookError, index: number): HookError {
  const { code, detail, errors, retryAfterSeconds, cause } = error;
  const items = errors.length === 0 ? [errorFinding(code, detail)] : errors;
  return new HookError(code, detail, {
    errors: items.map((item) => ({ ...item, subject: { index, ...item.subject } })),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    cause,
  });
}

function asHookError(error: unknown): HookError {
  if (error instanceof HookError) return error;
  return new HookError('mapping_failed', 'the mapping could not be evaluated', { cause: error });
}

interface EvaluateHow {
  /** Default `brief`: what the decision log needs. */
  readonly detail?: 'brief' | 'full';
  /** What transforms returned when it was recorded: no transform runs, and each call gets the next of them. */
  readonly results?: readonly JsonValue[];
  /** Hears of each call of a transform that ended. */
  readonly onCall?: ReturnType<Tracing['receive']>['called'] | undefined;
}

/** Evaluates a request; a promise only where a transform runs, or much is done. */
export type Evaluate = (request: HookRequest, how?: EvaluateHow) => Evaluation | Promise<Evaluation>;

/** Makes what evaluates all requests by the same settings. */
export function createEvaluator(
  settings: EvaluationSettings,
  transforms: Pick<Transforms, 'call'>,
): Evaluate {
  const driver = { transforms, pause: createPauses() };
  return (request, { detail = 'brief', results, onCall } = {}) => {
    const steps = evaluate(request, settings, { detail });
    if (results !== undefined) return runEvaluation(steps, { ...driver, transforms: recorded(results) });
    return runEvaluation(steps, onCall ? { ...driver, transforms: watched(transforms, onCall) } : driver);
  };
}

function watched(
  transforms: Pick<Transforms, 'call'>,
  onCall: NonNullable<EvaluateHow['onCall']>,
): Pick<Transforms, 'call'> {
  return {
    call: async (call) => {
      const startedAt = performance.now();
      const reply = await transforms.call(call);
      const failure = reply.kind === 'failed' ? reply.failure : undefined;
      onCall({ module: call.ref.module, startedAt, endedAt: performance.now(), failure });
      return reply;
    },
  };
}

function recorded(results: readonly JsonValue[]): Pick<Transforms, 'call'> {
  const left = [...results];
  return {
    call: () =>
      Promise.resolve({
        kind: 'ok',
        json: left.length === 0 ? undefined : JSON.stringify(left.shift()),
        logs: [],
        logsDropped: 0,
        tookMs: 0,
      }),
  };
}

/** What drives evaluations: where transforms run, and how the others get their turn. */
interface EvaluationDriver {
  readonly transforms: Pick<Transforms, 'call'>;
  readonly pause: () => Promise<void>;
}

/** Runs an evaluation to its end; without a transform and with little work there is no promise on the way. */
export function runEvaluation(
  steps: EvaluationSteps,
  driver: EvaluationDriver,
): Evaluation | Promise<Evaluation> {
  const first = steps.next();
  return first.done === true ? first.value : resume(steps, first.value, driver);
}

async function resume(
  steps: EvaluationSteps,
  first: TransformCall | Pause,
  driver: EvaluationDriver,
): Promise<Evaluation> {
  let asked = first;
  for (;;) {
    // One element's draft may depend on the budget the one before left, so the calls are made in order.
    const answer = isPause(asked) ? await driver.pause() : await driver.transforms.call(asked);
    const step = steps.next(answer ?? undefined);
    if (step.done === true) return step.value;
    asked = step.value;
  }
}

export function isPause(asked: TransformCall | Pause): asked is Pause {
  return 'kind' in asked;
}

/**
 * Makes pauses that end one by one: of all evaluations that wait, one goes on in each turn of the event loop, so that
 * ten long ones hold it no longer than one, and what arrives meanwhile is served in between.
 */
export function createPauses(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const goOn = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(goOn);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(goOn);
    });
}
