/** A recorded request is the same request when it is read again. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readRequestFile, recordCase } from '../../../src/authoring/golden/golden.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { parseJson } from '../../../src/base/json.ts';
import type { HookRequest, JsonValue } from '../../../src/base/request.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-record-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const requestOf = (payload: JsonValue, path = 'shop'): HookRequest =>
  createHookRequest({
    path,
    headers: { 'x-topic': 'a: "b" # c' },
    query: { page: '2' },
    payload,
    receivedAt: 0,
  });

test('whatever the payload is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (payload) => {
      const request = requestOf(JSON.parse(JSON.stringify(payload)) as JsonValue);
      const { file } = await recordCase(request, { dir, masks: [] });
      const { case: golden, findings } = await readRequestFile(file);
      expect(findings).toEqual([]);
      const read = golden!.deliveries[0]!.request;
      expect(read.payload).toEqual(request.payload);
      expect(read).toMatchObject({
        path: 'shop',
        headers: request.headers,
        query: request.query,
        receivedAt: 0,
      });
    }),
    { numRuns: 150, seed: 11 },
  );
});

test.each([
  'a\u0000b',
  '\u202Eabc',
  '\uD800',
  ' lead',
  'trail ',
  '- x',
  '# x',
  'a\r\nb',
  '\u0085\u2028',
  'null',
  '1e3',
  '~',
  `${'x'.repeat(300)} y`,
])('with the text %j', async (text) => {
  const request = requestOf({ [text]: [text, { text }] });
  const { file } = await recordCase(request, { dir, masks: [] });
  const { case: golden } = await readRequestFile(file);
  expect(golden?.deliveries[0]?.request.payload).toEqual(request.payload);
});

test('a name that is taken is never overwritten, and no hook name leads out of the folder', async () => {
  const options = { dir, masks: [] };
  const same = requestOf(1);
  const files = await Promise.all([1, 2, 3].map(() => recordCase(same, options)));
  expect(new Set(files.map(({ file }) => file)).size).toBe(3);
  for (const path of ['..', '../../etc', '/', 'a/../b', '.hidden']) {
    const { file } = await recordCase(requestOf(1, path), options);
    expect(file.startsWith(join(dir, '/'))).toBe(true);
  }
  expect(readdirSync(dir).every((name) => !name.startsWith('.'))).toBe(true);
});

test('and its line for editors names no path of this machine', async () => {
  const project = join(dir, 'project');
  const record = async (): Promise<string> =>
    readFileSync(
      (await recordCase(requestOf(1), { dir: join(project, 'test/golden'), masks: [] })).file,
      'utf8',
    );
  expect(await record()).toMatch(/^path: shop\n/);
  mkdirSync(join(project, 'node_modules/sluice'), { recursive: true });
  expect(await record()).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.\.\/\.\.\/node_modules\/sluice\/schemas\/request\.schema\.json\npath: shop\n/,
  );
});

test('with its long numbers digit by digit, under a mask, too', async () => {
  const text = '{"id":820982911946154508,"ids":[820982911946154509,1e400,-12345678901234567890.5],"n":1.5}';
  const request = requestOf(parseJson(text));
  for (const masks of [[], ['payload.n', 'payload.id.x']]) {
    // oxlint-disable-next-line no-await-in-loop -- file names are counted
    const { file } = await recordCase(request, { dir, masks });
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { case: golden, findings } = await readRequestFile(file);
    expect(findings).toEqual([]);
    const expected = masks.length === 0 ? text : text.replace('1.5}', '"***"}');
    expect(golden?.deliveries[0] && JSON.stringify(golden.deliveries[0].request.payload)).toBe(expected);
  }
});

test('and body files keep them', async () => {
  const file = join(dir, 'long.request.yaml');
  writeFileSync(join(dir, 'long.json'), '{"id": 820982911946154508}');
  writeFileSync(file, 'path: shop\nbodyFile: long.json\n');
  const { case: golden } = await readRequestFile(file);
  expect(golden?.deliveries[0] && JSON.stringify(golden.deliveries[0].request.payload)).toBe(
    '{"id":820982911946154508}',
  );
});

test('a request file of any other name is no expectation of its own', async () => {
  const file = join(dir, 'order.json');
  writeFileSync(file, JSON.stringify({ path: 'shop', body: { id: 1 } }));
  const { case: golden, findings } = await readRequestFile(file);
  expect(findings).toEqual([]);
  expect(golden).not.toHaveProperty('expected');
});

describe('credentials', () => {
  const own = 'own-secret-of-the-configuration';
  const write = async (parts: Partial<HookRequest>) => {
    const request = { ...requestOf(parts.payload ?? null), ...parts };
    const { file, leftOut } = await recordCase(request, { dir, masks: [], secrets: [own] });
    const { case: golden } = await readRequestFile(file);
    return { text: readFileSync(file, 'utf8'), leftOut, payload: golden?.deliveries[0]?.request.payload };
  };

  test.each(
    'password token access_token refreshToken client_secret apiKey api-key private_key Authorization cookie pwd passphrase'
      .split(' ')
      .concat('API Key:', 'Access Token', ' password '),
  )('in the field %j of a body are left out at any depth, which is said', async (name) => {
    const found = await write({
      payload: {
        list: [{ [name]: 'hunter2-hunter2' }],
        user: { [name]: ['hunter2-hunter2'] },
        plain: 'kept',
      },
    });
    expect(found.text).not.toContain('hunter2');
    expect(found.text).toContain('kept');
    expect(found.leftOut).toHaveLength(2);
    expect(found.leftOut.join()).toContain(name);
  });

  test('that a number or a text with JSON holds are left out, and what is none stays', async () => {
    const kept = {
      tokens: 1200,
      token: null,
      secret: '',
      code: 'E42',
      auth: { user: 'ada' },
      pass: true,
      sortKey: 'name',
    };
    const { text, leftOut, payload } = await write({
      payload: {
        ...kept,
        pin_token: 123_456_789,
        form: JSON.stringify({ token: 'hunter2', n: 1 }),
        json: '{"a": 1}',
        forms: ['hunter2', 'hunter3'].map((token) => JSON.stringify({ token })),
      },
    });
    expect(text).not.toMatch(/hunter|123456789/);
    expect(leftOut).toEqual(['payload.pin_token', 'payload.form.token', 'payload.forms[].token']);
    expect(payload).toMatchObject({ ...kept, form: '{"token":"[removed]","n":1}', json: '{"a": 1}' });
  });

  test('of the configuration are left out wherever they stand', async () => {
    const { text, leftOut } = await write({
      payload: {
        [own]: 1,
        note: `see ${own}!`,
        nested: [{ url: `https://x/?a=${own}` }],
        text: JSON.stringify([own]),
      },
      headers: { 'x-note': own, 'user-agent': 'a' },
      query: { note: `${own}1` },
    });
    expect(text).not.toContain(own);
    expect(leftOut).toEqual(
      expect.arrayContaining([
        'headers.x-note',
        'query.note',
        'payload',
        'payload.note',
        'payload.nested[].url',
      ]),
    );
  });

  test.each([
    'dpop',
    'x-functions-key',
    'ocp-apim-subscription-key',
    'x-amzn-oidc-data',
    'referer',
    'cookie',
    'x-api-key',
    'x-amz-security-token',
    'cf-access-jwt-assertion',
    'x-auth-request-user',
    'aeg-sas-key',
  ])('in the header %s are left out', async (name) => {
    const headers = { [name]: 'hunter2', 'x-event-key': 'repo:push', 'idempotency-key': 'i' };
    const { text, leftOut } = await write({ headers });
    expect(text).not.toContain('hunter2');
    expect(text).toContain('repo:push');
    expect(text).toContain('idempotency-key');
    expect(leftOut).toEqual([`headers.${name}`]);
  });

  test('a signature under any name leaves its form', async () => {
    const hex = 'a1'.repeat(32);
    const headers = { 'x-acme-check': hex, 'x-acme-mac': `sha256=${hex}`, 'x-commit-id': hex };
    const { text, leftOut } = await write({ headers });
    expect(text).toContain('x-acme-check: "[removed: 64 of hex]"');
    expect(text).toContain('x-acme-mac: "sha256=[removed: 64 of hex]"');
    expect(text).toContain(`x-commit-id: ${hex}`);
    expect(leftOut).toEqual(['headers.x-acme-check', 'headers.x-acme-mac']);
  });

  test.each(['code', 'auth', 'sig', 'key', 'access_token', 'subscription-key', 'Code'])(
    'in the parameter %s of the query are left out',
    async (name) => {
      const { text, leftOut } = await write({ query: { [name]: 'hunter2', page: '2', sort_key: 'a' } });
      expect(text).not.toContain('hunter2');
      expect(text).toContain('sort_key');
      expect(leftOut).toEqual([`query.${name}`]);
    },
  );
});
