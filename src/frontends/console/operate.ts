/** Changes of stored work from the page: what the command line does, by the same functions and with the same rules. */
import * as z from 'zod';
import {
  audited,
  auditedStorage,
  changeWork,
  leftOutLines,
  type Operator,
  planChange,
  plannedText,
} from '../../service/operations/operations.ts';
import { ALL_MAPPINGS, pauseOfRunner } from '../../engine/storage/facts.ts';
import type { QueueSelection, WorkChange } from '../../engine/storage/storage.ts';
import type { PlannedChange, Replayed } from './protocol.ts';
import { planReplay, replay } from './replay.ts';
import type { Asked, Route, RouteContext } from './routes.ts';

/** As they were given out: no store has another one. */
const id = z.string().regex(/^[!-~]{1,100}$/, 'an id is 1 to 100 visible ASCII characters');
const name = z.string().min(1).max(200).exactOptional();
const Ids = z.strictObject({ ids: z.array(id).min(1).max(1_000) });
/** As many as a page has in its list. */
const Listing = z.strictObject({ ids: z.array(id).min(1).max(10_000) });
/** A list as its filters have it, as it was when its plan was made. */
const Listed = z.strictObject({
  of: z.enum(['runs', 'outbox']),
  state: name,
  mapping: name,
  until: z.int().nonnegative().exactOptional(),
});
const Chosen = z.union([Ids, Listed]);
/** Without a mapping and a runner: all runs. */
const Paused = z.strictObject({ mapping: name, runner: name });
const CHANGES = ['retry', 'drop', 'approve', 'deny', 'cancel'] as const satisfies readonly WorkChange[];
const Planned = z.strictObject({ change: z.enum(CHANGES), chosen: Chosen });

export const OPERATING: Readonly<Record<string, Route>> = {
  ...Object.fromEntries(CHANGES.map((change) => [`/api/${change}`, changing(change)])),
  '/api/plan': plan,
  '/api/replay/plan': (context, { body, signal }) => planReplay(context, Listing.parse(body).ids, signal),
  '/api/replay': async (context, asked) => {
    const { ids } = Ids.parse(asked.body);
    const done: Replayed[] = [];
    const make = async (): Promise<number> => done.push(...(await replay(context, ids, asked.signal)));
    const operator = operatorOf(context, asked);
    await told(context, asked, { what: 'replay', ids }, () =>
      audited(operator, { what: 'replay', about: ids.join(' ') }, make),
    );
    return { done };
  },
  '/api/pause': pausing('pause'),
  '/api/resume': pausing('resume'),
};

/** Whoever asked, with the name of the key. */
function operatorOf({ deps }: RouteContext, { who, from }: Asked): Operator {
  const { storage, live, cancel, notify } = deps;
  return {
    storage,
    who: who.name === '' ? `key of the console (${who.role})` : who.name,
    source: from,
    by: 'console',
    defaultRunner: live().config.settings.gateway.runner,
    cancel,
    notify,
  };
}

function selectionOf(chosen: z.output<typeof Chosen>): QueueSelection {
  if ('ids' in chosen) return { kind: 'ids', ids: chosen.ids };
  const { mapping, ...filter } = chosen;
  return mapping === undefined
    ? { kind: 'all', ...filter }
    : { kind: 'mapping', mappingId: mapping, ...filter };
}

/** What a change would do; the change is asked with `until`, so that it is of what the plan has. */
async function plan(context: RouteContext, asked: Asked): Promise<PlannedChange> {
  const { change, chosen } = Planned.parse(asked.body);
  const until = Date.now();
  const selection = selectionOf('ids' in chosen ? chosen : { ...chosen, until });
  const found = await planChange(operatorOf(context, asked), { change, selection });
  const count = found.runs + found.outbox + found.events;
  return { until, count, says: plannedText(found), leftOut: leftOutLines(found) };
}

function changing(change: WorkChange): Route {
  return async (context, asked) => {
    const chosen = Chosen.parse(asked.body);
    const selection = selectionOf(chosen);
    const what = { what: change, ...('ids' in chosen ? { ids: chosen.ids } : { filter: chosen }) };
    const changed = await told(context, asked, what, () =>
      changeWork(operatorOf(context, asked), { change, selection }),
    );
    return { changed };
  };
}

function pausing(what: 'pause' | 'resume'): Route {
  return async (context, asked) => {
    const { runner, mapping = runner === undefined ? ALL_MAPPINGS : pauseOfRunner(runner) } = Paused.parse(
      asked.body,
    );
    const { storage, ...operator } = operatorOf(context, asked);
    const store = auditedStorage(storage, operator);
    const changed = await told(context, asked, { what, mapping }, async () =>
      what === 'pause' ? Number(await store.pauseRuns(mapping, Date.now())) : store.resumeRuns(mapping),
    );
    operator.notify?.();
    return { changed };
  };
}

/** Does it, and has the log say who did what, from where; also of what failed. */
async function told(
  context: RouteContext,
  asked: Asked,
  change: { readonly what: string } & Readonly<Record<string, unknown>>,
  make: () => Promise<number>,
): Promise<number> {
  const { who, source: from } = operatorOf(context, asked);
  const { log } = context.deps;
  const line = { audit: change.what, who, from, ...change };
  try {
    const changed = await make();
    log.info({ ...line, changed }, 'a change was made in the console');
    return changed;
  } catch (error) {
    log.info({ ...line, changed: 0 }, 'a change in the console failed');
    throw error;
  }
}
