import { TextDecoder } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import {
  BODY_FORMATS,
  type BodyFormat,
  parseLargePayload,
  parsePayload,
} from '../../../src/base/payload/payload.ts';
import { CODE_POINT } from '../../support/code-point.ts';
import { computingMs } from '../../support/thread-time.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });
const FORM = 'application/x-www-form-urlencoded';

function parse(format: BodyFormat, body: string | Buffer, headers: Record<string, string> = {}): unknown {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  return parsePayload({ bytes, headers }, format, decoder);
}

/** Objects of parsers have no prototype; as text they compare by what is in them. */
function parsed(format: BodyFormat, body: string | Buffer, headers: Record<string, string> = {}): unknown {
  return JSON.parse(JSON.stringify(parse(format, body, headers)));
}

function problem(format: BodyFormat, body: string | Buffer, headers: Record<string, string> = {}): string {
  try {
    parse(format, body, headers);
  } catch (error) {
    if (error instanceof HookError)
      return `${error.code}: ${error.detail}${error.facts === undefined ? '' : ` ${JSON.stringify(error.facts)}`}`;
    throw error;
  }
  throw new Error('it was taken');
}

describe('JSON', () => {
  test('a long number keeps its text, also behind a byte order mark and characters of several bytes', () => {
    const written = ['820982911946154508', '{"ü€😀":[-12345678901234567890]}'];
    for (const text of [...written, ...written.map((each) => `\ufeff${each}`)]) {
      expect(JSON.stringify(parse('json', text))).toBe(text.replace('\ufeff', ''));
    }
  });

  test('513 levels of lists and objects are refused, 512 and any number side by side are taken', () => {
    const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
    expect(problem('json', `[${nested(512)}]`)).toMatch('invalid_body: the body is nested more than 512');
    expect(JSON.stringify(parse('json', nested(512)))).toBe(nested(512));
    const flat = `[${Array.from({ length: 600 }, () => '{"a":[]}').join(',')}]`;
    expect(JSON.stringify(parse('json', flat))).toBe(flat);
  });
});

describe('a charset that is declared', () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
  const JP = Buffer.from('\u001b$BF|K\\8l\u001b(B', 'latin1');

  test.each<[BodyFormat, string | Buffer, string, unknown]>([
    [
      'form',
      'charset=windows-1252&name=Jos%E9&city=K%F6ln',
      FORM,
      { charset: 'windows-1252', name: 'José', city: 'Köln' },
    ],
    ['form', latin('a=K\u00f6ln+x'), `${FORM}; charset=ISO-8859-1`, { a: 'Köln x' }],
    ['form', 'a=%C4%E3%BA%C3', `${FORM};charset="GBK"`, { a: '你好' }],
    ['form', 'a=%1B%24BF%7CK%5C%1B%28B', `${FORM}; charset=iso-2022-jp`, { a: '日本' }],
    ['form', 'charset=utf-8&a=%C3%B6', FORM, { charset: 'utf-8', a: 'ö' }],
    ['form', 'a=%C3%B6', `${FORM}; charset=x-unknown`, { a: 'ö' }],
    ['xml', latin('<?xml version="1.0" encoding="ISO-8859-1"?><a>Jos\u00e9</a>'), 'text/xml', { a: 'José' }],
    [
      'xml',
      Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>é</a>', 'utf16le'),
      'text/xml',
      { a: 'é' },
    ],
    ['xml', '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'text/xml; charset=utf-8', { a: 'é' }],
    ['text', JP, 'text/plain; charset=iso-2022-jp', '日本語'],
    ['text', latin('\u0080 5'), 'text/plain; charset=windows-1252', '€ 5'],
  ])('%s: %s, %s', (format, body, type, payload) => {
    expect(parsed(format, body, { 'content-type': type })).toEqual(payload);
  });

  test('is one that the bytes have', () => {
    const type = { 'content-type': 'text/plain; charset=gbk' };
    expect(problem('text', latin('\u0081\u0020'), type)).toMatch(
      /^invalid_utf8: the body is not in the charset/,
    );
  });
});

describe('a form', () => {
  test.each([
    ['a=1&b=', { a: '1', b: '' }],
    [
      'Body=Hello+there%21&From=%2B15551234&From%43ity=K%C3%B6ln',
      { Body: 'Hello there!', From: '+15551234', FromCity: 'Köln' },
    ],
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[0][id]=x&a[1][id]=y', { a: [{ id: 'x' }, { id: 'y' }] }],
    ['a[1]=x&a[3]=y', { a: ['x', 'y'] }],
    ['a[3][n]=y&a[1][n]=x', { a: [{ n: 'x' }, { n: 'y' }] }],
    ['a[1042]=x', { a: { 1042: 'x' } }],
    ['a[01]=x', { a: { '01': 'x' } }],
    // Elements without indices, as Rack reads them: its own rules and examples of its specification.
    ['x[y][][z]=1&x[y][][w]=2', { x: { y: [{ z: '1', w: '2' }] } }],
    ['x[y][][z]=1&x[y][][v][w]=2', { x: { y: [{ z: '1', v: { w: '2' } }] } }],
    [
      'x[y][][z]=1&x[y][][w]=a&x[y][][z]=2&x[y][][w]=3',
      {
        x: {
          y: [
            { z: '1', w: 'a' },
            { z: '2', w: '3' },
          ],
        },
      },
    ],
    [
      'x[][z][w]=a&x[][y]=1&x[][z][w]=b&x[][y]=2',
      {
        x: [
          { z: { w: 'a' }, y: '1' },
          { z: { w: 'b' }, y: '2' },
        ],
      },
    ],
    ['d[b][][d][p]=1&d[b][][d][p]=2', { d: { b: [{ d: { p: '1' } }, { d: { p: '2' } }] } }],
    ['x[][y][][z]=1&x[][y][][w]=2', { x: [{ y: [{ z: '1', w: '2' }] }] }],
    [
      'x[][id]=1&x[][y][a]=5&x[][y][b]=7&x[][id]=2&x[][y][a]=6&x[][y][b]=8',
      {
        x: [
          { id: '1', y: { a: '5', b: '7' } },
          { id: '2', y: { a: '6', b: '8' } },
        ],
      },
    ],
    ['x[][a]=1&x[][b]=2&foo=bar&x[][c]=3', { x: [{ a: '1', b: '2', c: '3' }], foo: 'bar' }],
    ['foo[]=1&foo[][]=2', { foo: ['1', ['2']] }],
    ['a[][]=1&a[][]=2', { a: [['1'], ['2']] }],
    ['x[y][][z][]=1', { x: { y: [{ z: ['1'] }] } }],
    ['a[b][c]=1&a[b][d]=2&e', { a: { b: { c: '1', d: '2' } }, e: '' }],
    ['a]b=1&[x]=2&a[b=3', { 'a]b': '1', '[x]': '2', 'a[b': '3' }],
    ['0=a&1=b', { 0: 'a', 1: 'b' }],
    ['&&a=1&', { a: '1' }],
    ['', {}],
  ])('%s', (body, payload) => {
    expect(parsed('form', body, { 'content-type': FORM })).toEqual(payload);
  });

  test('a lone field payload with JSON is that JSON, ids with all their digits', () => {
    const payload = encodeURIComponent('{"id":820982911946154508,"ref":"refs/heads/main"}');
    expect(JSON.stringify(parse('form', `payload=${payload}`))).toBe(
      '{"id":820982911946154508,"ref":"refs/heads/main"}',
    );
    expect(parsed('form', `payload=${payload}&a=1`)).toMatchObject({ a: '1' });
    expect(parsed('form', 'payload=hello')).toEqual({ payload: 'hello' });
    expect(problem('form', 'payload={')).toBe('invalid_json: the field payload of the form is not JSON');
  });

  test('names of prototypes are names like others', () => {
    const payload = parse('form', '__proto__[x]=1&constructor=2&a[__proto__][y]=3') as Record<
      string,
      unknown
    >;
    expect(Object.getPrototypeOf(payload)).toBeNull();
    expect(Object.keys(payload)).toEqual(['__proto__', 'constructor', 'a']);
    expect(Object.getPrototypeOf(payload['a'])).toBeNull();
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test.each([
    ['a=%', 'invalid_utf8'],
    ['a=%ff', 'invalid_utf8'],
    [Buffer.from('a=\u00ff', 'latin1'), 'invalid_utf8'],
    ['a=1&a[b]=2', 'invalid_body'],
    ['a[b]=2&a=1', 'invalid_body'],
    ['a=1&'.repeat(1001), 'invalid_body'],
    [`a${'[b]'.repeat(16)}=1`, 'invalid_body'],
  ])('refuses %s', (body, code) => {
    expect(problem('form', body)).toMatch(new RegExp(`^${code}:`));
  });
});

describe('XML', () => {
  test.each([
    ['<a>1</a>', { a: '1' }],
    [
      '<?xml version="1.0"?><a b="x &amp; y"><c>1</c><c>2</c><d/>text</a>',
      { a: { '@b': 'x & y', c: ['1', '2'], d: '', '#text': 'text' } },
    ],
    ['<a><![CDATA[<b>]]></a>', { a: '<b>' }],
    ['<a>&lt;&#65;&#x42;&gt;&amp;lt;</a>', { a: '<AB>&lt;' }],
    ['<n:a xmlns:n="urn:x">007</n:a>', { 'n:a': { '@xmlns:n': 'urn:x', '#text': '007' } }],
    ['<a><!-- no --><b>1</b></a>', { a: { b: '1' } }],
    ['<a>x<!-- no --> y <?p q?> z<b/></a>', { a: { b: '', '#text': 'x yz' } }],
    ['<a b="1\r\n2">x\r\ny</a>', { a: { '@b': '1 2', '#text': 'x\ny' } }],
    ['<a>&nbsp;&#0;]]></a>', { a: '&nbsp;&#0;]]>' }],
    ['\ufeff<a>😀</a>', { a: '😀' }],
    ['', {}],
  ])('%s', (body, payload) => {
    expect(parsed('xml', body, { 'content-type': 'text/xml' })).toEqual(payload);
  });

  test.each([
    ['<a>', 'invalid_body: the body is not XML at line'],
    ['<a></b>', 'invalid_body: the body is not XML at line 1, column'],
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'invalid_body: the XML has a document type'],
    ['<!doctype a><a/>', 'invalid_body: the XML has a document type'],
    [`${'<a>'.repeat(600)}${'</a>'.repeat(600)}`, 'invalid_body: the body is nested more than 512'],
    [`<a ${manyAttributes(1_001)}/>`, 'invalid_body: an element has more than 1000 attributes'],
    ['<a/><b/>', 'invalid_body: the body is not XML at line 1, column 7'],
    ['<a/>x', 'invalid_body: the body is not XML at line 1'],
    ['<a b="<"/>', 'invalid_body: the body is not XML at line 1'],
    ['<a b="1" b="2"/>', 'invalid_body: the body is not XML at line 1'],
    [Buffer.from('<a>\u00ff</a>', 'latin1'), 'invalid_utf8'],
  ])('refuses %s', (body, message) => {
    expect(problem('xml', body)).toContain(message);
  });

  test('1,000 attributes are taken', () => {
    const { a } = parsed('xml', `<a ${manyAttributes(1_000)}/>`) as { readonly a: object };
    expect(Object.keys(a)).toHaveLength(1_000);
  });

  test.each(['constructor', 'prototype', '__proto__', 'toString', 'hasOwnProperty', '__defineGetter__'])(
    'an element called %s is an ordinary element, and no prototype is touched',
    (name) => {
      const before = Object.getOwnPropertyNames(Object.prototype);
      const value = parse(
        'xml',
        `<a><${name} id="7">x<${name}/></${name}><b ${name}="1"><${name} /></b><${name}><polluted>1</polluted></${name}></a>`,
      );
      expect(JSON.stringify(value)).toBe(
        `{"a":{"${name}":[{"@id":"7","${name}":"","#text":"x"},{"polluted":"1"}],"b":{"@${name}":"1","${name}":""}}}`,
      );
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      expect(Object.getPrototypeOf((value as Record<string, unknown>)['a'])).toBeNull();
    },
  );

  test('512 levels are taken, and no object has a prototype', () => {
    let value: unknown = parse('xml', `${'<a>'.repeat(512)}x${'</a>'.repeat(512)}`);
    for (let level = 0; level < 512; level += 1) {
      expect(Object.getPrototypeOf(value)).toBeNull();
      value = (value as Record<string, unknown>)['a'];
    }
    expect(value).toBe('x');
  });
});

function manyAttributes(count: number): string {
  return Array.from({ length: count }, (_, index) => `a${index}=""`).join(' ');
}

test.each([
  ['elements', '<a/>'],
  ['elements in elements', '<a><b><c><d/></c></b></a>'],
  ['deep elements', `${'<a>'.repeat(500)}${'</a>'.repeat(500)}`],
  ['attributes', `<a ${manyAttributes(1_000)}/>`],
  ['texts and elements', 'x<a>&lt;</a>'],
  ['references', '&#65;&x;'],
  ['comments', '<!---->'],
  ['CDATA', '<![CDATA[]]>'],
  ['instructions', '<?a b?>'],
])('500 KB of XML with many %s are read in short steps', async (_, unit) => {
  const bytes = Buffer.from(`<r>${unit.repeat(500_000 / unit.length)}</r>`);
  const steps: number[] = [];
  let before = process.threadCpuUsage();
  const pause = (): Promise<void> => {
    const { user, system } = process.threadCpuUsage(before);
    steps.push((user + system) / 1000);
    before = process.threadCpuUsage();
    return Promise.resolve();
  };
  await parseLargePayload({ bytes, headers: {} }, 'xml', { decoder, pause });
  expect(steps.length).toBeGreaterThan(25);
  // 2 to 10 ms of the processor; some are the collector's. In one piece it was 50 to 500.
  const [, , third] = steps.toSorted((a, b) => b - a);
  expect(third).toBeLessThan(computingMs(50));
});

test.each<[BodyFormat, string, string]>([
  ['form', FORM, 'application/json'],
  ['form', 'multipart/form-data; boundary=AAA', 'multipart/form-data; boundary=BBB'],
  ['text', 'text/plain; charset=gbk', 'text/plain;charset=utf-8'],
  ['xml', 'text/xml; charset=utf-8', 'application/xml'],
  ['cloudevents', 'application/json', 'application/cloudevents+json'],
])(
  '%s under two Content-Types that differ is refused, under the same twice it is read',
  (format, one, two) => {
    for (const joined of [`${one}, ${two}`, `${two}, ${one}`])
      expect(problem(format, '--BBB', { 'content-type': joined })).toMatch(
        /^invalid_body: .*let its sender write/,
      );
    const xml = { 'content-type': 'text/xml; charset=iso-8859-1' };
    const twice = { 'content-type': `${xml['content-type']}, ${xml['content-type']}` };
    const bytes = Buffer.from('<a>\u00e9</a>', 'latin1');
    expect(parsed('xml', bytes, twice)).toEqual({ a: 'é' });
    const quoted = { 'content-type': 'text/plain; x=", a/b"' };
    expect(parse('text', 'x', quoted)).toBe('x');
  },
);

test('XML that is broken late is refused late', async () => {
  const bytes = Buffer.from(`<r>${'<a/>'.repeat(10_000)}`);
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses += 1;
    return Promise.resolve();
  };
  const late = parseLargePayload({ bytes, headers: {} }, 'xml', { decoder, pause });
  await expect(late).rejects.toThrow(/not XML/);
  expect(pauses).toBe(2);
});

describe('text', () => {
  test('is the body as it is', () => {
    expect(parse('text', 'disk full\n')).toBe('disk full\n');
    expect(parse('text', '')).toBe('');
    expect(problem('text', Buffer.from([0xff]))).toMatch(/^invalid_utf8:/);
  });
});

describe('a body of another format says so with both names', () => {
  test.each<readonly [BodyFormat, string, string, string]>([
    [
      'json',
      'a=1',
      FORM,
      'invalid_json: the body is a form and this path takes JSON; send JSON {"format":"form"',
    ],
    ['json', 'payload=%7B%22a%22%3A1%7D', FORM, '"isWrapped":true'],
    ['json', '<a/>', 'application/xml', 'invalid_json: the body is XML and this path takes JSON'],
    [
      'json',
      '--x',
      'multipart/form-data; boundary=x',
      'the body is a form in parts (multipart/form-data) and this path takes JSON; send JSON {"format":"form"',
    ],
    ['json', '{', 'application/json', 'invalid_json: the body is not JSON at line 1, column 2'],
    // `curl -d` announces a form.
    ['json', ' {"text":', FORM, 'invalid_json: the body is not JSON at line 1, column 10: expected a value'],
    [
      'form',
      '{"a":1}',
      'application/json',
      'invalid_body: the body is JSON and this path takes a form; send a form {"format":"json"',
    ],
    ['form', '{"a":1}', '', 'the body is JSON and this path takes a form'],
    ['form', '<a/>', 'text/xml', 'the body is XML and this path takes a form'],
    ['xml', '[1]', 'application/x+json', 'the body is JSON and this path takes XML'],
    ['xml', 'a=1', FORM, 'the body is a form and this path takes XML'],
  ])('%s: %s', (format, body, type, message) => {
    expect(problem(format, body, type === '' ? {} : { 'content-type': type })).toContain(message);
  });

  test('JSON is taken whatever the header says', () => {
    expect(parsed('json', '{"a":1}', { 'content-type': FORM })).toEqual({ a: 1 });
  });
});

describe('CloudEvents', () => {
  const ce = {
    'ce-specversion': '1.0',
    'ce-id': 'A234',
    'ce-source': '/my/source',
    'ce-type': 'com.example.created',
    'ce-subject': 'Euro%20%E2%82%AC',
  };
  const event = { specversion: '1.0', id: 'A234', source: '/my/source', type: 'com.example.created' };

  test('binary and structured read the same', () => {
    const binary = parsed('cloudevents', '{"a":1}', { ...ce, 'content-type': 'application/json' });
    const structured = JSON.stringify({
      ...event,
      subject: 'Euro €',
      datacontenttype: 'application/json',
      data: { a: 1 },
    });
    expect(binary).toEqual(
      parsed('cloudevents', structured, { 'content-type': 'application/cloudevents+json; charset=UTF-8' }),
    );
  });

  test('data that is no JSON is a text or base64', () => {
    expect(parsed('cloudevents', 'hi', { ...ce, 'content-type': 'text/plain' })).toMatchObject({
      data: 'hi',
    });
    expect(parsed('cloudevents', '<a/>', { ...ce, 'content-type': 'application/xml' })).toMatchObject({
      data: '<a/>',
    });
    expect(parsed('cloudevents', Buffer.from([255]), { ...ce, 'content-type': 'image/png' })).toMatchObject({
      data_base64: '/w==',
    });
    expect(parsed('cloudevents', '', ce)).toMatchObject(event);
  });

  test.each([
    ['no id', '{}', { ...ce, 'ce-id': '' }, 'has no "id"'],
    ['no attributes', '{}', {}, 'has no "specversion"'],
    ['a list', '[]', { 'content-type': 'application/cloudevents+json' }, 'has no "specversion"'],
    ['a batch', '[]', { 'content-type': 'application/cloudevents-batch+json' }, 'a batch of CloudEvents'],
    ['another writing', '', { 'content-type': 'application/cloudevents+avro' }, 'not written as JSON'],
  ])('refuses %s', (_what, body, headers, message) => {
    expect(problem('cloudevents', body, headers)).toContain(message);
  });
});

test('whatever arrives, it is a value or a HookError of 400', () => {
  const body = fc.oneof(
    fc.string({ unit: CODE_POINT, maxLength: 200 }),
    fc.json(),
    fc.stringMatching(/^([ab_]{1,4}(\[[ab0-2]?\]){0,3}=[%+a-f0-9]{0,6}&?){1,8}$/),
    fc.stringMatching(/^(<\/?[ab]( c="&amp;?")?\/?>|&#\d{1,8};|x|<!--|<!\[CDATA\[|\]\]>){1,12}$/),
  );
  const type = fc.constantFrom('', FORM, 'text/xml', 'application/json', 'application/cloudevents+json');
  fc.assert(
    fc.property(fc.constantFrom(...BODY_FORMATS), body, type, (format, text, contentType) => {
      try {
        expect(
          JSON.stringify(parse(format, text, contentType === '' ? {} : { 'content-type': contentType })),
        ).toBeTypeOf('string');
      } catch (error) {
        if (!(error instanceof HookError)) throw error;
        expect(error.status).toBe(400);
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});
