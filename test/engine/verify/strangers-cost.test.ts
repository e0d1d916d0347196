/** What a request costs before it has proved anything: its bytes are looked at once, whatever they are. */
import { expect, test } from 'vitest';
import { computingMs } from '../../support/thread-time.ts';
import { costOf, STRANGERS } from './strangers-bodies.ts';

/** Milliseconds of processor time for a megabyte; 60 to 80 for plus signs, and 120 to 600 before the readers went byte by byte. */
const MAX_MS = 100;

test.each(STRANGERS)('$name', (stranger) => {
  costOf(stranger, 65_536);
  const least = Math.min(...[1, 2, 3].map(() => costOf(stranger, 1_048_576)));
  expect(least).toBeLessThan(computingMs(MAX_MS));
});
