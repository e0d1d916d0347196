/** Who may use the console, and what a page that comes back is sent. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Access, readOrMakeKey, type Visitor } from '../../src/console/access.ts';
import { LiveFeed } from '../../src/console/live-feed.ts';
import type { DecisionRecord } from '../../src/storage/storage.ts';

const KEY = 'a-key-of-thirty-two-characters-00';

function visitor(part: Partial<Visitor> = {}): Visitor {
  return {
    method: 'GET',
    host: '127.0.0.1:8788',
    origin: undefined,
    fetchSite: undefined,
    cookie: undefined,
    ...part,
  };
}

function open(options: { readonly clock?: () => number; readonly publicUrl?: string } = {}): Access {
  return new Access({ key: KEY, host: '127.0.0.1', port: 8788, ...options });
}

function cookieOf(access: Access): string {
  const result = access.exchange(KEY);
  return result.kind === 'cookie' ? (result.cookie.split(';')[0] ?? '') : '';
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

  test('serves under the name of console.publicUrl, with a cookie for TLS only', () => {
    const access = open({ publicUrl: 'https://console.example.com' });
    expect(access.problemOf(visitor({ host: 'console.example.com' }))).toBeUndefined();
    expect(access.exchange(KEY)).toMatchObject({ cookie: expect.stringMatching(/; Secure$/) as string });
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

  test('exchanges the key for a cookie that holds over a restart and ends by itself', () => {
    let now = 1_000_000;
    const access = open({ clock: () => now });
    const result = access.exchange(KEY);
    expect(result).toMatchObject({
      cookie: expect.stringMatching(/; HttpOnly; SameSite=Strict; Path=\//) as string,
    });
    const cookie = `other=1; ${cookieOf(access)}`;
    expect(access.hasCookie(visitor({ cookie }))).toBe(true);
    expect(open({ clock: () => now }).hasCookie(visitor({ cookie }))).toBe(true);
    now += 31 * 86_400_000;
    expect(access.hasCookie(visitor({ cookie }))).toBe(false);
  });

  test('takes no cookie that was made up, prolonged, or made with another key', () => {
    const access = open();
    const cookie = cookieOf(access);
    const longer = cookie.replace(/=\w+\./, `=${(Date.now() * 2).toString(36)}.`);
    const other = new Access({ key: `${KEY}x`, host: '127.0.0.1', port: 8788 });
    for (const made of [
      '',
      'sluice_console_8788=',
      'sluice_console_8788=zzzzzzzzz.abc',
      longer,
      `${cookie}x`,
    ])
      expect(access.hasCookie(visitor({ cookie: made })), made).toBe(false);
    expect(other.hasCookie(visitor({ cookie }))).toBe(false);
  });

  test('asks for a minute of patience after twenty wrong keys', () => {
    let now = 1_000_000;
    const access = open({ clock: () => now });
    for (let tries = 0; tries < 20; tries += 1) expect(access.exchange('wrong')).toEqual({ kind: 'refused' });
    expect(access.exchange(KEY)).toEqual({ kind: 'too-many' });
    now += 61_000;
    expect(access.exchange(KEY).kind).toBe('cookie');
  });

  test('makes a key that only its owner can read, and takes it again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'private', 'console-key');
    const key = readOrMakeKey(file);
    expect(key.length).toBeGreaterThanOrEqual(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readOrMakeKey(file)).toBe(key);
    writeFileSync(file, 'short\n');
    expect(readOrMakeKey(file)).not.toBe('short');
  });
});

function decision(number: number): DecisionRecord {
  return {
    requestId: `request-${number}`,
    receivedAt: number,
    path: 'github',
    status: 202,
    outcome: 'accepted',
    actionIds: [],
    generation: 'g',
    tookMs: 1,
    bodyBytes: 2,
  };
}

/** Reads a feed as a page does. */
function reader(): {
  readonly texts: string[];
  readonly page: Parameters<LiveFeed['open']>[0];
  unread: number;
  ended: boolean;
} {
  const read = {
    texts: [] as string[],
    unread: 0,
    ended: false,
    page: {
      write: (text: string) => void read.texts.push(text),
      end: () => void (read.ended = true),
      get writableLength() {
        return read.unread;
      },
    },
  };
  return read;
}

function openFeed(): LiveFeed {
  const feed = new LiveFeed();
  onTestFinished(() => feed.stop());
  return feed;
}

function idsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [...text.matchAll(/"id":"([\w-]+)"/g)].map((match) => match[1] ?? ''));
}

describe('the feed', () => {
  test('sends a page what it has not seen, and after a pause what it missed', () => {
    const feed = openFeed();
    feed.see(decision(1));
    const { cursor } = feed;
    feed.see(decision(2));
    feed.see(decision(3));
    const page = reader();
    feed.open(page.page, cursor);
    expect(idsIn(page.texts)).toEqual(['request-3', 'request-2']);
  });

  test('tells a page of another process, or one that was away for too long, to begin anew', () => {
    const feed = openFeed();
    const { cursor } = feed;
    for (const old of ['', 'abcdef12-3', 'x', cursor.replace(/\d+$/, '99')]) {
      const page = reader();
      feed.open(page.page, old);
      expect(page.texts.join(''), old).toMatch(/^event: restart\n/);
    }
    for (let number = 0; number < 2_001; number += 1) feed.see(decision(number));
    const page = reader();
    feed.open(page.page, cursor);
    expect(page.texts.join('')).toMatch(/^event: restart\n/);
  });

  test('sends the newest two hundred of a burst, and says how many more there were', () => {
    const feed = openFeed();
    const { cursor } = feed;
    for (let number = 1; number <= 500; number += 1) feed.see(decision(number));
    const page = reader();
    feed.open(page.page, cursor);
    expect(idsIn(page.texts)).toHaveLength(200);
    expect(page.texts.join('')).toContain('"more":300');
    expect(idsIn(page.texts)[0]).toBe('request-500');
  });

  test('lets a page go that does not read, and takes twenty at most', async () => {
    const feed = openFeed();
    const slow = reader();
    slow.unread = 2 * 1024 * 1024;
    feed.open(slow.page, feed.cursor);
    feed.see(decision(1));
    await expect.poll(() => slow.ended).toBe(true);
    for (let pages = 0; pages < 20; pages += 1) expect(feed.open(reader().page, feed.cursor)).toBeDefined();
    expect(feed.open(reader().page, feed.cursor)).toBeUndefined();
  });
});
