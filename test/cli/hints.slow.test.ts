/** What only explain had to say is in the log of `sluice dev`, once. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DevHints } from '../../src/cli/dev-hints.ts';
import { startService } from '../../src/service/service.ts';
import { createLogger } from '../../src/telemetry/telemetry.ts';
import { openBench, TOKEN } from '../support/cli-service.ts';
import { serviceAdvice } from '../../src/cli/lazy-advice.ts';
import { printSentence } from '../../src/finding.ts';

const CONFIG = `hooks: { enabled: true, token: ${TOKEN}, defaults: { deliver: false } }
server: { port: 0 }
storage: { keepRequests: { which: all } }
gateway: { runner: { kind: command, argv: [sh, -c, 'exit 0'] } }
`;

const MAPPINGS = `
- { id: mr, match: { path: mr }, sessionKey: 'mr:{{iid}}', dedupe: body, messageTemplate: '{{project.name}}' }
- { id: fine, match: { path: fine }, sessionKey: 'fine:{{id}}', messageTemplate: '{{id}}' }
`;

test('each hint is told once in the log', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'mappings/all.yaml': MAPPINGS });
  const told: string[] = [];
  let hints: DevHints | undefined;
  const service = await startService({
    ...serviceAdvice,
    configFile: join(bench.folder, 'sluice.yaml'),
    env: {},
    log: createLogger({ destination: { write: () => true } }),
    openConsole: async (parts) =>
      (hints = new DevHints(parts, (mappingId, { setting = '', text }) =>
        told.push(`${mappingId} ${setting} ${printSentence(text)}`),
      )),
  });
  onTestFinished(() => service.stop());
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    await fetch(`${service.url}/hooks/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const about = (what: string): readonly string[] => told.filter((each) => each.startsWith(what));

  await send('fine', { id: 'a' });
  await send('mr', { iid: 1, project: { name: 'web' } });
  await send('mr', { iid: 1, project: { name: 'api' } });
  await send('mr', { iid: 1, project: { name: 'api' } });

  const key = "write sessionKey: 'mr:{{project.name}}:{{iid}}'";
  await expect.poll(() => about('mr sessionKey')).toEqual([expect.stringContaining(key)]);
  await expect.poll(() => about('mr  if it was a new event, remove dedupe: body')).toHaveLength(1);
  // What a run needs shows when it has ended.
  await expect
    .poll(() => about('fine prompt').join(), { timeout: 5_000 })
    .toContain('on stdout is its reply');
  expect(about('fine')).toHaveLength(1);

  hints?.replaced();
  await send('mr', { iid: 1, project: { name: 'cli' } });
  await expect.poll(() => about('mr sessionKey')).toHaveLength(2);
});
