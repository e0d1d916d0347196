import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { createRunners, type Turn, type TurnResult } from '../../../src/service/runners/runners.ts';
import { codeBlocks, readPage, sectionOf } from '../../support/docs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
 * The worked examples of the documentation, run as printed. The agents are scripts that know exactly the documented options of
 * the real ones, and end with an error on any other; they keep their sessions in HOME.
 */
const AGENTS: Readonly<Record<string, string>> = {
  // The prompt comes by stdin ("-"); progress goes to stderr, the last message to stdout.
  codex: `
[ "$1" = exec ] || exit 64; shift; model=none
while [ $# -gt 0 ]; do case "$1" in
  --skip-git-repo-check|--ephemeral) ;; --model) model=$2; shift;; -) stdin=1;; *) exit 64;;
esac; shift; done
[ -n "$stdin" ] || exit 64
echo "thinking..." >&2
echo "$CODEX_API_KEY $model: $(tr -d '\\n')"
`,
};

async function openRunner(name: string): Promise<(change?: Partial<Turn>) => Promise<TurnResult>> {
  const folder = temporaryFolder();
  const [example] = codeBlocks(sectionOf(readPage('docs/runners.md'), '## The command runner'));
  writeFileSync(join(folder, 'sluice.yaml'), example?.text ?? '');
  mkdirSync(join(folder, 'bin'));
  for (const [agent, script] of Object.entries(AGENTS)) {
    writeFileSync(join(folder, 'bin', agent), `#!/bin/sh\n${script}`);
    chmodSync(join(folder, 'bin', agent), 0o755);
  }
  const { config } = await loadConfig(join(folder, 'sluice.yaml'), { env: {}, needSecrets: true, dev: true });
  const keys = { ANTHROPIC_API_KEY: 'ant-key', CODEX_API_KEY: 'codex-key' };
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
  const runner = createRunners(config!.settings, { ...keys, PATH: path, HOME: folder }).get(name)!;
  const turn: Turn = {
    runId: `example-${name}-${process.pid}`,
    kind: 'hook',
    attempt: 1,
    sessionKey: 'hook:example',
    sessionId: '0b1e7c3a-5d2f-8a4b-9c6d-1e2f3a4b5c6d',
    name: 'Example',
    prompt: 'first' as SafeText,
    message: 'first',
    timeoutSeconds: 20,
    history: [],
  };
  const options = { signal: new AbortController().signal, onProcess: async () => {} };
  return (change) => runner.run({ ...turn, ...change }, options);
}

const ok = (reply: string): TurnResult => ({ kind: 'completed', outcome: 'ok', reply });
const second = { prompt: 'second' as SafeText };

test('Codex reads the earlier turns before the prompt, and the model where there is one', async () => {
  const run = await openRunner('codex');
  expect(await run()).toEqual(ok('codex-key none: []first'));
  const history = [{ role: 'user', text: 'first', at: 1 }] as const;
  expect(await run({ ...second, history, model: 'gpt-5' })).toEqual(
    ok('codex-key gpt-5: [{"role":"user","text":"first","at":1}]second'),
  );
});
