/** A key that is missing only because it stands there under another name, or in another place: it is seen once. */
import { formatPath, type PartFacts, type UnknownKeyFacts } from '../../../base/document/facts.ts';
import type { Finding } from '../../../base/finding.ts';
import type { Join } from '../join.ts';
import { repairedBy } from './unknown-keys.ts';

/** A path of a file, whatever part of it a schema is for. */
const wholePath = ({ root, path }: Pick<PartFacts, 'root' | 'path'>): string =>
  formatPath(root.at(path).path);

function repairedIn({ code, facts }: Finding): readonly string[] {
  if (code !== 'UNKNOWN_KEY' || facts === undefined) return [];
  const unknown = facts as UnknownKeyFacts;
  const path = repairedBy(unknown);
  return path === undefined ? [] : [wholePath({ ...unknown, path })];
}

export const joinedKeys: Join = {
  on: ['UNKNOWN_KEY', 'MISSING_KEY'],
  join: (found) => {
    if (!found.some(({ code }) => code === 'MISSING_KEY')) return found;
    const repaired = new Set(found.flatMap(repairedIn));
    return found.filter(
      ({ code, facts }) => code !== 'MISSING_KEY' || !repaired.has(wholePath(facts as PartFacts)),
    );
  },
};
