import type { Condition } from '../../base/telemetry/telemetry.ts';
import type { ServerDeps } from './deps.ts';
import type { Answer } from './exchange.ts';

/** How long what the store said is given again: the endpoint is open to anyone and asks the store. */
const CACHE_MS = 1_000;
/** A store that does not answer within this time is a trouble of its own. */
const STORE_TIMEOUT_MS = 2_000;

export const HEALTHY: Answer = { status: 200, body: '{"ok":true}' };

export interface ReadinessQuery {
  readonly stopping: boolean;
  /** The sender is the operator: names and texts of what is wrong are for it alone. */
  readonly withDetails: boolean;
}

type Backlog = Awaited<ReturnType<ServerDeps['storage']['backlog']>>;

/** Answers `/readyz`: 200 where the service takes hooks, else 503; always with what is wrong. */
export class ReadinessProbe {
  readonly #deps: ServerDeps;
  readonly #clock: () => number;
  #cached: { readonly at: number; readonly backlog: Promise<Backlog | undefined> } | undefined;

  constructor(deps: ServerDeps, clock: () => number) {
    this.#deps = deps;
    this.#clock = clock;
  }

  async answer({ stopping, withDetails }: ReadinessQuery): Promise<Answer> {
    const { health, generation } = this.#deps;
    const now = this.#clock();
    if (stopping) {
      const message = 'the service is stopping';
      const details = [{ name: '', message, since: now }];
      return readyAnswer([{ code: 'stopping', since: now, count: 1, details }], [], { withDetails });
    }
    const backlog = await this.#askStore(now);
    const { id, hooks } = generation();
    return readyAnswer(health.unready(), health.degraded(), {
      withDetails,
      more: { generation: id, hooksEnabled: hooks.enabled, ...backlogFields(backlog, now) },
    });
  }

  #askStore(now: number): Promise<Backlog | undefined> {
    if (this.#cached === undefined || now - this.#cached.at >= CACHE_MS || now < this.#cached.at) {
      this.#cached = { at: now, backlog: this.#readBacklog() };
    }
    return this.#cached.backlog;
  }

  async #readBacklog(): Promise<Backlog | undefined> {
    const { health, storage } = this.#deps;
    const trouble = { code: 'store_cannot_accept', name: 'reads' } as const;
    const backlog = await withinTime(storage.backlog(), STORE_TIMEOUT_MS);
    if (backlog === undefined) health.raise({ ...trouble, message: 'the store does not answer' });
    else health.clear(trouble);
    return backlog;
  }
}

interface ReadyOptions {
  readonly withDetails: boolean;
  readonly more?: object;
}

function readyAnswer(
  unready: readonly Condition[],
  degraded: readonly Condition[],
  { withDetails, more = {} }: ReadyOptions,
): Answer {
  const ready = unready.length === 0;
  const shown = (conditions: readonly Condition[]): object[] =>
    conditions.map((condition) => conditionJson(condition, withDetails));
  const conditions = { unready: shown(unready), degraded: shown(degraded) };
  const problems = withDetails ? { problems: unready.flatMap(messagesOf) } : {};
  return {
    status: ready ? 200 : 503,
    body: JSON.stringify({ ok: ready, ready, ...conditions, ...problems, ...more }),
    ...(ready ? {} : { headers: ['retry-after', '1'] }),
  };
}

function messagesOf({ details }: Condition): readonly string[] {
  return details.map(({ message }) => message);
}

function conditionJson({ code, since, count, details }: Condition, withDetails: boolean): object {
  const open = { code, since: isoTime(since), count };
  if (!withDetails) return open;
  return {
    ...open,
    details: details.map((detail) => ({
      ...(detail.name === '' ? {} : { name: detail.name }),
      message: detail.message,
      since: isoTime(detail.since),
    })),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function backlogFields(backlog: Backlog | undefined, now: number): object {
  if (backlog === undefined) return {};
  const { oldestQueuedAt, oldestDeadAt: _, ...counts } = backlog;
  const oldestQueuedSeconds = oldestQueuedAt === undefined ? 0 : Math.max(0, now - oldestQueuedAt) / 1000;
  return {
    backlog: { ...counts, oldestQueuedSeconds },
    dead: counts.deadRuns + counts.deadOutbox + counts.deadEvents,
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
