import * as fc from 'fast-check';
import Handlebars from 'handlebars';
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/base/document/document.ts';
import { HookError } from '../../../src/base/errors.ts';
import type { CompiledTemplate, RenderTrace, Scope } from '../../../src/engine/mapping/mapping.ts';
import { textOf } from '../../../src/engine/mapping/template/template-helpers.ts';
import { compileTemplate } from '../../../src/engine/mapping/template/template.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { located, locatedText, scopeOf } from '../../support/mapping-scope.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

function compile(source: string): CompiledTemplate {
  const { template, findings } = compileTemplate(located(source));
  if (template === undefined) throw new Error(findings.map(({ message }) => message).join('; '));
  return template;
}

function render(source: string, payload: JsonValue, more: Partial<Scope> = {}, trace?: RenderTrace): string {
  return compile(source).render(scopeOf(payload, {}, more), trace);
}

function findings(source: string): readonly Finding[] {
  return compileTemplate(located(source)).findings;
}

describe('what a template prints', () => {
  test.each<[string, JsonValue, string]>([
    ['text without expressions \\ stays', {}, 'text without expressions \\ stays'],
    ['{{a}} {{b}} {{c}}', { a: 'x', b: 1.5, c: false }, 'x 1.5 false'],
    ['<{{a}}> & {{b}}', { a: '<b>"\'&', b: '`=' }, '<<b>"\'&> & `='],
    ['{{a}}', { a: { b: [1, 'two', null] } }, '{"b":[1,"two",null]}'],
    ['[{{a}}{{b}}]', { a: null }, '[]'],
    ['{{messages[0].from}} {{messages.[0].from}}', { messages: [{ from: 'Ann' }] }, 'Ann Ann'],
    ['{{m[0][1].x}} {{ m[1] }}', { m: [[0, { x: 'deep' }], 'flat'] }, 'deep flat'],
    ['{{m[0].from}}', { m: 5 }, ''],
    [
      `{{m['from'].x}} {{m["a b"][0]}} {{default m['no'] '[0] a[1]'}}`,
      { m: { from: { x: 1 }, 'a b': [2] } },
      '1 2 [0] a[1]',
    ],
    ['{{commits.length}}', { commits: [1, 2, 3] }, '3'],
    ['{{{a}}} {{&a}}', { a: '<' }, '< <'],
    ['\\{{a}} {{!-- m[0] --}}{{! note }}x', { a: 1 }, '{{a}} x'],
    ['{{a}}', { a: '{{b}}', b: 'secret' }, '{{b}}'],
    [
      '{{path}} {{payload.path}} {{now}}',
      { path: 'mine', now: 'mine' },
      'github mine 2026-11-20T09:30:00.000Z',
    ],
    [
      '{{#each l}}{{constructor.name}}{{toString}}{{__proto__.x}}{{../constructor.name}}{{/each}}',
      { l: [{}, 'x', [1], 2] },
      '',
    ],
    ['{{constructor}}{{__proto__}}{{a.toString}}{{a.length.constructor}}', { a: 'text' }, ''],
    ['{{date}} {{length}} {{default}}', { date: 'd', length: 'l', default: 'x' }, 'd l x'],
    ['{{this}}', { a: 1 }, '{"a":1}'],
    ['{{this}}', [1, 2], '[1,2]'],
    ['{{[0].a}}', [{ a: 'first' }], 'first'],
    ['{{@root.a}} {{@root.path}}', { a: 1 }, '1 github'],
    ['{{[odd key]}} {{a.[b.c]}}', { 'odd key': 1, a: { 'b.c': 2 } }, '1 2'],
  ])('renders %j as it should', (source, payload, expected) => {
    expect(render(source, payload)).toBe(expected);
  });

  test.each<[string, JsonValue, string]>([
    ['{{#if a}}yes{{else}}no{{/if}}', { a: [] }, 'no'],
    ['{{#if a}}1{{else if b}}2{{else}}3{{/if}}', { b: true }, '2'],
    ['{{#unless a}}none{{/unless}}', {}, 'none'],
    ['{{#each l}}{{@index}}:{{this}}{{#unless @last}}, {{/unless}}{{/each}}', { l: ['a', 'b'] }, '0:a, 1:b'],
    ['{{#each o}}{{@key}}={{this}};{{/each}}', { o: { a: 1, b: 2 } }, 'a=1;b=2;'],
    [
      '{{#each l}}{{name}}/{{../title}}/{{@root.path}};{{/each}}',
      { title: 'T', l: [{ name: 'n' }] },
      'n/T/github;',
    ],
    ['{{#each l as |x i|}}{{i}}{{x.y}}{{/each}}', { l: [{ y: 'a' }] }, '0a'],
    ['{{#each none}}x{{else}}empty{{/each}}', {}, 'empty'],
    ['{{#each l}}{{path}}{{/each}}', { l: [{ path: 'own' }] }, 'own'],
    ['{{#with a.b}}{{c}}{{/with}}', { a: { b: { c: 'deep' } } }, 'deep'],
    ['{{#each this}}{{@key}} {{/each}}', { a: 1, b: 2 }, 'a b '],
    ['{{#each l}}\n- {{this}}\n{{/each}}\nend', { l: [1, 2] }, '- 1\n- 2\nend'],
    [
      '{{#each a}}{{#each ../b}}{{this}}{{../this}} {{/each}}{{/each}}',
      { a: ['1', 2], b: [1, '2'] },
      '11 21 12 22 ',
    ],
    [
      '{{#each l}}{{this.length}}{{length}}{{#if this}}+{{/if}} {{/each}}',
      { l: ['abc', '', true] },
      '33+ 00 + ',
    ],
    ['{{#with t}}{{this}} {{../x}}{{/with}}', { t: 't', x: 1, toString: 1, valueOf: 1 }, 't 1'],
    [
      '{{#each l}}{{#each this.m}}{{../n}}{{/each}}{{/each}}',
      { l: [{ n: 'N', m: [1], toString: 1, valueOf: 1 }] },
      'N',
    ],
    ['{{#if (and (eq a 1) (not b))}}ok{{/if}}', { a: 1, b: false }, 'ok'],
    [
      '{{#if (and nothing a)}}a{{/if}}{{#if (and none a)}}b{{/if}}{{and a b}}',
      { a: 1, b: 2, none: null },
      '2',
    ],
    ['{{truncate t 5}}|{{truncate t 99}}|{{truncate t 3}}', { t: 'ab😀cd' }, 'ab😀…|ab😀cd|ab…'],
    ['{{default a b "none"}} {{default a "none"}}', { a: '', b: 0 }, '0 none'],
    [
      '{{join l}} {{join l "-"}} {{join o ";" "n"}}',
      { l: [1, 'b'], o: [{ n: 'x' }, { n: 'y' }] },
      '1, b 1-b x;y',
    ],
    [
      '{{join o "-" "p.n"}} {{join o "-" "p.x"}}[{{join o "-" "p.none"}}]',
      { o: [{ p: { n: 1 }, 'p.x': 'own' }, { p: { n: 2, x: 'deep' } }] },
      '1-2 own-deep[-]',
    ],
    ['{{lower t}}{{upper t}}[{{trim " a "}}]', { t: 'Ab' }, 'abAB[a]'],
    ['{{lines t}}|{{lines t 2}}', { t: 'a\r\nb\nc' }, 'a|a\nb'],
    ['{{json t}} {{json a}} {{json n}}', { t: 'a"b', a: [1], n: null }, '"a\\"b" [1] null'],
    ['{{length l}} {{length t}} {{length o}} {{length x}}', { l: [1], t: 'ab', o: { a: 1 } }, '1 2 1 0'],
    ['{{lookup l 1}} {{lookup o k}}', { l: ['a', 'b'], o: { x: 'y' }, k: 'x' }, 'b y'],
    ['{{ne a b}} {{or a b}} {{and a b}}', { a: 0, b: 2 }, 'true 2 0'],
    [
      '{{date t}} {{date s}} {{date ms}}',
      { t: '2026-11-20T10:00:00+02:00', s: 0, ms: 1763628600000 },
      '2026-11-20T08:00:00Z 1970-01-01T00:00:00Z 2025-11-20T08:50:00Z',
    ],
    [
      '{{date t "EEE dd MMM yyyy HH:mm:ss" tz="Europe/Berlin"}}',
      { t: '2026-07-01T10:00:00Z' },
      'Wed 01 Jul 2026 12:00:00',
    ],
    [
      '{{date a}} {{date b}} {{date c}} {{date d}}',
      { a: '1770112800.000200', b: '1770112800000', c: 1770112800000000, d: '1770112800000000000' },
      '2026-02-03T10:00:00Z 2026-02-03T10:00:00Z 2026-02-03T10:00:00Z 2026-02-03T10:00:00Z',
    ],
    ['{{date a}} {{date b}}', { a: '12', b: '4711000000' }, '12 4711000000'],
    ...['America/New_York', 'Pacific/Kiritimati', 'UTC'].map((tz): [string, JsonValue, string] => [
      `{{date d "EEE yyyy-MM-dd HH:mm" tz="${tz}"}} {{date d tz="${tz}"}}`,
      { d: '2026-03-02' },
      'Mon 2026-03-02 00:00 2026-03-02',
    ]),
    [
      '{{date d "dd"}} {{date t "dd"}} {{date l}}',
      { d: '2026-02-30', t: '2026-04-31T10:00:00Z', l: '2028-02-29' },
      '2026-02-30 2026-04-31T10:00:00Z 2028-02-29',
    ],
    ['{{date t}} {{date d "MM/dd"}} {{date x}}', { t: 'yesterday', d: '2026-02-03' }, 'yesterday 02/03 '],
    ['{{date t tz="America/New_York"}}', { t: '2026-07-01T10:00:00Z' }, '2026-07-01T06:00:00-04:00'],
  ])('renders %j as it should', (source, payload, expected) => {
    expect(render(source, payload)).toBe(expected);
  });

  test('item and index exist only for the elements of a batch', () => {
    expect(render('{{item.a}}-{{index}}', { item: 'mine' }, { item: { a: 'x' }, index: 2 })).toBe('x-2');
    expect(render('{{item}}{{index}}', { item: 'mine', index: 1 })).toBe('');
  });
});

describe('what a rendering records', () => {
  test('lists expressions without a value once, with their places', () => {
    const trace: RenderTrace = { empty: [], branches: [] };
    const source = '{{ a.b }} {{#each l}}{{x}}{{/each}}{{truncate gone 3}}{{default z "d"}}';
    const template = compile(source);
    template.render(scopeOf({ l: [{}, {}] }), trace);
    expect(trace.empty.map(({ expression }) => expression)).toEqual(['a.b', 'x', 'truncate gone 3']);
    expect(trace.empty.map(({ at }) => at.source.text.slice(at.start, at.end))).toEqual([
      '{{ a.b }}',
      '{{x}}',
      '{{truncate gone 3}}',
    ]);
  });

  test('lists a list that was not sent, where nothing is written for that', () => {
    const trace: RenderTrace = { empty: [], branches: [] };
    const source =
      '{{#each a.b}}x{{/each}}{{#each c}}x{{else}}-{{/each}}{{#each d}}x{{/each}}{{#each e}}x{{/each}}';
    compile(source).render(scopeOf({ d: [], e: null }), trace);
    expect(trace.empty.map(({ expression }) => expression)).toEqual(['#each a.b']);
  });

  test('lists the side each block took, by the places the template lists', () => {
    const template = compile('{{#if a}}x{{/if}}{{#each l}}{{#if this}}y{{else}}n{{/if}}{{/each}}');
    const trace: RenderTrace = { empty: [], branches: [] };
    template.render(scopeOf({ l: [true, false, true] }), trace);
    expect(template.blocks.map((at) => at.source.text.slice(at.start, at.end))).toEqual([
      '{{#if a}}',
      '{{#each l}}',
      '{{#if this}}',
    ]);
    expect(trace.branches.map(({ at, taken }) => [template.blocks.indexOf(at), taken])).toEqual([
      [0, 'inverse'],
      [2, 'main'],
      [2, 'inverse'],
      [1, 'main'],
    ]);
  });
});

describe('what is refused', () => {
  test.each<[string, string, string]>([
    ['a {{#if x}} b', 'TEMPLATE_SYNTAX', ''],
    ['{{#if a}}x{{/each}}', 'TEMPLATE_SYNTAX', 'if'],
    ['{{a', 'TEMPLATE_SYNTAX', ''],
    ['x {{}} y', 'TEMPLATE_SYNTAX', '}}'],
    ['{a:{{b}}}', 'TEMPLATE_SYNTAX', '}}}'],
    ['x {{ title | upper }}', 'TEMPLATE_SYNTAX', '|'],
    ["{{a['b'].c['d e'][0]}} {{shout a}}", 'TEMPLATE_UNKNOWN_HELPER', 'shout'],
    ["{{shout a['b'][0]}}", 'TEMPLATE_UNKNOWN_HELPER', 'shout'],
    ["{{lower a['b'] (shout x)}}", 'TEMPLATE_HELPER_USAGE', 'lower'],
    ['{{> other}}', 'TEMPLATE_NOT_SUPPORTED', '{{> other}}'],
    ['{{#*inline "a"}}{{/inline}}', 'TEMPLATE_NOT_SUPPORTED', '{{#*inline "a"}}{{/inline}}'],
    ['{{m[0].a}} {{shout a}}', 'TEMPLATE_UNKNOWN_HELPER', 'shout'],
    ['{{trunkate a 3}}', 'TEMPLATE_UNKNOWN_HELPER', 'trunkate'],
    ['{{$out a 3}}', 'TEMPLATE_UNKNOWN_HELPER', '$out'],
    ['{{#a}}x{{/a}}', 'TEMPLATE_UNKNOWN_HELPER', 'a'],
    ['{{#eq a 1}}x{{/eq}}', 'TEMPLATE_HELPER_USAGE', 'eq'],
    ['{{if a "b"}}', 'TEMPLATE_HELPER_USAGE', 'if'],
    ['{{truncate a}}', 'TEMPLATE_HELPER_USAGE', 'truncate'],
    ['{{#if a b}}x{{/if}}', 'TEMPLATE_HELPER_USAGE', 'if'],
    ['{{date a tz="Mars/Olympus"}}', 'TEMPLATE_HELPER_USAGE', 'tz="Mars/Olympus"'],
    ['{{lower (eq)}}', 'TEMPLATE_HELPER_USAGE', 'eq'],
    ['{{@env.HOME}}', 'TEMPLATE_UNKNOWN_DATA', '@env.HOME'],
    ['{{@rendering.budget}}', 'TEMPLATE_UNKNOWN_DATA', '@rendering.budget'],
  ])('refuses %j with %s at %j', (source, code, place) => {
    const [finding] = findings(source);
    expect(finding?.code).toBe(code);
    const { source: file, start = 0, end = 0 } = finding?.at ?? {};
    if (place !== '') expect(file?.text.slice(start, end)).toBe(JSON.stringify(place).slice(1, -1));
  });

  test('places lead into folded and indented YAML text, dots put in or not', () => {
    const text = 'text: |\n    first {{messages[0].a}} and\n    {{messages[0].b}} {{shout messages[0].c}}\n';
    const { findings } = compileTemplate(locatedText(text).at(['text']));
    const [{ at } = {}] = findings;
    expect(at?.start).toBe(text.indexOf('shout'));
    expect(at?.end).toBe(text.indexOf('shout') + 'shout'.length);
  });
});

describe('bounds', () => {
  const list = (length: number): JsonValue => Array.from({ length }, (_, index) => index);

  test.each<[string, JsonValue]>([
    ['{{#each l}}{{#each ../l}}{{#each ../../l}}x{{/each}}{{/each}}{{/each}}', { l: list(1000) }],
    ['{{#each l}}{{json @root.payload}}{{/each}}', { l: list(2000) }],
    ['{{#each l}}{{#if (eq (json @root.l) "x")}}{{/if}}{{/each}}', { l: list(5000) }],
    [`{{#each l}}${'text '.repeat(500)}{{/each}}`, { l: list(5000) }],
    ['{{#each l}}{{date this "yyyy" tz="Europe/Berlin"}}{{/each}}', { l: list(5000) }],
    ['{{t}}', { t: 'x'.repeat(1024 * 1024 + 1) }],
  ])('%.60s… fails instead of running on', (source, payload) => {
    const start = threadMs();
    expect(() => render(source, payload)).toThrow(HookError);
    expect(threadMs() - start).toBeLessThan(computingMs(3000));
  });

  test('prints a body nested as deep as one may be', () => {
    const depth = 256;
    const deep = JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`) as JsonValue;
    expect(render('{{payload}}', deep)).toHaveLength(depth * 8 + 1);
    expect(render('{{#if (length a)}}{{/if}}{{json payload}}', deep)).toHaveLength(depth * 8 + 1);
  });
});

/** Text that Handlebars has escaped for HTML: without that it adds numbers that stand side by side. */
function unescaped(text: string): string {
  const code = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
  const plain = text.replaceAll(/&#x(\w+);/g, code).replaceAll('&quot;', '"');
  return plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** The same value for Handlebars itself, which prints objects and lists by their `toString`. */
function printable(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copy: object = Array.isArray(value)
    ? (value as readonly JsonValue[]).map(printable)
    : Object.fromEntries(Object.entries(value).map(([key, held]) => [key, printable(held as JsonValue)]));
  return Object.defineProperty(copy, 'toString', { value: () => textOf(value), enumerable: false });
}

test('prints what Handlebars itself prints, blocks and white space included', () => {
  const names = ['a', 'b', 'list', 'x-y', 'constructor', '__proto__', '0'];
  const path = fc
    .tuple(
      fc.constantFrom('', '', '', '../', '../../', './', 'this.'),
      fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }),
    )
    .map(([start, keys]) => start + keys.map((key) => (/^\d|__/.test(key) ? `[${key}]` : key)).join('.'));
  const words = [
    'text ',
    '\n',
    '  ',
    '\\ ',
    ' }',
    '{ ',
    '"',
    '😀',
    '{{! note }}',
    '{{!-- b --}}\n',
    '\\{{b}}',
  ];
  const { piece } = fc.letrec<{ piece: string; pieces: string }>((tie) => ({
    pieces: fc.array(tie('piece'), { maxLength: 4, depthIdentifier: 'template' }).map((all) => all.join('')),
    piece: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, depthIdentifier: 'template' },
      fc.oneof(
        fc.constantFrom(...words),
        path.map((text) => `{{${text}}}`),
        path.map((text) => `{{~ ${text} ~}}`),
        fc.constantFrom(
          '{{@index}}',
          '{{@key}}',
          '{{@../index}}',
          '{{#unless @last}}, {{/unless}}',
          '{{p.a}}{{k}}',
          '{{@root.a}}',
        ),
      ),
      fc
        .tuple(
          fc.constantFrom('if', 'unless', 'each', 'with'),
          path,
          tie('pieces'),
          tie('pieces'),
          fc.boolean(),
        )
        .map(([block, text, main, other, isLine]) => {
          const params = block === 'each' ? ' as |p k|' : block === 'with' ? ' as |p|' : '';
          const [start, end] = isLine ? ['\n', '\n'] : ['', ''];
          return `${start}{{#${block} ${text}${params}}}${end}${main}${start}{{else}}${end}${other}${start}{{/${block}}}${end}`;
        }),
    ),
  }));
  const value = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
  let blocks = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), value, (pieces, given) => {
      const source = pieces.join('');
      const payload = JSON.parse(JSON.stringify(given)) as JsonValue;
      const expected = unescaped(Handlebars.compile(source)(printable(payload)));
      expect(render(source, payload)).toBe(expected);
      if (source.includes('{{#')) blocks += 1;
    }),
    { numRuns: 500, seed: 20261127 },
  );
  expect(blocks).toBeGreaterThan(100);
});

test('no text at all makes compiling or rendering throw anything but what is documented', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{{',
      '}}',
      '{{#if a}}',
      '{{/if}}',
      '{{else}}',
      '{{#each',
      '(',
      ')',
      '[',
      ']',
      '"',
      "'",
      '\\',
      '{{!--',
      '--}}',
    ),
    fc.constantFrom(
      'a',
      'a.b[0]',
      "a['b c']",
      '@index',
      '@root.x',
      '../a',
      'this',
      'as |x|',
      'truncate',
      'date',
      '{{{',
      '}}}',
      '{{>',
      '~',
      '&',
      '|',
      '*',
      '=1',
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), (pieces, value) => {
      const source = pieces.join(' ');
      const { template, findings } = compileTemplate(located(source));
      const isBroken = findings.some(({ severity }) => severity === 'error');
      expect(template === undefined).toBe(isBroken);
      for (const { at } of findings) expect((at?.end ?? 0) - (at?.start ?? 0)).toBeGreaterThanOrEqual(0);
      try {
        template?.render(scopeOf(JSON.parse(JSON.stringify(value)) as JsonValue), {
          empty: [],
          branches: [],
        });
      } catch (error) {
        expect(error).toBeInstanceOf(HookError);
      }
    }),
    { numRuns: 200, seed: 5 },
  );
});
