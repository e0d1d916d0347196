/** Changes of stored work from the page: what the command line does, each with a line that says who did it. */
import * as z from 'zod';
import { ALL_MAPPINGS, pauseOfRunner } from '../storage/facts.ts';
import type { Replayed } from './protocol.ts';
import { planReplay, replay } from './replay.ts';
import type { Asked, Route, RouteContext } from './routes.ts';

const Chosen = z.strictObject({ ids: z.array(z.string().max(100)).min(1).max(1_000) });
const name = z.string().min(1).max(200).optional();
/** Without a mapping and a runner: all runs. */
const Paused = z.strictObject({ mapping: name, runner: name });

export const OPERATING: Readonly<Record<string, Route>> = {
  '/api/retry': chosen('retry', ({ deps }, ids) => deps.retry(ids)),
  '/api/drop': chosen('drop', ({ deps }, ids) => deps.drop(ids)),
  '/api/approve': chosen('approve', (context, ids) => decide(context, ids, 'approved')),
  '/api/deny': chosen('deny', (context, ids) => decide(context, ids, 'denied')),
  '/api/cancel': chosen('cancel', ({ deps }, ids) => Promise.resolve(deps.cancel(ids))),
  '/api/replay/plan': async (context, { body, signal }) => ({
    plan: await planReplay(context, Chosen.parse(body).ids, signal),
  }),
  '/api/replay': async (context, asked) => {
    const { ids } = Chosen.parse(asked.body);
    const done: Replayed[] = [];
    const make = async (): Promise<number> => done.push(...(await replay(context, ids, asked.signal)));
    await told(context, asked, { what: 'replay', ids }, make);
    return { done };
  },
  '/api/pause': paused('pause', async ({ deps: { storage } }, mapping) =>
    Number(await storage.pauseRuns(mapping, Date.now())),
  ),
  '/api/resume': paused('resume', async ({ deps: { storage, notify } }, mapping) => {
    const changed = await storage.resumeRuns(mapping);
    notify();
    return changed;
  }),
};

/** Says of runs whether they begin; how many of them nobody had decided before. */
async function decide(
  { deps: { storage, notify } }: RouteContext,
  ids: readonly string[],
  decision: 'approved' | 'denied',
): Promise<number> {
  const answer = { decision, by: 'console', nowMs: Date.now() } as const;
  const decided = await Promise.all(ids.map((id) => storage.decideApproval(id, answer)));
  notify();
  return decided.reduce((sum, one) => sum + (one?.runs ?? 0), 0);
}

type Change<Value> = (context: RouteContext, value: Value) => Promise<number>;

function chosen(what: string, change: Change<readonly string[]>): Route {
  return (context, asked) => {
    const { ids } = Chosen.parse(asked.body);
    return told(context, asked, { what, ids }, () => change(context, ids));
  };
}

function paused(what: string, change: Change<string>): Route {
  return (context, asked) => {
    const { runner, mapping = runner === undefined ? ALL_MAPPINGS : pauseOfRunner(runner) } = Paused.parse(
      asked.body,
    );
    return told(context, asked, { what, mapping }, () => change(context, mapping));
  };
}

/** Does it, and writes down who did what, from where; also of what failed. */
async function told(
  { deps }: RouteContext,
  { who, from }: Asked,
  change: { readonly what: string; readonly ids?: readonly string[]; readonly mapping?: string },
  make: () => Promise<number>,
): Promise<{ readonly changed: number }> {
  const name = who.name === '' ? `key of the console (${who.role})` : who.name;
  const line = { audit: change.what, who: name, from, ...change };
  const note = (changed: number): Promise<void> => {
    const about = change.ids?.join(' ') ?? change.mapping ?? '';
    return deps.storage.recordAudit({
      at: Date.now(),
      who: name,
      source: from,
      what: change.what,
      about,
      changed,
    });
  };
  try {
    const changed = await make();
    deps.log.info({ ...line, changed }, 'a change was made in the console');
    await note(changed);
    return { changed };
  } catch (error) {
    deps.log.info({ ...line, changed: 0 }, 'a change in the console failed');
    await note(0).catch(() => undefined);
    throw error;
  }
}
