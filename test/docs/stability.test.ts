/** What docs/stability.md promises of names, held against what each released version had. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configJsonSchema } from '../../src/engine/config/config.ts';
import { HOOK_ERRORS } from '../../src/base/errors.ts';
import { mappingJsonSchema } from '../../src/engine/mapping/facts.ts';
import { readPage } from '../support/docs.ts';
import { schemaKeys } from '../support/schema-keys.ts';
import { unpacked, VERSIONS } from '../upgrade/releases.ts';

interface Promised {
  readonly configuration: readonly string[];
  readonly mapping: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
}

const keysOf = (schema: object): ReadonlySet<string> =>
  new Set(schemaKeys(schema).map((path) => path.join('.')));

/** Names of keys that a schema marks as experimental, wherever they stand. */
function experimental(value: unknown, name = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = (value as { description?: unknown }).description;
  const isMarked = typeof own === 'string' && own.startsWith('Experimental:');
  return [
    ...(isMarked ? [name] : []),
    ...Object.entries(value).flatMap(([key, one]) => experimental(one, key)),
  ];
}

test.each(VERSIONS)('every key and code of version %s is still there, with its status', (version) => {
  const old = JSON.parse(unpacked(version, 'promised.json')) as Promised;
  expect(old.mapping.length).toBeGreaterThan(50);
  const [configuration, mapping] = [keysOf(configJsonSchema({})), keysOf(mappingJsonSchema())];
  expect(old.configuration.filter((key) => !configuration.has(key))).toEqual([]);
  expect(old.mapping.filter((key) => !mapping.has(key))).toEqual([]);
  const statuses: Readonly<Record<string, { readonly status: number }>> = HOOK_ERRORS;
  expect(Object.entries(old.statuses).filter(([code, status]) => statuses[code]?.status !== status)).toEqual(
    [],
  );
});

test('the schemas mark as experimental what the page names, and nothing else', () => {
  const [line = ''] = /^Experimental keys now: .*$/m.exec(readPage('docs/stability.md')) ?? [];
  const named = [...line.matchAll(/`([\w.]+)`/g)].map(([, key = '']) => key.split('.').at(-1));
  const marked = [...experimental(configJsonSchema({})), ...experimental(mappingJsonSchema())];
  expect(new Set(marked)).toEqual(new Set(named));
});

test('the version of the package is the newest of the changelog, and what it left behind is kept', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const headings = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  expect(headings.find((name) => name !== 'Unreleased')).toBe(version);
  expect(VERSIONS).toContain(version);
});

test('the changelog names the version that package.json carries, or what is unreleased', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  expect(changelog).toMatch(new RegExp(`^## (Unreleased|${version.replaceAll('.', '\\.')})`, 'm'));
});
