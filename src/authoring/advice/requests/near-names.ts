import { say, write, type Finding, type Sentence } from '../../../base/finding.ts';
import { didYouMean, formatPlace } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';
import type { CompiledMapping, RoutingTable } from '../../../engine/mapping/mapping.ts';
import { requestFinding } from './findings.ts';

/**
 * A hook name that a request may have meant. It has a hint where the remedy is neither another name at the
 * sender nor another name in the mapping.
 */
export type NearName = Finding & { readonly facts: NearFacts };

interface HookName {
  readonly name: string;
  /** `file:line:column`. */
  readonly at: string;
}

/** Lists names that a request may have meant, the likeliest first. */
export function findNearNames(asked: string, { mappings, disabled }: RoutingTable): readonly NearName[] {
  const names = namesOf(mappings);
  const off = namesOf(disabled).filter(({ name }) => name === asked);
  const near = names.flatMap((each) => differing(asked, each) ?? []);
  const spelt = didYouMean(
    asked,
    names.map(({ name }) => name),
  );
  const similar = names.filter(
    ({ name }) => name === spelt && !near.some(({ facts }) => facts.name === name),
  );
  return [
    ...off.map((each) =>
      nearName(each, say`is turned off there (enabled: false)`, say`remove enabled: false`),
    ),
    ...near,
    ...similar.map((each) => nearName(each, say`is spelt nearly so`)),
  ];
}

const namesOf = (mappings: readonly CompiledMapping[]): readonly HookName[] =>
  mappings.flatMap(({ match: { path, pathAt }, at }) =>
    path === undefined ? [] : [{ name: path, at: formatPlace(pathAt ?? at) }],
  );

export interface NearFacts extends HookName {
  readonly why: Sentence;
}

const nearName = (found: HookName, why: Sentence, hint?: Sentence): NearName => ({
  ...requestFinding('near_name', say`${found.name} ${why}`, { at: found.at }),
  ...defined({ hint }),
  facts: { ...found, why },
});

/** Undefined where the two do not differ in one such way. */
function differing(asked: string, found: HookName): NearName | undefined {
  const { name } = found;
  if (asked.toLowerCase() === name.toLowerCase())
    return nearName(found, say`differs in upper and lower case, which count`);
  const base = /^(?:[^/]+\/)?/.exec(name)?.[0] ?? '';
  if (base !== '' && name === `${base}${asked}`) {
    const remedy = say`${write(`match.path: ${asked}`)}`;
    return nearName(found, say`begins with ${base}, and the request came without it: ${remedy}`, remedy);
  }
  if (asked.endsWith(`/${name}`)) return nearName(found, say`is asked for with another segment before it`);
  if (asked.startsWith(`${name}/`)) return nearName(found, say`is asked for with another segment behind it`);
  return name.startsWith(`${asked}/`) ? nearName(found, say`has another segment behind it`) : undefined;
}

/** A stranger chooses the name, so longer ones are not compared. */
const MAX_NAME_CHARS = 200;

export const nearestName = (path: string, table: RoutingTable): NearName | undefined =>
  path.length > MAX_NAME_CHARS ? undefined : findNearNames(path, table)[0];
