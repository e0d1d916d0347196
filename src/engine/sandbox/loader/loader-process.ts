/**
 * The loader process: a request as JSON on standard input, the linked modules and findings as JSON on standard
 * output, then it ends. It stands alone because module hooks are global to a process, and so that whatever the
 * tools behind it keep in memory is gone when loading is done.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  isInside,
  isLoadable,
  loadGraph,
  isTooLarge,
  realFile,
  type Graph,
  type GraphFile,
  type RefusedImport,
  idOf,
} from './load-graph.ts';
import { workerProgram } from '../host/worker-program.ts';
import {
  scanSources,
  type SourceScan,
  type FilePlace,
  type SourceFinding,
  buildFailure,
  describeError,
  nowhereFor,
  placeOf,
} from './scan-sources.ts';
import { originalPlace, readMap } from './source-map.ts';
import { scanGlobals } from './scan-globals.ts';
import * as esbuild from 'esbuild';
import { LINKED_NAME, standInOf, standInSource, VIRTUAL_MODULE } from '../names.ts';

export interface LoaderRequest {
  /** `hooks.transformsDir`, absolute. */
  readonly dir: string;
  /** Modules as mappings name them. */
  readonly modules: readonly string[];
}

/** Why a module as named by a mapping has no file that could be loaded. */
type EntryProblem = 'not-found' | 'outside' | 'file-type' | 'too-large';

export type LoaderModule =
  | { readonly module: string; readonly problem: EntryProblem }
  | {
      readonly module: string;
      /** Id of the entry file. */
      readonly entry: string;
      /** Ids of all files it is made of. */
      readonly files: readonly string[];
      /** Absent where a finding prevents linking. */
      readonly linked?: LinkedModule;
    };

interface LinkedModule {
  readonly code: string;
  /** Source map (JSON text) whose sources are ids. */
  readonly map: string;
  readonly sha256: string;
}

export interface LoaderAnswer {
  /** Real path of the transforms folder; ids are relative to it. */
  readonly root: string;
  readonly modules: readonly LoaderModule[];
  readonly findings: readonly SourceFinding[];
  /** Texts of the files that have findings, by id. */
  readonly texts: Readonly<Record<string, string>>;
  readonly workerProgram: string;
}

/** Findings that keep no module from running. */
const LINKABLE: ReadonlySet<string> = new Set([
  'TRANSFORM_MISSING_GLOBAL',
  'TRANSFORM_FORGETS',
  'TRANSFORM_ENV_MISSING',
]);

async function load(request: LoaderRequest): Promise<Omit<LoaderAnswer, 'workerProgram'>> {
  if (!existsSync(request.dir)) {
    const modules = request.modules.map((module) => ({ module, problem: 'not-found' as const }));
    return { root: request.dir, modules, findings: [], texts: {} };
  }
  const root = realpathSync(request.dir);
  const entries = request.modules.map((module) => ({ module, ...findEntry(root, module) }));
  const paths = entries.flatMap((entry) => ('file' in entry ? [entry.file] : []));
  const graph = await loadGraph(root, [...new Set(paths)]);
  const found = await scanGraph(graph);
  const linked = await linkAll(root, entries, { graph, found });
  const findings = [...found, ...linked.findings];
  const texts = Object.fromEntries(
    findings.map(({ file }) => [file, graph.files.get(file)?.original ?? ''] as const),
  );
  return { root, modules: linked.modules, findings, texts };
}

async function scanGraph(graph: Graph): Promise<readonly SourceFinding[]> {
  const [scan, globals] = await Promise.all([scanSources(graph.files), scanGlobals(graph.files)]);
  return [...collectFindings(graph, scan), ...globals];
}

type EntryModule = { readonly module: string } & (
  { readonly file: string } | { readonly problem: EntryProblem }
);

/** Links each entry whose files have no finding that prevents it. */
async function linkAll(
  root: string,
  entries: readonly EntryModule[],
  { graph, found }: { readonly graph: Graph; readonly found: readonly SourceFinding[] },
): Promise<{ readonly modules: readonly LoaderModule[]; readonly findings: readonly SourceFinding[] }> {
  // What is not there is missed when its line is reached: the module can be linked.
  const bad = new Set(found.filter(({ code }) => !LINKABLE.has(code)).map(({ file }) => file));
  const modules: LoaderModule[] = [];
  const findings: SourceFinding[] = [];
  for (const entry of entries) {
    if ('problem' in entry) {
      modules.push(entry);
      continue;
    }
    const id = idOf(root, entry.file);
    const files = reachableFiles(id, graph.files);
    const isBad = files.some((file) => bad.has(file));
    const linked = isBad ? undefined : await linkModule(root, id, { files: graph.files, findings });
    modules.push({ module: entry.module, entry: id, files, ...(linked && { linked }) });
  }
  return { modules, findings };
}

function findEntry(root: string, module: string): { file: string } | { problem: EntryProblem } {
  const named = path.resolve(root, module);
  if (!isInside(root, named)) return { problem: 'outside' };
  const file = realFile(named);
  if (file === undefined) return { problem: 'not-found' };
  if (!isInside(root, file)) return { problem: 'outside' };
  if (!isLoadable(file) || file.endsWith('.json')) return { problem: 'file-type' };
  return isTooLarge(file) ? { problem: 'too-large' } : { file };
}

/** What the scan found, each refused import at its place, and the files that cannot be compiled. */
function collectFindings(graph: Graph, scan: SourceScan): readonly SourceFinding[] {
  const findings = [...scan.findings];
  const placed = new Set(findings.map(placeKey));
  for (const { code, message, ...refused } of graph.refused) {
    for (const at of placesOf(refused, graph, scan)) {
      if (placed.has(placeKey(at))) continue;
      placed.add(placeKey(at));
      findings.push({ code, message, ...at, facts: { specifier: refused.specifier, of: 'import' } });
    }
  }
  const broken = [...graph.files.values()].filter(
    ({ id, source }) => source === undefined && !findings.some(({ file }) => file === id),
  );
  return [...findings, ...broken.map(notCompiled)];
}

const placeKey = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`;

const startOf = (file: string): FilePlace => ({ file, line: 1, column: 1, length: 0 });

/** What esbuild lets pass and V8 does not, such as a return outside a function. */
function notCompiled({ id, fault = '' }: GraphFile): SourceFinding {
  const [, message = 'the file cannot be compiled', line = 1, column = 1] =
    /^(.+) \[.*:(\d+):(\d+)\]$/.exec(fault) ?? [];
  return { ...describeError(message), ...startOf(id), line: Number(line), column: Number(column) };
}

/** Where a refused import stands; a CommonJS candidate that the scan did not see stood in a comment or string. */
function placesOf(
  { importer, specifier }: Pick<RefusedImport, 'importer' | 'specifier'>,
  graph: Graph,
  scan: SourceScan,
): readonly FilePlace[] {
  const places = scan.imports
    .filter((one) => one.at.file === importer && one.specifier === specifier)
    .map(({ at }) => at);
  const isCommonJs = graph.files.get(importer)?.kind === 'commonjs';
  return places.length > 0 || isCommonJs ? places : [startOf(importer)];
}

/** Links the captured files of one transform into a single script with a source map; nothing is run. */

const NAMESPACE = 'transform';
const VIRTUAL_SOURCE = 'export const defineTransform = (transform) => transform;';

/** Links a module; undefined where that makes findings, which are added to the others. */
async function linkModule(
  root: string,
  entry: string,
  { files, findings }: { readonly files: Graph['files']; readonly findings: SourceFinding[] },
): Promise<LinkedModule | undefined> {
  const result = await build(entry, files);
  findings.push(...result.errors.map((error) => describeLinkError(error, files)));
  if (result.errors.length > 0) return undefined;
  const text = (suffix: string): string =>
    result.outputFiles?.find((file) => file.path.endsWith(suffix))?.text ?? '';
  // A first line for a shell would stand in the middle of the script that runs.
  const code = exporting(text('linked.js').replace(/^#!/, '//')).replace(
    NAMING,
    '$1target.name === value ? target : ',
  );
  const sha256 = createHash('sha256').update(code).digest('hex');
  return { code, map: withRelativeSources(root, text('.map')), sha256 };
}

/**
 * How tsx begins the function that keeps names. The script is run for each call, and to name a function that has its
 * name already costs more than most functions do.
 */
const NAMING = /^(var __name\d* = \(target, value\) => )(?=__defProp)/gm;

/** Makes an object of what a module exports: esbuild would make getters. Lines stay where they are, for the source map. */
function exporting(module: string): string {
  const found = /^export (?:\{\n((?: {2}.+\n)*)\}|default (.*));\n$(?![^])/m.exec(module);
  const [, names = '', common] = found ?? [];
  const fields = names.replace(/^ {2}(\S+) as (.*?)(,?)$/gm, '  $2: $1$3');
  return `${module.slice(0, found?.index)}var ${LINKED_NAME} = ${common ?? `{\n${fields}}`};\n`;
}

const ONE_SCRIPT = {
  bundle: true,
  write: false,
  outfile: '/linked.js',
  format: 'esm',
  supported: { 'import-meta': false },
  platform: 'neutral',
  target: 'esnext',
  charset: 'utf8',
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  tsconfigRaw: {},
  logLevel: 'silent',
} as const satisfies esbuild.BuildOptions;

async function build(
  entry: string,
  files: ReadonlyMap<string, GraphFile>,
): Promise<{ errors: esbuild.Message[]; outputFiles?: esbuild.OutputFile[] }> {
  const entryPoints = [`${NAMESPACE}:${entry}`];
  try {
    return await esbuild.build({ ...ONE_SCRIPT, entryPoints, plugins: [capturedFiles(entry, files)] });
  } catch (error) {
    return { errors: buildFailure(error).errors };
  }
}

/** What only shows when files meet: a name imported that the other file does not export. */
function describeLinkError(error: esbuild.Message, files: ReadonlyMap<string, GraphFile>): SourceFinding {
  const finding = missingExport(error.text) ?? describeError(error.text);
  const at = placeOf(error.location, NAMESPACE);
  const inline = /\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/.exec(
    files.get(at.file)?.source ?? '',
  );
  if (inline?.[1] === undefined) return { ...finding, ...at };
  const map = readMap(Buffer.from(inline[1], 'base64').toString());
  const found = originalPlace(map, at.line - 1, at.column - 1) ?? { line: 1, column: 1, length: 0 };
  return { ...finding, ...at, ...found };
}

function missingExport(text: string): Pick<SourceFinding, 'code' | 'message' | 'facts'> | undefined {
  const [, id, name = ''] = /^No matching export in "\w+:(.*)" for import "(.*)"$/.exec(text) ?? [];
  if (id === undefined) return undefined;
  return {
    code: 'TRANSFORM_IMPORT_NAME',
    message: `${JSON.stringify(id)} exports nothing named ${JSON.stringify(name)}`,
    facts: { id, name },
  };
}

function capturedFiles(entry: string, files: ReadonlyMap<string, GraphFile>): esbuild.Plugin {
  return {
    name: 'captured-files',
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => {
        if (args.kind === 'entry-point') return { path: entry, namespace: NAMESPACE };
        const target = files.get(args.importer)?.imports.get(args.path);
        if (target === undefined)
          return { errors: [{ text: `unresolved import ${JSON.stringify(args.path)}` }] };
        return { path: target, namespace: NAMESPACE, sideEffects: true };
      });
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path: id }) => loadCaptured(id, files));
    },
  };
}

function loadCaptured(id: string, files: ReadonlyMap<string, GraphFile>): esbuild.OnLoadResult {
  if (id === VIRTUAL_MODULE) return { contents: VIRTUAL_SOURCE, loader: 'js' };
  const standIn = id.startsWith('node:') ? standInOf(id) : undefined;
  if (standIn !== undefined) return { contents: standInSource(standIn), loader: 'js' };
  const file = files.get(id);
  const contents = file?.source ?? '';
  return { contents, loader: file?.kind === 'json' ? 'json' : 'js', resolveDir: nowhereFor(contents) };
}

/** tsx names sources by absolute path, esbuild by namespace; both become ids. */
function withRelativeSources(root: string, text: string): string {
  const map = JSON.parse(text) as { sources: string[] };
  const sources = map.sources.map((source) => {
    if (source.startsWith(`${NAMESPACE}:`)) return source.slice(NAMESPACE.length + 1);
    return path.relative(root, path.resolve('/', source)).split(path.sep).join('/');
  });
  return JSON.stringify({ ...map, sources });
}

/** Ids of all files an entry needs, the entry first. */
function reachableFiles(entry: string, files: Graph['files']): readonly string[] {
  const reached = new Set<string>();
  const waiting = [entry];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const file = files.get(id);
    if (file === undefined || reached.has(id)) continue;
    reached.add(id);
    waiting.push(...file.imports.values());
  }
  return [...reached];
}

const request = JSON.parse(await text(process.stdin)) as LoaderRequest;
const [loaded, program] = await Promise.all([load(request), workerProgram()]);
process.stdout.write(JSON.stringify({ ...loaded, workerProgram: program } satisfies LoaderAnswer));
