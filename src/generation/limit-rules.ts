import type { HourLimits } from '../config/config.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { LimitRules } from '../storage/storage.ts';

/** How many runs of each mapping may begin within an hour: what it says itself, key by key over the default. */
export function limitRules(
  standard: HourLimits | undefined,
  mappings: readonly Pick<CompiledMapping, 'id' | 'limits'>[],
): LimitRules | undefined {
  const own = mappings.flatMap(({ id, limits }) =>
    limits === undefined ? [] : [[id, { ...standard, ...limits }] as const],
  );
  if (standard === undefined && own.length === 0) return undefined;
  return { byMapping: new Map(own), ...(standard === undefined ? {} : { default: standard }) };
}
