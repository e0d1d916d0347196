import { expect, test } from 'vitest';
import { withoutSecrets } from '../../src/telemetry/telemetry.ts';

test('of a secret within another one nothing is left', () => {
  expect(withoutSecrets('x abcdefGHIJ y abcdef z', ['abcdef', 'abcdefGHIJ'], 'text')).toBe(
    'x [removed] y [removed] z',
  );
});

test('a secret is found as JSON and as an address have it', () => {
  const secret = 'a"b\\c d!';
  const page = [secret, JSON.stringify([secret]), `?key=${encodeURIComponent(secret)}`].join(' ');
  const safe = withoutSecrets(page, [secret], 'text');
  expect(safe).toBe('[removed] ["[removed]"] ?key=[removed]');
  expect(JSON.parse(withoutSecrets(JSON.stringify({ page }), [secret], 'json'))).toEqual({ page: safe });
});
