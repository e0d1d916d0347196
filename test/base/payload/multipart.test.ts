import { TextDecoder } from 'node:util';
import { describe, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import {
  type BodyFormat,
  parseLargePayload,
  parsePayload,
  readPartTexts,
  writeParts,
} from '../../../src/base/payload/payload.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });
/** The boundary of SendGrid's Inbound Parse. */
const TYPE = 'multipart/form-data; boundary=xYzZY';
const END = '--xYzZY--\r\n';

function part(disposition: string, content: string | Buffer, ...headers: readonly string[]): Buffer {
  const lines = [`Content-Disposition: form-data; ${disposition}`, ...headers];
  return Buffer.concat([
    Buffer.from(`--xYzZY\r\n${lines.join('\r\n')}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
}

const text = (name: string, value: string | Buffer, ...headers: readonly string[]): Buffer =>
  part(`name="${name}"`, value, ...headers);
const form = (...parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat([...parts.map((each) => Buffer.from(each as string)), Buffer.from(END)]);

function parse(bytes: Buffer, contentType = TYPE, format: BodyFormat = 'form'): unknown {
  return parsePayload({ bytes, headers: { 'content-type': contentType } }, format, decoder);
}

const parsed = (bytes: Buffer, contentType = TYPE): unknown =>
  JSON.parse(JSON.stringify(parse(bytes, contentType)));

function problem(bytes: Buffer, contentType = TYPE, format: BodyFormat = 'form'): string {
  try {
    parse(bytes, contentType, format);
  } catch (error) {
    if (error instanceof HookError)
      return `${error.code}: ${error.detail} ${JSON.stringify(error.facts ?? {})}`;
    throw error;
  }
  throw new Error('it was taken');
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x0d, 0x0a, 0x2d, 0x2d, 0x00]);
const THUMB = part('name="thumb"; filename="thumb.jpg"', JPEG, 'Content-Type: image/jpeg');
const THUMB_FIELDS = { filename: 'thumb.jpg', contentType: 'image/jpeg', size: JPEG.length };

describe('the fields of a form in parts', () => {
  test.each<[string, Buffer, unknown]>([
    [
      'texts, also empty and of several lines',
      form(text('a', ''), text('b', 'x\r\n\r\ny')),
      { a: '', b: 'x\r\n\r\ny' },
    ],
    ['a name that is repeated', form(text('a', '1'), text('a', '2')), { a: ['1', '2'] }],
    ['brackets', form(text('a[]', '1'), text('b[c][d]', '2')), { a: ['1'], b: { c: { d: '2' } } }],
    ['dots and quotes', form(text('a.b', '1'), text(String.raw`c\"d`, '2')), { 'a.b': '1', 'c"d': '2' }],
    ['no part', form(), {}],
    [
      'a preamble and what follows the end',
      Buffer.concat([Buffer.from('\r\n'), form(text('a', '1')), Buffer.from('x')]),
      { a: '1' },
    ],
    ['a file', form(text('a', '1'), THUMB), { a: '1', thumb: THUMB_FIELDS }],
    ['files of one name', form(THUMB, THUMB), { thumb: [THUMB_FIELDS, THUMB_FIELDS] }],
    [
      'a file without a name or a type',
      form(part('name=f; filename=""', ''), text('g', 'x', 'Content-Type: application/octet-stream')),
      {
        f: { filename: '', contentType: 'application/octet-stream', size: 0 },
        g: { filename: '', contentType: 'application/octet-stream', size: 1 },
      },
    ],
    [
      'the name of a file in other signs, and with a wrong charset',
      form(
        part(`name="a"; filename="x"; filename*=UTF-8''%e2%82%ac.txt`, '1'),
        part(`name="b"; filename="x"; filename*=klingon'x'%e2`, '1'),
      ),
      {
        a: { filename: '€.txt', contentType: 'application/octet-stream', size: 1 },
        b: { filename: 'x', contentType: 'application/octet-stream', size: 1 },
      },
    ],
    [
      'parts within a part',
      form(text('a', '--in\r\n\r\nx\r\n--in--', 'Content-Type: multipart/mixed; boundary=in')),
      { a: { filename: '', contentType: 'multipart/mixed', size: 17 } },
    ],
    [
      'charsets of a part, and as SendGrid tells them',
      form(
        text('a', Buffer.from([0xe9]), 'Content-Type: text/plain; charset="iso-8859-1"'),
        text('subject', Buffer.from([0xe9])),
        text('to', 'é'),
        text('charsets', '{"subject":"windows-1252","to":"UTF-8"}'),
      ),
      { a: 'é', subject: 'é', to: 'é', charsets: '{"subject":"windows-1252","to":"UTF-8"}' },
    ],
    [
      'JSON in payload, with its files beside it',
      form(text('payload', '{"event":"media.play","id":1}', 'Content-Type: application/json'), THUMB),
      { event: 'media.play', id: 1, thumb: THUMB_FIELDS },
    ],
    [
      'a field of the JSON before a file of its name',
      form(text('payload', '{"thumb":1}'), THUMB),
      { thumb: 1 },
    ],
    ['JSON in payload beside a text', form(text('payload', '{}'), text('a', '1')), { payload: '{}', a: '1' }],
  ])('%s', async (_, bytes, payload) => {
    expect(parsed(bytes)).toEqual(payload);
    const body = { bytes, headers: { 'content-type': TYPE } };
    const inSteps = await parseLargePayload(body, 'form', { decoder, pause: () => Promise.resolve() });
    expect(JSON.parse(JSON.stringify(inSteps))).toEqual(payload);
  });

  test('names of prototypes are names like others', () => {
    const payload = parse(form(text('__proto__', '1'), text('a[__proto__][x]', '2'))) as Record<
      string,
      unknown
    >;
    expect(Object.keys(payload)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(payload)).toBeNull();
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    const wrapped = parse(form(text('payload', '{"a":1}'), part('name="__proto__"; filename="f"', '')));
    expect(Object.keys(wrapped as object)).toContain('__proto__');
    expect((wrapped as Record<string, unknown>)['size']).toBeUndefined();
  });

  test('what is written for a test is read as the same', () => {
    const fields = { a: 'ü "x"', n: 'x\r\n--y', thumb: THUMB_FIELDS };
    const { contentType, bytes } = writeParts(fields);
    expect(parsed(bytes, contentType)).toEqual(fields);
  });

  test('the texts of a body that is not proved are read alone, and none where there are two of a name', () => {
    const read = (bytes: Buffer, contentType = TYPE): unknown =>
      readPartTexts({ bytes, headers: { 'content-type': contentType } }, ['a', 'thumb', 'b']);
    expect(read(form(text('a', '1'), THUMB))).toEqual(['1', undefined, undefined]);
    expect(read(form(text('a', '1'), text('a', '2')))).toEqual([undefined, undefined, undefined]);
    expect(read(form(text('a', '1')), 'multipart/form-data')).toEqual([undefined, undefined, undefined]);
  });
});

describe('a form in parts that is refused', () => {
  const one = form(text('a', '1'));
  test.each<[string, Buffer, string, string]>([
    [
      'no boundary',
      one,
      'multipart/form-data',
      'names no boundary; let the sender set no Content-Type of its own',
    ],
    ['another boundary', one, 'multipart/form-data; boundary=other', 'is nowhere in the body'],
    ['a long boundary', one, `multipart/form-data; boundary=${'x'.repeat(201)}`, 'longer than 200 signs'],
    ['another type of parts', one, 'multipart/mixed; boundary=xYzZY', 'only multipart/form-data is a form'],
    ['no end', text('a', '1'), TYPE, 'the form breaks off in part 1'],
    [
      'lines that end with LF',
      Buffer.from(one.toString().replaceAll('\r\n', '\n')),
      TYPE,
      'the lines of the form end with LF alone; end each with CRLF',
    ],
    ['a part without a name', form(part('filename="x"', '')), TYPE, 'part 1 of the form has no name'],
    ['a long header', form(text('a', '1', `x: ${'x'.repeat(9000)}`)), TYPE, 'does not end within 8192 bytes'],
    ['many parts', form(...Array.from({ length: 1001 }, () => text('a', ''))), TYPE, 'more than 1000 fields'],
    ['a deep name', form(text(`a${'[b]'.repeat(16)}`, '1')), TYPE, 'nested more than 16 levels'],
    ['a text and a group', form(text('a', '1'), text('a[b]', '1')), TYPE, 'a text in one place'],
    ['a text that is not UTF-8', form(text('a', Buffer.from([0xe9]))), TYPE, 'invalid_utf8'],
    [
      'a header that is not UTF-8',
      form(Buffer.from(text('a', '').toString().replace('"a"', '"\u00e9"'), 'latin1')),
      TYPE,
      'the header of part 1',
    ],
    [
      'a charset nobody knows',
      form(text('a', 'é', 'Content-Type: text/plain; charset=klingon')),
      TYPE,
      'charset that is not known',
    ],
    [
      'a charset it is not in',
      form(text('a', Buffer.from([0x81, 0xff]), 'Content-Type: text/plain; charset=gb18030')),
      TYPE,
      'not in the charset',
    ],
    ['JSON in payload that is none', form(text('payload', '{')), TYPE, 'invalid_json: the field payload'],
    [
      'parts under another type',
      one,
      'application/x-www-form-urlencoded',
      'its Content-Type does not say so; let the sender set no',
    ],
  ])('%s', (_, bytes, contentType, detail) => {
    expect(problem(bytes, contentType)).toContain(detail);
  });

  test('on a path of JSON, whatever bytes its files have', () => {
    const body = form(text('payload', '{"a":1}'), THUMB);
    expect(problem(body, TYPE, 'json')).toMatch(/"format":"form","takes":"json","isWrapped":true/);
    expect(problem(body, 'application/json', 'json')).toContain('its Content-Type does not say so');
    expect(problem(body, TYPE, 'xml')).toContain('"format":"form","takes":"xml"');
  });
});

/** The longest time for which reading these bytes lets nothing else run. */
async function longestStepMs(bytes: Buffer): Promise<number> {
  let longestMs = 0;
  let since = threadMs();
  const pause = (): Promise<void> => {
    longestMs = Math.max(longestMs, threadMs() - since);
    return new Promise((resolve) => {
      setImmediate(() => {
        since = threadMs();
        resolve();
      });
    });
  };
  const body = { bytes, headers: { 'content-type': TYPE } };
  await parseLargePayload(body, 'form', { decoder, pause }).catch((error: unknown) => {
    expect(error).toBeInstanceOf(HookError);
  });
  await pause();
  return longestMs;
}

describe('a hostile form in parts', () => {
  const MEGABYTE = 1_048_576;
  const repeated = (unit: string | Buffer): Buffer =>
    Buffer.concat([Buffer.alloc(MEGABYTE, unit), Buffer.from(`\r\n${END}`)]);
  const long = (unit: string): Buffer =>
    text('a', 'x', `Content-Type: x/y${unit.repeat(8000 / unit.length)}`);

  test.each<[string, Buffer]>([
    ['parts of nothing', repeated('--xYzZY\r\n\r\n')],
    ['small parts', repeated(text('a', ''))],
    ['lines that are nearly the end', repeated('\r\n--xYzZ')],
    ['a header that never ends', Buffer.concat([Buffer.from('--xYzZY\r\n'), repeated('a: b\r\n')])],
    ['headers with open quotes', repeated(long(';a="'))],
    ['headers with backslashes', repeated(long(';a="\\'))],
    ['headers of many lines', repeated(long('\r\na:'))],
    ['nested names', repeated(text(`a${'[b]'.repeat(15)}`, 'x'.repeat(1000)))],
  ])('holds the loop for a short time: %s', async (_, bytes) => {
    // The machine may be busy: one quick run of a few says that the work itself is short.
    let longestMs = Infinity;
    const mostMs = computingMs(50);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let left = 5; left > 0 && longestMs >= mostMs; left -= 1) longestMs = await longestStepMs(bytes);
    expect(longestMs).toBeLessThan(mostMs);
  });
});
