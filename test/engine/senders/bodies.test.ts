/** Real bodies, of the providers' collections of examples, through the mappings that `sluice add` writes. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRequests } from '../../../src/frontends/cli/authoring/request-file.ts';
import { openWorkbench } from '../../../src/frontends/cli/authoring/workbench.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { HookRequest, JsonValue } from '../../../src/base/request.ts';
import { fileOf, shippedSenders } from '../../../src/engine/senders/senders.ts';
import { readPayloads } from '../../lab/corpus/corpus.ts';
import { silentTerminal } from '../../support/cli-terminal.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SENDERS = shippedSenders().filter(({ mapping }) => mapping !== undefined);
const NAMES = new Set(SENDERS.map(({ name }) => name));

interface OctokitEvent {
  readonly name: string;
  readonly examples: readonly JsonValue[];
}

async function bodies(): Promise<readonly (readonly [what: string, request: HookRequest])[]> {
  const of = (
    path: string,
    payload: JsonValue,
    headers: Readonly<Record<string, string>> = {},
  ): HookRequest => createHookRequest({ path, payload, headers, receivedAt: 0 });
  // The examples of GitHub's documentation.
  const octokit = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly OctokitEvent[];
  const terminal = silentTerminal(ROOT);
  const own = await Promise.all(
    SENDERS.flatMap((sender) =>
      (sender.examples ?? []).flatMap((each) =>
        'file' in each ? [readRequests(terminal, fileOf(sender, each.file))] : [],
      ),
    ),
  );
  return [
    ...octokit.flatMap(({ name, examples }) =>
      examples.map((body) => [`github ${name}`, of('github', body, { 'x-github-event': name })] as const),
    ),
    ...readPayloads()
      .filter(({ provider }) => NAMES.has(provider))
      .map(
        ({ provider, event, headers, body }) =>
          [`${provider} ${event}`, of(provider, body, headers)] as const,
      ),
    ...own.flat().map((request) => [request.path, request] as const),
  ];
}

test('three hundred real bodies give no exception and no empty text', async () => {
  const bench = await openWorkbench(silentTerminal(ROOT), { config: join(ROOT, 'sluice.yaml') });
  const wrong: string[] = [];
  let taken = 0;
  try {
    const all = await bodies();
    expect(all.length).toBeGreaterThan(300);
    for (const [what, request] of all) {
      const { outcome } = await bench.generation.evaluate(request, { detail: 'full' });
      // Only what no mapping takes may be refused.
      if (outcome.kind === 'rejected' && outcome.error.code !== 'no_mapping_matched')
        wrong.push(`${what}: ${outcome.error.code}`);
      if (outcome.kind !== 'accepted') continue;
      taken += 1;
      for (const action of outcome.actions) {
        const text = action.kind === 'wake' ? action.text : action.message;
        if (text.trim() === '' || /undefined|\[object/.test(text))
          wrong.push(`${what}: ${text.slice(0, 80)}`);
      }
    }
  } finally {
    await bench.bench.stop();
  }
  expect(wrong).toEqual([]);
  expect(taken).toBeGreaterThan(60);
});
