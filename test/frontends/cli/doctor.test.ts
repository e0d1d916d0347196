/** `sluice doctor` looks at everything, also where one thing is missing, and calls the public address as a stranger. */
import { expect, onTestFinished, test } from 'vitest';
import { checkNode } from '../../../src/frontends/cli/operating/doctor-machine.ts';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';
import { freePort } from '../../support/free-port.ts';
import { startPlatform } from '../../support/platform-server.ts';

interface Check {
  readonly area: string;
  readonly ok: boolean;
  readonly text: string;
}

async function checksOf(bench: ReturnType<typeof openBench>, env = {}): Promise<readonly Check[]> {
  const { out } = await bench.run(['doctor', '--json'], { env });
  return (JSON.parse(out) as { readonly checks: readonly Check[] }).checks;
}

const areasOf = (checks: readonly Check[]): readonly string[] => [...new Set(checks.map(({ area }) => area))];
const MAPPINGS = 'mappings: [{id: a, match: {path: a}, action: wake, textTemplate: x}]';

test('without a secret of a channel and without the token, all else is looked at, and the channel is not asked', async () => {
  const bench = openBench({
    'sluice.yaml': `hooks: {enabled: true, token: '\${NO_TOKEN}', ${MAPPINGS}}\nchannels: {slack: {botToken: '\${NO_SLACK}', to: '#a'}}\n`,
  });
  const checks = await checksOf(bench);
  expect(areasOf(checks)).toEqual(
    expect.arrayContaining([
      'node',
      'files',
      'listener',
      'clock',
      'disk',
      'senders',
      'runner',
      'mail',
      'address',
    ]),
  );
  expect(checks).toContainEqual({
    area: 'channels',
    ok: false,
    text: 'slack was not asked: a secret of it is not set here',
  });
});

test('with errors in a mapping the machine and the channels are looked at, with errors in the file the machine', async () => {
  const bench = openBench({
    'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}, mappings: [{id: a, match: {pth: a}}]}\n`,
  });
  const checks = await checksOf(bench);
  expect(areasOf(checks)).toEqual(expect.arrayContaining(['node', 'listener', 'disk', 'runner', 'address']));
  expect(checks).toContainEqual(expect.objectContaining({ area: 'senders', ok: false }));
  bench.put('sluice.yaml', 'hooks: {enabled: maybe}\n');
  expect(areasOf(await checksOf(bench))).toEqual(['configuration', 'node', 'clock', 'disk', 'settings']);
});

test('the public address is told apart: this service, something else, not reached', async () => {
  const config = (url: string): string =>
    `hooks: {enabled: true, token: ${TOKEN}, ${MAPPINGS}}\nserver: {port: 0, publicUrl: '${url}'}\ngateway: {heartbeat: {everySeconds: 0}}\n`;
  const bench = openBench({ 'sluice.yaml': config('http://127.0.0.1:1') });
  const service = await serveBench(bench);
  const addressAt = async (url: string): Promise<Check | undefined> => {
    bench.put('sluice.yaml', config(url));
    return (await checksOf(bench)).find(({ area }) => area === 'address');
  };
  const ours = await addressAt(service.url);
  expect(ours).toMatchObject({ ok: true, text: expect.stringContaining(`reached by way of ${service.url}`) });
  expect(ours?.text).toContain('no request with a proof came yet');
  const sent = await fetch(`${service.url}/hooks/a`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: '{}',
  });
  expect(sent.status).toBe(200);
  // Decisions are stored some at a time, after the answer.
  await expect
    .poll(async () => (await addressAt(service.url))?.text)
    .toMatch(/came \d{4}-\S+Z to \/a \(hook token\)/);
  const other = await startPlatform(() => ({ status: 404, headers: { 'x-request-id': 'somebody-else' } }));
  onTestFinished(() => other.stop());
  expect(await addressAt(other.url)).toMatchObject({
    ok: false,
    text: expect.stringContaining('answered by something else'),
  });
  // The token is not for whoever answers there.
  expect(JSON.stringify(other.requests)).not.toContain(TOKEN);
  const nobody = `http://127.0.0.1:${await freePort()}`;
  expect(await addressAt(nobody)).toMatchObject({
    ok: true,
    text: expect.stringContaining('cannot be reached from this machine (ECONNREFUSED); from outside it may'),
  });
});

test('echo, and an older Node, are for who tries it out, and a problem where others reach it', async () => {
  const config = (server: string): string =>
    `hooks: {enabled: true, token: ${TOKEN}, ${MAPPINGS}}\nserver: {${server}}\ngateway: {runner: echo}\n`;
  const bench = openBench({ 'sluice.yaml': config('port: 0') });
  const problems = async (): Promise<readonly string[]> =>
    areasOf((await checksOf(bench)).filter(({ ok }) => !ok));
  expect(await problems()).toEqual([]);
  expect(await bench.run(['doctor'])).toMatchObject({ exitCode: 0, err: '' });
  expect(checkNode('24.21.0', false)).toMatchObject({
    ok: true,
    text: expect.stringContaining('before others'),
  });
  for (const server of ["publicUrl: 'http://127.0.0.1:1'", 'host: 0.0.0.0', 'trustedProxies: [127.0.0.1]']) {
    bench.put('sluice.yaml', config(server));
    expect([server, await problems()]).toEqual([server, expect.arrayContaining(['configuration', 'runner'])]);
  }
});
