/**
 * Lists what is stored, a page at a time. Rows hold at most names of what was sent, and `view` does not see
 * those either.
 */
import { createHmac } from 'node:crypto';
import { defined } from '../../base/json.ts';
import { NO_ACTIVITY, outboxToJson, runToJson } from '../../engine/storage/facts.ts';
import type { Conversation, ListQuery } from '../../engine/storage/storage.ts';
import { type Decided, RECORDS, whyQueued } from '../../service/operations/operations.ts';
import type {
  ConversationPage,
  ConversationRow,
  DeliveryRow,
  ListPage,
  MappingRow,
  RunListRow,
} from './protocol.ts';
import { type ConsoleDeps, type PageRequest, gatewayOf, type PageRoute, withoutNames } from './route.ts';

const ROWS = 100;
const MAX_ROWS = 500;
/** Few filters have an index, so at most this many rows are looked at for a page. */
const AMONG = 50_000;
const MAX_CONVERSATIONS = 1_000;

export const LISTS: Readonly<Record<string, PageRoute>> = {
  '/api/mappings': async ({ deps, decided }) => ({
    columns:
      'mappingId runner hits lastHitAt refusals runs failed active inputTokens outputTokens usd usdPerDay pause pauseRunner',
    ...(await mappings(deps, await decided())),
  }),
  '/api/runs': ({ deps }, asked) => runs(deps, asked),
  '/api/deliveries': async ({ deps }, asked) => {
    const { storage } = deps;
    const { read, columns } = RECORDS.deliveries;
    const page = await pageOf(asked, {
      list: (query) => read(storage, query),
      older: (query) => storage.oldestAmong('outbox', query),
    });
    const rows = page.rows.map((entry): DeliveryRow => outboxToJson(entry, false));
    const shown = asked.who.role === 'view' ? rows.map((row) => ({ ...row, to: null })) : rows;
    return { ...page, rows: shown, columns };
  },
  '/api/conversations': async ({ deps }, { who }) => ({
    rows: (await conversations(deps)).map((row) =>
      who.role === 'view' ? { ...row, key: '', keys: [] } : row,
    ),
    columns: RECORDS.conversations.columns,
  }),
  '/api/conversation': ({ deps }, asked) => conversation(deps, asked),
  '/api/costs': async ({ deps }, { query }) => {
    const { read, columns } = RECORDS.costs;
    return { rows: await read(deps.storage, queryOf(query)), columns };
  },
  '/api/audit': async ({ deps }, { query, who }) => {
    const { read, toJson, columns } = RECORDS.changes;
    const rows = (await read(deps.storage, queryOf(query))).map((change) => toJson(change, true));
    return { rows: who.role === 'view' ? rows.map((row) => ({ ...row, source: '' })) : rows, columns };
  },
};

function queryOf(query: URLSearchParams): ListQuery {
  const asked = Number(query.get('limit') ?? ROWS);
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MAX_ROWS) : ROWS;
  const given = { state: 'state', mapping: 'mappingId', run: 'runId', before: 'before' } as const;
  const texts = Object.entries(given).flatMap(([name, as]) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[as, value] as const];
  });
  return { limit, among: AMONG, ...Object.fromEntries(texts) };
}

/** Asks for one more than is shown. Where fewer are found, the next page goes on with those that were not looked at. */
async function pageOf<Row extends { readonly id: string }>(
  { query }: PageRequest,
  {
    list,
    older,
  }: Record<'list', (query: ListQuery) => Promise<readonly Row[]>> &
    Record<'older', (query: ListQuery) => Promise<string | undefined>>,
): Promise<ListPage<Row>> {
  const asked = queryOf(query);
  const found = await list({ ...asked, limit: asked.limit + 1 });
  const rows = found.slice(0, asked.limit);
  const next = found.length > rows.length ? rows.at(-1)?.id : await older(asked);
  return { rows, ...defined({ next }) };
}

async function mappings(
  { storage, live }: ConsoleDeps,
  decided: Decided | undefined,
): Promise<ListPage<MappingRow> & { readonly since?: number }> {
  const hits = decided?.hits;
  const { table, config } = live.generation;
  const { gateway, hooks } = config.settings;
  const active = new Map((await storage.mappingActivity(Date.now())).map((row) => [row.mappingId, row]));
  const rowOf = (mappingId: string) => ({
    mappingId,
    ...NO_ACTIVITY,
    ...active.get(mappingId),
    ...(hits && { hits: 0, refusals: 0, ...hits.get(mappingId) }),
  });
  const rows = table.mappings.map(({ id, action, runner = gateway.runner, limits }): MappingRow => {
    const usdPerDay = limits?.usdPerDay ?? hooks.defaults.limits?.usdPerDay;
    return { ...rowOf(id), ...(action === 'agent' && { runner }), ...defined({ usdPerDay }) };
  });
  // Also those that no file has any more.
  const ids = new Set([...rows.map((row) => row.mappingId), ...active.keys(), ...(hits?.keys() ?? [])]);
  const all = [...rows, ...[...ids].slice(rows.length).map(rowOf)];
  return { rows: all, ...(decided && { since: decided.since }) };
}

async function runs(deps: ConsoleDeps, asked: PageRequest, of?: Conversation): Promise<ListPage<RunListRow>> {
  const { storage } = deps;
  const only = of === undefined ? {} : runsOf(of);
  const page = await pageOf(asked, {
    list: (query) => storage.listRuns({ ...query, ...only }),
    older: (query) => storage.oldestAmong('runs', { ...query, ...only }),
  });
  const reasons = await whyQueued(storage, gatewayOf(deps), page.rows);
  const rows = page.rows.map((run): RunListRow => {
    const why = reasons.get(run.id);
    return { ...runToJson(run, of !== undefined && asked.who.role !== 'view'), ...(why && { why }) };
  });
  return {
    ...page,
    columns: RECORDS.runs.columns,
    rows: asked.who.role === 'view' ? rows.map(withoutNames) : rows,
  };
}

/** Turns of the main session wait in no queue of their own. */
const runsOf = ({ owner, key }: Conversation) =>
  owner === 'main' ? ({ kind: 'heartbeat' } as const) : { line: `${owner}\n${key}`, among: undefined };

/** The id reveals nothing of the key to a visitor who may not see it. */
function idOf({ owner, key }: Conversation, { live }: ConsoleDeps): string {
  const secret = live.generation.config.secrets.join('\n');
  return createHmac('sha256', secret)
    .update(`conversation ${owner}\n${key}`)
    .digest('base64url')
    .slice(0, 22);
}

async function conversations(deps: ConsoleDeps): Promise<readonly ConversationRow[]> {
  const found = await deps.storage.listSessions({ limit: MAX_CONVERSATIONS });
  return found.map((session) => ({
    id: idOf(session, deps),
    ...RECORDS.conversations.toJson(session, true),
  }));
}

async function conversation(deps: ConsoleDeps, asked: PageRequest): Promise<ConversationPage | undefined> {
  const id = asked.query.get('id');
  const found = (await conversations(deps)).find((row) => row.id === id);
  if (found === undefined) return undefined;
  const page = await runs(deps, asked, found);
  const shown = asked.who.role === 'view' ? { ...found, key: '', keys: [] } : found;
  return { conversation: shown, ...page, rows: page.rows.toReversed() };
}
