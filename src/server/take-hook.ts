import type { PathSettings } from '../mapping/mapping.ts';
import type { ServerGeneration } from './deps.ts';
import { parseAnyPayload, parseLargePayload, parsePayload } from '../payload/payload.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import { acceptedAnswer } from './answer.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { RequestFacts } from './exchange.ts';
import { idempotencyKey, type Repeat, signedIdKey } from './idempotency.ts';
import { maskCarried } from './mask-secrets.ts';
import { type Processed, processOnce, type Work } from './process-request.ts';
import type { ServerContext } from './server-context.ts';
import type { RequestTarget } from './target.ts';

/** Longer hook names match nothing; they are kept out of decisions and logs. */
export const MAX_HOOK_NAME = 512;
/** Parsing more than this takes long enough that it waits for a turn of its own. */
const LARGE_BODY_BYTES = 32_768;

/** A hook whose sender is believed, with all of its body. */
export interface ReceivedHook {
  readonly name: string;
  readonly target: Pick<RequestTarget, 'url' | 'query'>;
  readonly body: Buffer;
  /** The body without its compression; default the body. */
  readonly unpacked?: Buffer;
  /** How the path takes its requests; default JSON. */
  readonly settings?: PathSettings;
  /** Headers that carried a secret: mappings do not see them. */
  readonly secretHeaders?: readonly string[];
  /** An id that the sender signed: a repeat is judged by it alone. */
  readonly signedId?: string | undefined;
  /** `Idempotency-Key`; undefined where there is none, empty where it is blank. */
  readonly keyOf: (payload: JsonValue) => string | undefined;
  /** How long a repeat under the key is known; default a day. */
  readonly ttlSeconds?: number | undefined;
}

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
  const read = readPayload(context, facts, hook);
  const payload = read instanceof Promise ? await read : read;
  const key = hook.keyOf(payload);
  const { idempotency, isSignedId } = repeatOf(hook, key);
  const request = hookRequest(facts, hook, payload);
  const work: Work = { request, blankKey: key === '', idempotency, isSignedId };
  return endingOf(facts, await processOnce(context, facts, work), hook.signedId);
}

function endingOf(facts: RequestFacts, processed: Processed | Repeat, signedId: string | undefined): Ending {
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
      const { result } = processed;
      return { answer: acceptedAnswer(result), outcome: 'duplicate', judged: { result, signedId } };
    }
  }
}

/** A promise only where the body is large. */
function readPayload(
  { decoder, pause }: ServerContext,
  facts: RequestFacts,
  { body, unpacked: bytes = body, settings = {}, target }: ReceivedHook,
): JsonValue | Promise<JsonValue> {
  const { headers, generation } = facts;
  if (settings.method === 'GET') {
    const { query } = maskCarried({ url: '', headers: {}, query: target.query }, generation.tokens);
    return query;
  }
  const received = { bytes, headers: headers.values };
  const format = settings.bodyFormat ?? 'json';
  if (generation.takesAnyFormat !== true) {
    return bytes.length > LARGE_BODY_BYTES
      ? parseLargePayload(received, format, { decoder, pause })
      : parsePayload(received, format, decoder);
  }
  const { payload, format: found } = parseAnyPayload(received, format, decoder);
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

function headersWithout(values: HookRequest['headers'], names: readonly string[]): HookRequest['headers'] {
  if (!names.some((name) => name in values)) return values;
  const kept = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(values)) if (!names.includes(name)) kept[name] = value;
  return kept;
}

/** How long a body may be, and which key says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setBy: string;
}

/** Bytes a body of this hook may have: what its mappings say, else what is usual for the name, else for all. */
export function bodyLimit({ hooks, settingsOf }: ServerGeneration, name: string): BodyLimit {
  const own = settingsOf(name).maxBodyBytes;
  if (own !== undefined) return { bytes: own, setBy: `maxBodyBytes of the mappings of ${name}` };
  const { maxBodyBytes: bytes, maxBodyBytesByName } = hooks;
  const byName = Object.hasOwn(maxBodyBytesByName, name) ? maxBodyBytesByName[name] : undefined;
  return byName === undefined
    ? { bytes, setBy: 'hooks.maxBodyBytes' }
    : { bytes: byName, setBy: `the preset of ${name}; maxBodyBytes of its mappings sets another` };
}
