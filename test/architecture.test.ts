/** Holds `src` against the house table: who may import whom, and which folder owns a package. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  allImports,
  COMMON_FOLDERS,
  COMMON_PACKAGES,
  HOUSE,
  importsOf,
  kindOf,
  LISTED,
  listedName,
  roomOf,
  SOURCE,
  TOP,
  TOP_OWNS,
  type Import,
} from './support/house.ts';

/** Rooms that may read the second entry of others, `facts.ts`: what advice and tools need, and the engine does not. */
const READS_FACTS: ReadonlySet<string> = new Set([
  'lsp',
  'advice',
  'explanation',
  'console',
  'mcp',
  'cli',
  'golden',
  'index',
  // Its own files are documents, too.
  'senders',
]);

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
  const isFacts = target === join(SOURCE, other, 'facts.ts') && READS_FACTS.has(room);
  // Each file that stands in advice itself is an entry: what is known of one subject, for tools.
  const isEntry = target === join(SOURCE, other, `${other}.ts`) || dirname(target) === join(SOURCE, 'advice');
  if (inFolder && !isEntry && !isFacts) return `imports ${specifier}, not the entry file`;
  if (room in TOP) return undefined;
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
  if (TOP_OWNS.includes(name)) return room in TOP ? undefined : `imports ${name}, which cli owns`;
  return `imports ${name}, which no folder owns: add it to the house table`;
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

/** What runs from a start to a stop. */
const STARTS = ['cli/serve.ts', 'service/service.ts'];

/** Where a sentence becomes a text for people. What is read, stored or compared is code and facts. */
const PRINTERS: ReadonlySet<string> = new Set([
  'advice/requests/evaluation-note.ts',
  'advice/requests/evaluation-notes.ts',
  'advice/requests/warnings.ts',
  'advice/their-files.ts',
  'cli/check.ts',
  'cli/explain.ts',
  'cli/lazy-advice.ts',
  'cli/sample-plan.ts',
  'cli/serve.ts',
  'cli/verify-requests.ts',
  'cli/write-plan.ts',
  'config/openclaw/import.ts',
  'console/shown-finding.ts',
  'document/edit-document.ts',
  'document/format-diagnostics.ts',
  'document/print-sarif.ts',
  'explanation/decision-reasons.ts',
  'explanation/explain-request.ts',
  'explanation/format-notes.ts',
  'finding.ts',
  'golden/case-hints.ts',
  'golden/reporters.ts',
  'lsp/lsp.ts',
  'server/account.ts',
]);
/** Names of an entry of the engine and the adapters: what more is exported is for advice and tools, in `facts.ts`. */
const MAX_NAMES = 30;
const MAX_FACTS = 40;
/** Write the new number where it has fallen. */
const MORE_NAMES: Readonly<Record<string, number>> = {};

/** What a file exports; `export type *` of the records of a port is one name. */
function namesOf(file: string): readonly string[] {
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const lists = [...code.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  const own = [...code.matchAll(/export (?:async )?(?:function|class|const|interface|type) (\w+|\*)/g)];
  const named = [...lists, ...own.map(([, name = '']) => name)].map((name) => name.trim());
  return named.filter((name) => name !== '');
}

/** Files are split by meaning; beyond this a noun is missing. */
const MAX_LINES = 400;
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
    expect([...rooms].filter((room) => !(room in TOP) && HOUSE[room] === undefined)).toEqual([]);
    expect([...Object.keys(TOP), ...Object.keys(HOUSE)].filter((room) => !rooms.has(room))).toEqual([]);
  });

  test('every file of another kind than its room is there, once', () => {
    const files = globSync('**/*.{ts,tsx}', { cwd: SOURCE }).map((name) => listedName(join(SOURCE, name)));
    expect(LISTED.filter((name) => files.filter((file) => file === name).length !== 1)).toEqual([]);
  });

  test('nobody imports node:http, node:https or node:tls: that reads every export, and loads what a start does not need', () => {
    const imported = allImports().filter(
      ({ specifier, typeOnly }) => !typeOnly && /^node:(?:http|https|tls)$/.test(specifier),
    );
    expect(imported.map(({ file }) => relative(SOURCE, file))).toEqual([]);
  });

  test('neither the engine nor the adapters import advice', () => {
    const kinds = new Set(['engine', 'adapters']);
    const left = allImports().filter(
      ({ file, specifier }) =>
        specifier.startsWith('.') &&
        kinds.has(kindOf(file)) &&
        resolve(dirname(file), specifier).startsWith(SOURCE) &&
        kindOf(resolve(dirname(file), specifier)) === 'advice',
    );
    expect(left.map(({ file }) => fileOf(file))).toEqual([]);
  });

  test('a start reads no advice, and nothing that explains: that is imported when it is asked for', () => {
    const edges = edgesOf(
      allImports().filter(({ typeOnly, isDynamic }) => !typeOnly && !isDynamic),
      fileOf,
    );
    const reached = new Set(STARTS);
    for (const file of reached) for (const next of edges.get(file) ?? []) reached.add(next);
    expect(reached.size).toBeGreaterThan(300);
    const read = [...reached].filter((file) => /^(?:advice|explanation)\//.test(file));
    expect(read).toEqual([]);
  });

  test('entries export what the engine and the adapters need, and no more than a reader keeps in mind', () => {
    const kinds = new Set(['engine', 'adapters']);
    const entries = globSync('*/{*,facts}.ts', { cwd: SOURCE })
      .filter((name) => name.endsWith('/facts.ts') || name === `${dirname(name)}/${dirname(name)}.ts`)
      .filter((name) => kinds.has(HOUSE[dirname(name)]?.kind ?? ''));
    expect(entries.length).toBeGreaterThan(20);
    const many = entries.flatMap((name) => {
      const most = MORE_NAMES[name] ?? (name.endsWith('/facts.ts') ? MAX_FACTS : MAX_NAMES);
      const { length } = namesOf(join(SOURCE, name));
      return length > most ? [`${name} exports ${length} names, ${most} at most`] : [];
    });
    expect(many).toEqual([]);
    const fallen = Object.entries(MORE_NAMES).filter(
      ([name, most]) => namesOf(join(SOURCE, name)).length < most,
    );
    expect(fallen).toEqual([]);
  });

  test('only printers make a text of a sentence', () => {
    const calls = globSync('**/*.{ts,tsx}', { cwd: SOURCE }).filter((name) =>
      /\b(?:printSentence|printInLine)\(/.test(readFileSync(join(SOURCE, name), 'utf8')),
    );
    expect(calls.filter((name) => !PRINTERS.has(name))).toEqual([]);
    expect([...PRINTERS].filter((name) => !calls.includes(name))).toEqual([]);
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
