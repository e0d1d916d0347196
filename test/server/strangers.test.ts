import { afterEach, describe, expect, test } from 'vitest';
import { send, startTestServer, stopServers, TOKEN, type SendOptions } from '../support/server-fixture.ts';

afterEach(stopServers);

const basic = `Basic ${Buffer.from(`n8n:${TOKEN}`).toString('base64')}`;

/** What a sender without a proof sends, and what the operator reads. */
const REFUSALS: readonly (readonly [string, SendOptions['headers'], string, RegExp])[] = [
  [
    'nothing',
    {},
    'no-token',
    /no hook token came; send it as Authorization: Bearer TOKEN, or X-Service-Token/,
  ],
  [
    'another word',
    { authorization: `Token ${TOKEN}` },
    'token-elsewhere',
    /another word than Bearer \(token\)/,
  ],
  ['no word', { authorization: TOKEN }, 'token-elsewhere', /write the word Bearer before it/],
  ['two words', { authorization: `Bearer Bearer ${TOKEN}` }, 'token-elsewhere', /the word Bearer once/],
  ['quotes', { authorization: `Bearer "${TOKEN}"` }, 'token-elsewhere', /without quotes/],
  ['Basic', { authorization: basic }, 'token-elsewhere', /Basic holds the hook token/],
  ['Basic of another', { authorization: 'Basic YTpi' }, 'no-token', /verify: \{scheme: basic/],
  [
    'a header of its own',
    { 'x-api-key': TOKEN },
    'token-elsewhere',
    /the header x-api-key, .* header: x-api-key/,
  ],
  [
    'Bearer in the bare header',
    { 'x-service-token': `Bearer ${TOKEN}` },
    'token-elsewhere',
    /without Bearer/,
  ],
  ['a variable', { authorization: 'Bearer ${HOOK_TOKEN}' }, 'unknown-token', /did not replace/],
  [
    'another token',
    { authorization: 'Bearer nobody-knows-this' },
    'unknown-token',
    /neither hooks\.token nor/,
  ],
  ['a signature', { 'x-hub-signature-256': 'sha256=00' }, 'no-verify', /verify: \{scheme: .*github/],
];

describe('the operator reads why a sender was not believed', () => {
  test.each(REFUSALS)('%s', async (_what, headers, code, text) => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/github', { headers: headers ?? {}, body: '{}' });
    expect(reply.status).toBe(401);
    expect(server.strangers).toEqual([
      expect.objectContaining({
        path: 'github',
        status: 401,
        refusal: { scheme: 'token', code, text: expect.stringMatching(text) as string },
      }),
    ]);
    expect(JSON.stringify([server.strangers, server.log])).not.toContain(TOKEN);
    expect(reply.text).not.toMatch(text);
  });

  test('the token under another name in the address', async () => {
    const server = await startTestServer();
    await send(server, `/hooks/github?key=${TOKEN}`, { headers: {}, body: '{}' });
    expect(server.strangers[0]?.refusal?.text).toMatch(/under another name than token/);
    expect(JSON.stringify(server.strangers)).not.toContain(TOKEN);
  });
});

describe('what never came as far as a proof', () => {
  test('is kept with what is the operator\u2019s own, apart from the decisions', async () => {
    const server = await startTestServer({ generation: { knowsName: (name) => name === 'github' } });
    await send(server, '/hook/github', { body: '{}' });
    await send(server, '/hooks/words-of-a-stranger', { headers: {}, body: '{}' });
    expect(server.decisions).toEqual([]);
    expect(server.strangers).toMatchObject([
      { path: '', status: 404, note: 'hooks are below /hooks (hooks.path): senders post to /hooks/NAME' },
      { path: '', status: 401 },
    ]);
  });

  test('hooks that are off say which key', async () => {
    const server = await startTestServer({ hooks: { enabled: false } });
    await send(server, '/hooks/github', { body: '{}' });
    expect(server.strangers).toMatchObject([
      { path: 'github', status: 404, note: 'hooks.enabled is not true' },
    ]);
  });
});

test('a refusal of a proved sender says its method, and which key set the limit', async () => {
  const server = await startTestServer();
  await send(server, '/hooks/github', { method: 'PUT' });
  await send(server, '/hooks/github', { body: 'x'.repeat(2000) });
  expect(server.strangers).toEqual([]);
  expect(server.decisions).toMatchObject([
    { status: 405, method: 'PUT' },
    { status: 413, note: 'the limit is set by hooks.maxBodyBytes' },
  ]);
  const own = await startTestServer({ generation: { settingsOf: () => ({ maxBodyBytes: 10 }) } });
  await send(own, '/hooks/github', { body: 'x'.repeat(20) });
  expect(own.decisions[0]?.note).toBe('the limit is set by maxBodyBytes of the mappings of github');
});
