/** `sluice dev --tunnel`, with stand-ins that print what the real tools print; what the internet would send comes in at their port. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { leadsHere, openTunnel } from '../../../src/frontends/cli/running/tunnel.ts';
import { builtMain } from '../../support/built-program.ts';
import { type Bench, openBench, serveBench, START_ENV, TOKEN, waitFor } from '../../support/cli-service.ts';
import { freePort } from '../../support/free-port.ts';
import { startPlatform } from '../../support/platform-server.ts';

/*
 * The words of tailscale 1.98, cloudflared 2025.11, as their documentation and their users' reports show
 * them. Each notes the port it was given and its process id.
 */
const TOOLS = {
  cloudflared: `case "$*" in "tunnel --no-autoupdate --url http://127.0.0.1:"*) echo "\${5:-$4} $$" > "$NOTE";; *) exit 9;; esac
cat >&2 <<END
2026-11-22T04:00:00Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out. However, be aware that these account-less Tunnels have no uptime guarantee, are subject to the Cloudflare Online Services Terms of Use (https://www.cloudflare.com/website-terms/), and Cloudflare reserves the right to investigate your use of Tunnels for violations of such terms.
2026-11-22T04:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-11-22T04:00:02Z INF +--------------------------------------------------------------------------------------------+
2026-11-22T04:00:02Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2026-11-22T04:00:02Z INF |  https://four-dashed-word-url.trycloudflare.com                                            |
2026-11-22T04:00:02Z INF +--------------------------------------------------------------------------------------------+
2026-11-22T04:00:03Z INF Registered tunnel connection connIndex=0 connection=2f0c event=0 ip=198.41.200.23 location=fra08 protocol=quic
END
exec sleep 60`,
  tailscale: `[ "$1" = funnel ] || exit 9; echo "http://127.0.0.1:$2 $$" > "$NOTE"
printf 'Available on the internet:\\n\\nhttps://amelie-workstation.pango-lin.ts.net/\\n|-- proxy http://127.0.0.1:%s\\n\\nPress Ctrl+C to exit.\\n' "$2"
exec sleep 60`,
} as const;
const ADDRESSES = {
  cloudflared: 'https://four-dashed-word-url.trycloudflare.com',
  tailscale: 'https://amelie-workstation.pango-lin.ts.net',
} as const;

/** A folder with stand-ins, as it would stand on PATH. */
function install(bench: Bench, tools: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const bin = join(bench.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { PATH: `${bin}:/usr/bin:/bin`, NOTE: join(bench.folder, 'note') };
}

const noted = (bench: Bench): readonly [url: string, pid: number] => {
  const [url = '', pid = ''] = readFileSync(join(bench.folder, 'note'), 'utf8').trim().split(' ');
  return [url, Number(pid)];
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A request with its target as it is written, which fetch would tidy up. */
function ask(origin: string, path: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const out = request({ hostname, port, path, method: 'POST', headers }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => (body += String(chunk)));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    out.on('error', reject);
    out.end('{"text":"hello"}');
  });
}

describe.each(Object.keys(TOOLS) as (keyof typeof TOOLS)[])('%s', (name) => {
  test('is started, says its address, and ends', async () => {
    const bench = openBench({});
    const env = install(bench, { [name]: TOOLS[name] });
    const over = new AbortController();
    const tunnel = await openTunnel({
      port: 4711,
      env,
      onProblem: (tool, problem) => expect([tool, problem]).toEqual([]),
      signal: over.signal,
    });
    expect(tunnel.url).toBe(ADDRESSES[name]);
    const [url, pid] = noted(bench);
    expect(url).toBe('http://127.0.0.1:4711');
    over.abort();
    await tunnel.ended;
    expect(isAlive(pid)).toBe(false);
  });
});

const { signal } = new AbortController();

test('a tunnel that ends by itself is told', async () => {
  const tailscale = `mkfifo "$NOTE"; echo '${ADDRESSES.tailscale}/'; read line < "$NOTE"`;
  const env = install(openBench({}), { tailscale });
  const problems: string[] = [];
  const onProblem = (_: string, problem: string): unknown => problems.push(problem);
  const tunnel = await openTunnel({ port: 1, env, signal, onProblem });
  expect([tunnel.url, problems]).toEqual([ADDRESSES.tailscale, []]);
  writeFileSync(env['NOTE'] ?? '', '\n');
  await tunnel.ended;
});

test('a tunnel that leads here no longer is ended, though its tool lives on', async () => {
  const bench = openBench({});
  const env = install(bench, { cloudflared: TOOLS.cloudflared });
  // Before it was reached for the first time nothing counts: the address may be new, or of no use from here.
  const looks = [false, false, false, false, true, false, true, false, false, false];
  const asked: string[] = [];
  const reaches = async (url: string): Promise<boolean> => {
    asked.push(url);
    return looks.shift() === true;
  };
  const tunnel = await openTunnel({ port: 1, env, signal, onProblem: () => {}, lookMs: 1, reaches });
  const [, pid] = noted(bench);
  await tunnel.ended;
  expect([isAlive(pid), asked]).toEqual([false, Array(10).fill(ADDRESSES.cloudflared)]);
});

test('an address leads here where a service answers, and not what stands before it', async () => {
  const bench = openBench({ 'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}}\nserver: {port: 0}\n` });
  const service = await serveBench(bench);
  expect(await leadsHere(service.url)).toBe(true);
  const edge = await startPlatform(() => ({ status: 530, body: { error: 1033 } }));
  onTestFinished(() => edge.stop());
  expect(await leadsHere(edge.url)).toBe(false);
  expect(await leadsHere(`http://127.0.0.1:${await freePort()}`)).toBe(false);
});

test('a tool that has no address to give is passed over, with its own words', async () => {
  const bench = openBench({});
  const env = install(bench, {
    tailscale: `printf '\\nFunnel is not enabled on your tailnet.\\nTo enable, visit:\\n\\n         https://login.tailscale.com/f/funnel?node=n1\\n\\n'; exec sleep 60`,
    cloudflared: `echo 'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com: no such host' >&2; exit 1`,
  });
  const problems: string[] = [];
  const opening = openTunnel({
    port: 1,
    env,
    signal,
    onProblem: (tool, problem) => problems.push(`${tool}: ${problem}`),
  });
  await expect(opening).rejects.toThrow(/no tunnel could be opened[^]*no account needed/);
  expect(problems).toEqual([
    'tailscale: Funnel is not enabled on your tailnet.',
    expect.stringMatching(/^cloudflared: failed to request quick Tunnel/),
  ]);
  const silent = install(openBench({}), { cloudflared: 'exec sleep 60' });
  const waiting = openTunnel({
    port: 1,
    env: silent,
    signal,
    waitMs: 300,
    onProblem: (_, problem) => problems.push(problem),
  });
  await expect(waiting).rejects.toThrow('no tunnel could be opened');
  expect(problems.at(-1)).toBe('no address within 0.3 s: ');
});

test('without a tool the choices are named', async () => {
  const env = install(openBench({}), {});
  const opening = openTunnel({ port: 1, env, signal, onProblem: () => {} });
  await expect(opening).rejects.toThrow(
    /not installed\. --tunnel uses one of these:[^]*cloudflared: https:[^]*no account/,
  );
});

test('dev --tunnel ends where no tool is installed, and names them', async () => {
  const bench = openBench({ 'sluice.yaml': 'hooks: {enabled: true}\n' });
  const child = spawn(process.execPath, [builtMain(), 'dev', '--port', '0', '--tunnel'], {
    cwd: bench.folder,
    env: { ...START_ENV, ...install(bench, {}), HOME: bench.folder },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, err]).toEqual([3, expect.stringContaining('not installed. --tunnel uses one of these')]);
});

test('dev --tunnel prints the payload URL, lets hooks in and no console, and ends the tool', async () => {
  const bench = openBench({
    'sluice.yaml': `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: ci, match: {path: ci}, messageTemplate: "{{text}}", deliver: false}
metrics: {port: 0}
`,
  });
  const env = install(bench, { cloudflared: TOOLS.cloudflared });
  const child: ChildProcess = spawn(process.execPath, [builtMain(), 'dev', '--port', '0', '--tunnel'], {
    cwd: bench.folder,
    env: { ...START_ENV, ...env, HOME: bench.folder, SLUICE_HOOK_TOKEN: TOKEN },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr?.on('data', (chunk) => (err += String(chunk)));
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await waitFor(
    () => /Payload URL: https:\/\/four-dashed-word-url\.trycloudflare\.com\/hooks\/ci/.exec(err)?.[0],
  );
  expect(err).toContain('(asks for the hook token)');
  const [service, pid] = noted(bench);
  expect(await ask(service, '/hooks/ci')).toMatchObject({
    status: 202,
    body: expect.stringContaining('runId'),
  });
  expect((await ask(service, '/hooks/nowhere')).status).toBe(404);
  for (const path of ['/console/', '/metrics', '/']) expect((await ask(service, path)).status).toBe(404);
  child.kill('SIGTERM');
  await ended;
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(join(bench.folder, 'note'))).toBe(true);
  await expect(ask(service, '/hooks/ci')).rejects.toThrow('ECONNREFUSED');
});
