import { say, write, type Sentence } from '../../../base/finding.ts';
import { didYouMean, formatPlace } from '../../../base/document/document.ts';
import type { CompiledMapping, RoutingTable } from '../../../engine/mapping/mapping.ts';

export interface NearHookName {
  readonly name: string;
  readonly why: Sentence;
  readonly at: string;
  /** What to do, where the remedy is neither another name at the sender nor another name in the mapping. */
  readonly remedy?: Sentence;
}

const TURNED_OFF = {
  why: say`is turned off there (enabled: false)`,
  remedy: say`remove enabled: false`,
};

/** Lists names that a request may have meant, the likeliest first. */
export function findNearNames(asked: string, { mappings, disabled }: RoutingTable): readonly NearHookName[] {
  const entries = named(mappings);
  const off = named(disabled).filter(({ name }) => name === asked);
  const near = entries.flatMap((entry): NearHookName[] => {
    const difference = differenceOf(asked, entry.name);
    return difference === undefined ? [] : [{ ...entry, ...difference }];
  });
  const spelt = didYouMean(
    asked,
    entries.map(({ name }) => name),
  );
  const similar = entries.filter(({ name }) => name === spelt && !near.some((each) => each.name === name));
  return [
    ...off.map((entry) => ({ ...entry, ...TURNED_OFF })),
    ...near,
    ...similar.map((entry) => ({ ...entry, why: say`is spelt nearly so` })),
  ];
}

const named = (mappings: readonly CompiledMapping[]): readonly Pick<NearHookName, 'name' | 'at'>[] =>
  mappings.flatMap(({ match: { path, pathAt }, at }) =>
    path === undefined ? [] : [{ name: path, at: formatPlace(pathAt ?? at) }],
  );

function differenceOf(asked: string, name: string): Pick<NearHookName, 'why' | 'remedy'> | undefined {
  if (asked.toLowerCase() === name.toLowerCase())
    return { why: say`differs in upper and lower case, which count` };
  const base = /^(?:[^/]+\/)?/.exec(name)?.[0] ?? '';
  if (base !== '' && name === `${base}${asked}`) {
    const remedy = say`${write(`match.path: ${asked}`)}`;
    return { why: say`begins with ${base}, and the request came without it: ${remedy}`, remedy };
  }
  if (asked.endsWith(`/${name}`)) return { why: say`is asked for with another segment before it` };
  if (asked.startsWith(`${name}/`)) return { why: say`is asked for with another segment behind it` };
  if (name.startsWith(`${asked}/`)) return { why: say`has another segment behind it` };
  return undefined;
}

/** A stranger chooses the name, so longer ones are not compared. */
const MAX_NAME_CHARS = 200;

export const nearestName = (path: string, table: RoutingTable): NearHookName | undefined =>
  path.length > MAX_NAME_CHARS ? undefined : findNearNames(path, table)[0];
