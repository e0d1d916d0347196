import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareNumbers, ExactNumber, exactNumber, parseJson } from '../../src/base/json.ts';

/** The texts of exact numbers in a value, in order. */
function textsOf(value: unknown): readonly string[] {
  if (value instanceof ExactNumber) return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

describe('a number', () => {
  test.each([
    '820982911946154508',
    '-9007199254740993',
    '0.1000000000000000055',
    '1e400',
    '-1e400',
    '1e-400',
    '1.2345678901234567e-310',
    '123456789012345678901234567890',
    `0.${'0'.repeat(400)}1`,
  ])('%.40s keeps its text', (text) => {
    const value = exactNumber(text);
    expect(value).toBeInstanceOf(ExactNumber);
    expect([String(value), JSON.stringify({ value })]).toEqual([text, `{"value":${text}}`]);
    expect(Number.isFinite(Number(value))).toBe(true);
  });

  test.each([
    ['1.0', 1],
    ['-0', -0],
    ['1e3', 1000],
    ['9007199254740992', 9_007_199_254_740_992],
    ['0.30000000000000004', 0.30000000000000004],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['5e-324', Number.MIN_VALUE],
    ['0x1F', 31],
    ['+5', 5],
    ['0e999999999999999999', 0],
  ])('%s is the plain number it is equal to', (text, value) => {
    expect(exactNumber(text)).toBe(value);
  });

  test('in another notation becomes JSON', () => {
    expect(String(exactNumber('0x20000000000001'))).toBe('9007199254740993');
    expect(String(exactNumber('+09007199254740993.50'))).toBe('90071992547409935e-1');
  });

  test('is compared by its decimal value', () => {
    const digits = fc.tuple(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
      fc.integer({ min: -20, max: 20 }),
    );
    const valueOf = ([whole, power]: readonly [bigint, number]): bigint => whole * 10n ** BigInt(power + 20);
    fc.assert(
      fc.property(digits, digits, (a, b) => {
        const [left, right] = [valueOf(a), valueOf(b)];
        const expected = left < right ? -1 : left > right ? 1 : 0;
        expect(Math.sign(compareNumbers(`${a[0]}e${a[1]}`, `${b[0]}e${b[1]}`) ?? NaN)).toBe(expected);
      }),
      { seed: 10 },
    );
    expect(compareNumbers('1e9999999999999999999999', '1e9999999999999999999998')).toBe(1);
    expect(compareNumbers('x', 1)).toBeUndefined();
  });
});

describe('parsing', () => {
  test('keeps long numbers wherever they stand, and nothing that only looks like one', () => {
    const text =
      '{"id":820982911946154508 , "list":[1e400,\n-12345678901234567890,1.5], "__proto__":1e-999,' +
      String.raw`"text":"a:820982911946154508,1e400", "q\\\":1e400,":"\\", "plain":1700000000000, "z":123456789012345678}`;
    const value = parseJson(text);
    const long = ['820982911946154508', '1e400', '-12345678901234567890', '1e-999', '123456789012345678'];
    expect(textsOf(value)).toEqual(long);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toContain('"__proto__":1e-999');
    expect(JSON.stringify(value)).toContain('"text":"a:820982911946154508,1e400"');
    expect(JSON.stringify(parseJson('820982911946154508'))).toBe('820982911946154508');
  });

  test('gives what JSON.parse gives where a double holds every number', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: 10 },
    );
  });

  test('prints again the decimal value it was given', () => {
    const number = fc
      .tuple(fc.bigInt(), fc.option(fc.nat()), fc.option(fc.integer({ min: -500, max: 500 })))
      .map(
        ([whole, part, power]) =>
          `${whole}${part === null ? '' : `.${part}`}${power === null ? '' : `e${power}`}`,
      );
    const text = fc.array(
      fc.oneof(
        number,
        fc.string().map((one) => JSON.stringify(one)),
      ),
    );
    fc.assert(
      fc.property(text, (parts) => {
        const printed = parseJson(`[${parts.join(', ')}]`) as readonly unknown[];
        for (const [index, part] of parts.entries()) {
          if (part.startsWith('"')) expect(printed[index]).toBe(JSON.parse(part));
          else expect(compareNumbers(JSON.stringify(printed[index]), part)).toBe(0);
        }
      }),
      { seed: 10 },
    );
  });

  test.each([
    '{"a":820982911946154508',
    '[1e400,]',
    '820982911946154508 1',
    '[01234567890123456789]',
    '[1.e400]',
  ])('refuses %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  // Other processes of a busy machine can slow one attempt down; a quadratic reader fails every attempt.
  test('is linear in the text, whatever it is made of', { retry: 4 }, () => {
    const units = [
      '1e400,',
      '820982911946154508,',
      '"x,1e400",',
      String.raw`"\\\",1e400",`,
      '{"a":1e400},',
      ' ',
    ];
    for (const unit of units) {
      const timeOf = (count: number): number => {
        const text = `[${unit.repeat(count)}1e400]`;
        const times = [1, 2, 3].map(() => {
          const begun = process.cpuUsage();
          parseJson(text);
          return process.cpuUsage(begun).user / 1000;
        });
        return Math.min(...times);
      };
      const count = Math.round(49_152 / unit.length);
      // Eight times the text takes 64 times as long where reading is quadratic.
      expect([unit, timeOf(count * 8) / Math.max(timeOf(count), 1) < 32]).toEqual([unit, true]);
    }
  });
});
