/** Of right set-ups nothing is said: real payloads with right mappings, and the senders of `sluice add`. */
import { expect, test } from 'vitest';
import { corpusFindings, readList, readMappings, readPayloads } from '../../lab/corpus/corpus.ts';

test('no more is said of right set-ups than the committed list has', async () => {
  expect(await corpusFindings()).toEqual(readList());
});

test('twenty-five providers and more have five real payloads, each with its address, and mappings of a page', () => {
  const payloads = readPayloads();
  for (const { source } of payloads) expect(source).toMatch(/^https:\/\/\S+$/);
  const counts = new Map<string, number>();
  for (const { provider } of payloads) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  expect(counts.get('github')).toBeLessThanOrEqual(60);
  expect([...counts.values()].filter((count) => count >= 5).length).toBeGreaterThanOrEqual(25);
  // One payload counted twice would be one.
  expect(new Set(payloads.map(({ body }) => JSON.stringify(body))).size).toBe(payloads.length);
  const mappings = readMappings();
  expect(mappings.filter(({ page }) => page === undefined)).toEqual([]);
  expect([...new Set(mappings.map(({ path }) => path))].toSorted()).toEqual([...counts.keys()].toSorted());
});
