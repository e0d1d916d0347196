/**
 * Walks the import graph of transforms without running any of their statements. tsx installs itself as Node module
 * hooks; hooks registered after it wrap it, so the `load` hook below receives every file as tsx resolved and
 * transformed it, keeps that text, and hands Node a skeleton of bare `import "./dep"` lines. Node then asks for the
 * dependencies, and nothing of the operator's is ever evaluated. V8 itself (an isolate that only parses) says what a
 * module imports. Whatever breaks the policy is recorded and replaced by an empty module, so that one walk finds
 * everything there is to report.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vm from 'node:vm';
import ivm from 'isolated-vm';
import { register } from 'tsx/esm/api';
import { shorten } from '../../../base/finding.ts';
import { readJson } from '../../../base/json.ts';
import { NODE_STAND_INS, standInOf, VIRTUAL_MODULE } from '../names.ts';

/** A file of the graph; ids are paths relative to the root with forward slashes. */
export interface GraphFile {
  readonly id: string;
  readonly kind: 'typescript' | 'esm' | 'commonjs' | 'json';
  /** As the operator wrote it. */
  readonly original: string;
  /** JavaScript (or JSON) with an inline source map where there is one; absent where it could not be compiled. */
  readonly source: string | undefined;
  /** Why there is no source, as V8 says it: "MESSAGE [FILE:LINE:COLUMN]". */
  readonly fault?: string;
  /** Specifier -> id; `VIRTUAL_MODULE` for the virtual module, `node:crypto` for a stand-in. */
  readonly imports: Map<string, string>;
}

/** An import that the policy does not allow, or that leads nowhere. */
export interface RefusedImport {
  readonly importer: string;
  readonly specifier: string;
  readonly code: string;
  readonly message: string;
}

export interface Graph {
  readonly files: ReadonlyMap<string, GraphFile>;
  readonly refused: readonly RefusedImport[];
}

const EXTENSIONS: Readonly<Record<string, 'typescript' | 'javascript' | 'json'>> = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.json': 'json',
};

/** Whether a transform may be, or import, a file of this name. */
export function isLoadable(file: string): boolean {
  return EXTENSIONS[path.extname(file)] !== undefined;
}

/** Sources beyond this are no transform, and would keep the compiler busy for seconds. */
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

export const isTooLarge = (file: string): boolean => statSync(file).size > MAX_SOURCE_BYTES;

/** The file a path leads to; undefined of a directory, a device or a pipe, which would fail the whole loader, or hang it. */
export function realFile(named: string): string | undefined {
  try {
    const file = realpathSync(named);
    return statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `file` lies below `root`; both are real paths. */
export function isInside(root: string, file: string): boolean {
  return file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

/** One of its own for each start of this program: Node reads a file only once under one name. */
const NAMESPACE = `sluice-${randomUUID()}`;
const QUERY = `?tsx-namespace=${NAMESPACE}`;
const EMPTY_URL = 'sluice-empty:module';

/** One walk, and what it has found so far. */
interface Walk {
  readonly root: string;
  readonly files: Map<string, GraphFile>;
  readonly refused: RefusedImport[];
  readonly parser: ivm.Isolate;
}

/** Walks from the given entries (real paths inside `root`). Must be alone in its process: hooks are global. */
export async function loadGraph(root: string, entries: readonly string[]): Promise<Graph> {
  const walk: Walk = { root, files: new Map(), refused: [], parser: new ivm.Isolate({ memoryLimit: 64 }) };
  const tsx = register({ namespace: NAMESPACE, tsconfig: false });
  const hooks = module.registerHooks({ resolve: resolveHook(walk), load: loadHook(walk) });
  try {
    for (const entry of entries) await import(urlOf(entry));
  } finally {
    hooks.deregister();
    await tsx.unregister();
    walk.parser.dispose();
  }
  return { files: walk.files, refused: walk.refused };
}

/** The path of a file within its folder, with slashes on every system. */
export function idOf(root: string, file: string): string {
  return path.relative(root, file).split(path.sep).join('/');
}

function urlOf(file: string): string {
  return pathToFileURL(file).href + QUERY;
}

/** Leads every import of a file of the graph to a file of it, or to an empty module. */
function resolveHook({ root, files, refused }: Walk): module.ResolveHookSync {
  return (specifier, context, next) => {
    if (specifier.startsWith('file:') && specifier.endsWith(QUERY)) return found(specifier);
    if (context.parentURL?.endsWith(QUERY) !== true) return next(specifier, context);
    const importer = files.get(idOf(root, fileURLToPath(withoutQuery(context.parentURL))));
    if (importer === undefined) return next(specifier, context);
    const own = ownModule(specifier);
    const target = own ?? resolveImport(root, { specifier, resolve: () => next(specifier, context).url });
    if ('code' in target) {
      refused.push({ importer: importer.id, specifier, ...target });
      return found(EMPTY_URL);
    }
    importer.imports.set(specifier, 'id' in target ? target.id : idOf(root, target.file));
    return found('id' in target ? EMPTY_URL : urlOf(target.file));
  };
}

/** What comes with Sluice: the virtual module, and stand-ins for parts of Node's. */
function ownModule(specifier: string): { readonly id: string } | undefined {
  if (specifier === VIRTUAL_MODULE) return { id: VIRTUAL_MODULE };
  const standIn = standInOf(specifier);
  return standIn === undefined ? undefined : { id: `node:${standIn}` };
}

/** Keeps the text of a file and hands over a skeleton of its imports. */
function loadHook({ root, files, parser }: Walk): module.LoadHookSync {
  return (url, context, next) => {
    if (url === EMPTY_URL) return skeleton([]);
    if (!url.endsWith(QUERY)) return next(url, context);
    const file = fileURLToPath(withoutQuery(url));
    const [entry, imports] = readGraphFile(idOf(root, file), file, parser, () =>
      textOf(next(url, { ...context, format: 'module' }).source),
    );
    files.set(entry.id, entry);
    return skeleton(imports);
  };
}

/** Reads one file and lists what it imports; `transform` is the rest of the hook chain, which is tsx. */
function readGraphFile(
  id: string,
  file: string,
  parser: ivm.Isolate,
  transform: () => string,
): [GraphFile, string[]] {
  const original = readFileSync(file, 'utf8');
  const imports = new Map<string, string>();
  const kind = EXTENSIONS[path.extname(file)];
  if (kind === 'json') return [{ id, kind, original, source: original, imports }, []];
  if (kind === 'javascript' && isCommonJs(file, original)) {
    const source = withInlineMap(file, original);
    return [{ id, kind: 'commonjs', original, source, imports }, requireCandidates(original)];
  }
  const language = kind === 'typescript' ? 'typescript' : 'esm';
  try {
    // JavaScript has nothing to compile; taken as it is, its own source map can be followed.
    const source = language === 'typescript' ? transform() : withInlineMap(file, original);
    const parsed = parser.compileModuleSync(source, { filename: id });
    const specifiers = parsed.dependencySpecifiers.map(decodeSpecifier);
    parsed.release();
    return [{ id, kind: language, original, source, imports }, specifiers];
  } catch (error) {
    // The scan knows the place in the operator's own text, and V8 does only where nothing was compiled.
    const fault = language === 'esm' && error instanceof Error ? error.message : '';
    return [{ id, kind: language, original, source: undefined, fault, imports }, []];
  }
}

/** isolated-vm hands over the bytes of UTF-8 as if each were a character. */
function decodeSpecifier(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

type ImportRefusal = Pick<RefusedImport, 'code' | 'message'>;
type ImportTarget = { readonly file: string } | ImportRefusal;

function resolveImport(
  root: string,
  { specifier, resolve }: { readonly specifier: string; readonly resolve: () => string },
): ImportTarget {
  if (!/^\.\.?\//.test(specifier)) return refuse(specifier, NOT_IN_FOLDER);
  let file: string | undefined;
  try {
    const url = resolve().replace(/%3[Ff]namespace=.*$/, '');
    file = realFile(fileURLToPath(withoutQuery(url)));
  } catch {
    // Node and tsx throw where they find nothing.
  }
  if (file === undefined) return refuse(specifier, NOT_FOUND);
  const fault = faultOf(root, file);
  return fault === undefined ? { file } : refuse(specifier, fault);
}

/** Why an import is refused; `fault` is what its message says behind the import. */
interface Fault {
  readonly code: string;
  readonly fault: string;
}

function refuse(specifier: string, { code, fault }: Fault): ImportRefusal {
  return { code, message: `the import ${JSON.stringify(shorten(specifier))} ${fault}` };
}

/** What a transform may import. */
const IMPORTABLE = `relative paths, '${VIRTUAL_MODULE}', ${Object.keys(NODE_STAND_INS)
  .map((name) => `'node:${name}'`)
  .join(' and ')}`;

const NOT_IN_FOLDER: Fault = {
  code: 'TRANSFORM_IMPORT_REFUSED',
  fault: `is not allowed, a transform may import ${IMPORTABLE} only`,
};

const NOT_FOUND: Fault = {
  code: 'TRANSFORM_IMPORT_NOT_FOUND',
  fault: 'names a file that does not exist',
};

function faultOf(root: string, file: string): Fault | undefined {
  if (!isInside(root, file)) return OUTSIDE;
  if (!isLoadable(file)) return WRONG_ENDING;
  return isTooLarge(file) ? TOO_LARGE : undefined;
}

const OUTSIDE: Fault = {
  code: 'TRANSFORM_IMPORT_OUTSIDE',
  fault: 'is outside the transforms folder',
};

const WRONG_ENDING: Fault = {
  code: 'TRANSFORM_FILE_TYPE',
  fault: `has an ending that a transform cannot import, expected ${Object.keys(EXTENSIONS).join(' ')}`,
};

const TOO_LARGE: Fault = {
  code: 'TRANSFORM_TOO_LARGE',
  fault: 'is a file of over 4 MB',
};

/** A file without `import` and `export` that uses CommonJS names, as tsc writes it; decided by V8's own parser. */
function isCommonJs(file: string, source: string): boolean {
  if (file.endsWith('.cjs')) return true;
  if (file.endsWith('.mjs') || !/\b(?:exports|module|require)\b/.test(source)) return false;
  try {
    // Compiled, never called.
    return typeof vm.compileFunction(source, ['exports', 'require', 'module']) === 'function';
  } catch {
    return false;
  }
}

/** Every specifier a CommonJS file may require; the scan, which parses, later drops those in comments and strings. */
function requireCandidates(source: string): string[] {
  const found = source.matchAll(/\brequire\(\s*(['"])([^'"\n]{1,500})\1\s*\)/g);
  return [...new Set([...found].map((match) => match[2] ?? ''))];
}

/**
 * Appends the source map that a compiled file names, if it lies next to it, to the text itself: the last one named
 * counts. Where there is none to follow, the name of no file is appended, because the linker would open whatever
 * path of this machine the text names.
 */
function withInlineMap(file: string, source: string): string {
  const map = readNamedMap(file, source) ?? readOwnMap(source);
  if (map === undefined)
    return source.includes('sourceMappingURL=') ? `${source}\n//# sourceMappingURL=none` : source;
  const text = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${source}\n//# sourceMappingURL=data:application/json;base64,${text}`;
}

/** A map in a file of its own, its sources made absolute. */
function readNamedMap(file: string, source: string): object | undefined {
  const name = /^\/\/# sourceMappingURL=([^\s:]+\.map)\s*$/m.exec(source)?.[1];
  if (name === undefined || path.basename(name) !== name) return undefined;
  const folder = path.dirname(file);
  try {
    const named = realFile(path.join(folder, name));
    if (named === undefined || path.dirname(named) !== folder || isTooLarge(named)) return undefined;
    const map = JSON.parse(readFileSync(named, 'utf8')) as { sources?: string[] };
    return { ...map, sources: map.sources?.map((one) => path.resolve(folder, one)) };
  } catch {
    return undefined;
  }
}

/** The map that a text ends with. */
function readOwnMap(source: string): object | undefined {
  const data =
    /\n\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)\s*$/.exec(source);
  if (data?.[1] === undefined) return undefined;
  const map = readJson(Buffer.from(data[1], 'base64').toString());
  return typeof map === 'object' && map !== null ? map : undefined;
}

function textOf(source: module.ModuleSource | undefined): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '');
}

function found(url: string): module.ResolveFnOutput {
  return { url, format: 'module', shortCircuit: true };
}

function skeleton(specifiers: readonly string[]): module.LoadFnOutput {
  const source = specifiers.map((specifier) => `import ${JSON.stringify(specifier)};`).join('');
  return { format: 'module', source, shortCircuit: true };
}
