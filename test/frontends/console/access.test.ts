/** Who may use the console, and what a page that comes back is sent. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  Access,
  type NamedKey,
  readOrMakeKey,
  type Role,
  type Visitor,
} from '../../../src/frontends/console/access.ts';
import { LISTS } from '../../../src/frontends/console/lists.ts';
import { type ListQuery, openStorage } from '../../../src/engine/storage/storage.ts';
import { agentOf, work } from '../../support/storage-builders.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HERE = '127.0.0.1';
const KEY = 'a-key-of-thirty-two-characters-00';

function visitor(part: Partial<Visitor> = {}): Visitor {
  return {
    method: 'GET',
    host: '127.0.0.1:8788',
    origin: undefined,
    fetchSite: undefined,
    session: undefined,
    address: HERE,
    header: () => undefined,
    ...part,
  };
}

const keys =
  (role: Role, key = KEY) =>
  (): readonly NamedKey[] => [{ name: '', role, key }];

function open(options: Partial<ConstructorParameters<typeof Access>[0]> = {}): Access {
  return new Access({ keys: keys('author'), host: '127.0.0.1', ...options });
}

function sessionOf(access: Access): string {
  const result = access.exchange(KEY, HERE);
  return result.kind === 'session' ? result.token : '';
}

describe('access', () => {
  test.each(['127.0.0.1:8788', 'localhost:9000', '[::1]:8788', '192.168.1.7:8788', 'LOCALHOST'])(
    'serves under the address %s',
    (host) => {
      expect(open().problemOf(visitor({ host }))).toBeUndefined();
    },
  );

  test.each([
    'evil.example',
    'evil.example:8788',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '',
    undefined,
    'a b',
  ])('refuses the name %s, which may lead here by DNS rebinding', (host) => {
    expect(open().problemOf(visitor({ host }))).toMatch(/Host/);
  });

  test('serves under the name of console.publicUrl', () => {
    const access = open({ publicUrl: 'https://console.example.com' });
    expect(access.problemOf(visitor({ host: 'console.example.com' }))).toBeUndefined();
  });

  test.each([
    [{ origin: undefined }],
    [{ origin: 'null' }],
    [{ origin: 'http://evil.example' }],
    [{ origin: 'http://127.0.0.1:9999' }],
    [{ origin: 'http://127.0.0.1:8788', fetchSite: 'same-site' }],
    [{ origin: 'http://127.0.0.1:8788', fetchSite: 'cross-site' }],
  ])('refuses a change asked by %o', (part) => {
    expect(open().problemOf(visitor({ method: 'POST', ...part }))).toMatch(/only pages/);
  });

  test('takes a change asked by its own page', () => {
    const own = { method: 'POST', origin: 'http://127.0.0.1:8788', fetchSite: 'same-origin' };
    expect(open().problemOf(visitor(own))).toBeUndefined();
  });

  test('exchanges the key for a session that holds over a restart and ends by itself', () => {
    let now = 1_000_000;
    const access = open({ clock: () => now });
    const session = sessionOf(access);
    expect(access.identify(visitor({ session }))?.role).toBe('author');
    expect(open({ clock: () => now }).identify(visitor({ session }))?.role).toBe('author');
    now += 31 * 86_400_000;
    expect(access.identify(visitor({ session }))).toBeUndefined();
  });

  test('takes no session that was made up, prolonged, raised, or made with another key', () => {
    const access = open();
    const session = sessionOf(access);
    const longer = session.replace(/\.\w+\./, `.${(Date.now() * 2).toString(36)}.`);
    for (const made of ['', '.', 'author', 'author.zzzzzzzzz.abc', longer, `${session}x`, `${session}.x`])
      expect(access.identify(visitor({ session: made })), made).toBeUndefined();
    const other = new Access({ keys: keys('author', `${KEY}x`), host: '127.0.0.1' });
    expect(other.identify(visitor({ session }))).toBeUndefined();
  });

  test('a session of dev is none in serve, nor is one of serve raised to one of dev', () => {
    const serve = new Access({ keys: keys('inspect'), host: '127.0.0.1' });
    expect(serve.identify(visitor({ session: sessionOf(open()) }))).toBeUndefined();
    const session = sessionOf(serve);
    expect(serve.identify(visitor({ session }))?.role).toBe('inspect');
    expect(open().identify(visitor({ session }))).toBeUndefined();
    expect(open().identify(visitor({ session: session.replace('inspect', 'author') }))).toBeUndefined();
  });

  test('takes the user that its proxy names, from the address of the proxy alone', () => {
    const proxy = { from: ['10.0.0.0/24'], header: 'X-Webauth-User', users: { ana: 'operate' } } as const;
    const access = open({ proxy: () => proxy });
    const named = (name: string, address: string) =>
      access.identify(
        visitor({ address, header: (header) => (header === 'x-webauth-user' ? name : undefined) }),
      );
    expect(named('ana', '10.0.0.7')).toEqual({ name: 'ana', role: 'operate' });
    expect(named('ana', '::ffff:10.0.0.7')).toEqual({ name: 'ana', role: 'operate' });
    for (const [name, address] of [
      ['ana', '10.0.1.7'],
      ['ben', '10.0.0.7'],
      ['constructor', '10.0.0.7'],
      ['', '10.0.0.7'],
    ] as const)
      expect(named(name, address), `${name} from ${address}`).toBeUndefined();
    const wide = open({ proxy: () => ({ ...proxy, others: 'view' }) });
    expect(wide.identify(visitor({ address: '10.0.0.7', header: () => 'ben' }))).toEqual({
      name: 'ben',
      role: 'view',
    });
  });

  test('wrong keys lock out their own address for a minute, and never the right key', () => {
    let now = 1_000_000;
    const access = open({ clock: () => now });
    for (let tries = 0; tries < 20; tries += 1)
      expect(access.exchange('wrong', '192.0.2.1')).toEqual({ kind: 'refused' });
    expect(access.exchange('wrong', '192.0.2.1')).toEqual({ kind: 'too-many' });
    expect(access.exchange('wrong', HERE)).toEqual({ kind: 'refused' });
    expect(access.exchange(KEY, HERE).kind).toBe('session');
    expect(access.exchange(KEY, '192.0.2.1').kind).toBe('session');
    now += 61_000;
    expect(access.exchange('wrong', '192.0.2.1')).toEqual({ kind: 'refused' });
  });

  test('makes a key that only its owner can read, and takes it again', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'private', 'console-key');
    const key = readOrMakeKey([file]).key;
    expect(key.length).toBeGreaterThanOrEqual(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readOrMakeKey([file]).key).toBe(key);
    writeFileSync(file, 'short\n');
    expect(readOrMakeKey([file]).key).not.toBe('short');
  });
});

test('a list goes on where it looked at some of the entries only, also where it found none of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lists-'));
  const storage = await openStorage(`sqlite:${join(folder, 'sluice.db')}`);
  onTestFinished(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });
  const runs = ['rare', 'a', 'a', 'rare', 'a', 'a'].map((mapping) => agentOf(mapping));
  await storage.accept(work(runs));
  // As with 50,000 of them.
  const few = {
    listRuns: (query: ListQuery) => storage.listRuns({ ...query, among: 2 }),
    oldestAmong: (table: 'runs', query: ListQuery) => storage.oldestAmong(table, { ...query, among: 2 }),
  };
  const waits = {
    listPauses: () => storage.listPauses(),
    listMarked: (since: number) => storage.listMarked(since),
    listHolds: (runner: string) => storage.listHolds(runner),
  };
  const live = { generation: { config: { settings: { gateway: { runner: 'echo', runners: {} } } } } };
  const deps = { storage: { ...few, ...waits }, live };
  const pages: (readonly string[])[] = [];
  for (let next: string | undefined = ''; next !== undefined && pages.length < 9;) {
    const asked = { query: new URLSearchParams({ mapping: 'rare', before: next }), who: { role: 'operate' } };
    type List = (context: object, asked: object) => Promise<{ rows: { id: string }[]; next?: string }>;
    // oxlint-disable-next-line no-await-in-loop -- one page after the other
    const page = await (LISTS['/api/runs'] as unknown as List)({ deps }, asked);
    pages.push(page.rows.map(({ id }) => id));
    next = page.next;
  }
  expect(pages).toEqual([[], [runs[3]?.id], [runs[0]?.id]]);
});
