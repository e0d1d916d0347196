import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { longerHere } from '../../support/longer-here.ts';

export interface GoodSenderOptions {
  readonly port: number;
  readonly path: string;
  readonly token: string;
  readonly posts: number;
  /** Posts under way at once. */
  readonly concurrency: number;
  /** Milliseconds from the beginning of a post to the next one's at the soonest; default 0. */
  readonly everyMs?: number;
}

/** Of a sender after its last post should have begun: what is not begun by then fails, so that a dead service ends the run. */
const MAX_LATE_MS = 60_000;

/** What became of the posts of a sender that has the token. */
export interface GoodReport {
  readonly posts: number;
  readonly accepted: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of posts on a connection that was open before, and of those that opened one. */
  readonly keptP99Ms: number;
  readonly newP99Ms: number;
  readonly failures: readonly string[];
}

/** Posts as a good sender does: half of the posts on connections of their own, half on ones that are kept. */
export async function postAsGoodSender(options: GoodSenderOptions): Promise<GoodReport> {
  const kept = new Agent({ keepAlive: true, maxSockets: options.concurrency });
  const times = { kept: [] as number[], fresh: [] as number[] };
  const failures: string[] = [];
  let next = 0;
  const { everyMs = 0 } = options;
  const first = performance.now();
  const lateMs = longerHere(MAX_LATE_MS);
  const work = async (): Promise<void> => {
    for (let index = next++; index < options.posts; index = next++) {
      // oxlint-disable-next-line no-await-in-loop -- each has its own moment
      if (everyMs > 0) await delay(Math.max(0, first + index * everyMs - performance.now()));
      const begun = performance.now();
      if (begun > first + options.posts * everyMs + lateMs) {
        failures.push('not begun in time');
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as many at once as `concurrency`
      const found = await post(options, index % 2 === 0 ? kept : undefined);
      times[found.isKept ? 'kept' : 'fresh'].push(performance.now() - begun);
      if (found.status !== 202) failures.push(String(found.status));
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  kept.destroy();
  const all = [...times.kept, ...times.fresh];
  return {
    posts: options.posts,
    accepted: options.posts - failures.length,
    p50Ms: at(all, 0.5),
    p99Ms: at(all, 0.99),
    keptP99Ms: at(times.kept, 0.99),
    newP99Ms: at(times.fresh, 0.99),
    failures: failures.slice(0, 5),
  };
}

export interface PunctualOptions extends Pick<GoodSenderOptions, 'port' | 'path' | 'token' | 'posts'> {
  readonly everyMs: number;
  readonly withinMs: number;
}

/** Begins a post on a new connection at each moment, answered before or not, and counts those that are accepted in time. */
export async function countInTime(options: PunctualOptions): Promise<number> {
  const posts: Promise<boolean>[] = [];
  for (let index = 0; index < options.posts; index += 1) {
    const begun = performance.now();
    const isInTime = ({ status }: Posted): boolean =>
      status === 202 && performance.now() - begun <= options.withinMs;
    posts.push(post({ ...options, concurrency: 1 }, undefined).then(isInTime));
    // oxlint-disable-next-line no-await-in-loop -- each has its own moment
    await delay(options.everyMs);
  }
  return (await Promise.all(posts)).filter(Boolean).length;
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}

interface Posted {
  /** Of the answer, or why there was none. */
  readonly status: number | string;
  readonly isKept: boolean;
}

function post({ port, path, token }: GoodSenderOptions, agent: Agent | undefined): Promise<Posted> {
  return new Promise((resolve) => {
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      agent: agent ?? false,
      headers: { authorization: `Bearer ${token}`, 'content-length': 15 },
      timeout: longerHere(20_000),
    });
    const end = (status: number | string): void => resolve({ status, isKept: req.reusedSocket });
    req.on('response', (res) => {
      res.resume();
      res.once('end', () => end(res.statusCode ?? 0));
    });
    req.on('timeout', () => req.destroy(new Error('no answer in time')));
    req.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    req.end('{"message":"x"}');
  });
}
