import { expect, test } from 'vitest';
import { entriesOf, parseExact } from '../../../src/frontends/console/page/exact-json.ts';
import { findHits } from '../../../src/frontends/console/page/find-hits.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

test('a payload of 50,000 keys is searched in the time of one look at each, and listed once', () => {
  const keys = Array.from({ length: 50_000 }, (_, index) => [`key ${index}`, index] as const);
  const value = parseExact(JSON.stringify(Object.fromEntries(keys)));
  const began = threadMs();
  const hits = findHits(value, 'payload', 'key');
  const tookMs = threadMs() - began;
  expect(hits?.text).toBe('50,000 hits, the first 200 are shown');
  expect(hits?.paths.size).toBe(201);
  expect(entriesOf(value)).toBe(entriesOf(value));
  // 0.1 s here; to look through all keys for each of them takes 10 s and more.
  expect(tookMs).toBeLessThan(computingMs(5_000));
});
