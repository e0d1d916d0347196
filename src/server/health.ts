import type { ServerDeps } from './deps.ts';
import type { Answer } from './exchange.ts';

/** How long a readiness answer is given again: the endpoint is open to anyone and asks the store. */
const CACHE_MS = 1_000;
/** A store that does not answer within this time is a problem of its own. */
const STORE_TIMEOUT_MS = 2_000;

export const HEALTHY: Answer = { status: 200, body: '{"ok":true}' };

/** Answers `/readyz`: 200 where the service takes and performs hooks, else 503 with the problems. */
export class ReadinessProbe {
  readonly #deps: ServerDeps;
  readonly #clock: () => number;
  #cached: { readonly at: number; readonly answer: Promise<Answer> } | undefined;

  constructor(deps: ServerDeps, clock: () => number) {
    this.#deps = deps;
    this.#clock = clock;
  }

  answer(stopping: boolean): Promise<Answer> {
    const now = this.#clock();
    if (stopping) return Promise.resolve(readyAnswer(false, { problems: ['the service is stopping'] }));
    if (this.#cached === undefined || now - this.#cached.at >= CACHE_MS || now < this.#cached.at) {
      this.#cached = { at: now, answer: this.#ask(now) };
    }
    return this.#cached.answer;
  }

  async #ask(now: number): Promise<Answer> {
    const { ready, problems } = this.#deps.readiness();
    const generation = this.#deps.generation();
    const backlog = await withinTime(this.#deps.storage.backlog(), STORE_TIMEOUT_MS);
    if (backlog === undefined) {
      return readyAnswer(false, {
        problems: [...problems, 'the store does not answer'],
        generation: generation.id,
      });
    }
    const { oldestQueuedAt, ...counts } = backlog;
    return readyAnswer(ready, {
      problems,
      generation: generation.id,
      hooksEnabled: generation.hooks.enabled,
      backlog: {
        ...counts,
        oldestQueuedSeconds: oldestQueuedAt === undefined ? 0 : Math.max(0, now - oldestQueuedAt) / 1000,
      },
      dead: counts.deadRuns + counts.deadOutbox + counts.deadEvents,
    });
  }
}

function readyAnswer(ready: boolean, fields: object): Answer {
  return {
    status: ready ? 200 : 503,
    body: JSON.stringify({ ok: ready, ready, ...fields }),
    ...(ready ? {} : { headers: ['retry-after', '1'] }),
  };
}

/** The value, or undefined where it failed or took too long. */
async function withinTime<T>(value: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([value, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
