/** Findings of keys that are of one mistake: it is told once, by the finding that says it whole. */
import {
  describeValue,
  didYouMean,
  inWords,
  isSecretPath,
  type LocatedValue,
  type Path,
} from '../../document/document.ts';
import {
  findSchemas,
  formatPath,
  keyText,
  kindsAt,
  knownKeys,
  type PartFacts,
  positionOf,
  type UnknownKeyFacts,
} from '../../document/facts.ts';
import { type Finding, quoted, say } from '../../finding.ts';
import type { Join } from '../join.ts';
import { meantValue, wordsOf } from '../words.ts';
import { meantKey } from './unknown-keys.ts';

/** Longer values are not repeated. */
const MAX_SHOWN = 120;
const MAX_WHOLE = 600;

export const joinedKeys: Join = {
  on: ['UNKNOWN_KEY', 'MISSING_KEY', 'WRONG_TYPE', 'INVALID_VALUE'],
  join: (found) => withoutRepaired(firstOfGroups(withSlips(withOtherShapes(found)))),
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
    const path = facts?.unions.find((union) => meantValue({ ...facts, path: union }) !== undefined);
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

/** Of words that are one mistake only the first is told. */
function firstOfGroups(found: readonly Finding[]): readonly Finding[] {
  const told = new Set<string>();
  return found.filter((finding) => {
    const unknown = unknownOf(finding);
    if (unknown === undefined) return true;
    const { path, key } = unknown;
    const { keys = {} } = wordsOf(unknown);
    const word = keyText([...path, key]);
    const group = Object.hasOwn(keys, word) ? keys[word]?.group : undefined;
    if (group === undefined) return true;
    const one = `${group} in ${wholePath(unknown, path)}`;
    const isFirst = !told.has(one);
    told.add(one);
    return isFirst;
  });
}

/** A key that is missing only because it stands there under another name. */
function withoutRepaired(found: readonly Finding[]): readonly Finding[] {
  if (!found.some(({ code }) => code === 'MISSING_KEY')) return found;
  const repaired = new Set(
    found.flatMap((finding) => {
      const unknown = unknownOf(finding);
      const { repaired: paths = [] } = unknown === undefined ? {} : meantKey(unknown);
      return paths.map((path) => unknown && wholePath(unknown, path));
    }),
  );
  return found.filter((finding) => {
    const facts = finding.code === 'MISSING_KEY' ? partOf(finding) : undefined;
    return facts === undefined || !repaired.has(wholePath(facts, facts.path));
  });
}

interface Unknown extends Pick<UnknownKeyFacts, 'root' | 'schema' | 'path'> {
  /** Of one object. */
  readonly keys: readonly string[];
}

/** Keys that stand as deep as the object they belong to, and keys with a dot: one finding for all that belong together. */
function withSlips(found: readonly Finding[]): readonly Finding[] {
  const unknown = found
    .flatMap((finding) => unknownOf(finding) ?? [])
    .filter(({ unions }) => unions.length === 0);
  const objects = Map.groupBy(unknown, (each) => wholePath(each, each.path));
  const slips = [...objects.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const keys = own.map(({ key }) => key);
    return [...shallowKeys({ ...first, keys }), ...dottedKeys({ ...first, keys })].map((slip) => ({
      ...slip,
      paths: slip.paths.map((path) => wholePath(first, path)),
    }));
  });
  const made = new Set<Finding>();
  return found.flatMap((finding) => {
    const facts = partOf(finding);
    const { key } = unknownOf(finding) ?? {};
    if (facts === undefined || (key === undefined && finding.code !== 'WRONG_TYPE')) return [finding];
    const path = wholePath(facts, key === undefined ? facts.path : [...facts.path, key]);
    const slip = slips.find(({ paths }) => paths.includes(path));
    if (slip === undefined) return [finding];
    const isNew = !made.has(slip.finding);
    made.add(slip.finding);
    return isNew ? [slip.finding] : [];
  });
}

interface Found {
  readonly finding: Finding;
  readonly paths: readonly Path[];
}

/** `match:` without a value, and its keys in the lines below it, as deep as it is. */
function shallowKeys({ root, schema, path, keys }: Unknown): readonly Found[] {
  const object = root.at(path).value;
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return [];
  const names = Object.keys(object);
  const isBelow = (name: string, key: string): boolean =>
    keys.includes(key) && isEmptyText(root, [...path, name]) && takesKey({ root, schema, path }, name, key);
  return names.flatMap((name, index) => {
    const end = names.findIndex((each, at) => at > index && !isBelow(name, each));
    const below = names.slice(index + 1, end === -1 ? undefined : end);
    if (below.length === 0) return [];
    return [
      {
        finding: describeShallow(root, [...path, name], below),
        paths: [[...path, name], ...below.map((key) => [...path, key])],
      },
    ];
  });
}

/** Whether a key has nothing behind its colon. */
function isEmptyText(root: LocatedValue, path: Path): boolean {
  if (root.at(path).value !== null) return false;
  const { source, start, end } = root.place(path);
  return !/^(?:null|~)/i.test(source.text.slice(start, end).trim());
}

/** Whether the object at a name takes a key that stands beside it: by its own keys, or as one that takes any. */
function takesKey({ root, schema, path }: Omit<Unknown, 'keys'>, name: string, key: string): boolean {
  const schemas = findSchemas(schema, [...path, name]);
  if (schemas.some((one) => knownKeys(one).includes(key))) return true;
  const value = { [key]: root.at([...path, key]).value };
  const isOpen = schemas.some((one) => knownKeys(one).length === 0 && one.safeParse(value).success);
  return isOpen && didYouMean(key, findSchemas(schema, path).flatMap(knownKeys)) === undefined;
}

function describeShallow(root: LocatedValue, path: Path, below: readonly string[]): Finding {
  const name = String(path.at(-1));
  const around = path.slice(0, -1);
  const { source, start } = root.place([...around, below[0] ?? ''], 'key');
  const from = source.text.lastIndexOf('\n', start - 1) + 1;
  const last = root.place([...around, below.at(-1) ?? '']).end;
  const newline = source.text.indexOf('\n', Math.max(last - 1, start));
  const end = newline === -1 ? source.text.length : newline;
  const lines = [positionOf(source.text, start).line, positionOf(source.text, end).line];
  const hint = say`indent line${lines[0] === lines[1] ? ` ${lines[0]}` : `s ${lines.join(' to ')}`} by two spaces more than ${name}`;
  const finding: Finding = {
    severity: 'error',
    code: 'WRONG_TYPE',
    message: say`${formatPath(root.at(path).path)} has no value: ${inWords(below)}, which ${below.length === 1 ? 'is a key' : 'are keys'} of it, ${below.length === 1 ? 'stands' : 'stand'} beside it`,
    at: root.place(path, 'key'),
    hint,
  };
  const isFlow = source.text.slice(from, start).trim() !== '';
  if (isFlow) return finding;
  const text = source.text.slice(from, end).replaceAll(/^(?=.*\S)/gm, '  ');
  const columns = ' '.repeat(start - from);
  const whole = `${name}:\n${text.replaceAll(new RegExp(`^${columns}`, 'gm'), '')}`;
  const isShown =
    whole.length <= MAX_WHOLE && !source.secrets?.some((one) => one.end > from && one.start < end);
  const shown = isShown ? { ...finding, hint: say`${hint}: write\n${whole.trimEnd()}` } : finding;
  return { ...shown, edit: { at: { source, start: from, end }, text } };
}

/** `match.path: github`, by the object that is named before the dot. */
function dottedKeys({ root, schema, path, keys }: Unknown): readonly Found[] {
  const here = findSchemas(schema, path).flatMap(knownKeys);
  const isDotted = (key: string): boolean => {
    const steps = key.split('.');
    const [first = '', ...rest] = steps;
    return rest.length > 0 && here.includes(first) && findSchemas(schema, [...path, ...steps]).length > 0;
  };
  const groups = Map.groupBy(keys.filter(isDotted), (key) => key.slice(0, key.lastIndexOf('.')));
  return [...groups].map(([object, own]) => ({
    finding: describeDotted(root, [...path], { object, own }),
    paths: own.map((key) => [...path, key]),
  }));
}

function describeDotted(
  root: LocatedValue,
  path: Path,
  { object, own }: { readonly object: string; readonly own: readonly string[] },
): Finding {
  const members = own.map((key) => {
    const { source, start, end } = root.place([...path, key]);
    const text = source.text.slice(start, end);
    const isHidden =
      isSecretPath([...path, ...key.split('.')]) && !/^(?:\[\s*)?["']?\$\{\w+\}["']?(?:\s*\])?$/.test(text);
    const isShown = !isHidden && text.length <= MAX_SHOWN && !/[\n{]/.test(text.replaceAll('${', ''));
    return `${key.slice(object.length + 1)}: ${isShown ? text : '…'}`;
  });
  const steps = object.split('.');
  const whole = steps
    .reduceRight((inner, step) => `{${step}: ${inner}}`, `{${members.join(', ')}}`)
    .slice(1, -1);
  const isThere = root.at([...path, ...steps]).value !== undefined;
  const [first = ''] = own;
  return {
    severity: 'error',
    code: 'UNKNOWN_KEY',
    message: say`unknown key "${first}": a key stands in the object that it belongs to, and has no dot`,
    at: root.place([...path, first], 'key'),
    hint: quoted(isThere ? `write ${members.join(' and ')} in ${object}` : `write ${whole}`),
  };
}
