/** A request of a file, a golden case and a kept request are read as those of the wire are: no second way. */
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import { createHookRequest, receiveWritten } from '../../../src/engine/hook/hook.ts';
import type { PathSettings } from '../../../src/engine/mapping/mapping.ts';
import { UnwritableBody } from '../../../src/base/payload/payload.ts';
import type { HookRequest, JsonValue } from '../../../src/base/request.ts';
import { toWire } from '../../../src/engine/hook/facts.ts';
import { BEARER, json, send, startTestServer, stopServers } from '../../support/server-fixture.ts';

afterEach(stopServers);

const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((each) => each.isWellFormed());
const name = fc.stringMatching(/^[a-z][a-z_]{0,8}$/);
const SCALARS = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const fields = fc.dictionary(name, SCALARS, { maxKeys: 5 });
const anything = fc.oneof(
  fields,
  fc.dictionary(name, fc.oneof(SCALARS, fields, fc.array(SCALARS, { maxLength: 3 })), { maxKeys: 4 }),
  fc.array(fields, { maxLength: 3 }),
  text,
) as fc.Arbitrary<JsonValue>;
const xml = name.map((each) => `<${each}><a b="1">t</a></${each}>`);
const event = fields.map((data) => ({ specversion: '1.0', id: '1', source: 's', type: 't', data }));

interface Format {
  readonly format: string;
  readonly settings: PathSettings;
  readonly values: fc.Arbitrary<JsonValue>;
  readonly headers?: Readonly<Record<string, string>>;
}

const FORMATS: readonly Format[] = [
  { format: 'json', settings: {}, values: anything },
  { format: 'form', settings: { bodyFormat: 'form' }, values: anything },
  {
    format: 'form in parts',
    settings: { bodyFormat: 'form' },
    values: fields,
    headers: { 'content-type': 'multipart/form-data' },
  },
  { format: 'text', settings: { bodyFormat: 'text' }, values: anything },
  { format: 'xml', settings: { bodyFormat: 'xml' }, values: fc.oneof(xml, anything) },
  {
    format: 'cloudevents',
    settings: { bodyFormat: 'cloudevents' },
    values: fc.oneof(event, anything),
  },
  { format: 'GET', settings: { method: 'GET' }, values: anything },
];

/** What mappings see of a request, or the code of the refusal. */
type Seen = Pick<HookRequest, 'payload' | 'bodySha256'> | { readonly code: string };

/** A server that takes requests so, and what it made of one. */
async function liveWith(settings: PathSettings) {
  const server = await startTestServer({ generation: { settingsOf: () => settings } });
  return async (wire: ReturnType<typeof toWire>): Promise<Seen> => {
    const before = server.evaluated.length;
    const { pathname, search } = new URL(wire.url);
    const headers = { ...wire.headers, ...BEARER };
    const isGet = wire.method === 'GET';
    const reply = await send(server, pathname + search, {
      method: wire.method,
      headers,
      ...(isGet ? {} : { body: wire.body }),
    });
    const seen = server.evaluated.slice(before).at(-1);
    return seen === undefined
      ? { code: String(json(reply)['code']) }
      : { payload: seen.payload, bodySha256: seen.bodySha256 };
  };
}

async function offline(...args: Parameters<typeof receiveWritten>): Promise<Seen> {
  try {
    const { payload, bodySha256 } = await receiveWritten(...args);
    return { payload, bodySha256 };
  } catch (error) {
    if (error instanceof HookError) return { code: error.code };
    throw error;
  }
}

const plain = (seen: Seen): unknown => JSON.parse(JSON.stringify(seen)) as unknown;

test('a path that names lists has them, whatever came', async () => {
  const settings = { bodyFormat: 'xml', lists: ['o.i', 'o.none', 'o.i.tags', 'o.not.there'] } as const;
  const request = createHookRequest({
    path: 'a',
    payload: '<o><i><tags>a</tags></i><none/></o>',
    receivedAt: 0,
  });
  const wire = toWire({ request }, settings, 'http://localhost/hooks');
  const seen = await (await liveWith(settings))(wire);
  expect(plain(seen)).toMatchObject({ payload: { o: { i: [{ tags: ['a'] }], none: [] } } });
  expect(plain(await offline({ request }, settings))).toEqual(plain(seen));
});

test.each([
  ['text', 'text/plain; charset=iso-2022-jp', '日本語'],
  ['xml', 'text/xml; charset=iso-8859-1', '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'],
  ['form', 'application/x-www-form-urlencoded', { charset: 'windows-1252', a: 'é' }],
] as const)(
  'a %s that came in another charset is written and read as UTF-8',
  async (bodyFormat, type, payload) => {
    const settings = { bodyFormat };
    const request = createHookRequest({
      path: 'a',
      headers: { 'content-type': type },
      payload,
      receivedAt: 0,
    });
    const seen = await (await liveWith(settings))(toWire({ request }, settings, 'http://localhost/hooks'));
    expect(plain(await offline({ request }, settings))).toEqual(plain(seen));
    expect(JSON.stringify(seen)).toMatch(/日本語|é/);
  },
);

test('parameters are read as fields of a form are', async () => {
  const live = await liveWith({ method: 'GET' });
  const reads = (query: string) =>
    live({
      method: 'GET',
      url: `http://localhost/hooks/a?${query}`,
      headers: {},
      rawHeaders: [],
      body: Buffer.alloc(0),
    });
  expect(plain(await reads('user[name]=Ada&tags[]=a&tags[]=b&token=x&x=1&x=2'))).toMatchObject({
    payload: { user: { name: 'Ada' }, tags: ['a', 'b'], x: ['1', '2'] },
  });
  expect(await reads('a=%F6')).toEqual({ code: 'invalid_utf8' });
  expect(plain(await reads('a=%F6&charset=windows-1252'))).toMatchObject({ payload: { a: 'ö' } });
});

describe('what is read without the service is what the service reads', () => {
  test.each(FORMATS)(
    'the body of a request file to a path of $format',
    async ({ settings, values, headers = {} }) => {
      const live = await liveWith(settings);
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(values, async (payload) => {
          const request = createHookRequest({ path: 'a', headers, query: {}, payload, receivedAt: 0 });
          let wire: ReturnType<typeof toWire>;
          try {
            wire = toWire({ request }, settings, 'http://localhost/hooks');
          } catch (error) {
            // Neither of the two takes what no sender can write.
            expect(error).toBeInstanceOf(UnwritableBody);
            await expect(receiveWritten({ request }, settings)).rejects.toBeInstanceOf(UnwritableBody);
            return;
          }
          compared += 1;
          expect(plain(await offline({ request }, settings))).toEqual(plain(await live(wire)));
        }),
        { numRuns: 60, seed: 7 },
      );
      expect(compared).toBeGreaterThan(5);
    },
  );

  test.each(FORMATS)('the bytes of a bodyFile to a path of $format', async ({ settings, values }) => {
    const live = await liveWith(settings);
    const bytes = fc.oneof(
      values.map((value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))),
      xml.map((each) => Buffer.from(each)),
      fc
        .constantFrom('', ' ', '{"a":1,}', 'a=1&b=%zz', '<a>', '\u00ff', 'payload=%7B%22a%22%3A1%7D')
        .map((each) => Buffer.from(each, 'latin1')),
    );
    const types = fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'text/xml',
      'text/plain',
      'application/cloudevents+json',
    );
    await fc.assert(
      fc.asyncProperty(bytes, types, async (rawBody, type) => {
        const headers = { 'content-type': type };
        const request = createHookRequest({
          path: 'a',
          headers,
          query: { q: '1' },
          payload: {},
          receivedAt: 0,
        });
        const written = { request, rawBody };
        const wire = toWire(written, settings, 'http://localhost/hooks');
        expect(plain(await offline(written, settings))).toEqual(plain(await live(wire)));
      }),
      { numRuns: 60, seed: 8 },
    );
  });
});
