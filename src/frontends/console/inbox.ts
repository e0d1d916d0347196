/** The list of requests, of which a page reads again and again what is new. */
import { defined } from '../../base/json.ts';
import { shorten } from '../../base/finding.ts';
import { decisionLine } from '../../authoring/explanation/explanation.ts';
import { endsOf } from '../../service/operations/operations.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import type { ConsoleState, InboxPage, InboxRow } from './protocol.ts';
import { type ConsoleDeps, gatewayOf, type PageRequest, type RouteContext } from './route.ts';

const MAX_ROWS = 10_000;
const MAX_NOTE = 300;
/** A page that is open asks for so many, once a second. */
const NEW_ROWS = 100;

/** Reads the newest `limit` rows, and says what became of the work in `ids`. */
export async function inbox({ deps, judge }: RouteContext, { query, who }: PageRequest): Promise<InboxPage> {
  const asked = Number(query.get('limit') ?? Number.NaN);
  const { decisions } = deps.live.generation.config.settings.storage.keep;
  const limit = Math.min(Number.isInteger(asked) && asked > 0 ? asked : decisions, decisions, MAX_ROWS);
  // Who reads the list opens a request next. Who only looks for what is new keeps no files loaded.
  if (!(asked <= NEW_ROWS)) void judge.base().catch(() => undefined);
  const found = await deps.storage.listDecisions({ limit: limit + 1 });
  const ids = (query.get('ids') ?? '').split(',').filter(Boolean);
  return {
    rows: found.slice(0, limit).map(rowOf),
    hasMore: found.length > limit,
    state: { ...stateOf(deps), role: who.role },
    ends: ids.length === 0 ? [] : await endsOf(deps.storage, gatewayOf(deps), ids),
  };
}

function stateOf({ live, hooksUrl }: ConsoleDeps): Omit<ConsoleState, 'role'> {
  const { id, loadedAt, table } = live.generation;
  return { generation: id, loadedAt, hooksUrl, mappings: table.mappings.map((mapping) => mapping.id) };
}

export function rowOf(decision: DecisionRecord): InboxRow {
  const { code, mappingId, replayOf, replays } = decision;
  const said = decisionLine(decision);
  // It is cut between two reasons.
  const end = said.length > MAX_NOTE ? said.lastIndexOf('; ', MAX_NOTE) : -1;
  const note = end === -1 ? shorten(said, MAX_NOTE) : `${said.slice(0, end)}; …`;
  return {
    id: decision.requestId,
    at: decision.receivedAt,
    path: decision.path,
    status: decision.status,
    outcome: decision.outcome,
    ...defined({ code, mapping: mappingId, replayOf, replays }),
    ...(note === '' ? {} : { note }),
    ...(decision.actionIds.length === 0 ? {} : { work: decision.actionIds }),
    ...(decision.findings?.some(({ code: said }) => said === 'repeat') === true ? { isRepeat: true } : {}),
    tookMs: Math.round(decision.tookMs * 100) / 100,
    ...(decision.bodyUnread === true ? {} : { bytes: decision.bodyBytes }),
  };
}
