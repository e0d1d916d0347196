/** The golden cases of the shipped mappings and transforms. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findCases } from '../../../src/authoring/golden/golden.ts';
import { goldenTests } from '../../../src/index.ts';
import { cli } from '../../support/cli-terminal.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe("golden case of a few, as an integrator's own vitest run has them", async () => {
  // `none`: a case without an expectation fails here, it is `sluice test` that writes one.
  const filters = ['github/push', 'transforms/', 'wake/'];
  await goldenTests({ test, afterAll, config: `${root}/sluice.yaml`, policy: 'none', filters });
});

/** What no request reaches, because the condition of the mapping, or the mapping before it, keeps such a request out. */
const OUT_OF_REACH = [
  // The lists that these go through have the element that the condition asks for.
  'mappings/hubspot.yaml:20:5  the block is never left out',
  'mappings/hubspot.yaml:34:59  the block is never left out',
  'mappings/jira.yaml:51:71  the block is never left out',
  'mappings/whatsapp.yaml:18:5  the block is never left out',
  // The mapping before it takes each list with a new record; the condition says so, so that the two do not overlap.
  'mappings/hubspot.yaml:30:11  the condition never fails',
];

test('all cases pass, and reach every mapping, both sides of every condition and every template block', async () => {
  const result = await cli(['test', '--coverage'], { cwd: root, env: { CI: 'true' } });
  expect(result.err).toBe('');
  expect((result.out.match(/^\S+:\d+:\d+ {2}.*$/gm) ?? []).toSorted()).toEqual(OUT_OF_REACH.toSorted());
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
