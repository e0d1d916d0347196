/** The console's listener: what strangers get, what `serve` allows, and where the key is. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeConsoleFolder, startConsoleService, type ConsoleService } from '../support/console-fixture.ts';

const folder = makeConsoleFolder();
let running: ConsoleService;
let cookie: string;

beforeAll(async () => {
  running = await startConsoleService(folder.path, { mode: 'serve' });
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  const answer = await ask('/session', { method: 'POST', body: { key } });
  cookie = (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
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
    headers: IncomingHttpHeaders;
  }>((resolve, reject) => {
    const req = request({ hostname, port, path, method, headers: { origin, ...headers } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text, headers: res.headers }));
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

test('refuses foreign names and foreign pages, cookie or not', async () => {
  expect((await ask('/', { headers: { host: 'evil.example' } })).status).toBe(403);
  expect((await ask('/api/inbox', { headers: { host: 'evil.example', cookie } })).status).toBe(403);
  const foreign = { method: 'POST', headers: { cookie, origin: 'http://evil.example' }, body: { id: 'x' } };
  expect((await ask('/api/drop', foreign)).status).toBe(403);
});

test('shows and changes nothing in serve', async () => {
  expect(JSON.parse((await ask('/api/inbox', { headers: { cookie } })).text)).toMatchObject({
    state: { mode: 'serve' },
  });
  for (const path of ['/api/save', '/api/draft', '/api/impact', '/api/golden', '/api/retry', '/api/drop'])
    expect((await ask(path, { method: 'POST', headers: { cookie }, body: {} })).status, path).toBe(404);
  for (const path of ['/api/files', '/api/file?name=mappings/order.yaml', '/api/vocabulary'])
    expect((await ask(path, { headers: { cookie } })).status, path).toBe(404);
});

test('shows no secret of the configuration, wherever it was repeated', async () => {
  const { requestId } = await running.send('order', {
    id: 1,
    buyer: { name: 'a-hook-token-0123456789' },
    items: [],
  });
  const page = await ask(`/api/request?id=${requestId}`, { headers: { cookie } });
  expect(page.text).toContain('[removed] bought');
  expect(page.text).not.toContain('a-hook-token-0123456789');
});

test('keeps the key in a file that only its owner can read, and the log does not show it', () => {
  const file = join(folder.path, '.sluice/console-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(running.log.join('')).not.toContain(readFileSync(file, 'utf8').trim());
  expect(running.link).toContain('/#key=');
});
