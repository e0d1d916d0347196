import { HookError } from '../../base/errors.ts';
import { checkEncoding } from '../../base/payload/payload.ts';
import { addKey, CONVERSATION_PATH, isOfAgent } from './answer-agent.ts';
import { findToken } from './authenticate.ts';
import { readBody } from './body.ts';
import type { WorkerQuestion } from '../runners/runners.ts';
import type { WorkerDoor } from './deps.ts';
import type { Ending, Exchange } from './exchange.ts';
import { failedEnding, toHookError } from './problem.ts';
import { refuse } from './prove.ts';
import type { ServerContext } from './server-context.ts';

const WORKERS = '/workers/';
const PATH = /^\/workers\/runs(?::(take)|\/([\w-]{1,64}):(renew|finish))$/;
/** What stands around a reply, and what its escapes may take. */
const OTHER_BYTES = 65_536;
const ESCAPED = 2;

/** Whether a request is one of a worker or of an agent: there are such, and this is the port at which they ask. */
export function isOfWorker(context: ServerContext, { generation, target, side }: Exchange): boolean {
  const isHere = (context.deps.workersAt === undefined) === (side === 'hooks');
  if (!isHere || target === undefined) return false;
  if (generation.hasAgentKeys === true && target.path === CONVERSATION_PATH) return true;
  return (generation.workers?.length ?? 0) > 0 && target.path.startsWith(WORKERS);
}

/** Answers a worker or an agent: proof, path, method, body, and what is said to it. No decision is kept of what it asks. */
export async function answerWorker(
  context: ServerContext,
  exchange: Exchange,
  onProved: () => void,
): Promise<Ending> {
  const { bearer } = exchange.headers;
  const ask = bearer === undefined ? undefined : await asksFor(context, exchange, bearer);
  if (ask === undefined) {
    const proof = await refuse(context, exchange, { reason: bearer === undefined ? 'missing' : 'wrong' });
    return failedEnding(exchange, proof.error, { proof });
  }
  exchange.isProved = true;
  context.unproved.release(exchange);
  onProved();
  try {
    if (exchange.req.method !== 'POST')
      throw new HookError('method_not_allowed', 'workers and agents ask with POST');
    return { answer: { status: 200, body: JSON.stringify(await ask()) }, outcome: 'served' };
  } catch (error) {
    const failed = toHookError(error);
    const headers = failed.code === 'method_not_allowed' ? ['allow', 'POST'] : [];
    return { ...failedEnding(exchange, failed, { headers }), outcome: 'served' };
  }
}

/** What a token lets its owner ask; undefined where it proves nothing. */
async function asksFor(
  context: ServerContext,
  exchange: Exchange,
  bearer: string,
): Promise<(() => Promise<object>) | undefined> {
  const path = exchange.target?.path ?? '';
  if (path === CONVERSATION_PATH)
    return (await isOfAgent(context, exchange, bearer)) ? () => addKey(context, exchange, bearer) : undefined;
  // Every token is compared, whichever matched.
  const [door] = (exchange.generation.workers ?? []).filter(({ tokens }) => findToken(tokens, bearer));
  if (door === undefined) return undefined;
  const [, take, runId, action = take] = PATH.exec(path) ?? [];
  if (action === undefined)
    return () => Promise.reject(new HookError('not_found', 'nothing is served to workers at this path'));
  const question = { runner: door.runner, runId, action: action as WorkerQuestion['action'] };
  return () => ask(context, exchange, { question, door });
}

/** Reads the body, and asks the gateway for as long as the worker waits. */
async function ask(
  context: ServerContext,
  exchange: Exchange,
  {
    question,
    door,
  }: { readonly question: Omit<WorkerQuestion, 'body' | 'signal'>; readonly door: WorkerDoor },
): Promise<object> {
  const { req, res, headers } = exchange;
  const { answerWorker: answer } = context.deps;
  if (context.stopping.signal.aborted || answer === undefined)
    throw new HookError('stopping', 'the service is stopping');
  checkEncoding(headers.values['content-encoding']);
  const maxBytes = question.action === 'finish' ? ESCAPED * door.maxReplyBytes + OTHER_BYTES : OTHER_BYTES;
  const read = await readBody(exchange, { maxBytes, unproved: context.unproved });
  const left = new AbortController();
  const leave = (): void => left.abort();
  res.once('close', leave);
  // A run must not go to somebody who has left: here nobody ends his side and waits.
  req.socket.once('end', leave);
  try {
    const signal = AbortSignal.any([context.stopping.signal, left.signal]);
    return await answer({ ...question, body: readJsonBody(read), signal });
  } finally {
    res.off('close', leave);
    req.socket.off('end', leave);
  }
}

function readJsonBody(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new HookError('invalid_json', 'a worker sends JSON');
  }
}
