import { createFailureLimiter } from '../../../src/service/server/rates.ts';
import type { Part, Row } from '../../support/parts.ts';

const PER_MINUTE = 20;

/** Failed authentications from as many addresses as one sender can own. */
export const limiterPart: Part = {
  name: 'limiter',
  run: async () => [
    countPassed(
      'a million addresses of one /64',
      1_000_000,
      PER_MINUTE,
      (index) => `2001:db8:1:2:${hex(index >> 16)}:${hex(index)}::1`,
    ),
    countPassed(
      '65,536 networks of one /48',
      65_536,
      PER_MINUTE * 10,
      (index) => `2001:db8:1:${hex(index)}::1`,
    ),
    countPassed('one address in 65,536 spellings', 65_536, PER_MINUTE, (index) => spelling(index)),
  ],
};

function countPassed(
  what: string,
  tries: number,
  allowed: number,
  addressOf: (index: number) => string,
): Row {
  const limiter = createFailureLimiter(PER_MINUTE, () => 0);
  let passed = 0;
  for (let index = 0; index < tries; index += 1) {
    if (limiter.fail(addressOf(index)) === undefined) passed += 1;
  }
  return {
    what,
    figure: `${passed} of ${tries} failures answered 401`,
    aim: { text: `at most ${allowed}`, met: passed <= allowed },
  };
}

function hex(index: number): string {
  return (index & 0xffff).toString(16);
}

/** `::ffff:192.0.2.1` with zeros and upper case chosen by the bits of `index`. */
function spelling(index: number): string {
  const zeros = Array.from({ length: 5 }, (_, place) => (((index >> place) & 1) === 1 ? '0000' : '0'));
  const mapped = (index & 32) === 0 ? 'ffff' : 'FFFF';
  const last = (index & 64) === 0 ? '192.0.2.1' : (index & 128) === 0 ? 'c000:201' : 'C000:0201';
  return (index & 256) === 0 ? `${[...zeros, mapped].join(':')}:${last}` : `::${mapped}:${last}`;
}
