/** The hook token in a header of another name, as a proxy or a browser may send it: nobody is shown it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';
import { TOKEN } from '../../support/cli-service.ts';
import { makeConsoleFolder, startConsoleService } from '../../support/console-fixture.ts';

test('explain, requests, the console and the log show no hook token that came in a cookie', async () => {
  const folder = makeConsoleFolder({
    'mappings/order.yaml':
      '- { id: order, match: { path: order }, sessionKey: "k:{{headers.cookie}}", messageTemplate: "{{headers.cookie}} {{headers.x-note}}" }\n',
  });
  onTestFinished(() => folder.remove());
  const running = await startConsoleService(folder.path);
  onTestFinished(() => running.stop());
  const { requestId, status } = await running.send(
    'order',
    { id: 1 },
    { cookie: `sid=${TOKEN}; theme=dark`, 'x-note': `sent with token=${TOKEN}` },
  );
  expect(status).toBe(202);
  const { origin } = new URL(running.url);
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  const signIn = { method: 'POST', headers: { origin }, body: JSON.stringify({ key }) };
  const { token } = (await (await fetch(new URL('/session', running.url), signIn)).json()) as {
    readonly token: string;
  };
  const ask = async (path: string): Promise<string> => {
    const answer = await fetch(new URL(path, running.url), { headers: { 'x-sluice-session': token } });
    return answer.text();
  };
  await expect.poll(() => ask(`/api/request?id=${requestId}`)).toContain(requestId);
  const shown = [await ask(`/api/request?id=${requestId}`), await ask('/api/inbox')];
  for (const args of [
    ['explain', requestId],
    ['explain', requestId, '--json'],
    ['requests', '--json'],
  ]) {
    const { out, err } = await cli(args, { cwd: folder.path, env: { SLUICE_HOOK_TOKEN: TOKEN } });
    shown.push(out + err);
  }
  for (const text of [...shown, running.log.join('')]) expect(text).not.toContain(TOKEN);
});
