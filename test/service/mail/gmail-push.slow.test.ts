/** Notices that Pub/Sub pushes: the request as Google documents it, and what it may and may not do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { MailBlock } from '../../../src/engine/config/config.ts';
import { withNoticePath } from '../../../src/service/generation/notice-path.ts';
import { writeOAuthFile } from '../../../src/service/mail/oauth.ts';
import { createRoutingTable } from '../../../src/engine/mapping/routing/routing-table.ts';
import { GOOGLE, startGoogleServer, type GoogleServer } from '../../support/google-server.ts';
import { mailFixture, testEndpoint, type MailFixture } from '../../support/mail-fixture.ts';
import { BEARER, send, startTestServer, stopServers, type TestServer } from '../../support/server-fixture.ts';

const AUDIENCE = 'https://hooks.example.com/hooks/mail-push';
const ACCOUNT = 'push@p.iam.gserviceaccount.com';
/** Claims of the token of a push; after "Authentication for push subscriptions" of Google Cloud. */
const CLAIMS = { azp: '113774264463038321964', email: ACCOUNT, email_verified: true };
/** The body of a push; after "Push subscriptions" of Google Cloud and "Push notifications" of the Gmail API. */
const NOTICE = JSON.stringify({
  message: {
    data: Buffer.from('{"emailAddress":"me@gmail.example","historyId":"1007"}').toString('base64'),
    messageId: '2070443601311540',
    message_id: '2070443601311540',
    publishTime: '2021-02-26T19:13:55.749Z',
    publish_time: '2021-02-26T19:13:55.749Z',
  },
  subscription: 'projects/p/subscriptions/push',
});

let google: GoogleServer;
let fixture: MailFixture;
let folder: string;
let server: TestServer;
let sign: (claims?: object, audience?: string) => Promise<string>;
let wakes = 0;
const { endpoint, subjects } = testEndpoint();

beforeAll(async () => {
  google = await startGoogleServer();
  fixture = await mailFixture();
  folder = await mkdtemp(join(tmpdir(), 'sluice-push-'));
  const oauthFile = join(folder, 'oauth.json');
  await writeOAuthFile(oauthFile, {
    version: 1,
    provider: 'google',
    clientId: GOOGLE.clientId,
    clientSecret: GOOGLE.clientSecret,
    tokenEndpoint: `${google.url}/token`,
    scope: 'mail',
    refreshToken: 'refresh-0',
  });
  const mail = pushBlock(oauthFile);
  const service = fixture.start(mail, endpoint, {
    // Without a notice nothing would look for mail while the test lasts.
    times: { keepAliveMs: 600_000 },
    open: { google: { gmail: google.url, pubsub: google.url } },
  });
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] };
  sign = (claims = CLAIMS, audience = AUDIENCE) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuer('https://accounts.google.com')
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  const { settingsOf, canTake } = withNoticePath(createRoutingTable([]), mail);
  server = await startTestServer({
    generation: { settingsOf, canTake, noticePath: 'mail-push' },
    deps: {
      onNotice: () => {
        wakes += 1;
        service.wake();
      },
      fetchJson: async (url) =>
        url.endsWith('openid-configuration')
          ? { issuer: 'https://accounts.google.com', jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs' }
          : keys,
    },
  });
  await vi.waitFor(() => expect(service.statuses[0]?.health.state).toBe('connected'), { timeout: 60_000 });
});
afterAll(async () => {
  await stopServers();
  await fixture.stop();
  await google.stop();
  await rm(folder, { recursive: true, force: true });
});

function pushBlock(oauthFile: string): MailBlock {
  return {
    version: 1,
    kind: 'gmail',
    account: 'me@gmail.example',
    run: true,
    path: 'mail',
    folders: ['INBOX'],
    from: [],
    subject: [],
    accept: 'any',
    authServers: [],
    maxBodyChars: 20_000,
    topic: GOOGLE.topic,
    push: { path: 'mail-push', audience: AUDIENCE, serviceAccount: ACCOUNT },
    oauthFile,
  };
}

const push = async (authorization: string, body = NOTICE): Promise<number> =>
  (await send(server, '/hooks/mail-push', { headers: { authorization }, body })).status;

test('a notice wakes the reader at once, is answered 204, and becomes nothing itself', async () => {
  google.deliver('one');
  const token = `Bearer ${await sign()}`;
  expect(await push(token)).toBe(204);
  await vi.waitFor(() => expect(subjects).toEqual(['one']), { timeout: 60_000, interval: 5 });
  // Payload unwrapping sends the data alone; whatever the body says, only the mailbox itself is believed.
  google.deliver('two');
  google.deliver('three');
  expect(await push(token, '{"emailAddress":"other@gmail.example","historyId":9}')).toBe(204);
  expect(await push(token, 'no JSON')).toBe(204);
  await vi.waitFor(() => expect(subjects).toEqual(['one', 'two', 'three']), { timeout: 60_000, interval: 5 });
  expect([server.accepted, server.evaluated, server.kept, server.decisions]).toEqual([[], [], [], []]);
  expect(google.calls.filter((call) => call.endsWith(':pull'))).toEqual([]);
});

test('nobody else wakes it: not the hook token, another account, another audience, no token', async () => {
  const before = wakes;
  const refused = [
    BEARER.authorization,
    `Bearer ${await sign({ ...CLAIMS, email: 'other@p.iam.gserviceaccount.com' })}`,
    `Bearer ${await sign({ ...CLAIMS, email_verified: false })}`,
    `Bearer ${await sign(CLAIMS, 'https://other.example.com')}`,
    'Bearer x',
  ];
  for (const authorization of refused) expect(await push(authorization)).toBe(401);
  const token = `Bearer ${await sign()}`;
  expect(await push(token, `"${'x'.repeat(70_000)}"`)).toBe(413);
  const get = await send(server, '/hooks/mail-push', { method: 'GET', headers: { authorization: token } });
  expect(get.status).toBe(405);
  expect(wakes).toBe(before);
});
