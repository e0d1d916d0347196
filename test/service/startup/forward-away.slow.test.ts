/** A run that another Sluice has taken ends once, also where the store there is away, or the service starts again. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { until } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKENS = { near: 'near-token-0123456789', far: 'far-token-9876543210' };

async function start(folder: string, token: string, gateway: object): Promise<Service> {
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'sluice.json');
  writeFileSync(
    configFile,
    JSON.stringify({ hooks: { enabled: true, token, exposeRuns: true }, server: { port: 0 }, gateway }),
  );
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ configFile, env: { PATH: process.env['PATH'] }, log });
  onTestFinished(() => service.stop());
  return service;
}

/** Moves every file of a store, as an operator or a lost volume does. */
function move(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from))
    if (name.startsWith('sluice.db')) renameSync(join(from, name), join(to, name));
}

/** Passes bytes on to a service, until its connections are cut. */
async function startProxy(target: string): Promise<{ readonly url: string; target: string; cut(): void }> {
  const open = new Set<Socket>();
  const proxy = { target, url: '', cut: () => open.forEach((socket) => void socket.destroy()) };
  const server = createServer((near) => {
    const { hostname, port } = new URL(proxy.target);
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => void (open.delete(socket), other.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    proxy.cut();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** Two services, of which one forwards a run whose turn has begun at the other. */
async function forwardRun() {
  const root = temporaryFolder();
  const turns = join(root, 'turns');
  // The main session there takes turns of its own, as it hears of the run's end.
  const argv = ['sh', '-c', `echo $SLUICE_SESSION_KEY >> ${turns}; sleep 1; cat >/dev/null; echo done`];
  const startFar = (): Promise<Service> =>
    start(join(root, 'far'), TOKENS.far, { runner: { kind: 'command', argv, prompt: 'stdin' } });
  const far = await startFar();
  const proxy = await startProxy(far.url);
  const near = await start(join(root, 'near'), TOKENS.near, {
    runner: { kind: 'forward', url: `${proxy.url}/hooks`, token: TOKENS.far },
  });
  const answer = fetch(`${near.url}/hooks/agent`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKENS.near}`,
      'content-type': 'application/json',
      prefer: 'wait=38',
    },
    body: JSON.stringify({ message: 'hello', deliver: false, timeoutSeconds: 37 }),
  });
  const turnsOfHook = (): number => {
    const taken = existsSync(turns) ? readFileSync(turns, 'utf8').split('\n') : [];
    return taken.filter((sessionKey) => sessionKey.startsWith('hook:')).length;
  };
  await until('the turn there', () => (turnsOfHook() > 0 ? true : undefined));
  const endsOnce = async (): Promise<void> => {
    const ended = await answer;
    expect([ended.status, await ended.json()]).toMatchObject([200, { outcome: 'ok', reply: 'done' }]);
    expect(turnsOfHook()).toBe(1);
  };
  return { root, far, startFar, proxy, endsOnce };
}

test.each([
  ['', false],
  [' and their connection breaks', true],
])('a forwarded run ends well, and once, where the store there is away meanwhile%s', async (_, breaks) => {
  const { root, far, proxy, endsOnce } = await forwardRun();
  const readyz = async (): Promise<number> => (await fetch(`${far.url}/readyz`)).status;
  const [store, aside] = [join(root, 'far', '.sluice'), join(root, 'aside')];
  move(store, aside);
  await expect.poll(readyz).toBe(503);
  if (breaks) proxy.cut();
  // Longer than the run takes.
  await new Promise((resolve) => void setTimeout(resolve, 2_500));
  expect(await readyz()).toBe(503);
  move(aside, store);
  await expect.poll(readyz).toBe(200);
  await endsOnce();
});

test('a forwarded run ends well, and once, where the service there stops and starts again meanwhile', async () => {
  const { far, startFar, proxy, endsOnce } = await forwardRun();
  await far.stop();
  proxy.target = (await startFar()).url;
  await endsOnce();
});
