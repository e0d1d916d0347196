import { expect, test } from 'vitest';
import { formatTable } from '../../src/cli/terminal.ts';

const rows = [
  ['1', 'a'.repeat(200)],
  ['22', 'short'],
];

test('the last cell of a row takes what the terminal has left, and is whole where there is none', () => {
  const at = (columns?: number): readonly string[] =>
    formatTable(['id', 'notes'], rows, { columns }).split('\n');
  expect(at()[1]).toBe(`1   ${'a'.repeat(200)}`);
  expect(at(120)).toEqual(['id  notes', `1   ${'a'.repeat(115)}…`, '22  short']);
  expect(at(300)[1]).toBe(`1   ${'a'.repeat(200)}`);
  // A narrow one wraps it, rather than to hide what it says.
  expect(at(40)[1]).toBe(`1   ${'a'.repeat(69)}…`);
});
