import { HookError } from '../../base/errors.ts';
import { isJsonObject, readJson } from '../../base/json.ts';
import { readBody } from './body.ts';
import type { Ending, Exchange } from './exchange.ts';
import { failedEnding, toHookError } from './problem.ts';
import { refuse } from './prove.ts';
import type { ServerContext } from './server-context.ts';

/** Where agents on this machine add keys to the conversations of their runs. */
export const CONVERSATION_PATH = '/workers/conversation';
const MAX_BYTES = 4_096;

/** Answers `sluice conversation add` of an agent: its token is that of one run, until the turn ends. */
export async function answerAgent(
  context: ServerContext,
  exchange: Exchange,
  onProved: () => void,
): Promise<Ending> {
  const { req, headers } = exchange;
  const { storage } = context.deps;
  const { remoteAddress, localAddress } = req.socket;
  // An address of the machine calls itself by the same one.
  const isHere = /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress ?? '') || remoteAddress === localAddress;
  if (!isHere) throw new HookError('not_found', 'nothing is served at this path');
  const { bearer } = headers;
  if (bearer === undefined || !(await storage.isAgentToken(bearer))) {
    const proof = await refuse(context, exchange, { reason: bearer === undefined ? 'missing' : 'wrong' });
    return failedEnding(exchange, proof.error, { proof });
  }
  exchange.isProved = true;
  context.unproved.release(exchange);
  onProved();
  try {
    if (req.method !== 'POST') throw new HookError('method_not_allowed', 'agents add keys with POST');
    const body = await readBody(exchange, { maxBytes: MAX_BYTES, unproved: context.unproved });
    const key = keyIn(body.toString('utf8'));
    const { result, may } = await storage.addAgentKey(bearer, key, exchange.receivedAt);
    if (result === 'over' || result === 'wrong')
      throw new HookError('attempt_over', 'the turn of this token has ended');
    const isAdded = result === 'added' || result === 'known';
    return {
      answer: { status: 200, body: JSON.stringify({ ok: isAdded, result, ...(may && { may }) }) },
      outcome: 'served',
    };
  } catch (error) {
    return { ...failedEnding(exchange, toHookError(error)), outcome: 'served' };
  }
}

function keyIn(text: string): string {
  const body = readJson(text);
  const key = isJsonObject(body) ? body['key'] : undefined;
  if (typeof key !== 'string' || !/^\P{C}{1,256}$/u.test(key))
    throw new HookError('invalid_body', 'key: a text of 1 to 256 printable characters');
  return key;
}
