/** Links the captured files of one transform into a single script with a source map; nothing is run. */
import * as esbuild from 'esbuild';
import path from 'node:path';
import { LINKED_NAME, standInOf, standInSource, VIRTUAL_MODULE } from '../names.ts';
import type { GraphFile } from './load-graph.ts';
import { originalPlace, readMap } from './source-map.ts';
import { buildFailure, describeError, nowhereFor, placeOf, type SourceFinding } from './scan-sources.ts';

export interface LinkedModule {
  readonly code: string;
  /** Source map (JSON text) whose sources are ids. */
  readonly map: string;
}

const NAMESPACE = 'transform';
const VIRTUAL_SOURCE = 'export const defineTransform = (transform) => transform;';

export async function linkModule(
  root: string,
  entry: string,
  files: ReadonlyMap<string, GraphFile>,
): Promise<LinkedModule | { readonly findings: readonly SourceFinding[] }> {
  const result = await build(entry, files);
  if (result.errors.length > 0)
    return { findings: result.errors.map((error) => describeLinkError(error, files)) };
  const text = (suffix: string): string =>
    result.outputFiles?.find((file) => file.path.endsWith(suffix))?.text ?? '';
  // A first line for a shell would stand in the middle of the script that runs.
  return { code: text('linked.js').replace(/^#!/, '//'), map: withRelativeSources(root, text('.map')) };
}

const ONE_SCRIPT = {
  bundle: true,
  write: false,
  outfile: '/linked.js',
  format: 'iife',
  globalName: LINKED_NAME,
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

/** Every file an entry needs, the entry first. */
export function reachableFiles(entry: string, files: ReadonlyMap<string, GraphFile>): GraphFile[] {
  const seen = new Set<string>();
  const waiting = [entry];
  const reached: GraphFile[] = [];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const file = files.get(id);
    if (file === undefined || seen.has(id)) continue;
    seen.add(id);
    reached.push(file);
    waiting.push(...file.imports.values());
  }
  return reached;
}
