/** What the skill says of the product is so. Its commands, YAML blocks and links are tested with those of the documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPERATORS, HELPERS, mappingJsonSchema, PATH_KEYS } from '../../src/engine/mapping/facts.ts';

const SKILL = join(import.meta.dirname, '../../skills/sluice');
const read = (file: string): string => readFileSync(join(SKILL, file), 'utf8');
const body = read('SKILL.md');
const mappings = read('references/mappings.md');

/** The names in back ticks of the paragraph that begins so; of a helper its first word. */
function namesIn(page: string, start: string): readonly string[] {
  const paragraph = page.split('\n\n').find((part) => part.startsWith(start)) ?? '';
  return [...paragraph.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

test('the front matter is that of the format: names, lengths, and nothing else', () => {
  const [, head = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(body) ?? [];
  const fields = parse(head) as Readonly<Record<string, string>>;
  expect(Object.keys(fields)).toEqual(['name', 'description', 'license', 'compatibility']);
  expect(fields['name']).toBe('sluice');
  expect(fields['description']?.length).toBeLessThanOrEqual(1024);
  expect(fields['compatibility']?.length).toBeLessThanOrEqual(500);
  // The format recommends fewer than 500 lines, and 5,000 tokens.
  expect(text.split('\n').length).toBeLessThan(100);
  expect(body.length).toBeLessThan(8_000);
});

test('every operator of conditions that it names exists', () => {
  const named = namesIn(mappings, '**Conditions**').filter((name) => /^\S+$/.test(name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !OPERATORS.has(name))).toEqual([]);
});

test('it names every helper of templates, and no other', () => {
  const [, helpers = ''] = /Helpers: (.*)/.exec(mappings) ?? [];
  const named = [...helpers.matchAll(/`(?:\{\{#if \()?(\w+)/g)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual(Object.keys(HELPERS).toSorted());
});

test('it names every key of a path as a whole, and every key that it forbids to loosen exists', () => {
  const keys = namesIn(mappings, '**Keys of a path').filter(
    (name) => name !== 'match.path' && name !== 'trust',
  );
  expect(new Set(keys)).toEqual(new Set(PATH_KEYS));
  const schemas = JSON.stringify([
    mappingJsonSchema(),
    JSON.parse(readFileSync(join(SKILL, '../../schemas/sluice.schema.json'), 'utf8')),
  ]);
  const [, forbidden = ''] = /make something work\*\*: not (.*?)\. A 401/.exec(body) ?? [];
  const named = [...forbidden.matchAll(/`(\w+)`/g)].map(([, key = '']) => key);
  expect(named.length).toBe(8);
  expect(named.filter((key) => !schemas.includes(`"${key}":`))).toEqual([]);
});
