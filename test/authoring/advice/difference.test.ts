import { expect, test } from 'vitest';
import { findDifference, sayDifference } from '../../../src/authoring/advice/requests/difference.ts';
import { printed } from '../../support/printed.ts';

function howDifferent(...values: Parameters<typeof findDifference>) {
  const found = findDifference(...values);
  return found && sayDifference(found);
}

test.each([
  [true, 'true', /^a boolean was sent, and a text is asked for/],
  ['5', 5, /^a text was sent, and a number/],
  ['orders/create', 'orders.create', /the same but for its punctuation/],
  ['Done', 'done', /upper and lower case/],
  [' main', 'main', /white space/],
  [null, '', /"!" holds for both/],
] as const)('says how %j differs from %j', (found, expected, text) => {
  expect(printed(howDifferent(found, expected))).toMatch(text);
  // It may be kept where values may not.
  if (typeof found === 'string' && found.length > 5)
    expect(printed(howDifferent(found, expected))).not.toContain(found);
});

test('two values that have nothing in common are only different', () => {
  expect(howDifferent('push', 'release')).toBeUndefined();
  expect(howDifferent(1, 2)).toBeUndefined();
  expect(howDifferent(undefined, 'x')).toBeUndefined();
});

test.each([
  ['<', '9.4', '15', /letter by letter/],
  ['>', 12, 'many', /a number was sent, and a text is asked for: ">" between the two never holds/],
  ['in', [{ title: 'secretive' }], 'x', undefined],
  ['in', { summary: 'secretive' }, ['x'], undefined],
  ['in', 'Open', ['closed', 'open'], /^of "open": .*upper and lower case/],
  ['in', 'refs/heads/main', ['main'], /^of "main": what was sent ends with it/],
  ['===', 'refs/heads/main', 'main', /ends with it, and begins with more/],
  ['===', 'domain', 'main', undefined],
  // What was not kept is no text.
  ['===', '…(3 characters)', 5, undefined],
  ['in', ['…(a number)'], 'x', undefined],
  // Two events of GitHub.
  ['===', 'pull_request_review', 'pull_request', undefined],
  ['===', 'pull_request', 'pull_request_review', undefined],
  ['<', '20', '15', undefined],
  ['<', 9, 15, undefined],
  ['in', 2, ['1', '2'], /^of "2": a number was sent, and a text is asked for/],
  ['in', 'The Site', 'site', /upper and lower case/],
  ['!==', '0', 0, /never equal to it/],
  ['in', 'a', ['b'], undefined],
  ['!==', 'a', 'a', undefined],
] as const)('%s of %j and %j', (operator, found, expected, text) => {
  const how = printed(howDifferent(found, expected, operator));
  if (text === undefined) expect(how).toBeUndefined();
  else expect(how).toMatch(text);
  expect(how ?? '').not.toMatch(/secretive/i);
});
