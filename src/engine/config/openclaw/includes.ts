import { say, type Sentence } from '../../../base/finding.ts';
import { realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, relative, resolve } from 'node:path';
import {
  findingAt,
  readDocument,
  type Finding,
  type LocatedValue,
  type Path,
} from '../../../base/document/document.ts';
import { isJsonObject } from '../../../base/json.ts';
import { grafted, putOver, type Graft } from './graft.ts';

/** As in OpenClaw's documentation of `$include`. */
const MAX_DEPTH = 10;
/** In all: lists of files that include lists would otherwise be read ten billion times. */
const MAX_FILES = 256;

export interface Included {
  readonly root: LocatedValue;
  readonly findings: readonly Finding[];
  /** Absolute paths of the files read. */
  readonly files: readonly string[];
}

export interface IncludeOptions {
  /** Absolute path of the configuration; no include may leave its folder. */
  readonly file: string;
  readonly cwd: string;
  /** `OPENCLAW_INCLUDE_ROOTS`: further folders that may be read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Replaces every `$include` of an OpenClaw file by what it names. One file stands in place of the object, several are
 * merged in order, keys next to `$include` win. Paths are relative to the file that names them.
 */
export async function expandIncludes(root: LocatedValue, options: IncludeOptions): Promise<Included> {
  const run: IncludeResolution = {
    options,
    roots: await rootsOf(options),
    findings: [],
    files: [],
    grafts: [],
  };
  const value = await expand(run, root, { file: options.file, path: [], chain: [options.file] });
  const { findings, files, grafts } = run;
  const isPlain = grafts.length === 0 && findings.length === 0;
  return { root: isPlain ? root : grafted(value, grafts, root), findings, files };
}

interface IncludeResolution {
  readonly options: IncludeOptions;
  readonly roots: readonly string[];
  readonly findings: Finding[];
  readonly files: string[];
  readonly grafts: Graft[];
}

interface Position {
  readonly file: string;
  /** Where its value goes in the whole. */
  readonly path: Path;
  /** Files on the way here, to find circles. */
  readonly chain: readonly string[];
}

async function rootsOf({ file, env }: IncludeOptions): Promise<readonly string[]> {
  const more = (env['OPENCLAW_INCLUDE_ROOTS'] ?? '').split(delimiter).filter((root) => isAbsolute(root));
  return Promise.all([dirname(file), ...more].map(canonical));
}

async function canonical(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function expand(run: IncludeResolution, located: LocatedValue, position: Position): Promise<unknown> {
  const { value } = located;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const index of value.keys()) items.push(await expandAt(run, located, index, position));
    return items;
  }
  return isJsonObject(value) ? expandObject(run, { located, value }, position) : value;
}

/** What an object includes lies below its own keys. */
async function expandObject(
  run: IncludeResolution,
  { located, value }: { readonly located: LocatedValue; readonly value: Readonly<Record<string, unknown>> },
  position: Position,
): Promise<unknown> {
  const own = Object.keys(value).filter((key) => key !== '$include');
  const included = Object.hasOwn(value, '$include')
    ? await readIncludes(run, located.at(['$include']), position)
    : undefined;
  if (included !== undefined && own.length === 0) return included;
  const merged: Record<string, unknown> = isJsonObject(included) ? { ...included } : {};
  for (const key of own) {
    const inner: IncludeResolution = { ...run, grafts: [] };
    const above = await expandAt(inner, located, key, position);
    const layers = { below: merged[key], above, source: located.at([key]) };
    merged[key] = included === undefined ? above : putOver(run.grafts, [...position.path, key], layers, true);
    // The place of the part itself comes first: what the part includes wins over it.
    run.grafts.push(...inner.grafts);
  }
  return merged;
}

function expandAt(
  run: IncludeResolution,
  located: LocatedValue,
  key: string | number,
  position: Position,
): Promise<unknown> {
  return expand(run, located.at([key]), { ...position, path: [...position.path, key] });
}

async function readIncludes(
  run: IncludeResolution,
  names: LocatedValue,
  position: Position,
): Promise<unknown> {
  const list: readonly unknown[] = Array.isArray(names.value) ? names.value : [names.value];
  let merged: unknown;
  for (const [index, name] of list.entries()) {
    const at = Array.isArray(names.value) ? names.at([index]) : names;
    const inner: IncludeResolution = { ...run, grafts: [] };
    const read = typeof name === 'string' ? await readInclude(inner, { name, at, position }) : undefined;
    if (typeof name !== 'string')
      problem(run, at, say`$include must be the path of a file, or a list of paths`);
    if (read === undefined) continue;
    const layers = { below: merged, above: read.value, source: read.source };
    merged = putOver(run.grafts, position.path, layers, true);
    run.grafts.push(...inner.grafts);
  }
  return merged;
}

interface NamedInclude {
  readonly name: string;
  readonly at: LocatedValue;
  readonly position: Position;
}

async function readInclude(
  run: IncludeResolution,
  { name, at, position }: NamedInclude,
): Promise<{ readonly value: unknown; readonly source: LocatedValue } | undefined> {
  const file = resolve(dirname(position.file), name);
  const refusal = await refusalOf(run, file, position);
  if (refusal !== undefined) return problem(run, at, refusal);
  run.files.push(file);
  const { document, findings } = await readDocument(file, { cwd: run.options.cwd, isOpenClaw: true });
  const [first] = findings;
  if (document === undefined && first?.at?.source.text === '') return problem(run, at, first.message);
  run.findings.push(...findings);
  if (document === undefined) return undefined;
  const chain = [...position.chain, file];
  const value = await expand(run, document.root, { file, path: position.path, chain });
  return { value, source: document.root };
}

async function refusalOf(
  run: IncludeResolution,
  file: string,
  { chain }: Position,
): Promise<Sentence | undefined> {
  if (chain.includes(file))
    return say`this $include is circular: the file includes itself, directly or through other files`;
  if (chain.length > MAX_DEPTH)
    return say`$include is nested more than ${String(MAX_DEPTH)} files deep, which OpenClaw does not allow`;
  if (run.files.length >= MAX_FILES)
    return say`$include names more than ${String(MAX_FILES)} files in all, counted each time that they are named`;
  const real = await canonical(file);
  if (run.roots.some((root) => isInside(root, real))) return undefined;
  return say`the included file is outside the folder of the configuration; OpenClaw refuses this, too`;
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

function problem(run: IncludeResolution, at: LocatedValue, message: Sentence): undefined {
  const hint = say`correct the path, which is relative to the file that names it; OPENCLAW_INCLUDE_ROOTS allows further folders`;
  run.findings.push(findingAt(at.place([]), { code: 'INCLUDE_UNREADABLE', message, hint }));
}
