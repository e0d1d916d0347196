/** The command line as real processes: recording, exit codes, colours, closed pipes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtMain } from '../../support/built-program.ts';
import { type Bench, openBench, START_ENV, TOKEN, waitFor } from '../../support/cli-service.ts';

const CONFIG = `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: shop, match: {path: shop}, messageTemplate: "Order {{id}} of {{user.email}}", deliver: false}
`;

interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out(): string;
  err(): string;
}

function start(bench: Bench, args: readonly string[], env: NodeJS.ProcessEnv = {}): Process {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    cwd: bench.folder,
    env: { ...START_ENV, SLUICE_HOOK_TOKEN: TOKEN, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.err += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  return { child, ended, out: () => text.out, err: () => text.err };
}

const cases = (bench: Bench, group: string): string[] =>
  readdirSync(join(bench.folder, 'recorded', group)).map((name) =>
    join(bench.folder, 'recorded', group, name),
  );

test('record writes what arrives as cases: no credentials, masked places, readable by its owner only', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const masks = [
    '--mask',
    'payload.user.email',
    '--mask',
    'payload.items[].sku',
    '--mask',
    'headers.X-Customer',
  ];
  const recorder = start(bench, ['record', '--port', '0', '--into', 'recorded', ...masks]);
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+\/hooks/.exec(recorder.err())?.[0]);
  const post = async (body: object, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(`${url}/shop?token=${TOKEN}&api_key=secret-query&page=2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-shop-topic': 'orders/paid', ...headers },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  const secrets = {
    'x-hub-signature-256': 'sha256=secret-signature',
    'x-shopify-hmac-sha256': 'secret-hmac',
    'x-gitlab-token': 'secret-token',
    'cf-access-jwt-assertion': 'secret-jwt',
    'paypal-transmission-sig': 'secret-sig',
    cookie: 'secret-cookie=1',
    'x-forwarded-for': '203.0.113.9',
    'x-customer': 'secret-customer',
  };
  const order = {
    id: 7,
    user: { email: 'ada@example.com' },
    items: [{ sku: 'secret-a', n: 1 }, { sku: 'secret-b' }],
  };
  expect(await post(order, secrets)).toBe(202);
  expect(await post({ id: 8, user: { email: 'eve@example.com' } })).toBe(202);
  await waitFor(() => (recorder.err().match(/ {2}recorded recorded\//g)?.length === 2 ? true : undefined));
  expect(recorder.err()).toContain('nothing to mask at payload.items[].sku, headers.X-Customer');
  const form = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' };
  const unknown = (headers: Record<string, string>, body: string): Promise<number> =>
    fetch(`${url}/not-yet`, { method: 'POST', headers, body }).then(({ status }) => status);
  expect(await unknown(form, 'a=1&b=two')).toBe(204);
  expect(await unknown({ ...form, 'content-type': 'application/json' }, 'not json')).toBe(204);
  // JSON without its name, as curl sends it, is JSON.
  expect(await unknown(form, '{"json":true}')).toBe(204);
  await waitFor(() => (recorder.err().match(/ {2}recorded recorded\//g)?.length === 5 ? true : undefined));
  const lines = recorder
    .err()
    .split('\n')
    .filter((line) => line.startsWith('  recorded '));
  expect(lines.filter((line) => line.endsWith('; nothing was performed'))).toHaveLength(5);
  expect(lines.filter((line) => line.includes('bodyFormat'))).toHaveLength(2);
  expect(lines[2]).toContain('a mapping of it needs bodyFormat: form');
  recorder.child.kill('SIGINT');
  expect(await recorder.ended).toBe(0);
  expect(existsSync(join(bench.folder, '.sluice/sluice.db'))).toBe(false);
  const bodies = cases(bench, 'not-yet').map((file) => readFileSync(file, 'utf8').split('body:')[1]?.trim());
  expect(new Set(bodies)).toEqual(new Set(['a: "1"\n  b: two', 'not json', 'json: true']));

  const files = cases(bench, 'shop');
  expect(files).toHaveLength(2);
  const text = readFileSync(
    files.find((file) => readFileSync(file, 'utf8').includes('id: 7'))!,
    'utf8',
  );
  expect(text).not.toMatch(/secret|ada@example\.com|203\.0\.113\.9/);
  expect(text).not.toContain(TOKEN);
  expect(text).toMatch(/path: shop[^]*x-shop-topic: orders\/paid[^]*page: "2"[^]*email: "\*\*\*"/);
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(recorder.out() + recorder.err()).not.toContain(TOKEN);

  const tested = await bench.run(['test', '--dir', 'recorded']);
  expect(tested).toMatchObject({ exitCode: 0 });
  expect(tested.out).toContain('5 passed (5 written), 0 failed');
});

test('a place to mask that can match nothing is wrong usage, before anything is served', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  for (const mask of ['email', 'payload', 'paylod.email']) {
    const result = await bench.run(['record', '--mask', mask]);
    expect(result).toMatchObject({ exitCode: 2, out: '' });
    expect(result.err).toContain('payload.users[].name');
  }
});

test('exit codes of the process are those of the command line', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'missed.yaml': 'path: nowhere\n' });
  const run = async (...args: string[]): Promise<number | null> => start(bench, args).ended;
  expect(await Promise.all([run('explain', 'missed.yaml'), run('explain'), run('--version')])).toEqual([
    1, 2, 0,
  ]);
});

test('colours go to a terminal only, and a pipe that closes early is no error', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'a.yaml': 'path: shop\nbody: {id: 1}\n' });
  const plain = start(bench, ['explain', 'a.yaml']);
  expect(await plain.ended).toBe(0);
  expect(plain.out()).not.toContain('\u001B');
  bench.put('big.yaml', `deliveries:\n${'  - {path: shop, body: {id: 1}}\n'.repeat(50)}`);
  const cut = start(bench, ['explain', 'big.yaml']);
  cut.child.stdout?.destroy();
  await cut.ended;
  expect(cut.err()).toBe('');
});
