import { expect, test } from 'vitest';
import { neutralise } from '../../../src/base/boundary/neutralise.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

/** Characters of a text: what is quadratic takes a minute for them. */
const LENGTH = 262_144;

test.each([
  '<',
  '< ',
  '<|',
  '<|a',
  '&',
  '&amp;',
  '&#0',
  '[',
  '>',
  'external',
  'external content ',
  'e_',
  '<external ',
  '\u200b',
  '«',
  'ﷺ',
  '字',
  'é',
  '𝐄',
  '\u{e0078}',
  '\u{e005d}',
  'x',
  'x_',
  ']',
  ']~',
  '&lt',
  '&amp;amp;',
  '&Aacute;',
  '&#x3c',
  'end external content\n',
  '(external content)\n',
  'END_EXTERNAL_CONTENT id=',
  '>>answer',
  '\u001b[',
  '\u001b[0m',
  '\u001b[0000000000',
  '\ud800',
  '\u2800',
])('a long text of %j is neutralised in linear time', (piece) => {
  const small = piece.repeat(Math.ceil(1000 / piece.length));
  const text = `<${piece.repeat(Math.ceil(LENGTH / piece.length))}`;
  neutralise(small);
  const started = threadMs();
  neutralise(text);
  // 2 to 40 ms here.
  expect(threadMs() - started).toBeLessThan(computingMs(5000));
});

test('a long text outside ASCII takes about as long as one inside', () => {
  const texts = ['a b ', 'é', 'ﷺ', '字', '&amp;', '𝐄', '\u200b'].map(
    (piece) => `<${piece.repeat(Math.ceil(LENGTH / piece.length))}`,
  );
  const quickest = texts.map(() => Number.POSITIVE_INFINITY);
  // In turns, so that what else the machine does meets all of them alike.
  for (let round = 0; round < 5; round += 1) {
    for (const [index, text] of texts.entries()) {
      const started = threadMs();
      neutralise(text);
      quickest[index] = Math.min(quickest[index] ?? 0, threadMs() - started);
    }
  }
  const [ascii = 0, ...others] = quickest;
  // 0.9 to 1.5 times here; before the fold was a table it was 40 to 200 times.
  for (const other of others) expect(other).toBeLessThan(ascii * 5);
});
