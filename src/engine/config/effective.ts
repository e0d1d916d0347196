import {
  formatPlace,
  hideTokens,
  isSecretPath,
  kindsAt,
  type LocatedValue,
  type Path,
} from '../../base/document/document.ts';
import { isJsonObject } from '../../base/json.ts';
import { configSchema, type ConfigFile } from './config-schema.ts';
import type { EffectiveSetting, Settings } from './settings.ts';

const MASKED = '••••••';
/** Name and password in an address. */
const USER_OF_ADDRESS = /(?<=:\/\/)[^/@\s]+@/g;

/**
 * Every setting but mappings, in the order of the schema. A text under a secret's name, or behind a reference, is masked.
 * `root` is the file as written, grafted on the one that it extends.
 */
export function effectiveSettings(
  root: LocatedValue,
  {
    file,
    settings,
    unknown,
  }: { readonly file: ConfigFile; readonly settings: Settings; readonly unknown: readonly Path[] },
): readonly EffectiveSetting[] {
  const partOf = (path: Path): unknown =>
    path.reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], file);
  const isUnknown = (path: Path): boolean => unknown.some((other) => other.join('\0') === path.join('\0'));
  const given = [...leavesOf(file)].filter(([path]) => path[1] !== 'mappings' && path[0] !== '$schema');
  // What depends on other keys is filled in later, where the schema has a key for it.
  const later = [...leavesOf(settings)].filter(
    ([path]) =>
      partOf(path) === undefined &&
      isJsonObject(partOf(path.slice(0, -1))) &&
      kindsAt(configSchema, path).length > 0,
  );
  return [...given, ...later].map(([path, value]) => ({
    path,
    ...shown(root.at(path), value, isUnknown(path)),
  }));
}

type Leaf = string | number | boolean | null;

function* leavesOf(value: unknown, path: Path = []): Generator<readonly [Path, Leaf]> {
  if (value === undefined || typeof value === 'function') return;
  if (typeof value !== 'object' || value === null) return yield [path, value as Leaf];
  const isList = Array.isArray(value);
  const parts = Object.entries(value);
  if (parts.length === 0) yield [path, isList ? '[]' : '{}'];
  for (const [key, part] of parts) yield* leavesOf(part, [...path, isList ? Number(key) : key]);
}

function shown(
  { value: written, path, place }: LocatedValue,
  value: Leaf,
  isUnknown: boolean,
): Omit<EffectiveSetting, 'path'> {
  if (written === undefined) return { value, from: 'default' };
  const reference = referenceIn(written);
  const at = formatPlace(place(path));
  const from = reference === undefined ? at : `${reference} (${at})`;
  if (isUnknown) return { value, from: `${from}, which is not set here` };
  if (typeof value !== 'string') return { value, from };
  if (reference !== undefined || isSecretPath(path)) return { value: MASKED, from };
  return { value: hideTokens(value.replaceAll(USER_OF_ADDRESS, `${MASKED}@`)), from };
}

/** What stands for a value in the file: variables, or the file that holds it. */
function referenceIn(written: unknown): string | undefined {
  if (typeof written === 'string') return written.match(/(?<!\$)\$\{[^}]*\}/g)?.join(' ');
  return isJsonObject(written) && typeof written['file'] === 'string'
    ? `{file: ${written['file']}}`
    : undefined;
}
