import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { within } from './delays.ts';

/** A thread is there after 0.2 s; longer waits are those of a machine that has nothing left. */
const START_MS = 30_000;
/** However little of the processor it gets. */
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 100;

/** Starts a thread that says `ready` once it is; undefined where it does not. */
export async function startThread(
  entry: URL,
  { name, memoryMb }: { readonly name: string; readonly memoryMb: number },
): Promise<Worker | undefined> {
  const thread = new Worker(entry, { name, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  // Heard by whoever waits for an answer; without this it would end the process.
  thread.on('error', () => undefined);
  if ((await within(answerOf(thread), START_MS)) !== undefined) return thread;
  await thread.terminate();
  return undefined;
}

/**
 * What a thread answers; undefined where it ended over the request, or took more of the processor than it may. It has
 * to be ended then.
 */
export async function askThread<Answer extends object>(
  thread: Worker,
  request: unknown,
  { cpuMs }: { /** Processor time of the thread. */ readonly cpuMs: number },
): Promise<Answer | undefined> {
  const before = await cpuMsOf(thread);
  const endsAt = performance.now() + MAX_WAIT_MS;
  const answering = answerOf<Answer>(thread).then((answer) => ({ answer }));
  thread.postMessage(request);
  do {
    const found = await within(answering, LOOK_MS);
    if (found !== undefined) return found.answer;
  } while (performance.now() < endsAt && (await cpuMsOf(thread)) - before < cpuMs);
  return undefined;
}

/** A thread that ends while it is asked never answers: then its end is what is heard of. */
async function cpuMsOf(thread: Worker): Promise<number> {
  const asked = thread.cpuUsage().catch(() => undefined);
  const { user, system } = (await within(asked, LOOK_MS)) ?? { user: 0, system: 0 };
  return (user + system) / 1000;
}

/** What the thread says next; undefined where it ends instead. */
async function answerOf<Answer>(thread: Worker): Promise<Answer | undefined> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    return await Promise.race([
      once(thread, 'message', { signal }).then(([answer]) => answer as Answer),
      once(thread, 'exit', { signal }).then(() => undefined),
    ]);
  } catch {
    return undefined;
  } finally {
    ended.abort();
  }
}
