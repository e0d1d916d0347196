/*
 * Requests that were refused or failed, taken again by the way every request goes, the oldest first. A request and its
 * replays name each other, so that one of which something came is not taken twice.
 */
import { defined } from '../../base/json.ts';
import { asItWasRead } from '../../base/payload/payload.ts';
import { toWire } from '../../engine/hook/facts.ts';
import { readKeptRequest } from '../../engine/hook/hook.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import type { DecisionRecord, KeptRequest, Storage } from '../../engine/storage/storage.ts';
import type { RunningServer } from '../server/server.ts';
import { audited, type Operator } from './changes.ts';

/** A kept request that became no work, or the reason why it is not replayed. */
export interface LostRequest {
  readonly id: string;
  /** The first request of those that are replays of each other. */
  readonly root: string;
  readonly kept?: KeptRequest;
  /**
   * `accepted`: the request became work, so it is not repeated; `again`: a replay of it did, or it is itself a replay
   * of another one in the list; `not-kept`: nobody knows what was in it.
   */
  readonly end?: 'accepted' | 'again' | 'not-kept';
  readonly says?: string;
}

export async function findLost(
  storage: Storage,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly LostRequest[]> {
  const found: { readonly id: string; readonly decision?: DecisionRecord; readonly kept?: KeptRequest }[] =
    [];
  for (const id of ids) {
    signal.throwIfAborted();
    // One after the other: a service at work has other things to do.
    const [decision, kept] = await Promise.all([storage.findDecision(id), storage.findKeptRequest(id)]);
    found.push({ id, ...defined({ decision, kept }) });
  }
  const timeOf = ({ decision, kept }: (typeof found)[number]): number =>
    kept?.receivedAt ?? decision?.receivedAt ?? Infinity;
  const firsts = new Map<string, string>();
  const lost: LostRequest[] = [];
  for (const { id, decision, kept } of found.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    const root = decision?.replayOf ?? id;
    const { outcome, replays = [] } = (root === id ? decision : await storage.findDecision(root)) ?? {};
    const again = replays.find((each) => each.outcome === 'accepted')?.requestId ?? firsts.get(root);
    if (decision?.outcome === 'accepted' || outcome === 'accepted') lost.push({ id, root, end: 'accepted' });
    else if (again !== undefined) lost.push({ id, root, end: 'again', says: again });
    else if (kept?.kind !== 'whole') lost.push({ id, root, end: 'not-kept' });
    else {
      firsts.set(root, id);
      lost.push({ id, root, kept });
    }
  }
  return lost;
}

/** The way into a service, which is that of every request. */
export interface Door {
  readonly live: { readonly generation: { readonly table: Pick<RoutingTable, 'settingsOf'> } };
  readonly server: Pick<RunningServer, 'deliver'>;
}

export interface ReplayResult {
  readonly id: string;
  readonly requestId: string;
  readonly status: number;
}

/** Replays requests, each once in a day; those that were accepted or replayed meanwhile stay as they are. */
export async function replayInto(
  operator: Operator,
  door: Door,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReplayResult[]> {
  const { storage } = operator;
  const make = async (): Promise<readonly ReplayResult[]> => {
    const done: ReplayResult[] = [];
    for (const { id, root, kept } of await findLost(storage, ids, signal)) {
      if (signal.aborted) break;
      if (kept === undefined) continue;
      const { requestId, status } = await replay(door, kept, root);
      await storage.noteReplay(root, requestId);
      done.push({ id, requestId, status });
    }
    return done;
  };
  return audited(operator, { what: 'replay', about: ids.join(' ') }, make, ({ length }) => length);
}

/** Sends a kept request again with its headers and query. */
function replay(
  { server, live }: Door,
  kept: KeptRequest,
  root: string,
): ReturnType<RunningServer['deliver']> {
  const { request, unread } = readKeptRequest(kept);
  const { path: name, query } = request;
  const read = { request: asItWasRead(request), ...defined({ rawBody: unread }) };
  const { body, headers } = toWire(read, live.generation.table.settingsOf(name), '');
  return server.deliver({ name, body, idempotencyKey: `replay:${root}`, again: { headers, query } });
}
