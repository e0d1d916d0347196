/** The Gmail API with Pub/Sub, against a server that follows their documentation, and OAuth2 logins. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { setUpMail, type MailSetupFlags } from '../../../src/frontends/cli/mail/mail-setup.ts';
import { processTerminal } from '../../../src/frontends/cli/terminal.ts';
import { loadConfig, type MailBlock } from '../../../src/engine/config/config.ts';
import {
  readOAuthFile,
  writeOAuthFile,
  type OAuthFile,
  AccessTokens,
  type OAuthEndpoints,
} from '../../../src/service/mail/oauth.ts';
import { GoogleApi } from '../../../src/service/mail/gmail-api.ts';
import { GmailSource } from '../../../src/service/mail/gmail-source.ts';
import { loginWithBrowser, loginWithDevice } from '../../../src/service/mail/oauth-login.ts';
import { listenForRedirect } from '../../../src/service/server/server.ts';
import { GOOGLE, startGoogleServer, type GoogleServer } from '../../support/google-server.ts';
import {
  imapBlock,
  mailFixture,
  messageOf,
  testEndpoint,
  type MailFixture,
} from '../../support/mail-fixture.ts';
import { rawMail, startMailServer } from '../../support/mail-server.ts';

let google: GoogleServer;
let fixture: MailFixture;
let folder: string;
let oauthFile: string;

beforeEach(async () => {
  google = await startGoogleServer();
  fixture = await mailFixture();
  folder = await mkdtemp(join(tmpdir(), 'sluice-gmail-'));
  oauthFile = join(folder, 'secrets', 'oauth.json');
  await writeOAuthFile(oauthFile, oauthLogin());
});
afterEach(async () => {
  await fixture.stop();
  await google.stop();
  await rm(folder, { recursive: true, force: true });
});

const oauthLogin = (more: Partial<OAuthFile> = {}): OAuthFile => ({
  version: 1,
  provider: 'google',
  clientId: GOOGLE.clientId,
  clientSecret: GOOGLE.clientSecret,
  tokenEndpoint: `${google.url}/token`,
  scope: 'mail',
  refreshToken: 'refresh-0',
  ...more,
});

const block = (more: Partial<Extract<MailBlock, { kind: 'gmail' }>> = {}): MailBlock => ({
  version: 1,
  kind: 'gmail',
  account: 'me@gmail.example',
  run: true,
  path: 'gmail',
  folders: ['INBOX'],
  from: [],
  subject: [],
  maxBodyChars: 20_000,
  accept: 'any',
  authServers: [],
  topic: GOOGLE.topic,
  subscription: GOOGLE.subscription,
  oauthFile,
  ...more,
});

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });

function read(more: Partial<Extract<MailBlock, { kind: 'gmail' }>> = {}, keepAliveMs = 60_000) {
  const test = testEndpoint();
  const times = { firstRetryMs: 10, maxRetryMs: 100, deadRetryMs: 200, renewMs: 100, keepAliveMs };
  const open = { google: { gmail: google.url, pubsub: google.url } };
  const service = fixture.start(block(more), test.endpoint, { times, open });
  const isConnected = () => until(() => expect(service.statuses[0]?.health.state).toBe('connected'));
  return { ...test, service, isConnected };
}

describe('the Gmail API', () => {
  test('begins now, and delivers what a notice of Pub/Sub announces, once and in order', async () => {
    google.deliver('old');
    const { subjects, requests, isConnected } = read();
    await isConnected();
    const expected = Array.from({ length: 8 }, (_, n) => `mail ${n}`);
    const ids = expected.map((subject) => google.deliver(subject));
    await until(() => expect(subjects).toEqual(expected));
    expect(requests[0]).toMatchObject({
      path: 'gmail',
      payload: {
        source: 'gmail',
        account: 'me@gmail.example',
        folder: 'INBOX',
        messages: [
          {
            id: ids[0],
            from: 'Ann <ann@example.org>',
            subject: 'mail 0',
            body: 'Body of mail 0 ü',
            attachments: [{ name: 'plan.pdf', type: 'application/pdf', sizeBytes: 12_345 }],
          },
        ],
      },
    });
    await until(() => expect(google.acknowledged).toBeGreaterThan(0));
    expect(google.calls).toContain('POST /gmail/v1/users/me/watch');
  });

  test('reads a history of any length to its end', async () => {
    const api = new GoogleApi(() => new AccessTokens(oauthFile).get());
    const place = { topic: GOOGLE.topic, subscription: GOOGLE.subscription, labels: ['INBOX'] };
    const source = await GmailSource.open(api, place, {
      endpoints: { gmail: google.url, pubsub: google.url },
    });
    const { position, floorAt } = await source.begin({ sinceMs: undefined, nowMs: Date.now() });
    // The server gives three for each page; a bound of 200 pages once lost the rest.
    const ids = Array.from({ length: 610 }, (_, n) => google.deliver(`mail ${n}`));
    const { candidates } = await source.next(position, { floorAt, isPassed: () => Promise.resolve(false) });
    expect(candidates.map(({ identity }) => identity)).toEqual(ids);
    source.close();
  });

  test('leaves spam, drafts, sent and deleted mail out', async () => {
    const { subjects, service, isConnected } = read();
    await isConnected();
    for (const label of ['SPAM', 'TRASH', 'DRAFT', 'SENT'])
      google.deliver(label, { labels: [label, 'INBOX'] });
    google.deliver('archived', { labels: ['UNREAD'] });
    google.remove(google.deliver('gone at once'));
    google.deliver('wanted');
    await until(() => expect(subjects).toEqual(['wanted']));
    expect(service.statuses[0]?.figures.setAside).toBe(0);
  });

  test('goes on after a restart, and lists anew what a forgotten history would have held', async () => {
    const first = read();
    await first.isConnected();
    google.deliver('one');
    await until(() => expect(first.subjects).toEqual(['one']));
    await first.service.stop();
    google.deliver('two');
    google.forgetHistory();
    google.deliver('three');
    const second = read();
    await until(() => expect(second.subjects).toEqual(['two', 'three']));
    google.deliver('four');
    await until(() => expect(second.subjects).toEqual(['two', 'three', 'four']));
  });

  test('takes older mail where a date is given', async () => {
    google.deliver('long ago', { at: Date.parse('2020-01-01') });
    google.deliver('lately', { at: Date.now() - 3_600_000 });
    const { subjects, isConnected } = read({
      since: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
    });
    await isConnected();
    google.deliver('now');
    await until(() => expect(subjects).toEqual(['lately', 'now']));
  });

  test('renews a token that the server no longer takes, and tells a login that is over', async () => {
    const { subjects, wakes, service, isConnected } = read({}, 200);
    await isConnected();
    google.expireTokens();
    google.deliver('after renewal');
    await until(() => expect(subjects).toEqual(['after renewal']));
    const kept = await readOAuthFile(oauthFile);
    expect(kept.refreshToken).not.toBe('refresh-0');
    google.revoke();
    await until(() => expect(service.statuses[0]?.health.state).toBe('authentication-dead'));
    await until(() => expect(wakes).toHaveLength(1));
    const log = fixture.lines.join('\n');
    for (const secret of [kept.refreshToken, kept.accessToken ?? '', GOOGLE.clientSecret]) {
      expect(log).not.toContain(secret);
    }
  });

  test('a provider that is down is a server that is away, not a dead login', async () => {
    google.isBroken = true;
    const { service, wakes, isConnected } = read();
    await until(() =>
      expect(service.statuses[0]?.health).toMatchObject({ state: 'backing-off', attempts: 5 }),
    );
    expect(wakes).toEqual([]);
    google.isBroken = false;
    await isConnected();
  });

  test.each([
    ['a label', { folders: ['Nowhere'] }, 'no label "Nowhere"; it has INBOX'],
    ['spam', { folders: ['SPAM'] }, 'the label SPAM is not read'],
    ['a topic', { topic: 'projects/p/topics/other' }, 'Invalid topicName'],
    ['a subscription', { subscription: 'projects/p/subscriptions/x' }, 'there is no subscription'],
  ])('says what is wrong with %s', async (_, more, reason) => {
    const { service } = read(more);
    await until(() => expect(service.statuses[0]?.health.state).toBe('misconfigured'));
    const { health } = service.statuses[0] ?? {};
    expect(health !== undefined && 'reason' in health ? health.reason : '').toContain(reason);
  });
});

describe('OAuth2', () => {
  const endpoints = (): OAuthEndpoints => ({
    issuer: google.url,
    authorization: `${google.url}/authorize`,
    token: `${google.url}/token`,
    device: `${google.url}/device`,
  });
  const login = () => ({
    provider: 'google' as const,
    endpoints: endpoints(),
    client: { clientId: GOOGLE.clientId, clientSecret: GOOGLE.clientSecret },
    scope: 'mail',
    signal: AbortSignal.timeout(120_000),
  });

  test('logs in in a browser over loopback with PKCE', async () => {
    const redirect = await listenForRedirect();
    const file = await loginWithBrowser(login(), {
      account: 'me@gmail.example',
      redirect,
      // What a browser does: it follows the provider back to this machine.
      show: (url) => void fetch(url).then((page) => page.text()),
    });
    redirect.close();
    expect(file).toMatchObject({
      refreshToken: 'refresh-1',
      accessToken: 'access-1',
      tokenEndpoint: `${google.url}/token`,
    });
    const stray = await fetch(redirect.url).catch(() => undefined);
    expect(stray?.status ?? 404).toBe(404);
  });

  test('logs in by a code at another device', async () => {
    const shown: unknown[] = [];
    const file = await loginWithDevice(login(), (device) => {
      shown.push(device);
      google.approveDevice();
    });
    expect(shown).toEqual([{ url: 'https://login.example/device', code: 'ABCD-EFGH' }]);
    expect(file.refreshToken).toBe('refresh-1');
  });

  test('asks once for many who need a token, and keeps it in a file for its owner only', async () => {
    const tokens = new AccessTokens(oauthFile);
    const given = await Promise.all(Array.from({ length: 5 }, () => tokens.get()));
    expect(new Set(given)).toEqual(new Set(['access-1']));
    expect(await tokens.get()).toBe('access-1');
    expect(google.refreshes).toBe(1);
    expect((await stat(oauthFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(oauthFile, 'utf8'))).toMatchObject({ refreshToken: 'refresh-1' });
  });

  test('gives nobody the token that a server has refused, also where another one is asked for the file', async () => {
    await writeOAuthFile(
      oauthFile,
      oauthLogin({ accessToken: 'refused', expiresAt: Date.now() + 3_600_000 }),
    );
    const tokens = new AccessTokens(oauthFile);
    const [asked, refused] = await Promise.all([tokens.get(), tokens.get('refused')]);
    expect(asked).toBe('refused');
    expect(refused).toBe('access-1');
  });

  test('opens an IMAP mailbox with a token', async () => {
    const server = await startMailServer();
    try {
      const accessToken = 'testtoken';
      await writeOAuthFile(oauthFile, oauthLogin({ accessToken, expiresAt: Date.now() + 3_600_000 }));
      const { endpoint, subjects } = testEndpoint();
      const service = fixture.start(
        imapBlock(server.port, { auth: { kind: 'oauth2', oauthFile } }),
        endpoint,
      );
      await until(() => expect(service.statuses[0]?.health.state).toBe('connected'));
      server.deliver(rawMail('by token'));
      await until(() => expect(subjects).toEqual(['by token']));
    } finally {
      await fixture.stop();
      fixture = await mailFixture();
      await server.stop();
    }
  });

  test.each([
    ['is missing', undefined],
    ['is damaged', 'not json'],
  ])('says what to do where the file of the login %s', async (what, content) => {
    await rm(oauthFile);
    if (content !== undefined) {
      const { writeSecretFile } = await import('../../../src/base/write-file.ts');
      await writeSecretFile(oauthFile, content);
    }
    const failure = new AccessTokens(oauthFile).get();
    await expect(failure).rejects.toMatchObject({ kind: 'settings' });
    await expect(failure).rejects.toThrow('sluice webhooks mail setup');
    await expect(failure).rejects.not.toThrow(what === 'is damaged' ? 'not json' : '\0');
  });
});

test('a delivered Gmail message has its own id', async () => {
  const { requests, isConnected } = read();
  await isConnected();
  const id = google.deliver('x');
  await until(() => expect(requests).toHaveLength(1));
  expect(messageOf(requests[0]).id).toBe(id);
});

describe('setup', () => {
  const world = (device: boolean) => {
    const { device: deviceUrl, ...browser } = {
      issuer: google.url,
      authorization: `${google.url}/authorize`,
      token: `${google.url}/token`,
      device: `${google.url}/device`,
    };
    const scopes = { imap: 'imap-scope', gmail: 'gmail-scope', gmailPush: 'push-scope' };
    const endpoints = device ? { ...browser, device: deviceUrl } : browser;
    return {
      oauth: { google: { endpoints, scopes }, microsoft: { endpoints, scopes } },
      google: { gmail: google.url, pubsub: google.url },
    };
  };

  async function setUp(
    flags: MailSetupFlags,
    onPrint: (text: string) => void,
    device = false,
  ): Promise<string> {
    await writeFile(join(folder, 'sluice.yaml'), 'hooks:\n  presets: [mail] # one\n');
    await writeFile(join(folder, 'client-secret'), GOOGLE.clientSecret);
    const printed: string[] = [];
    const print = (text: string): void => {
      printed.push(text);
      onPrint(text);
    };
    const terminal = {
      ...processTerminal(),
      interactive: false,
      cwd: folder,
      env: {},
      out: print,
      err: print,
    };
    const run = () => Promise.resolve(0);
    const cli = { terminal, setExitCode: () => undefined, program: new Command(), run };
    await setUpMail(cli, flags, world(device));
    return printed.join('\n');
  }

  test('connects the Gmail API: the person logs in in the browser, the watch is started, then all is written', async () => {
    const printed = await setUp(
      {
        provider: 'gmail-api',
        account: 'me@gmail.example',
        clientId: GOOGLE.clientId,
        clientSecretFile: 'client-secret',
        topic: GOOGLE.topic,
        subscription: GOOGLE.subscription,
      },
      (text) => {
        const url = /http\S+\/authorize\S+/.exec(text)?.[0];
        if (url !== undefined) void fetch(url).then((page) => page.text());
      },
    );
    const { config } = await loadConfig(join(folder, 'sluice.yaml'), { env: {}, needSecrets: true });
    expect(config?.settings.hooks.mail).toMatchObject({
      kind: 'gmail',
      topic: GOOGLE.topic,
      oauthFile: join(folder, '.sluice', 'mail-oauth.json'),
    });
    const kept = await readOAuthFile(join(folder, '.sluice', 'mail-oauth.json'));
    expect(kept).toMatchObject({
      scope: 'gmail-scope',
      refreshToken: 'refresh-1',
      clientSecret: GOOGLE.clientSecret,
    });
    expect(google.calls).toContain('POST /gmail/v1/users/me/watch');
    for (const secret of [kept.refreshToken, 'access-1', GOOGLE.clientSecret]) {
      expect(printed).not.toContain(secret);
      expect(await readFile(join(folder, 'sluice.yaml'), 'utf8')).not.toContain(secret);
    }
  });

  test('writes nothing where the topic is not there', async () => {
    const flags: MailSetupFlags = {
      provider: 'gmail-api',
      account: 'me@gmail.example',
      clientId: GOOGLE.clientId,
      clientSecretFile: 'client-secret',
      topic: 'projects/p/topics/other',
      subscription: GOOGLE.subscription,
    };
    const follow = (text: string): void => {
      const url = /http\S+\/authorize\S+/.exec(text)?.[0];
      if (url !== undefined) void fetch(url).then((page) => page.text());
    };
    await expect(setUp(flags, follow)).rejects.toThrow('Invalid topicName');
    await expect(stat(join(folder, '.sluice'))).rejects.toThrow('ENOENT');
    expect(await readFile(join(folder, 'sluice.yaml'), 'utf8')).toBe('hooks:\n  presets: [mail] # one\n');
  });
});
