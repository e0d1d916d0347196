import { requestFindingToJson } from '../../base/finding.ts';
import { parseAnyPayload } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import { defined, isNumeric, memberAt } from '../../base/json.ts';
import {
  bodyOf,
  type Evaluation,
  LARGE_BODY_BYTES,
  type ReadBody,
  readBody,
} from '../../engine/hook/hook.ts';
import type { AcceptedWork, AcceptResult, IdempotencyKey } from '../../engine/storage/storage.ts';
import { acceptedAnswer } from './answer.ts';
import type { ServerGeneration } from './deps.ts';
import type { Ending, HookJudgement, ReceivedHook, RequestFacts } from './exchange.ts';
import { eventIdKey, idempotencyKey } from './idempotency.ts';
import { maskCarried } from './mask-secrets.ts';
import { failedEnding, senderWarnings, toHookError } from './problem.ts';
import type { ServerContext } from './server-context.ts';

/** Longer hook names match nothing; they are kept out of decisions and logs. */
export const MAX_HOOK_NAME = 512;

/** Whether any mapping takes this hook name, whatever the request holds. */
export function canTake({ generation }: RequestFacts, name: string): boolean {
  return name !== '' && name.length <= MAX_HOOK_NAME && generation.canTake(name);
}

/** Begins the span of a hook; `method` absent where this process made it itself. */
export function traceHook(
  { deps: { tracing } }: ServerContext,
  facts: RequestFacts,
  { name, method }: { readonly name: string; readonly method?: string | undefined },
): void {
  if (tracing === undefined) return;
  const { generation, ids, headers, startedAt } = facts;
  const path = generation.knowsName(name) ? name : '*';
  const route = `${generation.hooks.path}/${path}`;
  facts.trace = tracing.receive({ id: ids.id, route, path, method, headers: headers.values, startedAt });
}

/**
 * Reads, evaluates and stores every hook, whichever way it came. One with an idempotency key is evaluated
 * only if it is no repeat.
 * @throws HookError where the body cannot be read
 */
export async function takeHook(
  context: ServerContext,
  facts: RequestFacts,
  hook: ReceivedHook,
): Promise<Ending> {
  // Ten large bodies that arrive together are parsed in ten turns, so that short ones are served in between.
  if ((hook.unpacked ?? hook.body).length > LARGE_BODY_BYTES) await context.pause();
  facts.unread = hook;
  const reading = readOf(context, facts, hook);
  const request = hookRequest(facts, hook, reading instanceof Promise ? await reading : reading);
  const key = hook.keyOf(request);
  delete facts.unread;
  const recovery = facts.generation.recoveryOf?.(hook.name);
  const event = recovery && eventOf(request, recovery.event);
  if (event !== undefined) facts.recovered = context.deps.recovered?.(hook.name, event);
  // Where what was missed is recovered, an event is known by its id alone, and also where it made nothing.
  const keeps = event !== undefined;
  const { name, signedId } = hook;
  const known = idOf(signedId, 'signed') ?? idOf(event, 'event');
  const ttlSeconds = recovery ? recovery.maxAgeMs / 1000 : hook.ttlSeconds;
  const idempotency = known
    ? eventIdKey(name, known.id, ttlSeconds)
    : key === undefined || key === ''
      ? undefined
      : idempotencyKey(name, key, { bodySha256: request.bodySha256, ttlSeconds });
  const work: HookWork = { request, hook, key, idempotency, keeps };
  if (idempotency === undefined) return judgeAndStore(context, facts, work);
  try {
    return await context.repeats.once(idempotency, facts.receivedAt, {
      work: () => judgeAndStore(context, facts, work),
      repeat: (result) => repeated(name, result, known),
    });
  } catch (error) {
    return failedEnding(facts, error, { judged: {} });
  }
}

interface HookWork {
  readonly request: HookRequest;
  readonly hook: ReceivedHook;
  /** The key as the sender chose it; empty where it cannot be used. */
  readonly key: string | undefined;
  readonly idempotency: IdempotencyKey | undefined;
  /** Whether the id of a request that made nothing is kept. */
  readonly keeps: boolean;
}

type EventId = HookJudgement['event'];
const idOf = (id: string | undefined, by: 'signed' | 'event'): EventId =>
  id === undefined ? undefined : { id, by };

/** The id of the event in a request; undefined where it has none that can be used. */
function eventOf({ headers, payload }: HookRequest, path: readonly string[]): string | undefined {
  const id = memberAt({ headers, payload }, path);
  const text = typeof id === 'string' || isNumeric(id) ? String(id).trim() : '';
  return text === '' || text.length > 255 ? undefined : text;
}

async function judgeAndStore(context: ServerContext, facts: RequestFacts, work: HookWork): Promise<Ending> {
  const { request } = work;
  let judged: HookJudgement = { request };
  try {
    const begun = performance.now();
    const { trace } = facts;
    const pending = facts.generation.evaluate(request, { onCall: trace?.called });
    const evaluation = pending instanceof Promise ? await pending : pending;
    const evaluated = performance.now();
    judged = { request, evaluation, evaluateMs: evaluated - begun };
    const failure = evaluation.outcome.kind === 'rejected' ? evaluation.outcome.error : undefined;
    const mappingId = evaluation.mapping?.id;
    trace?.evaluated({ startedAt: begun, endedAt: evaluated, failure: failure?.code, mappingId });
    if (failure !== undefined) return failedEnding(facts, failure, { outcome: 'rejected', judged });
    const actions = evaluation.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
    const made: Made = { actions, found: evaluation.warnings };
    const result = await (trace === undefined || actions.length === 0
      ? store(context, work, made)
      : storeTraced(context, work, { ...made, trace }));
    const storeMs = performance.now() - evaluated;
    const isNone = result.accepted.every(({ without }) => without === 'none');
    const outcome = isNone ? 'skipped' : result.duplicate ? 'duplicate' : 'accepted';
    return { answer: acceptedAnswer(result), outcome, judged: { ...judged, storeMs, result } };
  } catch (error) {
    if (judged.evaluation === undefined) return failedEnding(facts, error, { judged });
    const failure = toHookError(error, 'storage_unavailable');
    return failedEnding(facts, failure, { outcome: 'rejected', judged });
  }
}

interface Made {
  readonly actions: AcceptedWork['actions'];
  readonly found: Evaluation['warnings'];
}

/** Stores actions that name the span of their request in place of the one that its sender named. */
async function storeTraced(
  context: ServerContext,
  work: HookWork,
  { actions, found, trace }: Made & { readonly trace: NonNullable<RequestFacts['trace']> },
): Promise<AcceptResult> {
  const { traceparent } = trace;
  const led = actions.map((action) => ({
    ...action,
    origin: { ...action.origin, ...defined({ traceparent }) },
  }));
  const part = { startedAt: performance.now(), ids: actions.map(({ id }) => id) };
  try {
    const result = await store(context, work, { actions: led, found });
    trace.stored({ ...part, endedAt: performance.now() });
    return result;
  } catch (error) {
    const { code: failure } = toHookError(error, 'storage_unavailable');
    trace.stored({ ...part, endedAt: performance.now(), failure });
    throw error;
  }
}

/** Stores all actions of the request in one transaction. */
function store(
  context: ServerContext,
  { request, hook, key, idempotency, keeps }: HookWork,
  { actions, found }: Made,
): AcceptResult | Promise<AcceptResult> {
  const shown = senderWarnings(request.path, found).map(requestFindingToJson);
  const warnings = key === '' ? [BLANK_KEY_WARNING, ...shown] : shown;
  // A request that made nothing leaves an id that its sender signed free.
  if (actions.length === 0 && (idempotency === undefined || (hook.signedId !== undefined && !keeps))) {
    return { accepted: [], warnings, duplicate: false };
  }
  const { id: requestId, receivedAt } = request;
  const accepted = { requestId, receivedAt, actions, warnings };
  return context.deps.storage.accept(idempotency === undefined ? accepted : { ...accepted, idempotency });
}

const BLANK_KEY_WARNING = {
  code: 'blank_idempotency_key',
  field: 'Idempotency-Key',
  message: 'the key is blank or too long, so a repeat of this request counts as a new one',
} as const;

/** An earlier request was stored, maybe by a version that stored every warning. */
function repeated(name: string, { warnings, ...stored }: AcceptResult, event: EventId): Ending {
  const result = { ...stored, warnings: senderWarnings(name, warnings) };
  return { answer: acceptedAnswer(result), outcome: 'duplicate', judged: { result, event } };
}

/** A promise only where the body is large. */
function readOf(
  { decoder, pause }: ServerContext,
  facts: RequestFacts,
  { body, unpacked: bytes = body, settings = {}, target }: ReceivedHook,
): ReadBody | Promise<ReadBody> {
  const { generation } = facts;
  const headers = facts.headers.values;
  const { url } = maskCarried({ ...target, headers: {} }, generation.tokens);
  const search = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const received = { settings, headers, search, bytes };
  if (generation.takesAnyFormat !== true || settings.method === 'GET')
    return readBody(received, { decoder, pause });
  const format = settings.bodyFormat ?? 'json';
  const { payload, format: found } = parseAnyPayload({ bytes, headers }, format, decoder);
  if (found !== format) facts.otherFormat = found;
  return bodyOf(payload, { ...received, settings: { ...settings, bodyFormat: found } });
}

function hookRequest(
  { ids, receivedAt, generation, headers }: RequestFacts,
  { name, target: { url, query }, secretHeaders = [] }: ReceivedHook,
  read: ReadBody,
): HookRequest {
  const received = headersWithout(headers.values, secretHeaders);
  const carried = maskCarried({ url, query, headers: received }, generation.tokens);
  const { id, seed, nonce } = ids;
  return { id, receivedAt, seed, nonce, path: name, ...carried, ...read };
}

export function headersWithout(
  values: HookRequest['headers'],
  names: readonly string[],
): HookRequest['headers'] {
  if (!names.some((name) => name in values)) return values;
  const kept = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(values)) if (!names.includes(name)) kept[name] = value;
  return kept;
}

/** How long a body may be, and what says so: `maxBodyBytes` of its mappings, of hooks, or the preset of its name. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setBy: 'mapping' | 'hooks' | 'preset';
}

/** Bytes a body of this hook may have: what its mappings say, else what is usual for the name, else for all. */
export function bodyLimit({ hooks, settingsOf }: ServerGeneration, name: string): BodyLimit {
  const own = settingsOf(name).maxBodyBytes;
  if (own !== undefined) return { bytes: own, setBy: 'mapping' };
  const { maxBodyBytes: bytes, maxBodyBytesByName } = hooks;
  const byName = Object.hasOwn(maxBodyBytesByName, name) ? maxBodyBytesByName[name] : undefined;
  return byName === undefined ? { bytes, setBy: 'hooks' } : { bytes: byName, setBy: 'preset' };
}
