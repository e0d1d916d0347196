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
import { printFile, type PrintedFile } from './print-file.ts';
import { scanGlobals } from './scan-globals.ts';
import { scanSources, type Scan, type SourceFinding } from './scan-sources.ts';

export interface LoaderRequest {
  /** `hooks.transformsDir`, absolute. */
  readonly dir: string;
  /** Modules as mappings name them. */
  readonly modules: readonly string[];
  /** Whether advice will look at the files. */
  readonly isLookedAt: boolean;
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
  /** The files as esbuild prints them, where advice will look at them. */
  readonly printed: readonly PrintedModule[];
  /** The program of a worker process. */
  readonly workerProgram: string;
}

export interface PrintedModule extends PrintedFile {
  readonly id: string;
  readonly language: Exclude<GraphFile['kind'], 'json'>;
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
    return { root: request.dir, modules, findings: [], texts: {}, printed: [] };
  }
  const root = realpathSync(request.dir);
  const entries = request.modules.map((module) => ({ module, ...findEntry(root, module) }));
  const paths = entries.flatMap((entry) => ('file' in entry ? [entry.file] : []));
  const graph = await loadGraph(root, [...new Set(paths)]);
  const found = await scanGraph(graph);
  const linked = await linkAll(root, entries, { graph, found });
  const findings = [...found, ...linked.findings];
  const printed = request.isLookedAt ? await printAll(graph) : [];
  const texts = Object.fromEntries(
    [...findings.map(({ file }) => file), ...printed.map(({ id }) => id)].map(
      (id) => [id, graph.files.get(id)?.original ?? ''] as const,
    ),
  );
  return { root, modules: linked.modules, findings, texts, printed };
}

async function printAll({ files }: Graph): Promise<readonly PrintedModule[]> {
  const printed = await Promise.all(
    [...files.values()].map(async (file): Promise<readonly PrintedModule[]> => {
      const { id, kind } = file;
      const form = await printFile(file);
      return form === undefined || kind === 'json' ? [] : [{ id, language: kind, ...form }];
    }),
  );
  return printed.flat();
}

async function scanGraph(graph: Graph): Promise<readonly SourceFinding[]> {
  const [scan, globals] = await Promise.all([scanSources(graph.files), scanGlobals(graph.files)]);
  return [...collectFindings(graph, scan), ...globals];
}

type Entry = { readonly module: string } & ({ readonly file: string } | { readonly problem: EntryProblem });

/** Links each entry whose files have no finding that prevents it. */
async function linkAll(
  root: string,
  entries: readonly Entry[],
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
  return [...findings, ...broken.map(({ id }) => ({ ...NOT_COMPILED, ...startOf(id) }))];
}

type FilePlace = Pick<SourceFinding, 'file' | 'line' | 'column' | 'length'>;

const placeKey = ({ file, line, column }: FilePlace): string => `${file}:${line}:${column}`;

const startOf = (file: string): FilePlace => ({ file, line: 1, column: 1, length: 0 });

const NOT_COMPILED = { code: 'TRANSFORM_SYNTAX', message: 'the file cannot be compiled' };

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
