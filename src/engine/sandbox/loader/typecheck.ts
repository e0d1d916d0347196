/** Type-checks transforms with the TypeScript of the configuration's project, or of Sluice's checkout. */
import { say, type Sentence } from '../../../base/finding.ts';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  statSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { displayName, sourceOfCode, type Finding } from '../../../base/document/document.ts';
import { AUTHOR_GLOBALS } from './author-globals.ts';
import { limitedCommand } from '../host/worker-command.ts';
import { placeAt } from './load-modules.ts';
import { MISSING_GLOBALS } from '../names.ts';
import { findingOn, type TransformRef } from '../transform.ts';

export interface TypecheckOptions extends CompilerSearch {
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
}

/** What the compiler found, and which one it was. */
export interface Typecheck {
  readonly findings: readonly Finding[];
  /** Absent where nothing was checked. */
  readonly compiler?: CompilerName;
}

/** The native compiler takes half a second for a large folder; an old one on a slow machine ten. */
const TSC_TIMEOUT_MS = 60_000;
/** More than anyone reads; the last one says how many there are. */
const MAX_FINDINGS = 200;

/**
 * Reports what `tsc` says about the TypeScript modules of `refs` and what they import. `sluice` need not be installed
 * there: its types come from here. A `tsconfig.json` in the transforms folder adds the author's own rules.
 */
export async function typecheckTransforms(
  dir: string,
  refs: readonly TransformRef[],
  options: TypecheckOptions,
): Promise<Typecheck> {
  const files = [...new Set(refs.map((ref) => path.resolve(dir, ref.module)))].filter(
    (file) => /\.m?ts$/.test(file) && existsSync(file),
  );
  const [first] = refs.filter((ref) => /\.m?ts$/.test(ref.module));
  if (files.length === 0 || first === undefined) return { findings: [] };
  const compiler = findCompiler(options);
  if (compiler === undefined) return { findings: [notChecked(first, options)] };
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'sluice-types-'));
  try {
    const project = path.join(folder, 'tsconfig.json');
    writeFileSync(path.join(folder, 'globals.d.ts'), AUTHOR_GLOBALS);
    writeFileSync(project, JSON.stringify(projectOf(dir, files, folder)));
    const argv = [compiler.file, '-p', project, '--pretty', 'false'];
    return { findings: readFindings(await runCompiler(argv, dir), first, { dir, ...options }), compiler };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What holds for every transform, whatever the author's own rules are. */
const AS_IN_THE_SANDBOX = {
  noEmit: true,
  incremental: false,
  composite: false,
  target: 'es2024',
  lib: ['es2024'],
  module: 'esnext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  isolatedModules: true,
  skipLibCheck: true,
  types: [],
};

const AUTHOR_TYPES = ['../author.d.ts', '../author.ts'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

function projectOf(dir: string, files: readonly string[], folder: string): object {
  const own = path.join(dir, 'tsconfig.json');
  const types = AUTHOR_TYPES.find((file) => existsSync(file));
  return {
    ...(existsSync(own) ? { extends: own } : {}),
    compilerOptions: {
      // What a transform is given is known; who leaves the type out writes code that runs.
      ...(existsSync(own) ? {} : { strict: true, noImplicitAny: false }),
      ...AS_IN_THE_SANDBOX,
      paths: { sluice: [types] },
    },
    files: [...files, path.join(folder, 'globals.d.ts')],
    include: [],
  };
}

async function runCompiler(argv: readonly string[], dir: string): Promise<string> {
  const { file, argv: words } = limitedCommand(argv, undefined);
  const child = spawn(file, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
    timeout: TSC_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === null ? `it ended with ${signal ?? 'a signal'}` : ''),
    );
  });
  const [output, complaint, failure] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return `${output}\n${failure === '' ? complaint : failure}`;
}

/** One error as tsc prints it: where, its number, and its words with those of its causes. */
interface PrintedError {
  /** File, line and column; absent for an error without a place. */
  readonly place?: readonly [file: string, line: number, column: number];
  readonly code: string;
  readonly words: string[];
}

/** tsc prints `file(line,column): error TS1234: words`, each cause indented on a line of its own, and errors without a place bare. */
function readErrors(output: string): readonly PrintedError[] {
  const errors: PrintedError[] = [];
  for (const line of output.split('\n')) {
    const placed = /^(.*?)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(line);
    const bare = /^(?:error )?(TS\d+): (.*)$/.exec(line);
    if (placed !== null) {
      const [, file = '', row, column, code = '', text = ''] = placed;
      errors.push({ place: [file, Number(row), Number(column)], code, words: [text] });
    } else if (bare !== null) errors.push({ code: bare[1] ?? '', words: [bare[2] ?? ''] });
    else if (/^\s+\S/.test(line)) errors.at(-1)?.words.push(line.trim());
  }
  return errors;
}

function readFindings(
  output: string,
  first: TransformRef,
  options: TypecheckOptions & { readonly dir: string },
): readonly Finding[] {
  const errors = readErrors(output);
  if (errors.length === 0 && output.trim() !== '') {
    return [{ ...TYPE_ERROR, message: say`tsc failed: ${output.trim().slice(0, 200)}`, at: first.at }];
  }
  return errors
    .filter(({ words }) => !isFoundByLoader(words[0] ?? ''))
    .slice(0, MAX_FINDINGS)
    .map((error) => describeTypeError(error, first, options));
}

/** A global that is not there, or an import that is refused: the loader has found it, and knows what to use instead. */
function isFoundByLoader(message: string): boolean {
  const name = /^Cannot find name '([\w$]+)'/.exec(message)?.[1];
  if (name !== undefined) return MISSING_GLOBALS.includes(name);
  // JavaScript of one's own has no declarations, and needs none.
  if (/^Could not find a declaration file for module '\.\.?\//.test(message)) return true;
  const specifier = /^Cannot find (?:module|name) '([^']+)'/.exec(message)?.[1];
  return specifier !== undefined && !specifier.startsWith('.');
}

const TYPE_ERROR = {
  severity: 'error',
  code: 'TRANSFORM_TYPES',
  hint: say`correct the code, or the type the payload was declared with`,
} as const;

function describeTypeError(
  { place, code, words }: PrintedError,
  first: TransformRef,
  { dir, cwd }: TypecheckOptions & { readonly dir: string },
): Finding {
  const said = { ...TYPE_ERROR, message: say`${sentence(words)} (${code})` };
  if (place === undefined) return { ...said, at: first.at };
  const [name, line, column] = place;
  const file = path.resolve(dir, name);
  const source = sourceOfCode(displayName(file, cwd), existsSync(file) ? readFileSync(file, 'utf8') : '');
  const at = placeAt(source, line, column, 0);
  const word = /^[\w$]+/.exec(source.text.slice(at.start));
  const end = at.start + (word?.[0].length ?? 1);
  return { ...said, at: { ...at, end } };
}

/** The words and all causes in one line, the last cause says most. */
function sentence(words: readonly string[]): string {
  const text = words.map((one) => one.replace(/\.$/, '').slice(0, 400)).join(': ');
  return `${text.charAt(0).toLowerCase()}${text.slice(1, 1600)}`;
}

const unchecked = (ref: TransformRef, message: Sentence, hint: Sentence): Finding =>
  findingOn(ref, 'TRANSFORM_TYPES_NOT_CHECKED', message, { severity: 'warning', hint });

function notChecked(ref: TransformRef, { configDir, cwd, isTrusted = true }: TypecheckOptions): Finding {
  if (!isTrusted)
    return unchecked(
      ref,
      say`the types of transforms were not checked: SLUICE_TRUST is no, so the TypeScript of the folder is not run`,
      say`run sluice check in a terminal`,
    );
  return unchecked(
    ref,
    say`the types of transforms were not checked: the project of ${displayName(configDir, cwd)} has no TypeScript`,
    say`run npm install --save-dev typescript where the configuration lies, or in the folder of its package.json`,
  );
}

/**
 * Which TypeScript compiler `check` may run. It runs with the rights of whoever checks, so it comes from a place that
 * belongs to the configuration, not from whatever folder above it happens to hold one: from the configuration's own
 * project, or, where Sluice runs from a checkout, from Sluice's own.
 */

interface CompilerName {
  /** For people, e.g. `TypeScript 7.0.2 of the configuration's project`. */
  readonly name: string;
  /** True for the compiler of Sluice's checkout, which nobody chose. */
  readonly isOwn: boolean;
}

interface TypeScriptCompiler extends CompilerName {
  /** The program, run with node. */
  readonly file: string;
}

interface CompilerSearch {
  readonly configDir: string;
  /** False where no code of the configuration's project is run; default true. */
  readonly isTrusted?: boolean;
  /** Folder of Sluice itself; default the one this file belongs to. */
  readonly sluiceDir?: string;
}

const OWN_DIR = fileURLToPath(new URL('../../../..', import.meta.url));

function findCompiler({
  configDir,
  isTrusted = true,
  sluiceDir = OWN_DIR,
}: CompilerSearch): TypeScriptCompiler | undefined {
  for (const folder of isTrusted ? projectFolders(configDir) : []) {
    const compiler = compilerIn(folder, false);
    if (compiler !== undefined) return compiler;
  }
  // An installed Sluice lies in a node_modules folder, and what lies beside it there was not chosen for this.
  const isCheckout = !path.resolve(sluiceDir).split(path.sep).includes('node_modules');
  return isCheckout ? compilerIn(sluiceDir, true) : undefined;
}

/**
 * The folders of the project a configuration belongs to: its own folder and those above it that hold a package.json,
 * up to the root of the repository, or to the first package.json where there is none. A folder that others may write
 * to (`/tmp`), or that belongs to somebody else, ends the project.
 */
function projectFolders(configDir: string): readonly string[] {
  const start = path.resolve(configDir);
  const owner = statOf(start)?.uid;
  const folders: string[] = [];
  let first: number | undefined;
  for (let folder = start; ; folder = path.dirname(folder)) {
    const stat = statOf(folder);
    if (stat === undefined || !isOwn(stat, owner)) break;
    if (existsSync(path.join(folder, 'package.json'))) {
      folders.push(folder);
      first ??= folders.length;
    }
    if (existsSync(path.join(folder, '.git'))) return folders;
    if (folder === path.dirname(folder)) break;
  }
  return folders.slice(0, first ?? 0);
}

function isOwn({ mode, uid }: Stats, owner: number | undefined): boolean {
  if (process.platform === 'win32') return true;
  return (mode & 0o002) === 0 && (uid === owner || uid === 0);
}

function statOf(folder: string): Stats | undefined {
  return statSync(folder, { throwIfNoEntry: false });
}

function compilerIn(folder: string, isOwn: boolean): TypeScriptCompiler | undefined {
  const home = path.join(folder, 'node_modules', 'typescript');
  try {
    const manifest = readFileSync(path.join(home, 'package.json'), 'utf8');
    const { bin, version } = JSON.parse(manifest) as { bin?: { tsc?: string }; version?: string };
    if (bin?.tsc === undefined) return undefined;
    const owner = isOwn ? "Sluice's checkout" : "the configuration's project";
    return { file: path.join(home, bin.tsc), name: `TypeScript ${version ?? ''} of ${owner}`, isOwn };
  } catch {
    return undefined;
  }
}
