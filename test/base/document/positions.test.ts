import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { placeWithin, printYaml } from '../../../src/base/document/document.ts';
import { lineColumn, parseDocument } from '../../../src/base/document/facts.ts';
import type { LocatedValue } from '../../../src/base/document/document.ts';
import type { DocumentFormat } from '../../../src/base/document/parse-document.ts';

function rootOf(text: string, format: DocumentFormat = 'yaml'): LocatedValue {
  const { document, findings } = parseDocument({ file: 'f', text }, format);
  expect(findings).toEqual([]);
  if (document === undefined) throw new Error('no document');
  return document.root;
}

function textAt(root: LocatedValue, path: (string | number)[], what?: 'key' | 'value'): string {
  const { source, start, end } = root.place(path, what);
  return source.text.slice(start, end);
}

test.each([
  ['yaml', 'a:\n  b: [1, {c: "x"}]\n'],
  ['json', '{"a": {"b": [1, {"c": "x"}]}}'],
  ['json5', "{a: {b: [1, {c: 'x',}]}, /* end */}"],
] as const)('finds keys and values of a %s document by path', (format, text) => {
  const root = rootOf(text, format);
  expect(root.value).toEqual({ a: { b: [1, { c: 'x' }] } });
  expect(textAt(root, ['a', 'b', 0])).toBe('1');
  expect(textAt(root, ['a', 'b', 1, 'c'])).toMatch(/^["']x["']$/);
  expect(textAt(root, ['a', 'b', 1, 'c'], 'key')).toMatch(/^"?c"?$/);
  expect(textAt(root, ['a', 'b', 1, 'nothing'])).toBe(textAt(root, ['a', 'b', 1]));
  const part = root.at(['a', 'b', 1]);
  expect(part.path).toEqual(['a', 'b', 1]);
  expect(part.place(['c'])).toEqual(root.place(['a', 'b', 1, 'c']));
  expect(root.at(['a', 'nothing', 'below']).value).toBeUndefined();
});

/** Every visible character of the value must stand at its offset in the source. */
function expectExact(root: LocatedValue, path: (string | number)[]): void {
  const { value } = root.at(path);
  if (typeof value !== 'string') throw new Error('no text');
  const { source } = root.place(path);
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charAt(i);
    if (!/\s/.test(unit)) expect([i, source.text.charAt(root.scalarOffset(path, i))]).toEqual([i, unit]);
  }
}

test('a position inside a block scalar is where that character stands', () => {
  const root = rootOf(
    't: |\n    first {{a}}\n\n      second {{b}}\n    third  \n\nf: >-\n  one\n  two\n\n  three\n   more\n',
  );
  expectExact(root, ['t']);
  expectExact(root, ['f']);
  const value = String(root.at(['t']).value);
  const at = placeWithin(root, ['t'], value.indexOf('{{b}}'), value.indexOf('{{b}}') + 5);
  expect(lineColumn(at)).toEqual({ line: 4, column: 14 });
  expect(at.source.text.slice(at.start, at.end)).toBe('{{b}}');
});

test('a position inside a quoted text counts escapes and folded lines', () => {
  const root = rootOf(String.raw`d: "a\tb\u00e9\U0001F600\x41 {{x}}
     folded \
     joined

     para"
s: 'it''s {{y}}
  next'
p: plain {{z}}
  goes on`);
  for (const [key, word] of [
    ['d', '{{x}}'],
    ['d', 'folded'],
    ['d', 'joined'],
    ['d', 'para'],
    ['s', '{{y}}'],
    ['s', 'next'],
    ['p', '{{z}}'],
    ['p', 'goes'],
  ] as const) {
    const value = String(root.at([key]).value);
    const { source } = root.place([key]);
    const from = root.scalarOffset([key], value.indexOf(word));
    expect(source.text.slice(from, from + word.length)).toBe(word);
  }
});

test('a position inside a JSON string counts escapes', () => {
  const json = rootOf(String.raw`{"t": "a\n\"b\u0041\/ {{x}}"}`, 'json');
  const json5 = rootOf("{t: 'a\\x41\\\n b \\'c {{x}}'}", 'json5');
  for (const root of [json, json5]) {
    const value = String(root.at(['t']).value);
    const from = root.scalarOffset(['t'], value.indexOf('{{x}}'));
    expect(root.place(['t']).source.text.slice(from, from + 5)).toBe('{{x}}');
  }
});

const lineText = fc.string({
  unit: fc.constantFrom('a', 'b', '{', '}', ' ', '\n', '"', "'", ':', '#', '-', '\\', 'é', '😀'),
});

test('every visible character of any text is found again, whatever the style it is printed in', () => {
  const types = fc.constantFrom('BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN');
  fc.assert(
    fc.property(lineText, types, (value, defaultStringType) => {
      const text = stringify({ k: [value] }, { defaultStringType, lineWidth: 24, defaultKeyType: 'PLAIN' });
      const root = rootOf(text);
      expect(root.at(['k', 0]).value).toBe(value);
      if (!text.includes(String.raw`\U`) && !text.includes(String.raw`\u`)) expectAligned(root, value);
      expect(root.scalarOffset(['k', 0], value.length)).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 200, seed: 7 },
  );
});

function expectAligned(root: LocatedValue, value: string): void {
  const { source } = root.place(['k', 0]);
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charAt(i);
    if (/\s/.test(unit)) continue;
    const at = root.scalarOffset(['k', 0], i);
    const found = source.text.slice(unit === '\\' ? at : at + Number(source.text[at] === '\\'));
    expect([i, found.charAt(0)]).toEqual([i, unit]);
  }
}

test('what printYaml prints reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'grapheme' }), lineText, (value, odd, lines) => {
      const whole = {
        value: JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'x')) as unknown,
        odd,
        lines,
      };
      expect(rootOf(printYaml(whole)).value).toEqual(whole);
    }),
    { numRuns: 200, seed: 3 },
  );
});

test('printYaml shows a text of several lines as a block and keeps the order of keys', () => {
  const shared = ['same'];
  expect(
    printYaml({ z: 'one\n  two\n', a: shared, b: shared, c: `${'word '.repeat(40)}end`, u: undefined }),
  ).toBe(`z: |\n  one\n    two\na:\n  - same\nb:\n  - same\nc: ${'word '.repeat(40)}end\n`);
});

test('an alias stands for the last anchor of its name before it, and many of them are read at once', () => {
  const root = rootOf('a: &x one\nb: *x\nc: &x [two]\nd: *x\n');
  expect(root.value).toEqual({ a: 'one', b: 'one', c: ['two'], d: ['two'] });
  expect(textAt(root, ['d'])).toBe('*x');
  expect(textAt(root, ['d', 0])).toBe('two');
  const many = `x: &x 1\nlist:\n${'  - *x\n'.repeat(50_000)}`;
  expect((rootOf(many).value as { list: number[] }).list).toHaveLength(50_000);
});
