import { test } from 'vitest';
import { PROPERTIES } from './properties.ts';

test.each(PROPERTIES.map((property) => [property.name, property] as const))(
  'whatever arrives: %s',
  async (_name, property) => {
    const numRuns = Math.ceil(property.runs / (process.env['TEST_FORM'] === 'long' ? 1 : 2));
    await property.check({ seed: 20_261_122, numRuns });
  },
);

/** `npm run fuzz`: new seeds again and again, until a property fails or somebody stops it. */
test.runIf(process.env['FUZZ'] === 'forever')('new seeds without end', { timeout: 0 }, async () => {
  for (let round = 1; ; round += 1) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    for (const property of PROPERTIES) await property.check({ seed, numRuns: property.runs * 10 });
    console.log(
      `round ${String(round)}, seed ${String(seed)}: all ${String(PROPERTIES.length)} properties hold`,
    );
  }
});
