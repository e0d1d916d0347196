import { advise } from '../../../src/authoring/advice/advice.ts';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { said } from '../../support/said.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { loadModules, type LoadedModules } from '../../../src/engine/sandbox/loader/load-modules.ts';
import type { TransformRef } from '../../../src/engine/sandbox/sandbox.ts';

const COMPILER = createRequire(import.meta.resolve('esbuild')).resolve(
  `@esbuild/${process.platform}-${process.arch}/bin/esbuild`,
);

let dir: string;
beforeEach(() => {
  dir = temporaryFolder();
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), content);
  }
}

function refTo(module: string): TransformRef {
  const source = { file: 'mappings/m.yaml', text: `module: ${module}` };
  const at = { source, start: 8, end: source.text.length };
  return {
    module,
    timeoutMs: 1000,
    memoryMb: 64,
    maxResultBytes: 1e6,
    maxLogBytes: 65536,
    reuse: false,
    jit: false,
    urlObject: false,
    env: {},
    at,
  };
}

async function load(...modules: string[]): Promise<LoadedModules> {
  return loadModules({ dir }, modules.map(refTo));
}

/** `CODE file:line:column` of every finding. */
function found(loaded: LoadedModules): string[] {
  return loaded.findings.map(({ code, at }) => {
    if (at === undefined) return code;
    const before = at.source.text.slice(0, at.start).split('\n');
    const file = path.isAbsolute(at.source.file) ? path.relative(dir, at.source.file) : at.source.file;
    return `${code} ${path.basename(file)}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
  });
}

/** Runs linked code in this test's own process; the modules here are the test's. */
function run(loaded: LoadedModules, module: string): Record<string, unknown> {
  const code = loaded.modules.get(module)?.code ?? '';
  return vm.runInNewContext(`${code};__sluice_module`) as Record<string, unknown>;
}

describe('what loads', () => {
  test('TypeScript with enums, JSON, relative imports and the virtual module becomes one script', async () => {
    write({
      'a.ts': `import { defineTransform, type TransformContext } from 'sluice';
import { twice } from './lib/twice';
import table from './table.json' with { type: 'json' };
enum Kind { Push = 'push' }
export default defineTransform((context: TransformContext) => [Kind.Push, twice(table.n)]);`,
      'lib/twice.mts': 'export const twice = (n: number): number => n * 2;',
      'lib/twice.ts': "export { twice } from './twice.mts';",
      'table.json': '{"n": 21}',
    });
    const loaded = await load('a.ts');
    expect(found(loaded)).toEqual([]);
    expect((run(loaded, 'a.ts')['default'] as () => unknown)()).toEqual(['push', 42]);
    expect(loaded.modules.get('a.ts')?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(loaded.files.map((file) => path.relative(dir, file)).sort()).toEqual([
      'a.ts',
      'lib/twice.mts',
      'lib/twice.ts',
      'table.json',
    ]);
  });

  test('a module is linked without a statement of it running on the host', async () => {
    const trace = path.join(dir, 'trace');
    write({
      'a.ts': `import './b';\n(globalThis as any).process?.getBuiltinModule('fs').writeFileSync(${JSON.stringify(trace)}, '');
export default () => null;`,
      'b.ts': `declare const process: any;\nif (typeof process !== 'undefined') process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(trace)}, '');`,
    });
    const loaded = await load('a.ts');
    expect(found(loaded)).toEqual([]);
    expect(loaded.modules.get('a.ts')?.code).toContain('getBuiltinModule');
    expect(existsSync(trace)).toBe(false);
  });

  test('exports of every form are fields of one object', async () => {
    write({
      'a.ts': `const word = 1;\nexport { word as "two words", word as plain };
export const told = \`\nexport {\n  word\n};\n\` + typeof import.meta;\nexport default () => word;`,
      'b.cjs': 'module.exports = () => 2;',
      'c.js': 'globalThis.seen = 3;',
    });
    const loaded = await load('a.ts', 'b.cjs', 'c.js');
    const { default: main, ...others } = run(loaded, 'a.ts');
    expect((main as () => unknown)()).toBe(1);
    expect(others).toEqual({ 'two words': 1, plain: 1, told: '\nexport {\n  word\n};\nobject' });
    expect((run(loaded, 'b.cjs') as unknown as () => unknown)()).toBe(2);
    expect(run(loaded, 'c.js')).toEqual({});
  });

  test('what only V8 refuses has its own place and words', async () => {
    write({ 'a.js': 'for (const one of [1]) {\n  one;\n}\nreturn [1];' });
    const loaded = await load('a.js');
    expect(found(loaded)).toEqual(['TRANSFORM_SYNTAX a.js:4:1']);
    expect(said(loaded.findings[0]?.message)).toBe('illegal return statement');
  });

  test('tsx compiles it: names survive as only tsx keeps them', async () => {
    write({ 'a.ts': 'const make = (): (() => null) => () => null;\nexport const transform = make();' });
    const loaded = await load('a.ts');
    // Each call runs this: a function that has its name already must not be given it again.
    expect(loaded.modules.get('a.ts')?.code).toMatch(/__name\w*\(/);
    expect(loaded.modules.get('a.ts')?.code).toContain('target.name === value ? target : __defProp');
  });

  test("tsc's CommonJS runs, and its source map is followed to the TypeScript", async () => {
    write({
      'a.js': `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.default = run;
const lib_1 = require("./lib");\n// require('./not-there')\nfunction run() { return (0, lib_1.one)(); }\n//# sourceMappingURL=a.js.map`,
      'lib.js': 'exports.one = () => 1;',
      'a.js.map': JSON.stringify({ version: 3, sources: ['src/a.ts'], names: [], mappings: ';;;;;AAAA' }),
      'package.json': '{"type": "module"}',
    });
    const loaded = await load('a.js');
    expect(found(loaded)).toEqual([]);
    expect((run(loaded, 'a.js')['default'] as () => unknown)()).toBe(1);
    expect(JSON.parse(loaded.modules.get('a.js')?.map ?? '')).toMatchObject({
      sources: ['lib.js', 'src/a.ts'],
    });
  });

  test('a folder without package.json loads the same as one that says commonjs', async () => {
    write({ 'a.ts': "import { b } from './b.js';\nexport default b;", 'b.ts': 'export const b = () => 1;' });
    const without = await load('a.ts');
    write({ 'package.json': '{"type": "commonjs"}' });
    const within = await load('a.ts');
    expect(found(without)).toEqual([]);
    expect(within.modules.get('a.ts')?.sha256).toBe(without.modules.get('a.ts')?.sha256);
  });

  test('nothing is started where no mapping has a transform', async () => {
    expect(await loadModules({ dir: '/does/not/exist' }, [])).toEqual({
      modules: new Map(),
      findings: [],
      files: [],
      workerProgram: '',
    });
  });
});

describe('what is refused, and where', () => {
  const REFUSED: readonly (readonly [what: string, source: string, expected: string])[] = [
    [
      'a built-in',
      "import fs from 'node:fs';\nexport default () => fs;",
      'TRANSFORM_IMPORT_REFUSED a.ts:1:16',
    ],
    ['a package', "export * from 'zod';", 'TRANSFORM_IMPORT_REFUSED a.ts:1:15'],
    [
      'a data: URL',
      "\nimport x from 'data:text/javascript,1';export default x",
      'TRANSFORM_IMPORT_REFUSED a.ts:2:15',
    ],
    [
      'an absolute path',
      "import x from '/etc/hostname';export default x",
      'TRANSFORM_IMPORT_REFUSED a.ts:1:15',
    ],
    [
      'a file: URL',
      "import x from 'file:///etc/hostname';export default x",
      'TRANSFORM_IMPORT_REFUSED a.ts:1:15',
    ],
    ['an import map', "import x from '#x';export default x", 'TRANSFORM_IMPORT_REFUSED a.ts:1:15'],
    ['a step out', "import x from '../outside.json';export default x", 'TRANSFORM_IMPORT_OUTSIDE a.ts:1:15'],
    [
      'an escaped step out',
      "import x from './%2e%2e/outside.json';export default x",
      'TRANSFORM_IMPORT_OUTSIDE a.ts:1:15',
    ],
    ['a link out', "import x from './link.json';export default x", 'TRANSFORM_IMPORT_OUTSIDE a.ts:1:15'],
    ['a missing file', "import x from './nope';export default x", 'TRANSFORM_IMPORT_NOT_FOUND a.ts:1:15'],
    ['another kind of file', "import x from './x.node';export default x", 'TRANSFORM_FILE_TYPE a.ts:1:15'],
    [
      'a missing export',
      "import { nope } from './b';\nexport default nope;",
      'TRANSFORM_IMPORT_NAME a.ts:1:10',
    ],
    ['a dynamic import', "/* é */ export default () => import('./b');", 'TRANSFORM_DYNAMIC_IMPORT a.ts:1:37'],
    ['a computed import', 'export default (x: string) => import(x);', 'TRANSFORM_DYNAMIC_IMPORT a.ts:1:31'],
    [
      'a computed import of a path',
      'export default (x: string) => import(`./${x}.ts`);',
      'TRANSFORM_DYNAMIC_IMPORT a.ts:1:38',
    ],
    [
      'a computed import of a sum',
      "export default (x: string) => import('../../' + x);",
      'TRANSFORM_DYNAMIC_IMPORT a.ts:1:38',
    ],
    [
      'a computed require of a path',
      'export default (x: string) => require(`./${x}`);',
      'TRANSFORM_REQUIRE a.ts:1:39',
    ],
    ['require', "export default () => require('./b');", 'TRANSFORM_REQUIRE a.ts:1:30'],
    ['a computed require', 'export default (x: string) => require(x);', 'TRANSFORM_REQUIRE a.ts:1:31'],
    ['require as a value', 'export default () => [require];', 'TRANSFORM_REQUIRE a.ts:1:23'],
    ['top-level await', 'const x = await 1;\nexport default () => x;', 'TRANSFORM_TOP_LEVEL_AWAIT a.ts:1:11'],
    ['a syntax error', 'export default () => {\n  const x: = 1;\n};', 'TRANSFORM_SYNTAX a.ts:2:12'],
  ];
  const moduleOf = (what: string): string => `a${REFUSED.findIndex(([name]) => name === what)}.ts`;
  let inner: string;
  let loaded: LoadedModules;
  // One loader for all: to start it is most of what a case takes.
  beforeAll(async () => {
    const above = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluice-transforms-')));
    inner = path.join(above, 'inner');
    mkdirSync(inner);
    writeFileSync(path.join(above, 'outside.json'), '{}');
    symlinkSync('../outside.json', path.join(inner, 'link.json'));
    for (const [what, source] of REFUSED) writeFileSync(path.join(inner, moduleOf(what)), source);
    writeFileSync(path.join(inner, 'b.ts'), 'export const b = 1;');
    writeFileSync(path.join(inner, 'x.node'), '');
    loaded = await loadModules(
      { dir: inner },
      REFUSED.map(([what]) => refTo(moduleOf(what))),
    );
  });
  afterAll(() => rmSync(path.dirname(inner), { recursive: true, force: true }));

  test.each(REFUSED)('%s', (what, _source, expected) => {
    const module = moduleOf(what);
    const own = found(loaded).filter((each) => each.includes(` ${module}:`));
    expect(own).toEqual([expected.replace(' a.ts:', ` ${module}:`)]);
    expect(loaded.modules.has(module)).toBe(false);
  });

  test('of all these nothing else is said', () => {
    expect(loaded.findings).toHaveLength(REFUSED.length);
  });

  test('everything in one go, a good module beside it still loads', async () => {
    write({
      'bad.ts': "import 'node:net';\nimport './worse';\nexport default () => import('x');",
      'worse.ts': "import 'left-pad';",
      'good.ts': 'export default () => 1;',
    });
    const loaded = await load('bad.ts', 'good.ts');
    expect(found(loaded).sort()).toEqual([
      'TRANSFORM_DYNAMIC_IMPORT bad.ts:3:29',
      'TRANSFORM_IMPORT_REFUSED bad.ts:1:8',
      'TRANSFORM_IMPORT_REFUSED worse.ts:1:8',
    ]);
    expect([...loaded.modules.keys()]).toEqual(['good.ts']);
  });

  test('a module outside the folder, by name or by link', async () => {
    write({ 'in/x.ts': '', 'out.ts': 'export default () => 1' });
    symlinkSync('../out.ts', path.join(dir, 'in/link.ts'));
    const loaded = await loadModules({ dir: path.join(dir, 'in') }, [
      refTo('../out.ts'),
      refTo('link.ts'),
      refTo('/etc/x.ts'),
    ]);
    expect(found(loaded)).toEqual(Array.from({ length: 3 }, () => 'TRANSFORM_OUTSIDE m.yaml:1:9'));
  });

  test('a missing TypeScript file beside its compiled form gets a suggestion', async () => {
    write({ 'github.js': 'export default () => 1;', 'stripe.ts': '' });
    const loaded = await load('github.ts', 'strip.ts', 'unlike.ts');
    expect(advise(loaded.findings).map(({ code, hint }) => [code, said(hint)])).toEqual([
      ['TRANSFORM_NOT_FOUND', 'did you mean "github.js"? the name is relative to hooks.transformsDir'],
      ['TRANSFORM_NOT_FOUND', 'did you mean "stripe.ts"? the name is relative to hooks.transformsDir'],
      ['TRANSFORM_NOT_FOUND', 'create it, or check the name: it is relative to hooks.transformsDir'],
    ]);
  });
});

describe('what would hold up the loader', () => {
  test('a directory, a pipe, a device and a huge file are refused, the good module beside them loads', async () => {
    const good = 'export default () => 1;';
    write({
      'good.ts': good,
      'big.ts': `${good}//${'x'.repeat(4 * 1024 * 1024)}`,
      'pipes.ts': `import './pipe.ts'; ${good}`,
      'bigs.ts': `import './big.ts'; ${good}`,
    });
    mkdirSync(path.join(dir, 'folder.ts'));
    execFileSync('mkfifo', [path.join(dir, 'pipe.ts')]);
    const loaded = await load('good.ts', 'folder.ts', 'pipe.ts', 'big.ts', 'pipes.ts', 'bigs.ts');
    expect(
      advise(loaded.findings)
        .map(({ hint }) => said(hint))
        .join(),
    ).not.toContain('folder.ts');
    expect(found(loaded).sort()).toEqual([
      'TRANSFORM_IMPORT_NOT_FOUND pipes.ts:1:8',
      'TRANSFORM_NOT_FOUND m.yaml:1:9',
      'TRANSFORM_NOT_FOUND m.yaml:1:9',
      'TRANSFORM_TOO_LARGE bigs.ts:1:8',
      'TRANSFORM_TOO_LARGE m.yaml:1:9',
    ]);
    expect([...loaded.modules.keys()]).toEqual(['good.ts']);
  });

  test('source maps that lead elsewhere are not followed', async () => {
    const urls = [
      'file:///dev/zero',
      '/dev/zero',
      '../../../../../../../../../../dev/zero',
      'linked.js.map',
      'data:application/json;base64,AAAA',
    ];
    symlinkSync('/dev/zero', path.join(dir, 'linked.js.map'));
    for (const [index, url] of urls.entries()) {
      const comment = `//# sourceMappingURL=${url}\n`;
      write({ [`x${index}.js`]: `export default () => 1; ${comment}${comment}` });
    }
    const modules = urls.map((_, index) => `x${index}.js`);
    const loaded = await load(...modules);
    expect(loaded.findings).toEqual([]);
    for (const module of modules)
      expect(JSON.parse(loaded.modules.get(module)?.map ?? '')).toMatchObject({ sources: [module] });
  });

  test('code that the compiler breaks down over is named, of several modules', async () => {
    write({
      'deep.js': `export const a = ${'['.repeat(1e5)}${']'.repeat(1e5)}; export default () => 1;`,
      'good.js': 'export default () => 1;',
      // The compiler as it is, but that it breaks down at 200 MB: at the gigabyte of its own limit it takes seconds.
      compiler: `#!/bin/sh\nulimit -d 200000\nexec '${COMPILER}' "$@"\n`,
    });
    chmodSync(path.join(dir, 'compiler'), 0o755);
    process.env['ESBUILD_BINARY_PATH'] = path.join(dir, 'compiler');
    onTestFinished(() => void delete process.env['ESBUILD_BINARY_PATH']);
    const loaded = await load('good.js', 'deep.js');
    expect(loaded.findings.map(({ code, message }) => [code, said(message)])).toEqual([
      [
        'TRANSFORM_LOADER_FAILED',
        expect.stringContaining('transform "deep.js" could not be loaded, the loader gave no answer'),
      ],
    ]);
  });
});

describe('what has an unusual form and loads', () => {
  test('file names in other scripts, with quotes, line ends and the characters of URLs', async () => {
    const names = ['ü日本😀.ts', `it's "q".ts`, 'a\nb.ts', 'a#b.ts', 'a?b.ts', 'a%20b.ts', 'a$&b.ts'];
    for (const name of names) write({ [name]: 'export default () => 1;' });
    write({ 'all.ts': 'export { default } from "./ü日本😀.ts"' });
    const loaded = await load('all.ts', ...names);
    expect(loaded.findings).toEqual([]);
    expect([...loaded.modules.keys()].sort()).toEqual(['all.ts', ...names].sort());
  });

  test('a first line for a shell, and a byte order mark', async () => {
    write({
      'x.ts': '#!/usr/bin/env node\nexport default () => 1;',
      'y.ts': '\uFEFFexport default () => 1;',
    });
    const loaded = await load('x.ts', 'y.ts');
    for (const module of ['x.ts', 'y.ts']) {
      expect((run(loaded, module)['default'] as () => number)()).toBe(1);
      expect(loaded.modules.get(module)?.code).not.toMatch(/^#!/);
    }
  });
});
