/** Advice is for what went wrong: requests of the golden cases become what they should, and little is said of them. */
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ADVICE_CODES, adviceFor, withCodes } from '../../../src/authoring/advice/requests.ts';
import { loadGeneration } from '../../../src/service/generation/generation.ts';
import { findCases } from '../../../src/authoring/golden/golden.ts';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';
import { printSentence } from '../../../src/base/finding.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sandbox = new Sandbox({ workers: 1, spare: 0 });
afterAll(() => sandbox.stop());

/** All of it is true of cases that hold a slip on purpose. */
const SAID = [expect.stringMatching(/^uptime-kuma\/status-as-text: .* write .*"0"/)];

test('no condition of a golden case is said to hold or fail for the kinds of its values', async () => {
  const { generation } = await loadGeneration(`${root}/sluice.yaml`, {
    env: {},
    dev: true,
    needSecrets: false,
    sandbox,
  });
  const { cases } = await findCases(`${root}/test/golden`);
  const said: string[] = [];
  for (const { name, deliveries } of cases) {
    for (const { request } of deliveries) {
      // One after the other: each takes a few milliseconds.
      const evaluation = await generation?.evaluate(request, { detail: 'full' });
      if (generation === undefined || evaluation === undefined) throw new Error('the mappings have errors');
      const { findings } = adviceFor(evaluation, request, generation.table);
      const odd = evaluation.warnings.filter(({ code }) =>
        /_as_text$|^invalid_date$|^joined_numbers$/.test(code),
      );
      for (const text of [
        ...withCodes(findings, 'leaf_advice', ...ADVICE_CODES).map(({ message }) => printSentence(message)),
        ...odd.map(({ message }) => printSentence(message)),
      ])
        said.push(`${name}: ${text}`);
    }
  }
  expect([...new Set(said)]).toEqual(SAID);
});
