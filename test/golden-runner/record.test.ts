/** A recorded request is the same request when it is read again. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readRequestFile, recordCase } from '../../src/golden/golden.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import { parseJson } from '../../src/json.ts';
import type { HookRequest, JsonValue } from '../../src/request.ts';

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
      const { case: golden, diagnostics } = await readRequestFile(file);
      expect(diagnostics).toEqual([]);
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
  const options = { dir, masks: [], name: 'same' };
  const files = await Promise.all([1, 2, 3].map((n) => recordCase(requestOf(n), options)));
  expect(new Set(files.map(({ file }) => file)).size).toBe(3);
  for (const path of ['..', '../../etc', '/', 'a/../b', '.hidden']) {
    const { file } = await recordCase(requestOf(1, path), options);
    expect(file.startsWith(join(dir, '/'))).toBe(true);
  }
  expect(readdirSync(dir).every((name) => !name.startsWith('.'))).toBe(true);
});

test('with its long numbers digit by digit, under a mask, too', async () => {
  const text = '{"id":820982911946154508,"ids":[820982911946154509,1e400,-12345678901234567890.5],"n":1.5}';
  const request = requestOf(parseJson(text));
  for (const masks of [[], ['payload.n', 'payload.id.x']]) {
    // oxlint-disable-next-line no-await-in-loop -- file names are counted
    const { file } = await recordCase(request, { dir, masks });
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { case: golden, diagnostics } = await readRequestFile(file);
    expect(diagnostics).toEqual([]);
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
  const { case: golden, diagnostics } = await readRequestFile(file);
  expect(diagnostics).toEqual([]);
  expect(golden).not.toHaveProperty('expected');
});
