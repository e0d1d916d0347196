/** What a request costs before it has proved anything: its bytes are looked at once, whatever they are. */
import { expect, test } from 'vitest';
import { computingMs } from '../../support/thread-time.ts';
import { costOf, STRANGERS } from './strangers-bodies.ts';

/** Milliseconds of processor time for a megabyte; 60 to 80 for plus signs, and 120 to 600 before the readers went byte by byte. */
const MAX_MS = 100;

test.each(STRANGERS)('$name', (stranger) => {
  costOf(stranger, 65_536);
  const mostMs = computingMs(MAX_MS);
  // The machine may be busy: one quick run of a few says that the work itself is short.
  let ms = Infinity;
  for (let left = 8; left > 0 && ms >= mostMs; left -= 1) ms = costOf(stranger, 1_048_576);
  expect(ms).toBeLessThan(mostMs);
});
