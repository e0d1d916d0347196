/** Findings of keys that are of one mistake: it is seen once, by the finding that says it whole. */
import { describeValue, isSecretPath, type Path } from '../../../base/document/document.ts';
import {
  formatPath,
  keyText,
  kindsAt,
  type PartFacts,
  type UnknownKeyFacts,
} from '../../../base/document/facts.ts';
import { type Finding, say } from '../../../base/finding.ts';
import type { Join } from '../join.ts';
import { valueHint, wordsOf } from '../vocabulary.ts';
import { keyHint } from './unknown-keys.ts';

export const joinedKeys: Join = {
  on: ['UNKNOWN_KEY', 'MISSING_KEY', 'WRONG_TYPE', 'INVALID_VALUE'],
  join: (found) => withoutRepaired(firstOfGroups(withOtherShapes(found))),
};

const partOf = (finding: Finding): PartFacts | undefined => finding.facts as PartFacts | undefined;

function unknownOf({ code, facts }: Finding): UnknownKeyFacts | undefined {
  return code === 'UNKNOWN_KEY' ? (facts as UnknownKeyFacts | undefined) : undefined;
}

/** A path of a file, whatever part of it a schema is for. */
const wholePath = ({ root }: Pick<PartFacts, 'root'>, path: Path): string => formatPath(root.at(path).path);

/** What the options of a union miss, where the value as a whole is known: it is of another shape than any of them. */
function withOtherShapes(found: readonly Finding[]): readonly Finding[] {
  const known = new Map<string, Finding>();
  return found.flatMap((finding) => {
    const facts = partOf(finding);
    const path = facts?.unions.find((union) => valueHint({ ...facts, path: union }) !== undefined);
    if (facts === undefined || path === undefined) return [finding];
    const whole = wholePath(facts, path);
    if (known.has(whole)) return [];
    const one = otherShape({ ...facts, path });
    known.set(whole, one);
    return [one];
  });
}

function otherShape(facts: PartFacts): Finding {
  const { root, schema, path } = facts;
  const expected = [...new Set(kindsAt(schema, path))];
  const found = describeValue(root.at(path).value, { secret: isSecretPath(path) });
  return {
    severity: 'error',
    code: 'WRONG_TYPE',
    message: say`${wholePath(facts, path)} must be ${expected.join(' or ')}, found ${found} of another shape`,
    at: root.place(path),
    facts: { ...facts, expected, unions: [] },
  };
}

/** Of words that are one mistake only the first is seen. */
function firstOfGroups(found: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return found.filter((finding) => {
    const unknown = unknownOf(finding);
    if (unknown === undefined) return true;
    const { path, key } = unknown;
    const { keys = {} } = wordsOf(unknown);
    const word = keyText([...path, key]);
    const group = Object.hasOwn(keys, word) ? keys[word]?.group : undefined;
    if (group === undefined) return true;
    const one = `${group} in ${wholePath(unknown, path)}`;
    const isFirst = !seen.has(one);
    seen.add(one);
    return isFirst;
  });
}

/** A key that is missing only because it stands there under another name. */
function withoutRepaired(found: readonly Finding[]): readonly Finding[] {
  if (!found.some(({ code }) => code === 'MISSING_KEY')) return found;
  const repaired = new Set(
    found.flatMap((finding) => {
      const unknown = unknownOf(finding);
      const { repaired: paths = [] } = unknown === undefined ? {} : keyHint(unknown);
      return paths.map((path) => unknown && wholePath(unknown, path));
    }),
  );
  return found.filter((finding) => {
    const facts = finding.code === 'MISSING_KEY' ? partOf(finding) : undefined;
    return facts === undefined || !repaired.has(wholePath(facts, facts.path));
  });
}
