import { DROPPED, type RunRecord } from '../../engine/storage/storage.ts';

type Ended = Pick<RunRecord, 'state' | 'outcome'>;

export const hasFailed = ({ outcome }: Pick<RunRecord, 'outcome'>): boolean =>
  outcome === 'error' || outcome === 'timeout';

/** Whether `queue retry` begins it anew. */
export const isToRetry = (run: Ended & Pick<RunRecord, 'lastError'>): boolean =>
  run.state === 'dead' || (hasFailed(run) && run.lastError?.code !== DROPPED.code);

/** The state of a run for people: one that the store calls completed may have failed. `--json` keeps the word of the store. */
export function stateOf(run: Ended): string {
  return run.state === 'completed' && hasFailed(run) ? 'failed' : run.state;
}

/** How far it came; of what waits for its agent no attempt counts. */
export function stateText(run: Ended & Pick<RunRecord, 'attempts'>): string {
  const { outcome, attempts } = run;
  const state = stateOf(run);
  if (attempts === 0) return `${state}, not begun`;
  const isSaid = outcome === undefined || (state === 'failed' && outcome === 'error');
  return `${state}${isSaid ? '' : `, ${outcome}`} after ${attempts} attempt${attempts === 1 ? '' : 's'}`;
}

/** What a run cost, where its agent says it. */
export function costText({ costUsd, isCostUnknown }: NonNullable<RunRecord['usage']>): readonly string[] {
  if (costUsd !== undefined) return [`cost ${usdText(costUsd)}`];
  return isCostUnknown === true ? ['cost not known'] : [];
}

export const usdText = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
