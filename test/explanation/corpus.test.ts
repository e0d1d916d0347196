/** Of right set-ups nothing is said: real payloads with right mappings, and the senders of `sluice add`. */
import { expect, test } from 'vitest';
import { corpusFindings, readList, readPayloads } from '../corpus/corpus.ts';

test('no more is said of right set-ups than the committed list has', { timeout: 60_000 }, async () => {
  expect(await corpusFindings()).toEqual(readList());
});

test('each payload says where it is from', () => {
  for (const { source } of readPayloads()) expect(source).toMatch(/^https:\/\//);
  expect(readPayloads().filter(({ provider }) => provider === 'github').length).toBeLessThanOrEqual(60);
});
