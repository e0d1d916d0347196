/** Parts of the front whose inputs are easier to vary without a socket. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAddressFinder, createAddressList, networksOf } from '../../../src/service/server/addresses.ts';
import { createFailureLimiter } from '../../../src/service/server/rates.ts';
import { EXPECTED, findJsonError } from '../../../src/base/payload/json-error.ts';
import { parseTarget } from '../../../src/service/server/received.ts';

describe('the place where a text stops being JSON', () => {
  test.each([
    ['', 1, 1, 'a value'],
    ['{"a":1', 1, 7, '"," or the closing bracket'],
    ['{"a":1,}', 1, 8, 'a key in double quotes'],
    ['[1,]', 1, 4, 'a value'],
    ["{'a': 'my secret', 'b': True}", 1, 2, 'a key in double quotes or "}"'],
    ['{"a":True}', 1, 6, 'a value'],
    ['[object Object]', 1, 2, 'a value or "]"'],
    ['a=1', 1, 1, 'a value'],
    ['{"a":1 "b":2}', 1, 8, '"," or the closing bracket'],
    ['{"a":1}\n{"a":2}', 2, 1, 'nothing after the value'],
    ['[1}', 1, 3, '"," or the closing bracket'],
    ['{"a" 1}', 1, 6, '":"'],
    ['\n\n  nope', 3, 3, 'a value'],
    ['01', 1, 1, 'a value'],
    ['"a\nb"', 1, 3, 'no line break in a text'],
    ['"a\\x"', 1, 3, 'a valid escape'],
    ['"a', 1, 3, 'the end of a string'],
  ])('says where the body %j ends to be JSON', (text, line, column, expected) => {
    const found = findJsonError(text);
    expect(found?.facts).toMatchObject({ line, column });
    expect(found && EXPECTED[found.facts.expected]).toBe(expected);
  });

  test('names the field whose text it is in, for those who may be told', () => {
    expect(findJsonError('{"a":{"log":"x\ny"}}')?.field).toBe('log');
    expect(findJsonError('{"a":["x\ny"]}')?.field).toBeUndefined();
    expect(findJsonError('{"a\nb":1}')?.field).toBeUndefined();
  });

  test('is found exactly where JSON.parse refuses', () => {
    const mutated = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '1', '-', 'e', '.', '\n', 'é', '\u0001'),
      )
      .map(
        ([json, at, piece]) =>
          json.slice(0, at % (json.length + 1)) + piece + json.slice((at + 1) % (json.length + 1)),
      );
    fc.assert(
      fc.property(fc.oneof(mutated, fc.json(), fc.string()), (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const found = findJsonError(text);
        expect(found === undefined).toBe(isJson);
        if (found !== undefined) expect(found.facts.at).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 200, seed: 1 },
    );
  });
});

describe('request targets', () => {
  test('never throw, and never let a token parameter through', () => {
    const pair = fc
      .tuple(fc.constantFrom('token', '%74oken', 'Token', 'a', '', 'to%6ben'), fc.string())
      .map((parts) => parts.join('='));
    fc.assert(
      fc.property(fc.array(pair), fc.string(), (pairs, path) => {
        const target = parseTarget(`/${path.replaceAll(/[?#]/g, '')}?${pairs.join('&')}`);
        expect(Object.keys(target?.query ?? {})).not.toContain('token');
        const left = new URLSearchParams(target?.url.split('?')[1] ?? '');
        expect(left.has('token')).toBe(false);
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test('the first token that is not blank counts', () => {
    expect(parseTarget('/x?token=&token=%20&token=one&token=two')?.token).toBe('one');
  });
});

describe('the address of a sender', () => {
  test.each<[string, string | undefined, readonly string[], string]>([
    ['192.0.2.1', undefined, [], '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, [], '192.0.2.1'],
    ['10.0.0.1', '198.51.100.7', ['10.0.0.0/8'], '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7, 10.0.0.2', ['10.0.0.0/8'], '198.51.100.7'],
    ['10.0.0.1', 'spoofed, 198.51.100.7', ['10.0.0.0/8'], '198.51.100.7'],
    ['10.0.0.1', 'unknown', ['10.0.0.0/8'], '10.0.0.1'],
    ['192.0.2.1', '198.51.100.7', ['10.0.0.0/8'], '192.0.2.1'],
    ['::1', '2001:db8::7', ['::1'], '2001:db8::7'],
    ['::1', '[2001:db8::7]', ['::1'], '2001:db8::7'],
    ['::ffff:c000:201', undefined, [], '192.0.2.1'],
    ['0:0:0:0:0:FFFF:192.0.2.1', undefined, [], '192.0.2.1'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', '198.51.100.7', ['::1'], '198.51.100.7'],
    ['::ffff:a00:1', '198.51.100.7', ['10.0.0.0/8'], '198.51.100.7'],
    ['fe80::1%eth0', undefined, [], 'fe80::1'],
  ])('%s with X-Forwarded-For %s behind %j is %s', (remote, forwarded, trusted, expected) => {
    const finder = createAddressFinder(createAddressList(trusted));
    expect(finder(remote, forwarded)).toBe(expected);
  });
});

describe('counting failures', () => {
  test('addresses of one IPv6 /64 count together, others apart', () => {
    const limiter = createFailureLimiter(1, () => 0);
    expect(limiter.fail('2001:db8:1:2::1')).toBeUndefined();
    expect(limiter.fail('2001:db8:1:2:3:4:5:6')).toBeGreaterThan(0);
    expect(limiter.fail('2001:db8:1:3::1')).toBeUndefined();
    expect(limiter.fail('2001:db8::1')).toBeUndefined();
  });

  test('an address counts as its bytes, however it is written', () => {
    const limiter = createFailureLimiter(1, () => 0);
    expect(limiter.fail('2001:db8:0:0::1')).toBeUndefined();
    expect(limiter.fail('2001:DB8::1')).toBeGreaterThan(0);
    expect(limiter.fail('2001:0db8:0000:0000:0:0:0:2')).toBeGreaterThan(0);
    expect(limiter.fail('192.0.2.1')).toBeUndefined();
    expect(limiter.fail('::ffff:192.0.2.1')).toBeGreaterThan(0);
    expect(limiter.fail('::FFFF:C000:0201')).toBeGreaterThan(0);
  });

  test('a /48 has a ceiling, ten times the limit of a /64', () => {
    const limiter = createFailureLimiter(2, () => 0);
    const refused = [];
    for (let i = 0; i < 30; i += 1) refused.push(limiter.fail(`2001:db8:1:${i.toString(16)}::1`));
    expect(refused.filter((seconds) => seconds === undefined)).toHaveLength(20);
    expect(limiter.fail('2001:db8:2::1')).toBeUndefined();
  });

  test('every spelling of an IPv6 address has the same networks', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const written = groups.map((value) => value.toString(16));
        const padded = written.map((value) => value.padStart(4, '0').toUpperCase());
        // The URL parser brings an address to its one canonical form (RFC 5952).
        const canonical = new URL(`http://[${written.join(':')}]`).hostname.slice(1, -1);
        expect(networksOf(padded.join(':'))).toEqual(networksOf(written.join(':')));
        expect(networksOf(canonical)).toEqual(networksOf(written.join(':')));
      }),
      {
        numRuns: 300,
        seed: 1,
        examples: [[[0, 0, 0, 0, 0, 0xffff, 0xc000, 0x201]], [[1, 0, 0, 0, 0, 0, 0, 0]]],
      },
    );
  });

  test('beyond 10,000 addresses in a minute the rest share one count', () => {
    let now = 0;
    const limiter = createFailureLimiter(1, () => now);
    for (let i = 0; i < 10_000; i += 1) limiter.fail(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(limiter.fail('192.0.2.1')).toBeUndefined();
    expect(limiter.fail('192.0.2.2')).toBeGreaterThan(0);
    now = 60_000;
    expect(limiter.fail('192.0.2.3')).toBeUndefined();
  });
});
