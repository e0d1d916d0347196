import type { AcceptResult } from '../../engine/storage/storage.ts';
import { completedAnswer, waitedAnswer } from './answer.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i;

/** Seconds asked for by `Prefer: wait=N` (RFC 7240), cut to the longest the server holds; 0 where there is none. */
export function readWaitSeconds(prefer: string | undefined, maxSeconds: number): number {
  if (prefer === undefined) return 0;
  const found = WAIT.exec(prefer);
  return found === null ? 0 : Math.min(Number(found[1]), maxSeconds);
}

interface Waiting {
  readonly result: AcceptResult;
  readonly seconds: number;
  /** Asked for by `waitForCompletion` of an OpenClaw body. */
  readonly completion: boolean;
}

/**
 * Holds the answer of a single agent action until its run has ended: the answer with its reply, or undefined where
 * the time passed, the server stops, too many requests wait already, or there is no single run to wait for.
 */
export async function waitForOutcome(
  context: ServerContext,
  { res }: Pick<Exchange, 'res'>,
  { result, seconds, completion }: Waiting,
): Promise<Answer | undefined> {
  const [action] = result.accepted;
  if (result.accepted.length !== 1 || action === undefined || action.kind !== 'agent') return undefined;
  if (context.waiting >= context.limits.maxWaiting) return undefined;
  const left = new AbortController();
  const leave = (): void => left.abort();
  res.once('close', leave);
  context.waiting += 1;
  try {
    const signal = AbortSignal.any([context.stopping.signal, left.signal]);
    const run = await context.deps.waitForRun(action.id, seconds * 1000, signal);
    if (run === undefined) return undefined;
    return completion ? completedAnswer(run, result) : waitedAnswer(run, result, seconds);
  } catch {
    // The work is stored: whatever went wrong with waiting, the plain answer is the true one.
    return undefined;
  } finally {
    context.waiting -= 1;
    res.off('close', leave);
  }
}
