import { say, write, type Sentence } from '../../../base/finding.ts';
import { didYouMean, formatPlace } from '../../../base/document/document.ts';
import type { CompiledMapping, RoutingTable } from '../../../engine/mapping/mapping.ts';

export interface NearName {
  readonly mapping: CompiledMapping;
  readonly name: string;
  readonly why: Sentence;
  /** What to do, where the remedy is neither another name at the sender nor another name in the mapping. */
  readonly remedy?: Sentence;
}

/** Lists names that a request may have meant, the likeliest first. */
export function findNearNames(asked: string, { mappings, disabled }: RoutingTable): readonly NearName[] {
  const off = named(disabled)
    .filter(({ name }) => name === asked)
    .map((entry) => ({
      ...entry,
      why: say`is turned off there (enabled: false)`,
      remedy: say`remove enabled: false`,
    }));
  const near = named(mappings).flatMap((entry): NearName[] => {
    const difference = differenceOf(asked, entry.name);
    return difference === undefined ? [] : [{ ...entry, ...difference }];
  });
  const known = new Set(near.map(({ name }) => name));
  const similar = speltNearly(asked, named(mappings)).filter(({ name }) => !known.has(name));
  return [...off, ...near, ...similar];
}

function speltNearly(asked: string, entries: readonly NamedMapping[]): readonly NearName[] {
  const names = entries.map(({ name }) => name);
  const spelt = didYouMean(asked, names);
  return entries
    .filter(({ name }) => name === spelt)
    .map((entry) => ({ ...entry, why: say`is spelt nearly so` }));
}

type NamedMapping = Pick<NearName, 'mapping' | 'name'>;

function named(mappings: readonly CompiledMapping[]): readonly NamedMapping[] {
  return mappings.flatMap((mapping) => {
    const { path } = mapping.match;
    return path === undefined ? [] : [{ mapping, name: path }];
  });
}

function differenceOf(asked: string, name: string): Pick<NearName, 'why' | 'remedy'> | undefined {
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

export const nearestName = (path: string, table: RoutingTable): NearName | undefined =>
  path.length > MAX_NAME_CHARS ? undefined : findNearNames(path, table)[0];

/** Says which hook name was probably meant, what is different about it, and its place. */
export function nearName(path: string, table: RoutingTable): Sentence | undefined {
  const near = nearestName(path, table);
  if (near === undefined) return undefined;
  const { match, at } = near.mapping;
  return say`${near.name} ${near.why} (${formatPlace(match.pathAt ?? at)})`;
}
