import { expect, test } from 'vitest';
import { formatTable } from '../../../src/frontends/cli/terminal.ts';
import { requestsListing } from '../../../src/frontends/cli/operating/listings.ts';
import type { DecisionRecord } from '../../../src/engine/storage/storage.ts';

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

const decision = (field: string): DecisionRecord => ({
  requestId: 'r',
  receivedAt: 0,
  path: 'p',
  status: 202,
  outcome: 'accepted',
  actionIds: [],
  generation: 'g',
  tookMs: 1,
  bodyBytes: 1,
  findings: [{ code: 'field', facts: { field } }],
});

test('the table of requests has the first sentence of a long note, and a short one whole', () => {
  const first = `${'a'.repeat(150)} (v1.2)`;
  const notesOf = (note: string): unknown => requestsListing.also?.(decision(note), 0);
  expect(notesOf(`${first}. Then what to do`)).toEqual({ notes: `it is about ${first}. …` });
  expect(notesOf('One. Two')).toEqual({ notes: 'it is about One. Two' });
  expect(notesOf(first.repeat(2))).toEqual({ notes: `it is about ${first.repeat(2)}` });
});
