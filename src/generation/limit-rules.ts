import type { CompiledMapping } from '../mapping/mapping.ts';
import type { LimitRules, RunLimits } from '../storage/storage.ts';

/** How many runs of each mapping may begin and go on: what it says itself, key by key over the default. */
export function limitRules(
  standard: RunLimits | undefined,
  mappings: readonly Pick<CompiledMapping, 'id' | 'limits' | 'maxRuns'>[],
): LimitRules | undefined {
  const own = mappings.flatMap(({ id, limits, maxRuns }) => {
    if (limits === undefined && maxRuns === undefined) return [];
    const most = maxRuns && { maxRuns: { runs: maxRuns.runs, isKeyed: maxRuns.key !== undefined } };
    return [[id, { ...standard, ...limits, ...most }] as const];
  });
  if (standard === undefined && own.length === 0) return undefined;
  return { byMapping: new Map(own), ...(standard === undefined ? {} : { default: standard }) };
}
