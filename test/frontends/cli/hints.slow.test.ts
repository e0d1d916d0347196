/** What only explain had to say is in the log of `sluice dev`, once. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DevHints } from '../../../src/frontends/cli/running/dev-hints.ts';
import { startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { openBench, TOKEN } from '../../support/cli-service.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';
import { printSentence } from '../../../src/base/finding.ts';

const CONFIG = `hooks: { enabled: true, token: ${TOKEN}, defaults: { deliver: false } }
server: { port: 0 }
storage: { keepRequests: { which: all } }
gateway: { runner: { kind: echo }, heartbeat: { everySeconds: 86400 } }
`;

const MAPPINGS = `
- { id: slow, match: { path: slow }, action: wake, wakeMode: next-heartbeat, textTemplate: '{{id}}' }
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
      (hints = new DevHints(parts, (mappingId, { subject, message }) =>
        told.push(`${mappingId} ${subject?.setting ?? ''} ${printSentence(message)}`),
      )),
  });
  onTestFinished(() => service.stop());
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    await fetch(`${service.url}/hooks/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const about = (what: string): readonly string[] => told.filter((each) => each.startsWith(what));

  await send('fine', { id: 'a' });
  await send('slow', { id: 'a' });
  await send('slow', { id: 'b' });
  const line = 'write wakeMode: now in the mapping';
  await expect.poll(() => about('slow wakeMode')).toEqual([expect.stringContaining(line)]);
  expect(about('fine')).toEqual([]);

  hints?.replaced();
  await send('slow', { id: 'c' });
  await expect.poll(() => about('slow wakeMode')).toHaveLength(2);
});
