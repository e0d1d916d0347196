import type { ServerGeneration, RequestOutcome } from './deps.ts';
import { LARGE_BODY_BYTES, readPayload, type Evaluation } from '../hook/hook.ts';
import { parseAnyPayload } from '../payload/payload.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import { acceptedAnswer } from './answer.ts';
import { type Ending, failedEnding, type Judged } from './ending.ts';
import type { ReceivedHook, RequestFacts } from './exchange.ts';
import { idempotencyKey, type Repeat, signedIdKey } from './idempotency.ts';
import { maskCarried } from './mask-secrets.ts';
import type { ServerContext } from './server-context.ts';
import { senderWarnings } from './sender-view.ts';
import type { HookError } from '../errors.ts';
import type { AcceptedWork, AcceptResult, IdempotencyKey } from '../storage/storage.ts';
import { toHookError } from './problem.ts';

/** Longer hook names match nothing; they are kept out of decisions and logs. */
export const MAX_HOOK_NAME = 512;

/** Whether any mapping takes this hook name, whatever the request holds. */
export function canTake({ generation }: RequestFacts, name: string): boolean {
  return name !== '' && name.length <= MAX_HOOK_NAME && generation.canTake(name);
}

/**
 * Body, evaluation and store: the same for every hook, whichever way it came.
 * @throws HookError where the body cannot be read
 */
export async function takeHook(
  context: ServerContext,
  facts: RequestFacts,
  hook: ReceivedHook,
): Promise<Ending> {
  // Ten that arrive together are parsed in ten turns, so that what is short is served in between.
  if ((hook.unpacked ?? hook.body).length > LARGE_BODY_BYTES) await context.pause();
  facts.unread = hook;
  const read = payloadOf(context, facts, hook);
  const payload = read instanceof Promise ? await read : read;
  const key = hook.keyOf(payload);
  delete facts.unread;
  const { idempotency, isSignedId } = repeatOf(hook, key);
  const request = hookRequest(facts, hook, payload);
  const work: Work = { request, blankKey: key === '', idempotency, isSignedId };
  return endingOf(facts, await processOnce(context, facts, work), hook);
}

function endingOf(
  facts: RequestFacts,
  processed: Processed | Repeat,
  { name, signedId }: ReceivedHook,
): Ending {
  switch (processed.kind) {
    case 'failed': {
      const { error, outcome, judged } = processed;
      return failedEnding(facts, error, { outcome, judged });
    }
    case 'stored': {
      const { result, outcome, judged } = processed;
      return { answer: acceptedAnswer(result), outcome, judged };
    }
    case 'repeat': {
      // It was stored by an earlier request, maybe by a version that stored every warning.
      const { warnings, ...stored } = processed.result;
      const result = { ...stored, warnings: senderWarnings(name, warnings) };
      return { answer: acceptedAnswer(result), outcome: 'duplicate', judged: { result, signedId } };
    }
  }
}

/** A promise only where the body is large. */
function payloadOf(
  { decoder, pause }: ServerContext,
  facts: RequestFacts,
  { body, unpacked: bytes = body, settings = {}, target }: ReceivedHook,
): JsonValue | Promise<JsonValue> {
  const { generation } = facts;
  const headers = facts.headers.values;
  const { query } = maskCarried({ url: '', headers: {}, query: target.query }, generation.tokens);
  if (generation.takesAnyFormat !== true || settings.method === 'GET')
    return readPayload({ settings, headers, query, bytes }, { decoder, pause });
  const format = settings.bodyFormat ?? 'json';
  const { payload, format: found } = parseAnyPayload({ bytes, headers }, format, decoder);
  if (found !== format) facts.otherFormat = found;
  return payload;
}

function repeatOf(
  { name, body, ttlSeconds, signedId }: ReceivedHook,
  key: string | undefined,
): Pick<Work, 'idempotency' | 'isSignedId'> {
  if (signedId !== undefined) return { idempotency: signedIdKey(name, signedId), isSignedId: true };
  if (key === undefined || key === '') return { idempotency: undefined, isSignedId: false };
  return { idempotency: idempotencyKey(name, key, { body, ttlSeconds }), isSignedId: false };
}

function hookRequest(facts: RequestFacts, hook: ReceivedHook, payload: JsonValue): HookRequest {
  const { name, target, secretHeaders = [] } = hook;
  const { ids, generation } = facts;
  const received = headersWithout(facts.headers.values, secretHeaders);
  const { url, headers, query } = maskCarried(
    { url: target.url, query: target.query, headers: received },
    generation.tokens,
  );
  return {
    id: ids.id,
    receivedAt: facts.receivedAt,
    seed: ids.seed,
    nonce: ids.nonce,
    path: name,
    url,
    headers,
    query,
    payload,
  };
}

/** Headers without some of them. */
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

/** One request to be evaluated and stored. */
interface Work {
  readonly request: HookRequest;
  /** An idempotency key is there and cannot be used. */
  readonly blankKey: boolean;
  readonly idempotency: IdempotencyKey | undefined;
  /** The key is an id that the sender signed; a request that made nothing leaves it free. */
  readonly isSignedId: boolean;
}

/** What became of it: stored (or nothing to store), or not accepted. */
type Processed =
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
function processOnce(
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
  const told = senderWarnings(request.path, found);
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
