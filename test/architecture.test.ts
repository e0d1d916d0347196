/** Holds `src` against the table of modules: who may import whom, and which folder owns a package. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPage, sectionOf } from './support/docs.ts';
import {
  allImports,
  COMMON_FOLDERS,
  COMMON_PACKAGES,
  MODULES,
  importsOf,
  LAYERS,
  layerOf,
  leadsUp,
  moduleOf,
  SOURCE,
  TOP,
  TOP_OWNS,
  type Import,
} from './support/modules.ts';

/** Modules that may read the second entry of others, `facts.ts`: what advice and tools need, and the engine does not. */
const READS_FACTS: ReadonlySet<string> = new Set([
  'advice',
  'explanation',
  'workbench',
  'console',
  'mcp',
  'operations',
  'cli',
  'golden',
  'index',
  // Its own files are documents, too.
  'senders',
]);

/** What is wrong with one import, or undefined. */
function problemOf(item: Import): string | undefined {
  const module = moduleOf(item.file);
  return item.specifier.startsWith('.') ? folderProblem(item, module) : packageProblem(item, module);
}

function folderProblem({ file, specifier, typeOnly }: Import, module: string): string | undefined {
  const target = resolve(dirname(file), specifier);
  const other = moduleOf(target);
  if (other === module || !target.startsWith(SOURCE)) return undefined;
  if (leadsUp(file, target)) return `imports ${specifier}, which stands in a layer above`;
  const [layer = '', ...inLayer] = relative(SOURCE, target).split('/');
  const folder = join(SOURCE, layer, other);
  const isFacts = target === join(folder, 'facts.ts') && READS_FACTS.has(module);
  // Each file that stands in advice itself is an entry: what is known of one subject, for tools.
  // The public API takes its types from the files that declare them: a package carries what these reach, and no more.
  const isApiType = module === 'index' && /\/(?:channels\/channel|sandbox\/author)\.ts$/.test(target);
  const isEntry =
    isApiType ||
    target === join(folder, `${other}.ts`) ||
    dirname(target) === join(SOURCE, 'authoring/advice');
  if (inLayer.length > 1 && !isEntry && !isFacts) return `imports ${specifier}, not the entry file`;
  if (module in TOP) return undefined;
  const rules = MODULES[module];
  const allowed = [...(rules?.imports ?? []), ...COMMON_FOLDERS, ...(typeOnly ? (rules?.types ?? []) : [])];
  return allowed.includes(other) ? undefined : `may not import ${typeOnly ? 'types of ' : ''}${other}`;
}

function packageProblem({ specifier }: Import, module: string): string | undefined {
  const name = specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : (specifier.split('/')[0] ?? '');
  const owners = Object.entries(MODULES).filter(([, rules]) => rules.owns?.includes(name));
  const [owner] = owners[0] ?? [];
  if (owner !== undefined) return owner === module ? undefined : `imports ${name}, which ${owner} owns`;
  if (name.startsWith('node:') || COMMON_PACKAGES.includes(name)) return undefined;
  if (TOP_OWNS.includes(name)) return module in TOP ? undefined : `imports ${name}, which cli owns`;
  return `imports ${name}, which no folder owns: add it to the table of modules`;
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
const STARTS = ['frontends/cli/running/serve.ts', 'service/startup/startup.ts'];

/** Files of the command line that start another front end. */
const STARTERS = [
  'frontends/cli/authoring/lsp.ts',
  'frontends/cli/authoring/mcp.ts',
  'frontends/cli/running/serve.ts',
];

/** Where a sentence becomes a text for people. What is read, stored or compared is code and facts. */
const PRINTERS: ReadonlySet<string> = new Set([
  'frontends/cli/running/dev-webhook.ts',
  'authoring/advice/requests/findings.ts',
  'authoring/advice/openclaw-files.ts',
  'authoring/explanation/decision-reasons.ts',
  'authoring/explanation/explain-request.ts',
  'authoring/explanation/format-findings.ts',
  'authoring/golden/reporters.ts',
  'base/document/edit-document.ts',
  'base/document/format-findings.ts',
  'base/finding.ts',
  'engine/config/openclaw/import.ts',
  'frontends/cli/authoring/check.ts',
  'frontends/cli/lazy-advice.ts',
  'frontends/cli/authoring/sample-plan.ts',
  'frontends/cli/running/serve.ts',
  'frontends/cli/running/verify-requests.ts',
  'frontends/cli/setup/write-plan.ts',
  'frontends/lsp/lsp.ts',
  'frontends/mcp/mcp.ts',
  'service/server/account.ts',
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

describe('the structure', () => {
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
      moduleOf,
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
    const modules = new Set(globSync('**/*.ts', { cwd: SOURCE }).map((name) => moduleOf(join(SOURCE, name))));
    expect([...modules].filter((module) => !(module in TOP) && MODULES[module] === undefined)).toEqual([]);
    expect([...Object.keys(TOP), ...Object.keys(MODULES)].filter((module) => !modules.has(module))).toEqual(
      [],
    );
    const elsewhere = globSync('**/*.ts', { cwd: SOURCE })
      .map((name) => join(SOURCE, name))
      .filter((name) => layerOf(name) !== (MODULES[moduleOf(name)]?.layer ?? TOP[moduleOf(name)]));
    expect(elsewhere).toEqual([]);
    expect(globSync('*', { cwd: SOURCE }).toSorted()).toEqual(
      [...LAYERS, 'index.ts', 'main.ts', 'tsconfig.json'].toSorted(),
    );
  });

  test('no front end imports another one, but for the files of the command line that start the others', () => {
    const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/');
    const across = allImports().flatMap(({ file, specifier }) => {
      const [from, to] = [fileOf(file), fileOf(resolve(dirname(file), specifier))];
      const isAcross = [from, to].every((name) => name.startsWith('frontends/'));
      return isAcross && specifier.startsWith('.') && folderOf(from) !== folderOf(to) ? [from] : [];
    });
    expect([...new Set(across)]).toEqual(STARTERS);
  });

  test('nobody imports node:http, node:https or node:tls: that reads every export, and loads what a start does not need', () => {
    const imported = allImports().filter(
      ({ specifier, typeOnly }) => !typeOnly && /^node:(?:http|https|tls)$/.test(specifier),
    );
    expect(imported.map(({ file }) => relative(SOURCE, file))).toEqual([]);
  });

  test('what is required at its first use is a dependency: a bundle does not hold it', () => {
    const { dependencies } = JSON.parse(readFileSync(join(SOURCE, '../package.json'), 'utf8')) as {
      readonly dependencies: object;
    };
    const required = globSync('**/*.ts', { cwd: SOURCE }).flatMap((name) =>
      [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/\brequire\('([^.'][^']*)'\)/g)].map(
        ([, found]) => found,
      ),
    );
    expect(required.length).toBeGreaterThan(2);
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(required));
  });

  test('a start reads no advice, and nothing that explains: that is imported when it is asked for', () => {
    const edges = edgesOf(
      allImports().filter(({ typeOnly, isDynamic }) => !typeOnly && !isDynamic),
      fileOf,
    );
    const reached = new Set(STARTS);
    for (const file of reached) for (const next of edges.get(file) ?? []) reached.add(next);
    expect(reached.size).toBeGreaterThan(300);
    const read = [...reached].filter((file) => /^authoring\/(?:advice|explanation)\//.test(file));
    expect(read).toEqual([]);
  });

  test('entries export what the engine and the adapters need, and no more than a reader keeps in mind', () => {
    const entries = globSync('{base,engine,service}/*/*.ts', { cwd: SOURCE }).filter(
      (name) =>
        MODULES[moduleOf(join(SOURCE, name))] !== undefined && /(?:\/facts|\/(.+)\/\1)\.ts$/.test(name),
    );
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
      ...importsOf(join(SOURCE, 'service/gateway/a.ts'), "import type { B } from './outbox/b.ts';"),
      ...importsOf(join(SOURCE, 'service/gateway/outbox/b.ts'), "import { c } from '../c.ts';"),
      ...importsOf(join(SOURCE, 'service/gateway/c.ts'), "import type { A } from './a.ts';"),
    ];
    expect(findCircle(edgesOf(imports, fileOf))).toEqual([
      'service/gateway/a.ts',
      'service/gateway/outbox/b.ts',
      'service/gateway/c.ts',
      'service/gateway/a.ts',
    ]);
  });

  test.each([
    [
      'base/document/x.ts',
      "import { a } from '../../engine/config/config.ts';",
      'imports ../../engine/config/config.ts, which stands in a layer above',
    ],
    ['engine/verify/x.ts', "import { a } from '../config/config.ts';", 'may not import config'],
    [
      'engine/config/x.ts',
      "import { a } from '../../base/document/tree.ts';",
      'imports ../../base/document/tree.ts, not the entry file',
    ],
    ['engine/mapping/x.ts', "import { a } from '../sandbox/sandbox.ts';", 'may not import sandbox'],
    ['service/server/x.ts', "import yaml from 'yaml';", 'imports yaml, which document owns'],
    [
      'service/server/x.ts',
      "import x from 'left-pad';",
      'imports left-pad, which no folder owns: add it to the table of modules',
    ],
    [
      'service/gateway/x.ts',
      "const x = await import('node:sqlite');",
      'imports node:sqlite, which storage owns',
    ],
    ['service/gateway/x.ts', "import { Command } from 'commander';", 'imports commander, which cli owns'],
  ])('refuses in %s: %s', (file, code, problem) => {
    expect(problems(file, code)).toEqual([problem]);
  });

  test.each([
    ['engine/mapping/x.ts', "import type { A } from '../sandbox/sandbox.ts';"],
    ['frontends/cli/x.ts', "import { a } from '../../service/gateway/gateway.ts';"],
    ['engine/hook/x.ts', "import { z } from 'zod';\nimport { b } from '../../base/telemetry/telemetry.ts';"],
  ])('allows in %s: %s', (file, code) => {
    expect(problems(file, code).filter((problem) => problem !== undefined)).toEqual([]);
  });
});

test('the way of a stored request names as many files as it says, all of which are there', () => {
  const way = sectionOf(readPage('docs/architecture.md'), '## How a request travels');
  const [said, after] = [/passes (\d+) files/, /and (\d+) more/].map((each) => Number(each.exec(way)?.[1]));
  const named = way.split(/^(?=\d+\. )/m).map((step) => [...step.matchAll(/\*\*`([\w/.-]+\.ts)`\*\*/g)]);
  const files = named.flatMap((step, at) => step.map(([, name = '']) => ({ name, isStored: at < 9 })));
  expect(files.filter(({ isStored }) => isStored)).toHaveLength(said ?? 0);
  expect(files.filter(({ isStored }) => !isStored)).toHaveLength(after ?? 0);
  const missing = files.filter(({ name }) => globSync(`*/**/${name}`, { cwd: SOURCE }).length === 0);
  expect(missing).toEqual([]);
});
