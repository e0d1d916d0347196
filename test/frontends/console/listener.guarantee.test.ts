/** The console's listener: what strangers get, what `serve` allows, and where the key is. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Drafts, type Judge } from '../../../src/authoring/workbench/workbench.ts';
import { inbox } from '../../../src/frontends/console/inbox.ts';
import type { ConsoleDeps } from '../../../src/frontends/console/route.ts';
import {
  makeConsoleFolder,
  startConsoleService,
  type ConsoleService,
} from '../../support/console-fixture.ts';

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
  /** Default: the console of this file. */
  readonly url?: string;
}

function ask(path: string, { method = 'GET', headers = {}, body, url = running.url }: Asking = {}) {
  const { hostname, port, origin } = new URL(url);
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
  for (const path of ['/api/inbox', '/api/request?id=x', '/api/file?name=x'])
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

test('with the key of its file shows and changes nothing in serve', async () => {
  expect(JSON.parse((await ask('/api/inbox', { headers: session })).text)).toMatchObject({
    state: { role: 'inspect' },
  });
  for (const path of ['/api/save', '/api/draft', '/api/impact', '/api/complete', '/api/retry', '/api/drop'])
    expect((await ask(path, { method: 'POST', headers: session, body: {} })).status, path).toBe(404);
  for (const path of ['/api/files', '/api/file?name=mappings/order.yaml'])
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

test('who opens the page has the files loaded, and a look for what is new once a second loads none', async () => {
  const { service, storage } = running;
  let loads = 0;
  const judge = { base: () => Promise.reject(new Error(`load ${(loads += 1)}`)) } as unknown as Judge;
  const deps = { mode: 'serve', hooksUrl: '', live: service, storage } as unknown as ConsoleDeps;
  const decided = () => Promise.resolve({ found: new Map(), hits: new Map(), since: 0 });
  const context = { deps, judge, drafts: new Drafts(judge), decided };
  const look = (query: string) => {
    const asked = { query: new URLSearchParams(query), who: { name: '', role: 'view' } } as const;
    return inbox(context, { ...asked, body: undefined, from: '', signal: new AbortController().signal });
  };
  await look('limit=300');
  await look('');
  expect(loads).toBe(2);
  await look('limit=100&ids=a');
  await look('limit=1&ids=a');
  expect(loads).toBe(2);
});

describe('named keys', () => {
  const SOON = { timeout: 60_000 };
  const KEYS = ['view', 'inspect', 'operate'].map(
    (role) => [role, `a-key-of-${role}-that-is-long-enough-000`] as const,
  );
  const config = (roles: readonly string[]) => `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway: {heartbeat: {everySeconds: 0}, runners: {slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}}}
server: {stopGraceSeconds: 0.1}
channels: {slack: {botToken: xoxb-1-1-aaaaaaaa, baseUrl: 'http://127.0.0.1:9', to: C0123456}}
console:
  enabled: true
  port: 0
  keys: {${KEYS.filter(([role]) => roles.includes(role))
    .map(([role, key]) => `${role}er: {role: ${role}, key: ${key}}`)
    .join(', ')}}
`;
  const own = makeConsoleFolder({
    'sluice.yaml': config(['view', 'inspect', 'operate']),
    'mappings/talk.yaml':
      '{ id: talks, match: { path: talk }, messageTemplate: "{{body}}", sessionKey: "hook:{{who}}", model: "{{who}}", trust: [model], deliver: false }',
    'mappings/keyed.yaml':
      '{ id: keyed, match: { path: keyed }, keepRequests: none, dedupe: { key: "{{headers.x-event}}" }, messageTemplate: hello, deliver: false }',
    'mappings/asked.yaml':
      '{ id: asked, match: { path: asked }, messageTemplate: hello, deliver: false, approve: { channel: slack } }',
  });
  const signedIn: Record<string, Readonly<Record<string, string>>> = {};
  let named: ConsoleService;
  beforeAll(async () => {
    named = await startConsoleService(own.path, { mode: 'serve' });
    for (const [role, key] of KEYS) {
      const { text } = await ask('/session', { method: 'POST', body: { key }, url: named.url });
      const answer = JSON.parse(text) as {
        readonly token: string;
        readonly role: string;
        readonly name: string;
      };
      expect(answer).toMatchObject({ role, name: `${role}er` });
      signedIn[role] = { 'x-sluice-session': answer.token };
    }
  });
  afterAll(async () => {
    await named.stop();
    own.remove();
  });
  const as = (role: string, path: string, body?: object) =>
    ask(path, { url: named.url, headers: signedIn[role] ?? {}, ...(body && { method: 'POST', body }) });

  test('view sees what became of a request, and nothing that it carried', async () => {
    const { requestId } = await named.send('order', { id: 1, buyer: { name: 'Ada-Lovelace' }, items: [] });
    const whole = await as('inspect', `/api/request?id=${requestId}`);
    expect(whole.text).toContain('Ada-Lovelace');
    await expect
      .poll(async () => (await as('view', `/api/request?id=${requestId}`)).text, SOON)
      .toContain('"outcome":"ok"');
    const seen = await as('view', `/api/request?id=${requestId}`);
    expect(seen.text).not.toContain('Ada-Lovelace');
    expect(JSON.parse(seen.text)).toMatchObject({ row: { mapping: 'order-agent', outcome: 'accepted' } });
    // What is kept of it is there, for others.
    expect(seen.text).not.toMatch(/not.kept/);
    expect(seen.text).toContain('not shown to the role view');
    const { requestId: stranger } = await named.send('order', {}, { authorization: 'Bearer wrong' });
    expect((await as('view', `/api/request?id=${stranger}`)).text).toContain('Its content was not kept');
    expect((await as('view', '/api/inbox')).text).not.toContain('Ada-Lovelace');
  });

  test('finds requests by what they carried, by run and by session, and whoever may only view by run alone', async () => {
    const text = 'Grace "Amazing" Höpper';
    const began = Date.now();
    const { requestId } = await named.send('order', { id: 1, buyer: { name: text }, items: [] });
    const find = async (role: string, query: Readonly<Record<string, string>>) => {
      const { text: found } = await as(role, `/api/search?${new URLSearchParams(query).toString()}`);
      const { rows } = JSON.parse(found) as { rows: { id: string; mapping?: string }[] };
      return rows.map(({ id, mapping = '' }) => `${id} ${mapping}`);
    };
    const found = [`${requestId} order-agent`];
    expect(await find('inspect', { text: '"amazing" HÖP' })).toEqual(found);
    const at = (ms: number): string => new Date(began + ms).toISOString();
    expect(await find('inspect', { text, time: `${at(0)}/${at(60_000)}` })).toEqual(found);
    expect(await find('inspect', { text, time: `${at(-60_000)}/${at(0)}` })).toEqual([]);
    const page = await as('inspect', `/api/request?id=${requestId}`);
    const { stored } = JSON.parse(page.text) as { stored: { runs: { id: string; sessionKey: string }[] } };
    const [run] = stored.runs;
    expect(await find('inspect', { text: run?.sessionKey ?? '' })).toEqual(found);
    expect(await find('view', { text: run?.id ?? '' })).toEqual(found);
    for (const hidden of [text, run?.sessionKey ?? 'none'])
      expect(await find('view', { text: hidden })).toEqual([]);
  });

  test('finds by the key that knows repeats what was kept by nothing else, and says what it looked at', async () => {
    const { requestId } = await named.send(
      'keyed',
      {},
      { 'x-event': 'event-7-of-ours', 'idempotency-key': 'own-7' },
    );
    const find = async (role: string, text: string) => {
      const { text: found } = await as(role, `/api/search?text=${text}`);
      return JSON.parse(found) as { rows: { id: string }[]; looked: number; since: number; logs?: string[] };
    };
    for (const key of ['event-7-of-ours', 'own-7'])
      expect((await find('inspect', key)).rows, key).toMatchObject([{ id: requestId }]);
    expect((await find('view', 'event-7-of-ours')).rows).toEqual([]);
    const kept = await named.send('order', { id: 1, buyer: { name: 'Kept' }, items: [] });
    expect(kept.status).toBe(202);
    const none = await find('inspect', 'event-8-of-ours');
    expect(none).toMatchObject({ rows: [], logs: [] });
    expect(none.looked).toBeGreaterThan(0);
    expect(none.since).toBeLessThanOrEqual(Date.now());
  });

  test('what no store can have is refused alike whatever the store, with its place', async () => {
    for (const cursor of ['1e300', '1e19', '-1', '1.5', 'a', '%00']) {
      const { status, text } = await as('inspect', `/api/search?text=a&cursor=${cursor}`);
      expect({ status, text }).toEqual({ status: 400, text: expect.stringMatching(/unknown: cursor: \w/) });
    }
    for (const id of ['a\u0000b', '\ud800', '', 'a b', 'x'.repeat(101)]) {
      for (const path of ['/api/retry', '/api/drop', '/api/cancel', '/api/approve', '/api/replay']) {
        const { status, text } = await as('operate', path, { ids: [id] });
        expect({ status, text }).toEqual({
          status: 400,
          text: expect.stringMatching(/unknown: ids\.0: an id is/),
        });
      }
    }
  });

  test('only operate changes anything, and each change says who made it, what, and from where', async () => {
    for (const role of ['view', 'inspect'])
      for (const path of ['/api/retry', '/api/drop', '/api/cancel', '/api/pause', '/api/resume'])
        expect((await as(role, path, { ids: ['x'] })).status, `${role} ${path}`).toBe(404);
    for (const path of ['/api/save', '/api/new'])
      expect((await as('operate', path, {})).status, path).toBe(404);
    expect((await as('operate', '/api/pause', { mapping: 'order-slow' })).text).toBe('{"changed":1}');
    const { requestId } = await named.send('slow', {});
    const { rows } = JSON.parse((await as('view', '/api/inbox')).text) as {
      readonly rows: readonly { readonly id: string; readonly work?: readonly string[] }[];
    };
    const [run = ''] = rows.find(({ id }) => id === requestId)?.work ?? [];
    const ends = async () =>
      (JSON.parse((await as('view', `/api/inbox?limit=1&ids=${run}`)).text) as { ends: object[] }).ends;
    expect(await ends()).toEqual([{ id: run, end: 'queued', why: 'paused' }]);
    expect((await as('operate', '/api/resume', { mapping: 'order-slow' })).text).toBe('{"changed":1}');
    await expect.poll(ends, SOON).toEqual([{ id: run, end: 'running' }]);
    await expect
      .poll(async () => (await as('operate', '/api/cancel', { ids: [run] })).text, SOON)
      .toBe('{"changed":1}');
    await expect.poll(ends, SOON).toEqual([{ id: run, end: 'failed', why: 'cancelled' }]);
    expect((await as('operate', '/api/cancel', { ids: [run] })).text).toBe('{"changed":0}');
    const audits = named.log.flatMap((line) => {
      const entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return entry['audit'] === undefined ? [] : [entry];
    });
    expect(audits[0]).toMatchObject({
      audit: 'pause',
      who: 'operateer',
      from: '127.0.0.1',
      about: 'order-slow',
    });
    expect(audits.map(({ audit }) => audit)).toEqual(expect.arrayContaining(['pause', 'resume', 'cancel']));
  });

  test('a change of what a cause has leaves alone what others made, also where no mapping made it', async () => {
    expect((await as('operate', '/api/pause', {})).text).toBe('{"changed":1}');
    await named.send('agent', { message: 'hello', deliver: false });
    await named.send('order', { id: 1, buyer: { name: 'Ada-Lovelace' }, items: [] });
    const countOf = async (chosen: object) => {
      const { status, text } = await as('operate', '/api/plan', { change: 'drop', chosen });
      return { status, count: (JSON.parse(text) as { readonly ids: readonly string[] }).ids.length };
    };
    expect((await countOf({ of: 'runs', state: 'queued' })).count).toBeGreaterThan(1);
    expect(await countOf({ of: 'runs', state: 'queued', mapping: '' })).toEqual({ status: 200, count: 1 });
    expect(await countOf({ of: 'events', mapping: '' })).toEqual({ status: 200, count: 0 });
    expect((await as('operate', '/api/resume', {})).text).toBe('{"changed":1}');
  });

  test('lists mappings, runs, conversations, deliveries and changes, to view without what was sent', async () => {
    type Page = { readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly next?: string };
    const page = async (role: string, path: string) => JSON.parse((await as(role, path)).text) as Page;
    for (const body of ['first', 'second', 'third']) await named.send('talk', { who: 'Ada-Lovelace', body });
    const runsOf = (role: string, query = '') => page(role, `/api/runs?mapping=talks${query}`);
    await expect
      .poll(async () => (await runsOf('inspect')).rows.map(({ outcome }) => outcome), SOON)
      .toEqual(['ok', 'ok', 'ok']);
    const { rows, next } = await runsOf('inspect', '&limit=2');
    expect(rows).toMatchObject([{ sessionKey: 'hook:Ada-Lovelace' }, { state: 'completed' }]);
    expect(next).toBe(rows[1]?.['id']);
    const rest = await runsOf('inspect', `&limit=2&before=${next}`);
    expect(rest.rows).toHaveLength(1);
    expect(rest.next).toBeUndefined();
    const { rows: talks } = await page('view', '/api/conversations');
    const own = talks.find(({ owner }) => owner === 'mapping:talks');
    expect(own).toMatchObject({ key: '', turns: 6 });
    const talk = `/api/conversation?id=${String(own?.['id'])}`;
    const shown = JSON.parse((await as('inspect', talk)).text) as Page & { readonly conversation: object };
    expect(shown.conversation).toMatchObject({ key: 'hook:Ada-Lovelace' });
    expect(shown.rows.map(({ id }) => id)).toEqual([...rest.rows, ...rows.toReversed()].map(({ id }) => id));
    await named.send('asked', {});
    const { rows: deliveries } = await page('inspect', '/api/deliveries');
    expect(deliveries).toMatchObject([{ kind: 'delivery', channel: 'slack', attempts: expect.any(Number) }]);
    const of = (await page('view', '/api/mappings')).rows.find(({ mappingId }) => mappingId === 'talks');
    expect(of).toMatchObject({
      hits: 3,
      refusals: 0,
      runs: 3,
      failed: 0,
      active: 0,
      usd: 0,
      runner: 'echo',
    });
    for (const path of [
      '/api/runs',
      '/api/conversations',
      talk,
      '/api/deliveries',
      '/api/mappings',
      '/api/costs',
    ])
      expect((await as('view', path)).text, path).not.toContain('Ada-Lovelace');
    expect((await as('view', '/api/conversation?id=x')).status).toBe(404);
    expect((await as('inspect', '/api/pause', { runner: 'echo' })).status).toBe(404);
    expect((await as('operate', '/api/pause', { runner: 'echo' })).text).toBe('{"changed":1}');
    await named.send('talk', { who: 'Ada-Lovelace', body: 'later' });
    await expect.poll(async () => (await runsOf('view')).rows[0]?.['why'], SOON).toBe('paused');
    expect((await as('operate', '/api/resume', { runner: 'echo' })).text).toBe('{"changed":1}');
    await expect.poll(async () => (await runsOf('view')).rows[0]?.['outcome'], SOON).toBe('ok');
    expect((await page('inspect', '/api/audit')).rows.slice(0, 2)).toMatchObject([
      { who: 'operateer', source: '127.0.0.1', what: 'resume', about: 'runner echo', changed: 1 },
      { what: 'pause' },
    ]);
    expect((await page('view', '/api/audit')).rows[0]).toMatchObject({ source: '', what: 'resume' });
  });

  test('operate takes again what was lost, by a plan, and no request twice', async () => {
    const file = join(own.path, 'mappings/order.yaml');
    const before = readFileSync(file, 'utf8');
    const order = (id: number) => named.send('order', { number: id, buyer: { name: 'Ada' }, items: [] });
    const [lost, other] = [await order(1), await order(2)];
    const missed = await named.send('nowhere', {});
    const taken = await named.send('order', { id: 3, buyer: { name: 'Eve' }, items: [] });
    const ids = [lost, other, missed, taken].map(({ requestId }) => requestId);
    const planned = async (list: readonly string[]) =>
      (JSON.parse((await as('operate', '/api/replay/plan', { ids: list })).text) as { plan: object[] }).plan;
    const refused = { end: 'refused', says: 'no_mapping_matched' };
    expect(await planned([...ids, 'unknown'])).toEqual([
      { id: ids[0], ...refused },
      { id: ids[1], ...refused },
      { id: ids[2], end: 'not-kept' },
      { id: ids[3], end: 'accepted' },
      { id: 'unknown', end: 'not-kept' },
    ]);
    writeFileSync(file, before.replace('var: payload.id }', 'var: payload.number }'));
    await named.service.reload();
    expect(await planned(ids.slice(0, 2))).toEqual([
      { id: ids[0], end: 'taken', says: 'order-agent' },
      { id: ids[1], end: 'taken', says: 'order-agent' },
    ]);
    for (const role of ['view', 'inspect'])
      expect((await as(role, '/api/replay', { ids })).status, role).toBe(404);
    const replayed = async () =>
      (
        JSON.parse((await as('operate', '/api/replay', { ids })).text) as {
          done: { id: string; requestId: string; status: number }[];
        }
      ).done;
    const done = await replayed();
    expect(done).toMatchObject([
      { id: ids[0], status: 202 },
      { id: ids[1], status: 202 },
    ]);
    const again = async (id = '') =>
      JSON.parse((await as('inspect', `/api/request?id=${id}`)).text) as {
        row: { mapping?: string };
        content: { payload: string };
      };
    expect(await again(done[0]?.requestId)).toMatchObject({ row: { mapping: 'order-agent' } });
    expect((await again(done[0]?.requestId)).content.payload).toContain('"number":1');
    expect(await replayed()).toEqual([]);
    expect(await planned(ids.slice(0, 2).toReversed())).toEqual([
      { id: ids[0], end: 'again', says: done[0]?.requestId },
      { id: ids[1], end: 'again', says: done[1]?.requestId },
    ]);
    writeFileSync(file, before);
    await named.service.reload();
  });

  test('operate tries a change, which is written nowhere', async () => {
    const file = join(own.path, 'mappings/order.yaml');
    const before = readFileSync(file, 'utf8');
    const { requestId: request } = await named.send('order', {
      number: 9,
      buyer: { name: 'Ada' },
      items: [],
    });
    const { files } = JSON.parse((await as('operate', '/api/files')).text) as { files: { name: string }[] };
    const name = files.map((one) => one.name).find((one) => one.endsWith('order.yaml'));
    const text = before.replace('var: payload.id }', 'var: payload.number }');
    const draft = { file: name, text, request };
    expect((await as('inspect', '/api/draft', draft)).status).toBe(404);
    const tried = JSON.parse((await as('operate', '/api/draft', draft)).text) as object;
    expect(tried).toMatchObject({ findings: [], judgement: { outcome: 'accepted' } });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('operate answers an approval: the first answer counts', async () => {
    const { requestId } = await named.send('asked', {});
    const runOf = async () => {
      const { text } = await as('inspect', `/api/request?id=${requestId}`);
      const { stored } = JSON.parse(text) as { stored: { runs: { id: string; approval: object }[] } };
      return stored.runs[0];
    };
    const run = await runOf();
    expect(run).toMatchObject({ state: 'queued', approval: { expiresAt: expect.any(String) } });
    const ids = [run?.id ?? ''];
    expect((await as('inspect', '/api/approve', { ids })).status).toBe(404);
    expect((await as('operate', '/api/deny', { ids })).text).toBe('{"changed":1}');
    expect((await as('operate', '/api/approve', { ids })).text).toBe('{"changed":0}');
    expect(await runOf()).toMatchObject({ approval: { decision: 'denied', by: 'console' } });
  });

  test('a key that was taken out of the configuration opens nothing, and its session ends', async () => {
    expect((await as('operate', '/api/inbox')).status).toBe(200);
    writeFileSync(join(own.path, 'sluice.yaml'), config(['view']));
    await named.service.reload();
    expect((await as('operate', '/api/inbox')).status).toBe(401);
    expect((await as('view', '/api/inbox')).status).toBe(200);
    const key = KEYS[2]?.[1];
    expect((await ask('/session', { method: 'POST', body: { key }, url: named.url })).status).toBe(401);
  });
});

test('shows no secret of the configuration, wherever it was repeated', async () => {
  const { requestId } = await running.send('order', {
    id: 1,
    buyer: { name: 'a-hook-token-0123456789' },
    items: [],
  });
  const page = await ask(`/api/request?id=${requestId}`, { headers: session });
  const found = async (text: string) =>
    (JSON.parse((await ask(`/api/search?text=${text}`, { headers: session })).text) as { rows: object[] })
      .rows;
  // Nor can it be guessed letter by letter.
  expect(await found('a-hook-tok')).toEqual([]);
  expect(await found('buyer')).not.toEqual([]);
  expect(page.text).toContain('[removed] bought');
  expect(page.text).not.toContain('a-hook-token-0123456789');
});

test('keeps the key in a file that only its owner can read, and the log does not show it', () => {
  const file = join(folder.path, '.sluice/console-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(running.log.join('')).not.toContain(readFileSync(file, 'utf8').trim());
  expect(running.link).toContain('/#key=');
});

test('explains a request by the mappings that judged it, and says what those of now would do', async () => {
  const file = join(folder.path, 'mappings/order.yaml');
  const before = readFileSync(file, 'utf8');
  const { requestId, status } = await running.send('order', { id: 7, buyer: { name: 'Ada' }, items: [] });
  expect(status).toBe(202);
  const page = async () => {
    const { text } = await ask(`/api/request?id=${requestId}`, { headers: session });
    return JSON.parse(text) as {
      readonly isByThen?: true;
      readonly now: { readonly mapping?: { readonly id: string } };
      readonly stored: { readonly notes: readonly { readonly code: string; readonly text: string }[] };
    };
  };
  expect(await page()).not.toHaveProperty('isByThen');
  writeFileSync(file, before.replace('var: payload.id }', 'var: payload.number }'));
  await running.service.reload();
  const changed = await page();
  expect(changed).toMatchObject({ isByThen: true, now: { mapping: { id: 'order-agent' } } });
  const said = changed.stored.notes.filter(({ code }) => code === 'judged_otherwise').map(({ text }) => text);
  expect(said.join('; ')).toMatch(/then: accepted.*now: +rejected/);
  writeFileSync(file, before);
  await running.service.reload();
  expect(await page()).not.toHaveProperty('isByThen');
});
