import type { ServerGeneration } from './deps.ts';
import { bodyOf, LARGE_BODY_BYTES, type ReadBody, readBody } from '../../engine/hook/hook.ts';
import { parseAnyPayload } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import { acceptedAnswer } from './answer.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { ReceivedHook, RequestFacts } from './exchange.ts';
import { idempotencyKey, type Repeat, signedIdKey } from './idempotency.ts';
import { maskCarried } from './mask-secrets.ts';
import { type Processed, processOnce, type Work } from './process-request.ts';
import type { ServerContext } from './server-context.ts';
import { senderWarnings } from './sender-view.ts';

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
  const reading = readOf(context, facts, hook);
  const request = hookRequest(facts, hook, reading instanceof Promise ? await reading : reading);
  const key = hook.keyOf(request);
  delete facts.unread;
  const { idempotency, isSignedId } = repeatOf(hook, key, request.bodySha256);
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

function repeatOf(
  { name, ttlSeconds, signedId }: ReceivedHook,
  key: string | undefined,
  bodySha256: string,
): Pick<Work, 'idempotency' | 'isSignedId'> {
  if (signedId !== undefined) return { idempotency: signedIdKey(name, signedId), isSignedId: true };
  if (key === undefined || key === '') return { idempotency: undefined, isSignedId: false };
  return { idempotency: idempotencyKey(name, key, { bodySha256, ttlSeconds }), isSignedId: false };
}

function hookRequest(facts: RequestFacts, hook: ReceivedHook, read: ReadBody): HookRequest {
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
    ...read,
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
