import { within } from '../../base/timers/timers.ts';
import type { ServerDeps } from './deps.ts';
import type { HttpAnswer } from './exchange.ts';

/** How long an answer of the store is used again, as anyone may call the endpoint. */
const CACHE_MS = 1_000;
/** A store that does not answer within this time is a trouble of its own. */
const STORE_TIMEOUT_MS = 2_000;

export const HEALTHY: HttpAnswer = { status: 200, body: '{"ok":true}' };

type Backlog = Awaited<ReturnType<ServerDeps['storage']['backlog']>>;
type Conditions = ReturnType<ServerDeps['health']['unready']>;

/** With `withDetails` the sender is the operator, who alone reads names and texts of what is wrong. */
export type ReadinessProbe = (query: Record<'stopping' | 'withDetails', boolean>) => Promise<HttpAnswer>;

/** Answers `/readyz`: 200 where the service takes hooks, else 503; always with what is wrong. */
export function createReadinessProbe(
  { health, storage, generation }: ServerDeps,
  clock: () => number,
): ReadinessProbe {
  let cached: { readonly at: number; readonly backlog: Promise<Backlog | undefined> } | undefined;
  const readBacklog = async (): Promise<Backlog | undefined> => {
    const trouble = { code: 'store_cannot_accept', name: 'reads' } as const;
    const backlog = await within(storage.backlog(), STORE_TIMEOUT_MS).catch(() => undefined);
    if (backlog === undefined) health.raise({ ...trouble, message: 'the store does not answer' });
    else health.clear(trouble);
    return backlog;
  };
  return async ({ stopping, withDetails }) => {
    const now = clock();
    if (stopping) {
      const details = [{ name: '', message: 'the service is stopping', since: now }];
      return readyAnswer([{ code: 'stopping', since: now, count: 1, details }], [], { withDetails });
    }
    if (cached === undefined || now - cached.at >= CACHE_MS || now < cached.at)
      cached = { at: now, backlog: readBacklog() };
    const backlog = await cached.backlog;
    const { id, hooks } = generation();
    return readyAnswer(health.unready(), health.degraded(), {
      withDetails,
      more: { generation: id, hooksEnabled: hooks.enabled, ...backlogFields(backlog, now) },
    });
  };
}

function readyAnswer(
  unready: Conditions,
  degraded: Conditions,
  { withDetails, more }: { readonly withDetails: boolean; readonly more?: object },
): HttpAnswer {
  const ready = unready.length === 0;
  const shown = (conditions: Conditions): object[] =>
    conditions.map(({ code, since, count, details }) => ({
      code,
      since: isoTime(since),
      count,
      ...(withDetails && {
        details: details.map(({ name, message, since: from }) => ({
          ...(name !== '' && { name }),
          message,
          since: isoTime(from),
        })),
      }),
    }));
  const problems = unready.flatMap(({ details }) => details.map(({ message }) => message));
  return {
    status: ready ? 200 : 503,
    body: JSON.stringify({
      ok: ready,
      ready,
      unready: shown(unready),
      degraded: shown(degraded),
      ...(withDetails && { problems }),
      ...more,
    }),
    ...(ready ? {} : { headers: ['retry-after', '1'] }),
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

function backlogFields(backlog: Backlog | undefined, now: number): object {
  if (backlog === undefined) return {};
  const { oldestQueuedAt, oldestDeadAt: _, ...counts } = backlog;
  const oldestQueuedSeconds = oldestQueuedAt === undefined ? 0 : Math.max(0, now - oldestQueuedAt) / 1000;
  return {
    backlog: { ...counts, oldestQueuedSeconds },
    dead: counts.deadRuns + counts.deadOutbox + counts.deadEvents,
  };
}
