import { expect, test } from 'vitest';
import { SecretValues, withoutSecrets } from '../../../src/base/telemetry/redact.ts';

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

test('of a secret within another one nothing is left in a log either, whichever came first', () => {
  for (const order of [
    ['abcdef', 'abcdefGHIJ'],
    ['abcdefGHIJ', 'abcdef'],
  ]) {
    const secrets = new SecretValues();
    for (const secret of order) secrets.add(secret);
    expect(secrets.replaceIn('x abcdefGHIJ y abcdef z')).toBe('x [redacted] y [redacted] z');
  }
});

test('a secret that is added later is replaced, too', () => {
  const secrets = new SecretValues();
  secrets.add('abcdef');
  expect(secrets.replaceIn('abcdef-12345')).toBe('[redacted]-12345');
  secrets.add('abcdef-12345');
  expect(secrets.replaceIn('abcdef-12345')).toBe('[redacted]');
});
