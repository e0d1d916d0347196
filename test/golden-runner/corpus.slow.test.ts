/** The golden cases of the shipped mappings and transforms, as an integrator's own vitest run has theirs. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findCases } from '../../src/golden/golden.ts';
import { goldenTests } from '../../src/index.ts';
import { cli } from '../support/cli-terminal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('golden case', async () => {
  // `none`: a case without an expectation fails here, it is `sluice test` that writes one.
  await goldenTests({ test, afterAll, config: `${root}/sluice.yaml`, policy: 'none' });
});

test('the cases reach every mapping, both sides of every condition and every template block', async () => {
  const result = await cli(['test', '--fail-under', '100'], { cwd: root, env: { CI: 'true' } });
  expect(result.err).toBe('');
  expect(result.out).not.toMatch(/^\S+:\d+:\d+ {2}/m);
  expect(result.exitCode, result.out).toBe(0);
});

test('there are at least 60 of them, and those of GitHub read its own examples, unabridged', async () => {
  const { cases } = await findCases(`${root}/test/golden`);
  expect(cases.length).toBeGreaterThanOrEqual(60);
  const published = createRequire(import.meta.url)(
    '@octokit/webhooks-examples/api.github.com/index.json',
  ) as readonly { readonly examples: readonly unknown[] }[];
  const texts = new Set(published.flatMap(({ examples }) => examples.map((each) => JSON.stringify(each))));
  const used = new Set(
    cases.flatMap(({ files }) => files).filter((file) => file.includes('/github/payloads/')),
  );
  expect(used.size).toBeGreaterThanOrEqual(15);
  for (const file of used) expect(texts.has(readFileSync(file, 'utf8').trim()), file).toBe(true);
});
