/** Keys that stand as deep as the object they belong to, and keys with a dot: one finding for all that belong together. */
import { quoted, say } from '../finding.ts';
import type { z } from 'zod';
import type { Finding } from '../finding.ts';
import type { LocatedValue, Path } from './located.ts';
import { didYouMean } from './did-you-mean.ts';
import { inWords } from './in-words.ts';
import { positionOf } from './line-column.ts';
import { formatPath } from './path-text.ts';
import { findSchemas, knownKeys } from './schema-keys.ts';
import { isSecretPath } from './secret-ranges.ts';
import { withEdit } from './text-edit.ts';

/** Longer values are not repeated. */
const MAX_SHOWN = 120;
const MAX_WHOLE = 600;

export interface KeySlips {
  readonly diagnostics: readonly Finding[];
  /** Keys that are told already, as paths in words. */
  readonly keys: ReadonlySet<string>;
}

interface Unknown {
  readonly root: LocatedValue;
  readonly schema: z.ZodType;
  /** The object that has the keys. */
  readonly path: Path;
  readonly keys: readonly string[];
}

/** Of unknown keys of one object, those of such a slip. */
export function findKeySlips(unknown: Unknown): KeySlips {
  const found = [...shallowKeys(unknown), ...dottedKeys(unknown)];
  return {
    diagnostics: found.map(({ finding }) => finding),
    keys: new Set(found.flatMap(({ paths }) => paths.map(formatPath))),
  };
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
  return withEdit(shown, { at: { source, start: from, end }, text });
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
