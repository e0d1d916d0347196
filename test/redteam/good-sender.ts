import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

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

/** What became of the posts of a sender that has the token. */
export interface GoodReport {
  readonly posts: number;
  readonly accepted: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: readonly string[];
}

/** Posts as a good sender does: half of the posts on connections of their own, half on ones that are kept. */
export async function postAsGoodSender(options: GoodSenderOptions): Promise<GoodReport> {
  const kept = new Agent({ keepAlive: true, maxSockets: options.concurrency });
  const times: number[] = [];
  const failures: string[] = [];
  let next = 0;
  const { everyMs = 0 } = options;
  const first = performance.now();
  const work = async (): Promise<void> => {
    for (let index = next++; index < options.posts; index = next++) {
      // oxlint-disable-next-line no-await-in-loop -- each has its own moment
      if (everyMs > 0) await delay(Math.max(0, first + index * everyMs - performance.now()));
      const begun = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as many at once as `concurrency`
      const found = await post(options, index % 2 === 0 ? kept : undefined);
      times.push(performance.now() - begun);
      if (found !== 202) failures.push(String(found));
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  kept.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
  return {
    posts: options.posts,
    accepted: options.posts - failures.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failures: failures.slice(0, 5),
  };
}

function post({ port, path, token }: GoodSenderOptions, agent: Agent | undefined): Promise<number | string> {
  return new Promise((resolve) => {
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      agent: agent ?? false,
      headers: { authorization: `Bearer ${token}`, 'content-length': 15 },
      timeout: 20_000,
    });
    req.on('response', (res) => {
      res.resume();
      res.once('end', () => resolve(res.statusCode ?? 0));
    });
    req.on('timeout', () => req.destroy(new Error('no answer in 20 s')));
    req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    req.end('{"message":"x"}');
  });
}
