/** Live hooks passed on to another gateway, with what this side would have made of them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { builtMain } from '../../support/built-program.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Received {
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

async function startUpstream(): Promise<{
  readonly url: string;
  readonly received: Received[];
  readonly server: Server;
}> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      received.push({ url: request.url ?? '', headers: request.rawHeaders, body });
      const isKnown = request.url?.startsWith('/hooks/push') === true;
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json', 'x-own': 'kept' });
      response.end(isKnown ? '{"ok":true,"runId":"r-1"}' : 'Not Found');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, received, server };
}

interface Shadow {
  readonly url: string;
  readonly process: ChildProcess;
  out(): string;
}

async function startShadow(upstream: string): Promise<Shadow & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-shadow-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks:
  enabled: true
  token: a-hook-token-of-its-own
  mappings:
    - { id: push, match: { path: push }, messageTemplate: 'pushed {{ref}}' }
    - { id: only-here, match: { path: only-here }, messageTemplate: '{{text}}' }
`,
  );
  const args = [builtMain(), 'shadow', '--upstream', upstream, '--port', '0', '--record', 'cases'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  ends.push(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  await expect.poll(() => text, { timeout: 20_000 }).toContain('passes hooks on from');
  const url = /from (http:\/\/[\d.:]+)/.exec(text)?.[1] ?? '';
  return { url, process: child, out: () => text, folder };
}

test('the sender gets the answer of the other gateway, and both sides are compared', async () => {
  const upstream = await startUpstream();
  const shadow = await startShadow(upstream.url);
  const post = (path: string, body: string): Promise<Response> =>
    fetch(`${shadow.url}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer a-hook-token-of-its-own', 'x-event': 'push' },
    });
  const body = '{"ref":"refs/heads/main", "big": 820982911946154508}';
  const answer = await post('/hooks/push?a=1&a=2', body);
  expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([
    200,
    'kept',
    '{"ok":true,"runId":"r-1"}',
  ]);
  expect(upstream.received[0]).toMatchObject({ url: '/hooks/push?a=1&a=2', body });
  expect(upstream.received[0]?.headers).toEqual(expect.arrayContaining(['Bearer a-hook-token-of-its-own']));
  await expect.poll(() => shadow.out()).toContain('alike      POST /hooks/push  there 200, here 202');
  expect(shadow.out()).toContain('pushed refs/heads/main');
  expect((await post('/hooks/only-here', '{"text":"x"}')).status).toBe(404);
  await expect.poll(() => shadow.out()).toContain('DIFFERENT  POST /hooks/only-here  there 404, here 202');
  expect(shadow.out()).not.toContain('a-hook-token-of-its-own');
  await expect.poll(() => readdirSync(join(shadow.folder, 'cases')).length).toBeGreaterThan(0);
  expect(readdirSync(shadow.folder)).not.toContain('.sluice');
  shadow.process.kill('SIGTERM');
  await expect.poll(() => shadow.out()).toContain('1 alike, 1 different');
});

test('a gateway that is not there is a 502 for the sender, and said', async () => {
  const upstream = await startUpstream();
  await new Promise((resolve) => upstream.server.close(resolve));
  const shadow = await startShadow(upstream.url);
  const answer = await fetch(`${shadow.url}/hooks/push`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(502);
  await expect.poll(() => shadow.out()).toContain('the other gateway could not be reached (ECONNREFUSED)');
});
