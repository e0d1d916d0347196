/** The console's listener: what strangers get, what `serve` allows, and where the key is. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeConsoleFolder, startConsoleService, type ConsoleService } from '../support/console-fixture.ts';

const folder = makeConsoleFolder();
let running: ConsoleService;
let session: Readonly<Record<string, string>>;

beforeAll(async () => {
  running = await startConsoleService(folder.path, { mode: 'serve' });
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  const answer = await ask('/session', { method: 'POST', body: { key } });
  const { token, role } = JSON.parse(answer.text) as Readonly<Record<string, string>>;
  expect(role).toBe('inspect');
  session = { 'x-sluice-session': token ?? '' };
});
afterAll(async () => {
  await running.stop();
  folder.remove();
});

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

function ask(path: string, { method = 'GET', headers = {}, body }: Asking = {}) {
  const { hostname, port, origin } = new URL(running.url);
  return new Promise<{
    status: number;
    text: string;
    bytes: Buffer;
    headers: IncomingHttpHeaders;
  }>((resolve, reject) => {
    const req = request({ hostname, port, path, method, headers: { origin, ...headers } }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: res.statusCode ?? 0, text: bytes.toString(), bytes, headers: res.headers });
      });
    });
    req.on('error', reject);
    req.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test('gives a stranger the page that asks for the key, and nothing else', async () => {
  const page = await ask('/');
  expect(page.text).toContain('sign-in');
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/,
  );
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  for (const path of ['/api/inbox', '/api/request?id=x', '/api/feed', '/api/file?name=x'])
    expect((await ask(path)).status, path).toBe(401);
  expect((await ask('/session', { method: 'POST', body: { key: 'x' } })).status).toBe(401);
});

test('refuses foreign names and foreign pages, with a session or without', async () => {
  expect((await ask('/', { headers: { host: 'evil.example' } })).status).toBe(403);
  expect((await ask('/api/inbox', { headers: { host: 'evil.example', ...session } })).status).toBe(403);
  const foreign = {
    method: 'POST',
    headers: { ...session, origin: 'http://evil.example' },
    body: { id: 'x' },
  };
  expect((await ask('/api/drop', foreign)).status).toBe(403);
});

test('sets no cookie and takes none', async () => {
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  for (const [path, asking] of [
    ['/', {}],
    ['/session', { method: 'POST', body: { key } }],
  ] as const)
    expect((await ask(path, asking)).headers['set-cookie'], path).toBeUndefined();
  const cookie = `x-sluice-session=${session['x-sluice-session'] ?? ''}`;
  expect((await ask('/api/inbox', { headers: { cookie } })).status).toBe(401);
});

test('lets no page of another origin ask whether it may send the session', async () => {
  const headers = {
    origin: 'http://127.0.0.1:9',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'x-sluice-session',
  };
  const answer = await ask('/api/inbox', { method: 'OPTIONS', headers });
  expect(answer.status).toBe(403);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('twenty wrong keys of a stranger at this address do not keep the right one out', async () => {
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  const tries = Array.from({ length: 30 }, () => ask('/session', { method: 'POST', body: { key: 'x' } }));
  expect((await Promise.all(tries)).map(({ status }) => status)).toContain(429);
  expect((await ask('/session', { method: 'POST', body: { key } })).status).toBe(200);
});

test('shows and changes nothing in serve', async () => {
  expect(JSON.parse((await ask('/api/inbox', { headers: session })).text)).toMatchObject({
    state: { mode: 'serve' },
  });
  for (const path of ['/api/save', '/api/draft', '/api/impact', '/api/golden', '/api/retry', '/api/drop'])
    expect((await ask(path, { method: 'POST', headers: session, body: {} })).status, path).toBe(404);
  for (const path of ['/api/files', '/api/file?name=mappings/order.yaml', '/api/vocabulary'])
    expect((await ask(path, { headers: session })).status, path).toBe(404);
});

test('compresses what is long, where the browser takes that', async () => {
  for (let sent = 0; sent < 30; sent += 1) await running.send('nowhere', {});
  const plain = await ask('/api/inbox', { headers: session });
  const packed = await ask('/api/inbox', { headers: { ...session, 'accept-encoding': 'gzip' } });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 4);
  expect((JSON.parse(gunzipSync(packed.bytes).toString()) as { rows: unknown[] }).rows).toHaveLength(30);
});

test('shows no secret of the configuration, wherever it was repeated', async () => {
  const { requestId } = await running.send('order', {
    id: 1,
    buyer: { name: 'a-hook-token-0123456789' },
    items: [],
  });
  const page = await ask(`/api/request?id=${requestId}`, { headers: session });
  expect(page.text).toContain('[removed] bought');
  expect(page.text).not.toContain('a-hook-token-0123456789');
});

test('keeps the key in a file that only its owner can read, and the log does not show it', () => {
  const file = join(folder.path, '.sluice/console-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(running.log.join('')).not.toContain(readFileSync(file, 'utf8').trim());
  expect(running.link).toContain('/#key=');
});
