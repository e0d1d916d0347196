/*
 * Requests that were refused or failed, taken again: first a plan that says of each what would become of it with the
 * mappings as they are, then those that would be taken, one after the other.
 */
import { explainWritten } from '../explanation/explanation.ts';
import { readKeptRequest, type ReadKept } from '../hook/hook.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Judge, JudgedWith } from './judge.ts';
import type { PlannedReplay, Replayed } from './protocol.ts';

/** What a replay works with. */
interface Replaying {
  readonly deps: ConsoleDeps;
  readonly judge: Judge;
}

/** What would become of each, in their order. */
export async function planReplay(
  { deps, judge }: Replaying,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly PlannedReplay[]> {
  const { generation, diagnostics } = await judge.base();
  const plan: PlannedReplay[] = [];
  for (const id of ids) {
    signal.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- one after the other: a service at work has other things to do
    const found = await findLost(deps, id);
    if (typeof found === 'string') plan.push({ id, end: found });
    else if (generation === undefined) plan.push({ id, end: 'refused', says: 'the files have errors' });
    // oxlint-disable-next-line no-await-in-loop -- as above
    else plan.push({ id, ...(await judged(found, { generation, diagnostics })) });
  }
  return plan;
}

/** Takes them again; what was accepted meanwhile, or taken again before, stays as it is. */
export async function replay(
  { deps }: Replaying,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Replayed[]> {
  const done: Replayed[] = [];
  for (const id of ids) {
    if (signal.aborted) break;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const found = await findLost(deps, id);
    if (typeof found === 'string') continue;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const { requestId, status } = await deps.takeAgain(found);
    done.push({ id, requestId, status });
  }
  return done;
}

/** A request of which nothing came, as it was sent; else why it is not taken again. */
async function findLost({ storage }: ConsoleDeps, id: string): Promise<ReadKept | 'accepted' | 'not-kept'> {
  const [decision, kept] = await Promise.all([storage.findDecision(id), storage.findKeptRequest(id)]);
  if (decision?.outcome === 'accepted') return 'accepted';
  return kept?.kind === 'whole' ? readKeptRequest(kept) : 'not-kept';
}

async function judged(
  { request, unread: rawBody }: ReadKept,
  work: JudgedWith,
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
