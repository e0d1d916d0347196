import { answerChallenge, readsBody } from '../verify/verify.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { Exchange } from './exchange.ts';
import { doorOf } from './path-door.ts';
import { type IncomingHook, refuse } from './prove.ts';
import type { ServerContext } from './server-context.ts';

const PROVIDERS = {
  slack: 'Slack',
  meta: 'Meta',
  graph: 'Microsoft Graph',
  zoom: 'Zoom',
  cloudevents: 'a sender of CloudEvents',
} as const;

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
  const { settings, target } = hook;
  const { req, headers } = exchange;
  const { allows } = doorOf(context, settings);
  if (!allows(context.findAddress(req.socket.remoteAddress, headers.values['x-forwarded-for'])))
    return undefined;
  const method = req.method ?? '';
  const result = answerChallenge(challenge, {
    method,
    url: '',
    rawHeaders: req.rawHeaders,
    body: readsBody(challenge.kind, method) || exchange.hasBody ? await hook.body() : Buffer.alloc(0),
    query: target.query,
  });
  switch (result.kind) {
    case 'none':
      return undefined;
    case 'wrong': {
      const text = `this is how ${PROVIDERS[challenge.kind]} checks the address, and ${result.why}`;
      const refusal = await refuse(context, exchange, {
        reason: 'challenge',
        diagnose: () => ({ code: 'challenge', text }),
      });
      return failedEnding(exchange, refusal.error, { proof: refusal, hookName: hook.name });
    }
    case 'answer': {
      const { body, contentType, headers: further } = result;
      const answer = { status: 200, body, contentType, headers: further };
      return { answer, outcome: 'served', hookName: hook.name };
    }
  }
}
