import { expect, test } from 'vitest';
import { type History, judge } from '../../support/run-history.ts';

/** The judge finds what was put in on purpose, and nothing in what may have been right. */

const accept = (runId: string, asked: number, answered?: number, key?: string) => ({
  runId,
  line: 'k',
  asked,
  ...(answered === undefined ? {} : { answered }),
  ...(key === undefined ? {} : { key }),
});
const claim = (runId: string, asked: number, answered: number, holder = 's1') => ({
  runId,
  holder,
  asked,
  answered,
});
const end = (runId: string, asked: number, answered: number, holder = 's1', done = true) => ({
  runId,
  holder,
  asked,
  answered,
  done,
});
const RIGHT: History = {
  accepts: [accept('a', 1, 2), accept('b', 3, 4)],
  claims: [claim('a', 5, 6), claim('b', 8, 10)],
  ends: [end('a', 7, 9), end('b', 11, 12)],
  stored: new Set(['a', 'b']),
};

test('nothing is said of what was right, or may have been', () => {
  expect(judge(RIGHT)).toEqual([]);
  // The claim of b was answered late: a had ended by then, perhaps.
  expect(judge({ ...RIGHT, accepts: [accept('a', 1, 4), accept('b', 3, 4)] })).toEqual([]);
  expect(judge({ ...RIGHT, accepts: [...RIGHT.accepts, accept('c', 5)] })).toEqual([]);
});

test.each<[string, Partial<History>]>([
  ['lost: b', { stored: new Set(['a']) }],
  ['doubled: a ended twice', { ends: [...RIGHT.ends, end('a', 13, 14)] }],
  ['stolen: b was ended by s2, and s1 had it', { ends: [end('a', 7, 9), end('b', 11, 12, 's2')] }],
  ['doubled: a and b have the key', { accepts: [accept('a', 1, 2, 'x'), accept('b', 3, 4, 'x')] }],
  [
    'side by side: a and b',
    { claims: [claim('a', 5, 6), claim('b', 5, 6, 's2')], ends: [end('a', 9, 10), end('b', 9, 10, 's2')] },
  ],
  [
    'out of order: b before a',
    { claims: [claim('b', 5, 6), claim('a', 8, 10)], ends: [end('b', 7, 9), end('a', 11, 12)] },
  ],
])('%s', (said, parts) => {
  expect(judge({ ...RIGHT, ...parts })).toEqual([expect.stringContaining(said)]);
});
