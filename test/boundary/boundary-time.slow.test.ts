import { expect, test } from 'vitest';
import { neutralise } from '../../src/boundary/neutralise.ts';

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
])('a megabyte of %j is neutralised in linear time', (piece) => {
  const small = piece.repeat(Math.ceil(1000 / piece.length));
  const text = `<${piece.repeat(Math.ceil(1_048_576 / piece.length))}`;
  neutralise(small);
  const started = performance.now();
  neutralise(text);
  // 0.1 to 0.7 s here; anything quadratic takes minutes.
  expect(performance.now() - started).toBeLessThan(5000);
});
