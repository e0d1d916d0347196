/**
 * The loader process: a request as JSON on standard input, the linked modules and findings as JSON on standard
 * output, then it ends. It stands alone because module hooks are global to a process, and so that whatever the
 * tools behind it keep in memory is gone when loading is done.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { linkModule, reachableFiles } from './link-module.ts';
import {
  isInside,
  isLoadable,
  loadGraph,
  unreadableReason,
  type Graph,
  type GraphFile,
  type RefusedImport,
  idOf,
} from './load-graph.ts';
import { workerProgram } from '../host/worker-program.ts';
import { scanArguments } from './scan-argument.ts';
import { scanGlobals } from './scan-globals.ts';
import { scanShapes } from './scan-shapes.ts';
import { scanSources, SYNTAX_HINT, type Scan, type SourceFinding } from './scan-sources.ts';

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
      readonly linked?: { readonly code: string; readonly map: string; readonly sha256: string };
    };

export interface LoaderAnswer {
  /** Real path of the transforms folder; ids are relative to it. */
  readonly root: string;
  readonly modules: readonly LoaderModule[];
  readonly findings: readonly SourceFinding[];
  /** Texts of the files that have findings, by id. */
  readonly texts: Readonly<Record<string, string>>;
  /** The program of a worker process. */
  readonly workerProgram: string;
}

/** Findings that keep no module from running. */
const LINKABLE: ReadonlySet<string> = new Set([
  'TRANSFORM_MISSING_GLOBAL',
  'TRANSFORM_FORGETS',
  'TRANSFORM_ENV_MISSING',
  'TRANSFORM_WEB_HANDLER',
  'TRANSFORM_RETURNS_NOTHING',
  'TRANSFORM_ARGUMENT',
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
  const found = await scanGraph(
    graph,
    paths.map((file) => idOf(root, file)),
  );
  const linked = await linkAll(root, entries, { graph, found });
  const findings = [...found, ...linked.findings];
  const texts = Object.fromEntries(
    findings.map(({ file }) => [file, graph.files.get(file)?.original ?? ''] as const),
  );
  return { root, modules: linked.modules, findings, texts };
}

async function scanGraph(graph: Graph, entries: readonly string[]): Promise<readonly SourceFinding[]> {
  const roots = [...new Set(entries)].flatMap((id) => graph.files.get(id) ?? []);
  const [scan, globals, shapes, misread] = await Promise.all([
    scanSources(graph.files),
    scanGlobals(graph.files),
    scanShapes(graph.files),
    scanArguments(roots),
  ]);
  const handlers = new Set(
    misread.flatMap(({ code, file }) => (code === 'TRANSFORM_WEB_HANDLER' ? [file] : [])),
  );
  const told = new Set(shapes.map(({ file }) => file));
  const untold = misread.filter(({ file }) => handlers.has(file) || !told.has(file));
  // What it has of the web goes with it.
  const own = [...collectFindings(graph, scan), ...globals].filter(
    ({ code, message, file }) => !(OF_WEB.test(`${code} ${message}`) && handlers.has(file)),
  );
  return [...own, ...shapes, ...untold];
}

const OF_WEB = /^TRANSFORM_MISSING_GLOBAL (?:Response|Request|Headers)\b/;

/** A handler that is exported under a name of its own is never called. */
const isLinkable = ({ code, severity }: SourceFinding): boolean =>
  LINKABLE.has(code) && (code !== 'TRANSFORM_WEB_HANDLER' || severity === 'warning');

type Entry = { readonly module: string } & ({ readonly file: string } | { readonly problem: EntryProblem });

/** Links each entry whose files have no finding that prevents it. */
async function linkAll(
  root: string,
  entries: readonly Entry[],
  { graph, found }: { readonly graph: Graph; readonly found: readonly SourceFinding[] },
): Promise<{ readonly modules: readonly LoaderModule[]; readonly findings: readonly SourceFinding[] }> {
  // What is not there is missed when its line is reached: the module can be linked.
  const bad = new Set(found.filter((finding) => !isLinkable(finding)).map(({ file }) => file));
  const modules: LoaderModule[] = [];
  const findings: SourceFinding[] = [];
  for (const entry of entries) {
    if ('problem' in entry) {
      modules.push(entry);
      continue;
    }
    const id = idOf(root, entry.file);
    const files = reachableFiles(id, graph.files).map((file) => file.id);
    const linked = files.some((file) => bad.has(file)) ? undefined : await link(root, id, graph.files);
    const module = { module: entry.module, entry: id, files };
    if (linked !== undefined && 'findings' in linked) findings.push(...linked.findings);
    modules.push(linked === undefined || 'findings' in linked ? module : { ...module, linked });
  }
  return { modules, findings };
}

function findEntry(root: string, module: string): { file: string } | { problem: EntryProblem } {
  const named = path.resolve(root, module);
  if (!isInside(root, named)) return { problem: 'outside' };
  let file: string;
  try {
    file = realpathSync(named);
  } catch {
    return { problem: 'not-found' };
  }
  if (!isInside(root, file)) return { problem: 'outside' };
  const unreadable = unreadableReason(file);
  if (!isLoadable(file) || file.endsWith('.json') || unreadable === 'no-file')
    return { problem: 'file-type' };
  if (unreadable === 'too-large') return { problem: 'too-large' };
  return { file };
}

async function link(
  root: string,
  entry: string,
  files: ReadonlyMap<string, GraphFile>,
): Promise<{ code: string; map: string; sha256: string } | { findings: readonly SourceFinding[] }> {
  const linked = await linkModule(root, entry, files);
  if ('findings' in linked) return linked;
  return { ...linked, sha256: createHash('sha256').update(linked.code).digest('hex') };
}

/** What the scan found, each refused import at its place, and the files that cannot be compiled. */
function collectFindings(graph: Graph, scan: Scan): readonly SourceFinding[] {
  const findings = [...scan.findings];
  const placed = new Set(findings.map(placeKey));
  for (const { code, message, hint, ...refused } of graph.refused) {
    for (const at of placesOf(refused, graph, scan)) {
      if (placed.has(placeKey(at))) continue;
      placed.add(placeKey(at));
      const missing = code === 'TRANSFORM_IMPORT_NOT_FOUND' ? { missingFile: refused.specifier } : {};
      findings.push({ code, message, ...at, ...(hint === undefined ? {} : { hint }), ...missing });
    }
  }
  const broken = [...graph.files.values()].filter(
    ({ id, source }) => source === undefined && !findings.some(({ file }) => file === id),
  );
  return [...findings, ...broken.map(({ id }) => ({ ...NOT_COMPILED, ...startOf(id) }))];
}

type FilePlace = Pick<SourceFinding, 'file' | 'line' | 'column' | 'length'>;

const placeKey = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`;

const startOf = (file: string): FilePlace => ({ file, line: 1, column: 1, length: 0 });

const NOT_COMPILED = {
  code: 'TRANSFORM_SYNTAX',
  message: 'the file cannot be compiled',
  hint: SYNTAX_HINT,
};

/** Where a refused import stands; a CommonJS candidate that the scan did not see stood in a comment or string. */
function placesOf(
  { importer, specifier }: Pick<RefusedImport, 'importer' | 'specifier'>,
  graph: Graph,
  scan: Scan,
): readonly FilePlace[] {
  const places = scan.imports
    .filter((one) => one.at.file === importer && one.specifier === specifier)
    .map(({ at }) => at);
  const isCommonJs = graph.files.get(importer)?.kind === 'commonjs';
  return places.length > 0 || isCommonJs ? places : [startOf(importer)];
}

const request = JSON.parse(await text(process.stdin)) as LoaderRequest;
const [loaded, program] = await Promise.all([load(request), workerProgram()]);
process.stdout.write(JSON.stringify({ ...loaded, workerProgram: program } satisfies LoaderAnswer));
