/** Bodies of senders: each becomes a payload or a refusal below 500, the same one as an independent reader's. */
import { deepEqual, ok } from 'node:assert/strict';
import { deflateSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { HookError } from '../../../src/base/errors.ts';
import { BODY_FORMATS, inflateBody, parsePayload } from '../../../src/base/payload/payload.ts';
import { type FuzzProperty, inTime, json, NAMES, payload, texts } from './arbitraries.ts';

const MAX_BYTES = 262_144;
const decoder = new TextDecoder('utf-8', { fatal: true });

const number = fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,40})?([eE][-+]?\d{1,4})?$/);
const exact = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), number), { maxLength: 5 })
  .map((pairs) => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}: [${value}]`).join(',')}}`);
const form = fc
  .array(
    fc.tuple(
      fc.array(
        fc.constantFrom(
          'a',
          'b',
          '[a]',
          '[]',
          '[0]',
          '[__proto__]',
          '[',
          ']',
          '.',
          '%5B',
          'constructor',
          'payload',
        ),
        { maxLength: 6 },
      ),
      texts,
    ),
    { maxLength: 6 },
  )
  .map((pairs) =>
    pairs.map(([names, value]) => `${names.join('')}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
  );
const xml = fc
  .array(
    fc.constantFrom(
      '<a>',
      '</a>',
      '<b x="1">',
      '</b>',
      'text',
      '&amp;',
      '&#65;',
      '&x;',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<?xml version="1.0"?>',
      '<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;">]>',
      '<__proto__>',
      '</__proto__>',
      '<a:b/>',
      '<constructor/>',
      '\0',
      '"',
      '>',
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

const body = fc.record({
  format: fc.constantFrom(...BODY_FORMATS),
  contentType: fc.constantFrom(
    '',
    'application/json',
    'application/x-www-form-urlencoded',
    'text/xml; charset=x',
    'multipart/form-data; boundary=',
    'application/cloudevents+json',
  ),
  encoding: fc.constantFrom('', 'gzip', 'deflate', 'br', 'identity', 'gzip, gzip'),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc
      .oneof(
        exact,
        form,
        xml,
        texts,
        fc.json(),
        payload.map((each) => JSON.stringify(each)),
      )
      .map((each) => Buffer.from(each)),
  ),
  /** Whether the bytes are really compressed as announced. */
  isPacked: fc.boolean(),
});

const bodies: FuzzProperty = {
  name: 'bodies',
  runs: 400,
  async check(parameters) {
    const property = fc.asyncProperty(body, async ({ format, contentType, encoding, bytes, isPacked }) => {
      const packed = !isPacked ? bytes : encoding === 'gzip' ? gzipSync(bytes) : deflateSync(bytes);
      const headers = {
        'content-type': contentType,
        'ce-specversion': '1.0',
        'ce-type': 't',
        'ce-id': '1',
        'ce-source': 's',
      };
      try {
        const unpacked = await inflateBody(encoding === '' ? bytes : packed, encoding, MAX_BYTES);
        const value = inTime(() => parsePayload({ bytes: unpacked, headers }, format, decoder));
        ok(({} as Record<string, unknown>)['polluted'] === undefined);
        deepEqual(
          JSON.stringify(value),
          JSON.stringify(parsePayload({ bytes: unpacked, headers }, format, decoder)),
        );
      } catch (error) {
        ok(error instanceof HookError, `not a refusal: ${String(error)}`);
        ok(error.status < 500 && error.detail.length > 10);
      }
    });
    await fc.assert(property, parameters);
  },
};

const read = (bytes: Buffer, format: 'json' | 'form'): unknown =>
  parsePayload({ bytes, headers: {} }, format, decoder);

/** What a reader of another hand makes of the same bytes. */
const readers: FuzzProperty = {
  name: 'bodies, against other readers',
  runs: 300,
  check(parameters) {
    fc.assert(
      fc.property(json, (value) => {
        const written = JSON.stringify(value);
        deepEqual(JSON.stringify(read(Buffer.from(written), 'json')), JSON.stringify(JSON.parse(written)));
      }),
      parameters,
    );
    // Every number keeps its decimal value: written again it is read as the same.
    fc.assert(
      fc.property(exact, (written) => {
        const once = JSON.stringify(read(Buffer.from(written), 'json'));
        deepEqual(JSON.stringify(read(Buffer.from(once), 'json')), once);
      }),
      parameters,
    );
    const flat = fc.dictionary(
      fc.stringMatching(/^[a-zA-Z]{1,8}$/),
      texts.map((each) => each.toWellFormed()),
      { maxKeys: 5 },
    );
    fc.assert(
      fc.property(flat, (fields) => {
        const params = new URLSearchParams(fields);
        deepEqual(
          { ...(read(Buffer.from(params.toString()), 'form') as object) },
          Object.fromEntries(params),
        );
      }),
      parameters,
    );
    return Promise.resolve();
  },
};

export const BODY_PROPERTIES: readonly FuzzProperty[] = [bodies, readers];
