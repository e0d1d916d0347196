/** Changes stored work from the page with the functions and rules of the command line. */
import * as z from 'zod';
import {
  changeWork,
  type ChangeJob,
  type Operator,
  planChange,
  planTexts,
  replayInto,
  type ReplayResult,
} from '../../service/operations/operations.ts';
import type { QueueSelection, WorkChange } from '../../engine/storage/storage.ts';
import type { PlannedChange, TakenAgain } from './protocol.ts';
import { planReplay } from './replay.ts';
import { operatorName, type PageRequest, type PageRoute, type RouteContext } from './route.ts';

/** Every store gives out such ids. */
const id = z.string().regex(/^[!-~]{1,100}$/, 'an id is 1 to 100 visible ASCII characters');
const name = z.string().min(1).max(200).exactOptional();
const Ids = z.strictObject({ ids: z.array(id).min(1).max(1_000) });
/** A page has as many in its list. */
const Listing = z.strictObject({ ids: z.array(id).min(1).max(10_000) });
/** The filters of a list. What no mapping made has an empty one. */
const Listed = z.strictObject({
  of: z.enum(['runs', 'outbox', 'events']),
  state: name,
  mapping: z.string().max(200).exactOptional(),
  errorCode: name,
});
/** Without a mapping and a runner this means all runs. */
const Paused = z.strictObject({ mapping: name, runner: name });
const Aside = z.strictObject({ id, count: z.int().positive(), reason: z.string().trim().min(1).max(200) });
const CHANGES = ['retry', 'drop', 'approve', 'deny', 'cancel'] as const satisfies readonly WorkChange[];
const Planned = z.strictObject({ change: z.enum(CHANGES), chosen: z.union([Ids, Listed]) });

export const OPERATING: Readonly<Record<string, PageRoute>> = {
  ...Object.fromEntries(
    CHANGES.map((change) => [
      `/api/${change}`,
      changing((body) => ({ change, selection: { kind: 'ids', ...Ids.parse(body) } })),
    ]),
  ),
  '/api/pause': changing((body) => ({ change: 'pause', of: Paused.parse(body) })),
  '/api/resume': changing((body) => ({ change: 'resume', of: Paused.parse(body) })),
  '/api/aside': changing((body) => ({ change: 'put aside', cause: Aside.parse(body) })),
  '/api/plan': plan,
  '/api/replay/plan': (context, { body, signal }) => planReplay(context, Listing.parse(body).ids, signal),
  '/api/replay': async (context, asked) => {
    const { ids } = Ids.parse(asked.body);
    const done = await replayInto(operatorOf(context, asked), context.deps, ids, asked.signal);
    const { storage } = context.deps;
    const withWork = async (one: ReplayResult): Promise<TakenAgain> => {
      const decision = await storage.findDecision(one.requestId);
      return { ...one, work: decision?.actionIds ?? [] };
    };
    return { done: await Promise.all(done.map(withWork)) };
  },
};

/** The operator is the visitor, with the name of the key. */
function operatorOf({ deps }: RouteContext, { who, from }: PageRequest): Operator {
  const { storage, live, gateway, log } = deps;
  return {
    storage,
    who: operatorName(who),
    source: from,
    by: 'console',
    defaultRunner: live.generation.config.settings.gateway.runner,
    log,
    gateway,
  };
}

function selectionOf({ chosen }: z.output<typeof Planned>): QueueSelection {
  if ('ids' in chosen) return { kind: 'ids', ids: chosen.ids };
  const { mapping, ...filter } = chosen;
  return mapping === undefined
    ? { kind: 'all', ...filter }
    : { kind: 'mapping', mappingId: mapping, ...filter };
}

/** Says what a change would do, and to which. */
async function plan(context: RouteContext, asked: PageRequest): Promise<PlannedChange> {
  const planned = Planned.parse(asked.body);
  const job = { change: planned.change, selection: selectionOf(planned) };
  const { ids, ...found } = await planChange(operatorOf(context, asked), job);
  return {
    ids,
    later: found.runs + found.outbox + found.events - ids.length,
    ...planTexts({ ids, ...found }),
  };
}

function changing(readJob: (body: unknown) => ChangeJob): PageRoute {
  return async (context, asked) => ({
    changed: await changeWork(operatorOf(context, asked), readJob(asked.body)),
  });
}
