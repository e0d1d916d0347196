/**
 * Finds where imports stand in the operator's own text, and what the policy refuses whatever it names: dynamic
 * imports, `require` outside CommonJS, top-level await; and syntax errors. esbuild parses each file alone: every
 * import comes back as a warning of ours, which esbuild furnishes with its place.
 */
import * as esbuild from 'esbuild';
import { shorten, type Finding } from '../../../base/finding.ts';
import type { GraphFile } from './load-graph.ts';

/**
 * A finding as the loader's process sends it: its place and its sentence are plain data, its facts JSON. Lines and columns
 * are 1-based, columns and lengths in UTF-16 units.
 */
export interface SourceFinding extends Pick<Finding, 'code' | 'facts'> {
  /** Default error; only an error keeps a module from being linked. */
  readonly severity?: 'warning';
  /** Id of the file. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly message: string;
  /** A name read of `process.env`: a finding only for mappings whose transform does not set it. */
  readonly env?: string;
}

export type FilePlace = Pick<SourceFinding, 'file' | 'line' | 'column' | 'length'>;

interface ScannedImport {
  readonly kind: string;
  readonly specifier: string;
  readonly at: FilePlace;
}

export interface SourceScan {
  readonly imports: readonly ScannedImport[];
  readonly findings: readonly SourceFinding[];
}

const NAMESPACE = 'scan';
/**
 * A folder that does not exist, for a file's text. For a name computed from a path, such as import(`../${x}.ts`),
 * esbuild asks no plugin: it looks for every file below the folder that could be meant. The folder is so deep that no
 * path in the text climbs out of it, to the root of this machine.
 */
export function nowhereFor(text: string): string {
  const segments = Math.min(Math.ceil(text.length / '../'.length) + 1, 30_000);
  return `/sluice-nowhere${'/x'.repeat(segments)}`;
}

const LOADERS = { typescript: 'ts', esm: 'js', commonjs: 'js', json: 'json' } as const;

type ScanMessage = Pick<SourceFinding, 'code' | 'message'>;

const DYNAMIC_IMPORT: ScanMessage = {
  code: 'TRANSFORM_DYNAMIC_IMPORT',
  message: 'a transform cannot import dynamically',
};

const noRequire = (message: string): ScanMessage => ({ code: 'TRANSFORM_REQUIRE', message });

/** By the id that esbuild gives its warning. */
const REFUSED_SYNTAX: Readonly<Record<string, ScanMessage>> = {
  'unsupported-dynamic-import': DYNAMIC_IMPORT,
  'unsupported-require-call': noRequire('a transform cannot require a module by a computed name'),
  'indirect-require': noRequire('a transform cannot use require as a value'),
};

const SCAN_OPTIONS = {
  bundle: true,
  write: false,
  outdir: '/scan',
  format: 'iife',
  platform: 'neutral',
  target: 'esnext',
  tsconfigRaw: {},
  logLevel: 'silent',
  logLimit: 0,
  logOverride: Object.fromEntries(Object.keys(REFUSED_SYNTAX).map((id) => [id, 'warning' as const])),
} as const satisfies esbuild.BuildOptions;

export async function scanSources(files: ReadonlyMap<string, GraphFile>): Promise<SourceScan> {
  const entryPoints = [...files.keys()].map((id) => ({
    in: `${NAMESPACE}:${id}`,
    out: encodeURIComponent(id),
  }));
  const plugins = [scanPlugin(files)];
  const result = await esbuild.build({ ...SCAN_OPTIONS, entryPoints, plugins }).catch(buildFailure);
  const broken = result.errors.map(({ text, location }) => ({
    ...describeError(text),
    ...placeOf(location),
  }));
  return {
    imports: result.warnings.flatMap(importOf),
    findings: [...result.warnings.flatMap((message) => refusedBy(message, files)), ...broken],
  };
}

function importOf({ detail, location }: esbuild.Message): readonly ScannedImport[] {
  return isImportDetail(detail) ? [{ ...detail, at: placeOf(location) }] : [];
}

function refusedBy(
  { detail, id, location }: esbuild.Message,
  files: ReadonlyMap<string, GraphFile>,
): readonly SourceFinding[] {
  const at = placeOf(location);
  const refused = isImportDetail(detail) ? refuseKind(detail, files.get(at.file)?.kind) : REFUSED_SYNTAX[id];
  return refused === undefined ? [] : [{ ...refused, ...at }];
}

/** What a build found wrong; anything else that a build throws says that the compiler itself broke down. */
export function buildFailure(error: unknown): esbuild.BuildFailure {
  if (error instanceof Error && 'errors' in error && 'warnings' in error)
    return error as esbuild.BuildFailure;
  throw error;
}

interface ImportDetail {
  readonly kind: string;
  readonly specifier: string;
}

function isImportDetail(detail: unknown): detail is ImportDetail {
  return typeof detail === 'object' && detail !== null && 'specifier' in detail;
}

/** Follows nothing: an import becomes a warning at its place. */
function noteImport({ kind, path }: esbuild.OnResolveArgs): esbuild.OnResolveResult {
  if (kind === 'entry-point') return { path: path.slice(NAMESPACE.length + 1), namespace: NAMESPACE };
  const detail: ImportDetail = { kind, specifier: path };
  return { path, external: true, warnings: [{ text: 'import', detail }] };
}

function scanPlugin(files: ReadonlyMap<string, GraphFile>): esbuild.Plugin {
  return {
    name: 'scan',
    setup(build) {
      build.onResolve({ filter: /.*/ }, noteImport);
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, (args) => {
        const file = files.get(args.path);
        const contents = file?.original ?? '';
        return { contents, loader: LOADERS[file?.kind ?? 'json'], resolveDir: nowhereFor(contents) };
      });
    },
  };
}

function refuseKind(
  { kind }: ImportDetail,
  fileKind: GraphFile['kind'] | undefined,
): ScanMessage | undefined {
  if (kind === 'dynamic-import') return DYNAMIC_IMPORT;
  const isRequired = kind === 'require-resolve' || (kind === 'require-call' && fileKind !== 'commonjs');
  return isRequired ? noRequire('a transform cannot use require') : undefined;
}

/** Words an error of esbuild like the other findings. */
export function describeError(text: string): ScanMessage {
  if (text.startsWith('Top-level await')) return TOP_LEVEL_AWAIT;
  const computed = /^Could not resolve (import|require)\("/.exec(text)?.[1];
  if (computed === 'require') return noRequire('a transform cannot require by a computed name');
  if (computed === 'import')
    return { ...DYNAMIC_IMPORT, message: 'a transform cannot import by a computed name' };
  const message = shorten(text, 200);
  return {
    code: 'TRANSFORM_SYNTAX',
    message: message.charAt(0).toLowerCase() + message.slice(1),
  };
}

const TOP_LEVEL_AWAIT: ScanMessage = {
  code: 'TRANSFORM_TOP_LEVEL_AWAIT',
  message: 'a transform cannot await outside its function',
};

/** The place of a message of esbuild, which counts columns and lengths in bytes from 0. */
export function placeOf(location: esbuild.Location | null, namespace: string = NAMESPACE): FilePlace {
  if (location === null) return { file: '', line: 1, column: 1, length: 0 };
  const bytes = Buffer.from(location.lineText);
  const column = bytes.subarray(0, location.column).toString().length;
  const length = bytes.subarray(location.column, location.column + location.length).toString().length;
  const prefix = `${namespace}:`;
  const file = location.file.startsWith(prefix) ? location.file.slice(prefix.length) : location.file;
  return { file, line: location.line, column: column + 1, length };
}

/** A file in the one form in which esbuild prints it; its source map leads back to the operator's own text. */
export interface PrintedFile {
  readonly code: string;
  readonly map: string;
}

/** Undefined for data, and for what does not parse, which the scan of the sources reports. */
export async function printFile(
  { kind, original }: GraphFile,
  define: Readonly<Record<string, string>> = {},
): Promise<PrintedFile | undefined> {
  if (kind === 'json') return undefined;
  const options = { loader: LOADERS[kind], target: 'esnext', tsconfigRaw: {}, logLevel: 'silent' } as const;
  try {
    return await esbuild.transform(original, { ...options, define, sourcemap: 'external' });
  } catch {
    return undefined;
  }
}
