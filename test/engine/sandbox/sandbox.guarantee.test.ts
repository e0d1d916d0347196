import { afterAll, describe, expect, test } from 'vitest';
import type { TransformReply } from '../../../src/engine/sandbox/sandbox.ts';
import { callTransform, NOW, refTo, SandboxFixture } from '../../support/sandbox-fixture.ts';
import { said } from '../../support/said.ts';

const fixture = new SandboxFixture();
afterAll(() => fixture.dispose());

/** Loads functions as the exports of one module, by their text; loading them one by one would take most of the time. */
function loadTable(
  name: string,
  functions: readonly string[],
): (index: number, payload?: unknown) => Promise<TransformReply> {
  const refs = functions.map((_, index) => refTo(`${name}.ts`, { export: `f${index}` }));
  const loading = (async () => {
    fixture.write({
      [`${name}.ts`]: functions.map((text, index) => `export const f${index} = ${text};`).join('\n'),
    });
    return fixture.load(refs);
  })();
  return async (index, payload = {}) => {
    const transforms = await loading;
    expect(transforms.findings).toEqual([]);
    return callTransform(transforms, refs[index] ?? refTo(name), payload);
  };
}

/** The value a transform's body returns; the body sees `c`, its argument. */
async function valueOf(body: string, payload: unknown = {}): Promise<unknown> {
  const reply = await fixture.run(`export default (c: any): any => { ${body} }`, payload);
  if (reply.kind === 'failed') throw new Error(`${reply.failure}: ${reply.message}`);
  return reply.json === undefined ? undefined : JSON.parse(reply.json);
}

describe('a call', () => {
  test('answers with the result as JSON, the console lines, and what it cost', async () => {
    const reply = await fixture.run(
      `export default async (c) => { console.log('got', c.payload, new Error('e')); await null; return { message: c.payload.a }; }`,
      { a: 'é' },
    );
    expect(reply).toMatchObject({
      kind: 'ok',
      json: '{"message":"é"}',
      logs: [{ level: 'log', text: 'got {"a":"é"} Error: e' }],
      logsDropped: 0,
      moduleSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(reply.tookMs).toBeGreaterThan(0);
    expect(reply.cpuMs).toBeGreaterThan(0);
    expect(reply.heapBytes).toBeGreaterThan(100_000);
  });

  const results = [
    ['null', 'null'],
    ['undefined', undefined],
    ['[{ message: "a" }, { message: "b" }]', '[{"message":"a"},{"message":"b"}]'],
    ['"text"', '"text"'],
    ['Promise.resolve(null)', 'null'],
  ] as const;
  const resultOf = loadTable(
    'results',
    results.map(([expression]) => `() => ${expression}`),
  );
  test.each(results.map((row, index) => [...row, index] as const))('returns %s', async (_, json, index) => {
    expect(await resultOf(index)).toMatchObject({ kind: 'ok', json });
  });

  const failures = [
    ['1n', 'not-json', /BigInt/],
    ['Symbol("x")', 'not-json', /symbol/],
    ['() => 1', 'not-json', /function/],
    ['NaN', 'not-json', /number/],
    ['(() => { const a = {}; a.a = a; return a })()', 'not-json', /refers to itself/],
    ['new Map([["message", 1]])', 'not-json', /^the result is a Map, .* Object\.fromEntries\(map\)$/],
    ['new (class Mine extends Map {})()', 'not-json', /is a Map/],
    ['[{ message: "a" }, new Set()]', 'not-json', /^the result is a Set, .*\[\.\.\.set\]$/],
    ['(function* () { yield { message: "a" }; })()', 'not-json', /generator/],
    ['(async function* () { yield { message: "a" }; })()', 'not-json', /generator/],
    ['new Map([["a", 1]]).values()', 'not-json', /generator or another iterator/],
    ['"x".repeat(2e6)', 'result-too-large', /maxResultBytes/],
    ['"€".repeat(4e5)', 'result-too-large', /maxResultBytes/],
    ['new Promise(() => {})', 'pending-promise', /nothing settles/],
    ['{ throw new RangeError("no " + c.payload.word) }', 'user-error', /^no secret$/],
    ['Promise.reject("text")', 'user-error', /^text$/],
  ] as const;
  const failureOf = loadTable(
    'failures',
    failures.map(([expression]) => `(c: any): any => ${expression}`),
  );
  test.each(failures.map((row, index) => [...row, index] as const))(
    'fails on %s as %s',
    async (_, failure, message, index) => {
      const reply = await failureOf(index, { word: 'secret' });
      expect(reply).toMatchObject({ kind: 'failed', failure, message: expect.stringMatching(message) });
    },
  );

  test('has the exact text of every number beside the number', async () => {
    fixture.write({
      'exact.ts': `export default ({ payload, item, exact }: any): any => {
        const before = [exact(payload, 'id'), exact(payload.list, 1), exact(item, 'n'), exact(payload, 'plain'), exact(payload, 'big')];
        payload.id = 5;
        return [payload.list[1], before, exact(payload, 'id'), exact({ id: 1.5 }, 'id'), exact(payload, 'text') ?? 'none',
          exact(payload, 'none') ?? 'none', exact(null, 'x') ?? 'none', exact(payload, 'toString') ?? 'none', payload.big];
      };`,
    });
    const ref = refTo('exact.ts');
    const transforms = await fixture.load([ref]);
    const json =
      '{"payload":{"id":820982911946154508,"list":[0.1,0.30000000000000004441,{}],"plain":7,"big":1e400,"text":"1"},"item":{"n":820982911946154509}}';
    const reply = await transforms.call({ ref, json, now: NOW, seed: 1, budgetMs: 5000 });
    expect(reply.kind === 'ok' && JSON.parse(reply.json ?? '')).toEqual([
      0.30000000000000004,
      ['820982911946154508', '0.30000000000000004441', '820982911946154509', '7', '1e400'],
      '5',
      '1.5',
      'none',
      'none',
      'none',
      'none',
      null,
    ]);
  });

  test('of which an instance of a class comes is accepted and marked', async () => {
    const instance = await fixture.run(
      'class Draft { message = "a"; get name() { return "b"; } }\nexport default () => new Draft();',
    );
    expect(instance).toMatchObject({ kind: 'ok', json: '{"message":"a"}', isInstance: true });
    const inArray = await fixture.run(
      'class Draft { message = "a" }\nexport default () => [{}, new Draft()];',
    );
    expect(inArray).toMatchObject({ kind: 'ok', json: '[{},{"message":"a"}]', isInstance: true });
    for (const plain of ['{}', '[]', '[{}]', 'null', '"text"', 'Object.create(null)']) {
      const reply = await fixture.run(`export default (): unknown => (${plain});`);
      expect(reply.kind === 'ok' && reply.isInstance, plain).toBe(undefined);
    }
  });

  test('stops at its time limit and says where it was', async () => {
    const reply = await fixture.run('export default () => {\n  for (;;);\n};', {}, { timeoutMs: 500 });
    expect(reply).toMatchObject({
      failure: 'timeout',
      message: 'it ran longer than 500 ms (timeoutMs)',
      position: { file: 'one.ts', line: 2, column: 3 },
      stack: 'it ran longer than 500 ms (timeoutMs)\n    at default (one.ts:2:3)',
    });
  });

  test('has what is left of the request budget where that is less', async () => {
    fixture.write({ 'slow.ts': 'export default () => { for (;;); };' });
    const ref = refTo('slow.ts', { timeoutMs: 20_000 });
    const transforms = await fixture.load([ref]);
    expect(await callTransform(transforms, ref, {}, { budgetMs: 50.5 })).toMatchObject({
      failure: 'timeout',
      message: 'it ran longer than 50 ms (timeoutMs)',
    });
  });

  test('a request too large for its memory is turned away before it runs', async () => {
    const reply = await fixture.run('export default () => null', 'x'.repeat(300_000), { memoryMb: 8 });
    expect(reply).toMatchObject({ failure: 'memory', message: expect.stringContaining('memoryMb') });
  });

  test('an error shows the TypeScript line, in a file that was imported too, and no frame of ours', async () => {
    fixture.write({
      'lib/deep.ts':
        'type X = { a: string };\n\nexport const fail = (x: X): never => {\n  throw new TypeError(x.a);\n};',
    });
    const reply = await fixture.run(
      "import { fail } from './lib/deep';\nexport default (c: any) => fail(c.payload);",
      {
        a: 'boom',
      },
    );
    expect(reply).toMatchObject({ name: 'TypeError', position: { file: 'lib/deep.ts', line: 4, column: 9 } });
    const { stack = '' } = reply as { stack?: string };
    expect(stack.split('\n')).toEqual([
      'TypeError: boom',
      '    at fail (lib/deep.ts:4:9)',
      '    at default (one.ts:2:28)',
    ]);
  });

  test('keeps console output within its limits and counts what it drops', async () => {
    const reply = await fixture.run(
      `export default () => { for (let i = 0; i < 100; i++) console.warn('x'.repeat(9000)); return null; }`,
    );
    expect(reply.logs.length).toBe(7);
    expect(reply.logs[0]?.text.length).toBe(8192);
    expect(reply.logsDropped).toBe(93);
    expect(
      (await fixture.run('export default () => console.log(1)', {}, { maxLogBytes: 0 })).logsDropped,
    ).toBe(1);
  });

  test('is the same for ever: time and chance come from the request', async () => {
    const body =
      'return [Date.now(), new Date().toISOString(), Date().slice(0, 15), Math.random(), Math.random(), new Intl.DateTimeFormat("en").format()]';
    const first = await valueOf(body);
    expect(first).toEqual([
      NOW,
      '2001-09-09T01:46:40.000Z',
      'Sun Sep 09 2001',
      expect.any(Number),
      expect.any(Number),
      '9/9/2001',
    ]);
    expect(await valueOf(body)).toEqual(first);
    expect(await valueOf('return new Date(2020, 0, 2, 3).toISOString()')).toBe('2020-01-02T03:00:00.000Z');
  });

  test('keeps no state, unless the mapping asks for it', async () => {
    fixture.write({ 'count.ts': 'let n = 0;\nexport default () => ({ message: String(++n) });' });
    const fresh = refTo('count.ts');
    const shared = refTo('count.ts', { reuse: true });
    const transforms = await fixture.load([fresh, shared]);
    for (const expected of ['1', '1', '1']) {
      expect(await callTransform(transforms, fresh)).toMatchObject({ json: `{"message":"${expected}"}` });
    }
    expect(await callTransform(transforms, shared)).toMatchObject({ json: '{"message":"1"}' });
    expect(await callTransform(transforms, shared)).toMatchObject({ json: '{"message":"2"}' });
  });

  test('runs with the compiler on where the mapping asks for it', async () => {
    const reply = await fixture.run(
      'export default () => { let x = 0; for (let i = 0; i < 2e7; i++) x = (x + i) | 0; return { message: String(x) }; }',
      {},
      { jit: true },
    );
    expect(reply).toMatchObject({ kind: 'ok' });
  });
});

describe('what is exported', () => {
  test('the named export, else default, else transform', async () => {
    fixture.write({
      'both.ts':
        'export default () => "default"; export const transform = () => "transform"; export const other = () => "other";',
      'plain.ts': 'export const transform = () => "transform";',
      'common.js': 'module.exports = () => "module";',
      'compiled.cjs':
        '"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => "compiled";',
    });
    const refs = [
      refTo('both.ts'),
      refTo('both.ts', { export: 'other' }),
      refTo('plain.ts'),
      refTo('common.js'),
      refTo('compiled.cjs'),
    ];
    const transforms = await fixture.load(refs);
    expect(transforms.findings).toEqual([]);
    const replies = await Promise.all(refs.map((ref) => callTransform(transforms, ref)));
    expect(replies.map((reply) => (reply.kind === 'ok' ? reply.json : reply))).toEqual(
      ['default', 'other', 'transform', 'module', 'compiled'].map((word) => `"${word}"`),
    );
  });

  test('a missing export, a wrong one, a failing and a heavy top level are found before they are called', async () => {
    fixture.write({
      'none.ts': 'export const helper = () => 1;',
      'value.ts': 'export default { message: "x" };',
      'throws.ts': 'export default () => 1;\nnull!.x;',
      'heavy.ts':
        'const t = Array.from({ length: 50_000 }, (_, i) => ({ i }));\nexport default () => t.length;',
    });
    const transforms = await fixture.load([
      refTo('none.ts'),
      refTo('value.ts'),
      refTo('throws.ts'),
      refTo('heavy.ts'),
      refTo('heavy.ts', { reuse: true }),
      refTo('none.ts', { export: 'nope' }),
    ]);
    expect(transforms.findings.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'error TRANSFORM_EXPORT_MISSING',
      'error TRANSFORM_NOT_A_FUNCTION',
      'error TRANSFORM_TOP_LEVEL_FAILED',
      'warning TRANSFORM_HEAVY_TOP_LEVEL',
      'error TRANSFORM_EXPORT_MISSING',
    ]);
    expect(transforms.findings[0]?.facts).toMatchObject({ functions: ['helper'] });
    expect(said(transforms.findings[2]?.message)).toContain('throws.ts:2:7');
  });
});

describe('everyday code that frozen builtins must not break', () => {
  const everyday: readonly (readonly [string, string, unknown])[] = [
    [
      'a subclassed error',
      'class A extends Error { constructor(m) { super(m); this.name = "A"; } } try { throw new A("m"); } catch (e) { return `${e}`; }',
      'A: m',
    ],
    ['an error renamed', 'const e = new Error("m"); e.name = "B"; e.message = "n"; return String(e)', 'B: n'],
    ['an own toString', 'const o = {}; o.toString = () => "mine"; return `${o}`', 'mine'],
    [
      'old inheritance',
      'function A() {} function B() {} B.prototype = Object.create(A.prototype); B.prototype.constructor = B; return new B().constructor === B',
      true,
    ],
    [
      'an enum-like object',
      'const K = {}; K[K.A = 0] = "A"; K.constructor = 1; K.valueOf = 2; return [K[0], K.constructor]',
      ['A', 1],
    ],
    [
      'a function renamed',
      'const f = () => 1; Object.defineProperty(f, "name", { value: "g" }); return f.name',
      'g',
    ],
    [
      'a class with statics',
      'class A { static x = 1; #y = 2; get y() { return this.#y; } } return [A.x, new A().y]',
      [1, 2],
    ],
    [
      'generators and spreads',
      'function* g() { yield* [1, 2]; } return [...g(), ...new Set([3, 3])]',
      [1, 2, 3],
    ],
    [
      'sorting and grouping',
      'return Object.keys(Object.groupBy([3, 1, 2], (n) => (n > 1 ? "big" : "small"))).toSorted()',
      ['big', 'small'],
    ],
    ['regular expressions', 'return [..."a1b22".matchAll(/[a-z](\\d+)/g)].map((m) => m[1])', ['1', '22']],
    [
      'number and date formats',
      'return [(1234.5).toLocaleString("de-DE"), new Date(0).toLocaleDateString("en-GB", { timeZone: "Europe/Vienna" })]',
      ['1.234,5', '01/01/1970'],
    ],
    [
      'structuredClone',
      'const o = { a: new Map([[1, new Date(0)]]), s: new Set([1]) }; o.self = o; const d = structuredClone(o); return [d.self === d, d !== o, d.a.get(1).toISOString(), [...d.s]]',
      [true, true, '1970-01-01T00:00:00.000Z', [1]],
    ],
    [
      'a function cannot be cloned',
      'try { structuredClone({ f() {} }) } catch (e) { return e.name }',
      'DataCloneError',
    ],
    [
      'text to bytes and back',
      'const b = new TextEncoder().encode("aé€😀%"); return [b.length, new TextDecoder().decode(b)]',
      [11, 'aé€😀%'],
    ],
    [
      'ill-formed bytes',
      'return [new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 0x41, 0xff, 0xef, 0xbb])), (() => { try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name } })()]',
      ['\uFFFDA\uFFFD\uFFFD', 'TypeError'],
    ],
    [
      'base64',
      'return [btoa("hello?>"), atob("aGVsbG8/Pg=="), (() => { try { atob("a") } catch (e) { return e.name } })()]',
      ['aGVsbG8/Pg==', 'hello?>', 'TypeError'],
    ],
    [
      'no timers, network or process but its env',
      'return [typeof setTimeout, typeof fetch, Object.keys(process).join(), Object.keys(process.env).length, typeof WebAssembly, typeof performance]',
      ['undefined', 'undefined', 'env', 0, 'undefined', 'undefined'],
    ],
  ];
  const replyOf = loadTable(
    'everyday',
    everyday.map(([, body]) => `(c: any): any => { ${body} }`),
  );
  test.each(everyday.map(([name, , expected], index) => [name, expected, index] as const))(
    '%s',
    async (_, expected, index) => {
      const reply = await replyOf(index);
      expect(reply.kind === 'ok' ? JSON.parse(reply.json ?? '') : reply).toEqual(expected);
    },
  );
});

describe('URL as Node has it', () => {
  const inputs: readonly (readonly [string, string?])[] = [
    ['https://user:pa%20ss@Example.COM:443/a/./b/../c?q=1&r=a b#frag ment'],
    ['http://example.com'],
    ['HTTP://example.com:8080?x'],
    ['  https://example.com/ü?ü=€#ü '],
    ['//other.example/x', 'https://example.com/a'],
    ['../up/./here?y#z', 'https://example.com/a/b/c?x'],
    ['?only', 'https://example.com/a/b?x#y'],
    ['#only', 'https://example.com/a/b?x#y'],
    ['', 'https://example.com/a/b?x#y'],
    ['/root', 'https://u@example.com:81/a/b'],
    ['http:\\\\example.com\\a'],
    ['http://127.1/'],
    ['http://0x7f.0.0.1/'],
    ['http://[::1]:80/'],
    ['http://[2001:DB8:0:0:1:0:0:1]/'],
    ['http://[::ffff:1.2.3.4]/'],
    ['mailto:a@example.com?subject=hi'],
    ['tel:+431234'],
    ['https://example.com/%7Efoo/../%2e%2e/bar'],
    ["https://example.com/?q='x'"],
    ['ws://example.com:80/s'],
    ['git+ssh://git@example.com/repo.git'],
    ['http://bücher.example/'],
    ['file:///C:/a/../b'],
    ['not a url'],
    ['http://'],
    ['http://256.256.256.256/'],
    ['http://exa mple.com/'],
    ['http://example.com:99999/'],
    ['http://[::1/'],
    ['relative'],
  ];
  const keys = [
    'href',
    'origin',
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ] as const;

  test('parses what webhooks carry in the same way', async () => {
    const found = await valueOf(
      `const keys = ${JSON.stringify(keys)}; return c.payload.map(([input, base]) => { try { const u = new URL(input, base ?? undefined); return keys.map((k) => u[k]); } catch (e) { return e.name; } })`,
      inputs,
    );
    const expected = inputs.map(([input, base]) => {
      try {
        const url = new URL(input, base);
        return keys.map((key) => url[key]);
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(found).toEqual(expected);
  });

  test('edits and search parameters too', async () => {
    const body = `const u = new URL('https://example.com/a?x=1&y=a+b&x=2&z=%E2%82%AC');
      const seen = [[...u.searchParams], u.searchParams.getAll('x'), u.searchParams.get('nope'), u.searchParams.has('y')];
      u.searchParams.append('n', 'é &='); u.searchParams.delete('y'); u.searchParams.set('x', '9'); u.searchParams.sort();
      u.hash = 'h h'; u.pathname = '/p q'; u.port = '8443'; u.hostname = 'other.example';
      return [seen, u.href, String(new URLSearchParams({ a: 1, b: "~*'()" })), JSON.stringify(u), URL.canParse('x'), new URLSearchParams([['k', 'v']]).size]`;
    // oxlint-disable-next-line typescript/no-implied-eval -- the same text on both sides
    const here = (new Function(body) as () => unknown)();
    expect(await valueOf(body)).toEqual(JSON.parse(JSON.stringify(here)));
  });
});
