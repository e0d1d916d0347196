/** Plans a replay of requests that were refused or failed, with the mappings as they are. */
import { explainWritten } from '../../authoring/explanation/explanation.ts';
import { readKeptRequest, type ReadKept } from '../../engine/hook/hook.ts';
import { findLost } from '../../service/operations/operations.ts';
import type { RouteContext } from './route.ts';
import { type ValidFiles, judging } from '../../authoring/workbench/workbench.ts';
import type { PlannedReplay, ReplayPlan } from './protocol.ts';

const MAX_TAKEN = 1_000;

/** Says what would become of each request, the oldest first, until as many would be accepted as one replay allows. */
export async function planReplay(
  { deps, judge }: Pick<RouteContext, 'deps' | 'judge'>,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReplayPlan> {
  const work = judging(await judge.base());
  const plan: PlannedReplay[] = [];
  const all = await findLost(deps.storage, ids, signal);
  let taken = 0;
  for (const [index, { id, end, says, kept }] of all.entries()) {
    signal.throwIfAborted();
    if (taken === MAX_TAKEN) return { plan, later: all.length - index };
    const found =
      kept === undefined
        ? { end: end ?? 'not-kept', ...(says !== undefined && { says }) }
        : work === undefined
          ? ({ end: 'refused', says: 'the files have errors' } as const)
          : await judged(readKeptRequest(kept), work);
    if (found.end === 'taken') taken += 1;
    plan.push({ id, ...found });
  }
  return { plan, later: 0 };
}

async function judged(
  { request, unread: rawBody }: ReadKept,
  work: ValidFiles,
): Promise<Pick<PlannedReplay, 'end' | 'says'>> {
  const { outcome, mapping } =
    rawBody === undefined
      ? await work.generation.evaluate(request)
      : (await explainWritten({ request, rawBody }, work)).evaluation;
  if (outcome.kind === 'accepted') return { end: 'taken', says: mapping?.id ?? request.path };
  return {
    end: 'refused',
    says: outcome.kind === 'rejected' ? outcome.error.code : `skipped by ${outcome.by}`,
  };
}
