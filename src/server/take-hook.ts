import type { HookRequest, JsonValue } from '../request.ts';
import { acceptedAnswer } from './answer.ts';
import { parseBody } from './body.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { RequestFacts } from './exchange.ts';
import { idempotencyKey } from './idempotency.ts';
import { maskCarried } from './mask-secrets.ts';
import { performOnce, type Work } from './perform.ts';
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
  /** `Idempotency-Key`; undefined where there is none, empty where it is blank. */
  readonly keyOf: (payload: JsonValue) => string | undefined;
  /** How long a repeat under the key is known; default a day. */
  readonly ttlSeconds?: number;
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
  const { name, body, ttlSeconds } = hook;
  // Ten that arrive together are parsed in ten turns, so that what is short is served in between.
  if (body.length > LARGE_BODY_BYTES) await context.pause();
  const payload = parseBody(body, context.decoder);
  const key = hook.keyOf(payload);
  const work: Work = {
    request: hookRequest(facts, hook, payload),
    blankKey: key === '',
    idempotency:
      key === undefined || key === '' ? undefined : idempotencyKey(name, key, { body, ttlSeconds }),
  };
  const performed = await performOnce(context, facts, work);
  switch (performed.kind) {
    case 'failed': {
      const { error, outcome, judged } = performed;
      return failedEnding(facts, error, { outcome, judged });
    }
    case 'stored': {
      const { result, outcome, judged } = performed;
      return { answer: acceptedAnswer(result), outcome, judged };
    }
    case 'repeat': {
      const { result } = performed;
      return { answer: acceptedAnswer(result), outcome: 'duplicate', judged: { result } };
    }
  }
}

function hookRequest(facts: RequestFacts, { name, target }: ReceivedHook, payload: JsonValue): HookRequest {
  const { ids, generation } = facts;
  const { url, query } = target;
  return {
    id: ids.id,
    receivedAt: facts.receivedAt,
    seed: ids.seed,
    nonce: ids.nonce,
    path: name,
    ...maskCarried({ url, query, headers: facts.headers.values }, generation.secrets),
    payload,
  };
}
