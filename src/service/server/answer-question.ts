import { answerChallenge, type ChallengeFault, readsBody } from '../../engine/verify/verify.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { Exchange, IncomingHook } from './exchange.ts';
import { addressOf, refuse } from './prove.ts';
import { accessOf, type ServerContext } from './server-context.ts';

/** A request to a path that names a challenge. */
interface AskedHook {
  readonly hook: IncomingHook;
  readonly challenge: NonNullable<IncomingHook['settings']['challenge']>;
}

/**
 * Answers the challenge of a provider, without a proof, on a path that names one; undefined for all other requests.
 * Nothing of it reaches mappings or the store.
 */
export async function answerQuestion(
  context: ServerContext,
  exchange: Exchange,
  { hook, challenge }: AskedHook,
): Promise<Ending | undefined> {
  const { allows } = accessOf(context, hook.settings);
  if (!allows(addressOf(context, exchange))) return undefined;
  const { method = '', rawHeaders } = exchange.req;
  const hasBody = readsBody(challenge, method) || exchange.hasBody;
  const asked = hasBody ? await hook.body() : Buffer.alloc(0);
  const { query } = hook.target;
  const result = answerChallenge(challenge, { method, url: '', rawHeaders, body: asked, query });
  if (result.kind === 'none') return undefined;
  if (result.kind === 'key') {
    const isTaken = (await exchange.generation.takeKey?.(hook.name, result.key)) === true;
    if (!isTaken) return refuseQuestion(context, exchange, { hook, challenge, why: 'key' });
    return {
      answer: { status: 200, body: '', contentType: 'text/plain' },
      outcome: 'served',
      hookName: hook.name,
    };
  }
  if (result.kind === 'wrong') return refuseQuestion(context, exchange, { hook, challenge, why: result.why });
  const { body, contentType, headers } = result;
  return { answer: { status: 200, body, contentType, headers }, outcome: 'served', hookName: hook.name };
}

async function refuseQuestion(
  context: ServerContext,
  exchange: Exchange,
  { hook, challenge, why }: AskedHook & { readonly why: ChallengeFault },
): Promise<Ending> {
  const refusal = await refuse(context, exchange, {
    reason: 'challenge',
    finding: { code: 'challenge', facts: { asks: challenge.kind, why } },
  });
  return failedEnding(exchange, refusal.error, { proof: refusal, hookName: hook.name });
}
