/** The house table, as data: who may import whom, and which folder owns a package. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

interface RoomRules {
  /** Folders and root files whose entry may be imported. */
  readonly imports: readonly string[];
  /** Folders of which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages (and node: modules) no other folder may import. */
  readonly owns?: readonly string[];
}

const CONTRACT = ['request', 'action', 'errors'];
/** Imported from everywhere. */
const COMMON_FOLDERS = ['telemetry', 'json'];
const COMMON_PACKAGES = ['zod'];

const HOUSE: Readonly<Record<string, RoomRules>> = {
  json: { imports: [] },
  request: { imports: [] },
  action: { imports: ['request'] },
  errors: { imports: [] },
  document: { imports: [], owns: ['yaml', '@humanwhocodes/momoa', '@babel/code-frame'] },
  telemetry: { imports: [], owns: ['pino', 'prom-client'] },
  timers: { imports: [] },
  outgoing: { imports: [] },
  boundary: { imports: ['action'] },
  verify: { imports: ['errors', 'payload'], owns: ['jose'] },
  payload: { imports: ['errors'], owns: ['@remix-run/multipart-parser', 'fast-xml-parser'] },
  config: { imports: ['document', 'errors', 'action'] },
  sandbox: {
    imports: ['errors', 'document', 'request'],
    owns: ['isolated-vm', 'esbuild', 'tsx', '@noble/hashes'],
  },
  storage: { imports: ['errors', 'action', 'request', 'timers'], owns: ['node:sqlite', 'pg'] },
  mapping: {
    imports: ['document', 'payload', 'verify', ...CONTRACT],
    types: ['sandbox'],
    owns: ['json-logic-js', 'handlebars'],
  },
  hook: { imports: ['mapping', 'boundary', 'document', ...CONTRACT], types: ['sandbox'] },
  server: {
    imports: ['hook', 'verify', 'payload', 'storage', 'config', 'request', 'errors', 'action'],
    types: ['mapping', 'sandbox'],
    owns: ['node:http', 'rate-limiter-flexible'],
  },
  runners: {
    imports: ['document', 'config', 'action', 'errors', 'outgoing', 'timers'],
    types: ['storage'],
    owns: ['execa', 'ai', '@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
  },
  channels: {
    imports: ['config', 'action', 'outgoing', 'timers', 'verify'],
    owns: ['grammy', '@discordjs/rest', '@slack/web-api', '@microsoft/teams.api', '@mattermost/client'],
  },
  gateway: {
    imports: [
      'runners',
      'channels',
      'storage',
      'boundary',
      'action',
      'config',
      'errors',
      'outgoing',
      'timers',
    ],
  },
  mail: {
    imports: ['config', 'document', 'storage', 'errors', 'timers', 'outgoing'],
    owns: ['imapflow', 'postal-mime', 'openid-client', 'html-to-text'],
  },
  analysis: { imports: ['mapping', 'hook', 'document', 'payload', 'request', 'verify'] },
  explanation: {
    imports: ['analysis', 'mapping', 'hook', 'document', 'runners', 'storage', 'request', 'json'],
    types: ['config'],
  },
  console: {
    imports: [
      'explanation',
      'boundary',
      'hook',
      'golden',
      'storage',
      'server',
      'config',
      'mapping',
      'document',
      'request',
    ],
    owns: [
      'preact',
      '@preact/signals',
      'codemirror',
      '@codemirror/autocomplete',
      '@codemirror/lang-javascript',
      '@codemirror/lang-json',
      '@codemirror/lang-yaml',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
    ],
  },
  golden: {
    imports: ['hook', 'mapping', 'document', 'payload', 'storage', 'request', 'action', 'errors'],
    types: ['sandbox'],
  },
};

/** Wiring: these stand on top and may import every entry file. */
const TOP = ['cli', 'main', 'index', 'service', 'generation'];
/** Packages of the wiring. */
const TOP_OWNS = ['commander', 'chokidar', '@clack/prompts'];

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Every static, re-exporting and dynamic import with a literal specifier; comments and texts do not count. */
function importsOf(file: string, text: string): readonly Import[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/[^\n]*/g, '$1');
  const statement = /^\s*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?['"]([^'"\n]+)['"]/gm;
  const found = [...code.matchAll(statement)].map((match) => ({
    file,
    specifier: match[2] ?? '',
    typeOnly: match[1] !== undefined,
  }));
  const dynamic = [...code.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g)].map((match) => ({
    file,
    specifier: match[1] ?? '',
    typeOnly: false,
  }));
  return [...found, ...dynamic];
}

/** `config` for `src/config/settings.ts`, `errors` for `src/errors.ts`. */
function roomOf(file: string): string {
  return (relative(SOURCE, file).split('/')[0] ?? '').replace(/\.ts$/, '');
}

/** What is wrong with one import, or undefined. */
function problemOf(item: Import): string | undefined {
  const room = roomOf(item.file);
  return item.specifier.startsWith('.') ? folderProblem(item, room) : packageProblem(item, room);
}

function folderProblem({ file, specifier, typeOnly }: Import, room: string): string | undefined {
  const target = resolve(dirname(file), specifier);
  const other = roomOf(target);
  if (other === room || !target.startsWith(SOURCE)) return undefined;
  const inFolder = relative(SOURCE, target).includes('/');
  if (inFolder && target !== join(SOURCE, other, `${other}.ts`))
    return `imports ${specifier}, not the entry file`;
  if (TOP.includes(room)) return undefined;
  const rules = HOUSE[room];
  const allowed = [...(rules?.imports ?? []), ...COMMON_FOLDERS, ...(typeOnly ? (rules?.types ?? []) : [])];
  return allowed.includes(other) ? undefined : `may not import ${typeOnly ? 'types of ' : ''}${other}`;
}

function packageProblem({ specifier }: Import, room: string): string | undefined {
  const name = specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : (specifier.split('/')[0] ?? '');
  const owners = Object.entries(HOUSE).filter(([, rules]) => rules.owns?.includes(name));
  const [owner] = owners[0] ?? [];
  if (owner !== undefined) return owner === room ? undefined : `imports ${name}, which ${owner} owns`;
  if (name.startsWith('node:') || COMMON_PACKAGES.includes(name)) return undefined;
  if (TOP_OWNS.includes(name)) return TOP.includes(room) ? undefined : `imports ${name}, which cli owns`;
  return `imports ${name}, which no folder owns: add it to the house table`;
}

function allImports(): readonly Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: SOURCE })
    .toSorted()
    .flatMap((name) => importsOf(join(SOURCE, name), readFileSync(join(SOURCE, name), 'utf8')));
}

/** The first circle, as a list that ends where it began. */
function findCircle(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of edges.get(node) ?? []) {
      const circle = visit(next, [...way, node]);
      if (circle !== undefined) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of edges.keys()) {
    const circle = visit(node, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** Which imports which; `nameOf` says what a file counts as. */
function edgesOf(imports: readonly Import[], nameOf: (file: string) => string): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { file, specifier } of imports.filter((item) => item.specifier.startsWith('.'))) {
    const [from, to] = [nameOf(file), nameOf(resolve(dirname(file), specifier))];
    if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  return edges;
}

const MAX_LINES = 350;
const fileOf = (file: string): string => relative(SOURCE, file);

describe('the house', () => {
  test('every import goes the way the table allows', () => {
    const problems = allImports().flatMap((item) => {
      const problem = problemOf(item);
      return problem === undefined ? [] : [`${relative(SOURCE, item.file)} ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  test('no two folders import each other at run time', () => {
    const edges = edgesOf(
      allImports().filter(({ typeOnly }) => !typeOnly),
      roomOf,
    );
    expect(edges.size).toBeGreaterThan(0);
    expect(findCircle(edges)).toBeUndefined();
  });

  test('no files import each other in a circle, not even for types', () => {
    const edges = edgesOf(allImports(), fileOf);
    expect(edges.size).toBeGreaterThan(0);
    expect(findCircle(edges)).toBeUndefined();
  });

  test('every folder and root file has a place in the table, and every place is there', () => {
    const rooms = new Set(globSync('**/*.ts', { cwd: SOURCE }).map((name) => roomOf(join(SOURCE, name))));
    expect([...rooms].filter((room) => !TOP.includes(room) && HOUSE[room] === undefined)).toEqual([]);
    expect([...TOP, ...Object.keys(HOUSE)].filter((room) => !rooms.has(room))).toEqual([]);
  });

  test('nobody imports node:http, node:https or node:tls: that reads every export, and loads what a start does not need', () => {
    const imported = allImports().filter(
      ({ specifier, typeOnly }) => !typeOnly && /^node:(?:http|https|tls)$/.test(specifier),
    );
    expect(imported.map(({ file }) => relative(SOURCE, file))).toEqual([]);
  });

  test('no two files have the same name: an editor and a stack trace show the name alone', () => {
    const names = Map.groupBy(globSync('**/*.ts', { cwd: SOURCE }), (name) => basename(name));
    expect([...names.values()].filter((files) => files.length > 1)).toEqual([]);
  });

  test('no file is longer than a reader keeps in mind', () => {
    const files = globSync('**/*.{ts,tsx}', { cwd: SOURCE });
    expect(files.length).toBeGreaterThan(0);
    const lengths = files.map((name) => ({
      name,
      lines: readFileSync(join(SOURCE, name), 'utf8').split('\n').length - 1,
    }));
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
  });
});

describe('the scanner', () => {
  const problems = (name: string, code: string): (string | undefined)[] =>
    importsOf(join(SOURCE, name), code).map(problemOf);

  test('sees every form of import and no text or comment', () => {
    const code = `import a, { b } from 'yaml';\nimport type { C } from './c.ts';\nexport * from "./d.ts";\nimport './e.ts';
// import 'f';\n/* import 'g' */ const h = await import('pino'); const t = "x from 'y'";
import {\n  i,\n  type J,\n} from './k.ts';\n`;
    const found = importsOf('/x.ts', code).map(({ specifier }) => specifier);
    expect(found).toEqual(['yaml', './c.ts', './d.ts', './e.ts', './k.ts', 'pino']);
  });

  test('finds a circle of files that only import types of each other', () => {
    const imports = [
      ...importsOf(join(SOURCE, 'gateway/a.ts'), "import type { B } from './outbox/b.ts';"),
      ...importsOf(join(SOURCE, 'gateway/outbox/b.ts'), "import { c } from '../c.ts';"),
      ...importsOf(join(SOURCE, 'gateway/c.ts'), "import type { A } from './a.ts';"),
    ];
    expect(findCircle(edgesOf(imports, fileOf))).toEqual([
      'gateway/a.ts',
      'gateway/outbox/b.ts',
      'gateway/c.ts',
      'gateway/a.ts',
    ]);
  });

  test.each([
    ['document/x.ts', "import { a } from '../config/config.ts';", 'may not import config'],
    [
      'config/x.ts',
      "import { a } from '../document/tree.ts';",
      'imports ../document/tree.ts, not the entry file',
    ],
    ['mapping/x.ts', "import { a } from '../sandbox/sandbox.ts';", 'may not import sandbox'],
    ['server/x.ts', "import yaml from 'yaml';", 'imports yaml, which document owns'],
    [
      'server/x.ts',
      "import x from 'left-pad';",
      'imports left-pad, which no folder owns: add it to the house table',
    ],
    ['gateway/x.ts', "const x = await import('node:sqlite');", 'imports node:sqlite, which storage owns'],
    ['gateway/x.ts', "import { Command } from 'commander';", 'imports commander, which cli owns'],
  ])('refuses in %s: %s', (file, code, problem) => {
    expect(problems(file, code)).toEqual([problem]);
  });

  test.each([
    ['mapping/x.ts', "import type { A } from '../sandbox/sandbox.ts';"],
    ['cli/x.ts', "import { a } from '../gateway/gateway.ts';"],
    ['hook/x.ts', "import { z } from 'zod';\nimport { b } from '../telemetry/telemetry.ts';"],
  ])('allows in %s: %s', (file, code) => {
    expect(problems(file, code).filter((problem) => problem !== undefined)).toEqual([]);
  });
});
