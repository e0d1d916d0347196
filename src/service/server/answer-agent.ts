import { HookError } from '../../base/errors.ts';
import { isJsonObject, readJson } from '../../base/json.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

/** Where agents on this machine add keys to the conversations of their runs. */
export const CONVERSATION_PATH = '/workers/conversation';
const MAX_BYTES = 4_096;
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Whether an agent of this machine asks: an address of the machine calls itself by the same one. */
export async function isOfAgent(
  { deps: { storage } }: ServerContext,
  { req: { socket } }: Exchange,
  token: string,
): Promise<boolean> {
  const { remoteAddress = '', localAddress } = socket;
  const isHere = LOOPBACK.test(remoteAddress) || remoteAddress === localAddress;
  return isHere && storage.isAgentToken(token);
}

/** Answers `sluice conversation add` of an agent: its token is that of one run, until the turn ends. */
export async function addKey(
  { deps: { storage }, unproved }: ServerContext,
  exchange: Exchange,
  token: string,
): Promise<object> {
  const body = readJson((await readBody(exchange, { maxBytes: MAX_BYTES, unproved })).toString('utf8'));
  const key = isJsonObject(body) ? body['key'] : undefined;
  if (typeof key !== 'string' || !/^\P{C}{1,256}$/u.test(key))
    throw new HookError('invalid_body', 'key: a text of 1 to 256 printable characters');
  const { result, may } = await storage.addAgentKey(token, key, exchange.receivedAt);
  if (result === 'over') throw new HookError('attempt_over', 'the turn of this token has ended');
  return { ok: result === 'added' || result === 'known', result, ...(may && { may }) };
}
