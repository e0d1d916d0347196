/*
 * Requests that were refused or failed, taken again, the oldest first: first a plan that says of each what would become of
 * it with the mappings as they are, then those that would be taken. A request and its replays name each other, so that one
 * of which something came is not taken twice.
 */
import { explainWritten } from '../../authoring/explanation/explanation.ts';
import { readKeptRequest, type ReadKept } from '../../engine/hook/hook.ts';
import type { DecisionRecord, KeptRequest } from '../../engine/storage/storage.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { type Judge, type Judging, judging } from '../../authoring/workbench/workbench.ts';
import type { PlannedReplay, Replayed, ReplayPlan } from './protocol.ts';

/** Requests that one replay takes. */
const MAX_TAKEN = 1_000;

/** What a replay works with. */
interface Replaying {
  readonly deps: ConsoleDeps;
  readonly judge: Judge;
}

/** What would become of each, the oldest first, until as many would be taken as one replay takes. */
export async function planReplay(
  { deps, judge }: Replaying,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReplayPlan> {
  const work = judging(await judge.base());
  const plan: PlannedReplay[] = [];
  const all = await findLost(deps, ids, signal);
  let taken = 0;
  for (const [index, { id, end, says, kept }] of all.entries()) {
    signal.throwIfAborted();
    if (taken === MAX_TAKEN) return { plan, later: all.length - index };
    const found =
      kept === undefined
        ? { end: end ?? 'not-kept', ...(says !== undefined && { says }) }
        : work === undefined
          ? ({ end: 'refused', says: 'the files have errors' } as const)
          : // oxlint-disable-next-line no-await-in-loop -- one after the other: a service at work has other things to do
            await judged(readKeptRequest(kept), work);
    if (found.end === 'taken') taken += 1;
    plan.push({ id, ...found });
  }
  return { plan, later: 0 };
}

/** Takes them again; what was accepted meanwhile, or taken again before, stays as it is. */
export async function replay(
  { deps }: Replaying,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Replayed[]> {
  const done: Replayed[] = [];
  for (const { id, root, kept } of await findLost(deps, ids, signal)) {
    if (signal.aborted) break;
    if (kept === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const { requestId, status } = await deps.takeAgain(readKeptRequest(kept), root);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await deps.storage.noteReplay(root, requestId);
    done.push({ id, requestId, status });
  }
  return done;
}

/** A request of which nothing came, as it was kept; else why it is not taken again. */
interface Lost {
  readonly id: string;
  /** The first of those that are replays of each other. */
  readonly root: string;
  readonly kept?: KeptRequest;
  readonly end?: 'accepted' | 'again' | 'not-kept';
  readonly says?: string;
}

/** The oldest first. */
async function findLost(
  { storage }: ConsoleDeps,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Lost[]> {
  const found: { readonly id: string; readonly decision?: DecisionRecord; readonly kept?: KeptRequest }[] =
    [];
  for (const id of ids) {
    signal.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- one after the other: a service at work has other things to do
    const [decision, kept] = await Promise.all([storage.findDecision(id), storage.findKeptRequest(id)]);
    found.push({ id, ...(decision && { decision }), ...(kept && { kept }) });
  }
  const timeOf = ({ decision, kept }: (typeof found)[number]): number =>
    kept?.receivedAt ?? decision?.receivedAt ?? Infinity;
  const firsts = new Map<string, string>();
  const lost: Lost[] = [];
  for (const { id, decision, kept } of found.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    const root = decision?.replayOf ?? id;
    // oxlint-disable-next-line no-await-in-loop -- as above
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

async function judged(
  { request, unread: rawBody }: ReadKept,
  work: Judging,
): Promise<Pick<PlannedReplay, 'end' | 'says'>> {
  const { outcome, mapping } =
    rawBody === undefined
      ? await work.generation.evaluate(request, 'brief')
      : (await explainWritten({ request, rawBody }, work)).evaluation;
  if (outcome.kind === 'accepted') return { end: 'taken', says: mapping?.id ?? request.path };
  return {
    end: 'refused',
    says: outcome.kind === 'rejected' ? outcome.error.code : `skipped by ${outcome.by}`,
  };
}
