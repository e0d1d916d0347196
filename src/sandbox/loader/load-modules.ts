/** The host's side of loading: runs the loader process and turns what it found into diagnostics at their places. */
import { quoted, say } from '../../finding.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  displayName,
  formatPlace,
  replaceWithin,
  sourceOfCode,
  withEdit,
  type Finding,
  type Place,
  type SourceText,
} from '../../document/document.ts';
import type { LoaderAnswer, LoaderModule, LoaderRequest } from './loader-process.ts';
import type { SourceFinding } from './scan-sources.ts';
import type { TransformRef } from '../transform.ts';
import { moduleBeside, suggestModule } from './near-modules.ts';

/** Where transforms lie, and how their files are named in print. */
export interface TransformsFolder {
  /** `hooks.transformsDir`, absolute. */
  readonly dir: string;
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
}

/** A module ready to run. */
export interface LoadedModule {
  /** As mappings name it. */
  readonly module: string;
  readonly code: string;
  /** Source map of `code` (JSON text); its sources are relative to `hooks.transformsDir`. */
  readonly map: string;
  readonly sha256: string;
}

export interface LoadedModules {
  readonly modules: ReadonlyMap<string, LoadedModule>;
  readonly diagnostics: readonly Finding[];
  /** Absolute paths of all files that were read, and of entries that are missing so that their arrival is noticed. */
  readonly files: readonly string[];
  /** The program of a worker process; empty where nothing was loaded. */
  readonly workerProgram: string;
}

/** A loader that hangs would hold a reload for ever; twenty files take 0.1 s. */
const LOADER_TIMEOUT_MS = 30_000;
/** Linked code beyond this does not fit 64 MB of heap together with a request. */
const MAX_CODE_BYTES = 1024 * 1024;

const NOTHING: LoadedModules = { modules: new Map(), diagnostics: [], files: [], workerProgram: '' };

/** Compiles and links every module that `refs` name; runs none of their code. */
export async function loadModules(
  folder: TransformsFolder,
  refs: readonly TransformRef[],
): Promise<LoadedModules> {
  const { dir } = folder;
  if (refs.length === 0) return NOTHING;
  const names = [...new Set(refs.map((ref) => ref.module))];
  const answer = await runLoader({ dir, modules: names }, LOADER_TIMEOUT_MS);
  if (typeof answer === 'string') {
    const blamed = await findBlame(dir, names, answer);
    const failed = refs.flatMap((ref) => failedLoader(ref, blamed.get(ref.module)) ?? []);
    return { ...NOTHING, diagnostics: failed };
  }
  const modules = new Map<string, LoadedModule>();
  const diagnostics: Finding[] = answer.findings
    .filter((finding) => concerns(finding, answer, refs))
    .map((finding) => describeFinding(folder, answer, withVariable(finding, usersOf(finding, answer, refs))));
  const files = new Set<string>();
  for (const loaded of answer.modules) {
    const users = refs.filter((ref) => ref.module === loaded.module);
    if ('problem' in loaded) {
      files.add(path.resolve(answer.root, loaded.module));
      diagnostics.push(...users.map((ref) => describeProblem(folder, loaded, ref)));
      continue;
    }
    for (const id of loaded.files) files.add(path.join(answer.root, id));
    if (loaded.linked === undefined) continue;
    if (Buffer.byteLength(loaded.linked.code) > MAX_CODE_BYTES) {
      diagnostics.push(...users.map(describeTooLarge));
      continue;
    }
    modules.set(loaded.module, { module: loaded.module, ...loaded.linked });
  }
  return { modules, diagnostics, files: [...files], workerProgram: answer.workerProgram };
}

/** A loader that broke down did so over one module; each is tried alone, while there is time, to tell which. */
async function findBlame(
  dir: string,
  names: readonly string[],
  reason: string,
): Promise<ReadonlyMap<string, string>> {
  const blamed = new Map<string, string>();
  const until = performance.now() + LOADER_TIMEOUT_MS;
  for (const name of names.length > 1 ? names : []) {
    const left = until - performance.now();
    if (left < 1000) break;
    const answer = await runLoader({ dir, modules: [name] }, left);
    if (typeof answer === 'string') blamed.set(name, answer);
  }
  return blamed.size > 0 ? blamed : new Map(names.map((name) => [name, reason]));
}

const LOADER = new URL(`./loader-process${path.extname(import.meta.url)}`, import.meta.url);

/** Runs the loader process; a text instead of an answer says why there is none. */
async function runLoader(request: LoaderRequest, timeout: number): Promise<LoaderAnswer | string> {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const child = spawn(process.execPath, ['--no-warnings', fileURLToPath(LOADER)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // tsx's disk cache lies in a predictable folder of the temporary directory.
    env: { ...environment, TSX_DISABLE_CACHE: '1', NODE_NO_WARNINGS: '1' },
    timeout: Math.floor(timeout),
    killSignal: 'SIGKILL',
  });
  const ended = endOf(child);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(request));
  const [output, complaint, failure] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (failure === undefined) return JSON.parse(output) as LoaderAnswer;
  const cause = /^\w*Error.*$/m.exec(complaint)?.[0];
  return cause === undefined ? failure : `${failure}: ${cause.slice(0, 200)}`;
}

/** Why a process ended; undefined where it ended well. */
function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`),
    );
  });
}

/** The range of a text that starts at a 1-based line and column. */
export function placeAt(source: SourceText, line: number, column: number, length: number): Place {
  let start = 0;
  for (let found = 1; found < line; found += 1) {
    const end = /\r\n|[\n\r\u2028\u2029]/g;
    end.lastIndex = start;
    if (end.exec(source.text) === null) break;
    start = end.lastIndex;
  }
  const from = Math.min(start + column - 1, source.text.length);
  return { source, start: from, end: Math.min(from + length, source.text.length) };
}

/** Whether a finding holds for any mapping: some depend on the settings under which a file is used. */
function concerns(finding: SourceFinding, answer: LoaderAnswer, refs: readonly TransformRef[]): boolean {
  const { code, env } = finding;
  if (code !== 'TRANSFORM_FORGETS' && env === undefined) return true;
  return usersOf(finding, answer, refs).some((ref) =>
    env === undefined ? !ref.reuse : !Object.hasOwn(ref.env, env),
  );
}

/** The transforms of mappings that are made of the file of a finding. */
function usersOf(
  { file }: SourceFinding,
  answer: LoaderAnswer,
  refs: readonly TransformRef[],
): readonly TransformRef[] {
  const modules = answer.modules.filter((one) => 'files' in one && one.files.includes(file));
  return refs.filter((ref) => modules.some(({ module }) => module === ref.module));
}

/** A variable that is missing, with the lines of the mapping as they give it. */
function withVariable(finding: SourceFinding, users: readonly TransformRef[]): SourceFinding {
  const { env } = finding;
  const user = env === undefined ? undefined : users.find((ref) => !Object.hasOwn(ref.env, env));
  if (env === undefined || user === undefined) return finding;
  const { module, env: given, export: name } = user;
  const known = Object.keys(given)
    .map((key) => `${key}: …, `)
    .join('');
  const exported = name === undefined ? '' : `, export: ${name}`;
  return {
    ...finding,
    hint: `write the value itself into the mapping, at ${formatPlace(user.at)}: transform: {module: ${module}${exported}, env: {${known}${env}: …}}; a transform never sees the environment of the service`,
  };
}

function describeFinding(folder: TransformsFolder, answer: LoaderAnswer, finding: SourceFinding): Finding {
  const file = displayName(path.join(folder.dir, finding.file), folder.cwd);
  const source = sourceOfCode(file, answer.texts[finding.file] ?? '');
  const found: Finding = {
    severity: finding.severity ?? 'error',
    code: finding.code,
    message: quoted(finding.message),
    at: placeAt(source, finding.line, finding.column, finding.length),
    ...(finding.hint === undefined ? {} : { hint: quoted(finding.hint) }),
  };
  const meant = finding.replace ?? meantFile(folder, finding);
  if (meant === undefined || found.at === undefined) return found;
  const { from, to } = meant;
  return withEdit(
    { ...found, hint: say`did you mean ${JSON.stringify(to)}?` },
    replaceWithin(found.at, from, to),
  );
}

/** The file that an import probably meant. */
function meantFile({ dir }: TransformsFolder, finding: SourceFinding): SourceFinding['replace'] {
  const { file, missingFile: from } = finding;
  if (from === undefined) return undefined;
  const near = suggestModule(path.dirname(path.join(dir, file)), from);
  return near === undefined ? undefined : { from, to: near.startsWith('.') ? near : `./${near}` };
}

function describeProblem(
  folder: TransformsFolder,
  { module, problem }: Extract<LoaderModule, { problem: string }>,
  ref: TransformRef,
): Finding {
  const withExport = describeExportInName(folder, module, ref);
  if (withExport !== undefined) return withExport;
  const name = JSON.stringify(module.length > 80 ? `${module.slice(0, 79)}…` : module);
  if (problem === 'not-found') return describeMissing(folder, module, { name, at: ref.at });
  const { code, fault, hint } = FAULTS[problem];
  return {
    severity: 'error',
    code,
    message: say`transform ${name} ${fault}`,
    at: ref.at,
    hint: quoted(hint),
  };
}

const FAULTS = {
  outside: {
    code: 'TRANSFORM_OUTSIDE',
    fault: 'lies outside the transforms folder',
    hint: 'links are followed before this is decided; move the file into hooks.transformsDir',
  },
  'too-large': {
    code: 'TRANSFORM_TOO_LARGE',
    fault: 'is a file of over 4 MB',
    hint: 'keep large tables out of the transform',
  },
  'file-type': {
    code: 'TRANSFORM_FILE_TYPE',
    fault: 'has an ending that a transform cannot have, expected .ts .mts .js .mjs .cjs',
    hint: 'a transform is TypeScript or JavaScript: compile, rename or rewrite it as one of these; a program of another language is a runner, kind: command',
  },
} as const;

/** The code itself, where the name of its file belongs. */
function codeInPlace(folder: string, at: Place): Finding {
  return {
    severity: 'error',
    code: 'TRANSFORM_NOT_FOUND',
    message: say`a transform is named by its file, and this is code`,
    at,
    hint: say`move the code into a file, such as ${folder}/NAME.js, and write transform: NAME.js`,
  };
}

function describeMissing(
  { dir, cwd }: TransformsFolder,
  module: string,
  { name, at }: { readonly name: string; readonly at: Place },
): Finding {
  const near = suggestModule(dir, module);
  const elsewhere = near === undefined ? moduleBeside(dir, module) : undefined;
  const hint =
    elsewhere !== undefined
      ? `move ${displayName(elsewhere, cwd)} to ${displayName(path.join(dir, path.basename(module)), cwd)}, and write transform: ${path.basename(module)}`
      : near === undefined
        ? 'create it, or check the name: it is relative to hooks.transformsDir'
        : `did you mean ${JSON.stringify(near)}? the name is relative to hooks.transformsDir`;
  if (module.includes('\n')) return codeInPlace(displayName(dir, cwd), at);
  const message = `there is no transform ${name} in ${displayName(dir, cwd)}`;
  const found: Finding = {
    severity: 'error',
    code: 'TRANSFORM_NOT_FOUND',
    message: quoted(message),
    at,
    hint: quoted(hint),
  };
  return withEdit(found, near === undefined ? undefined : replaceWithin(at, module, near));
}

/** `format.ts#name`, as references of other tools name an export. */
function describeExportInName(
  folder: TransformsFolder,
  module: string,
  ref: TransformRef,
): Finding | undefined {
  const [, file = '', name = ''] = /^(.+\.(?:ts|mts|js|mjs|cjs))[#:]+(\w+)$/.exec(module) ?? [];
  if (file === '') return undefined;
  const { source, start, end } = ref.at;
  const written = source.text.slice(start, end).trimEnd();
  // Within an object there is a key for it already.
  const isWhole =
    ref.export === undefined &&
    /^\s*(?:- +)?["']?transform["']?\s*:\s*$/.test(
      source.text.slice(source.text.lastIndexOf('\n', start - 1) + 1, start),
    );
  const text = `{module: ${JSON.stringify(file)}, export: ${name}}`;
  return withEdit(
    {
      severity: 'error',
      code: 'TRANSFORM_NOT_FOUND',
      message: say`there is no transform ${JSON.stringify(module)} in ${displayName(folder.dir, folder.cwd)}: the function of a file is named beside it`,
      at: ref.at,
      hint: say`write transform: {module: ${file}, export: ${name}}`,
    },
    isWhole ? { at: { source, start, end: start + written.length }, text } : undefined,
  );
}

function describeTooLarge(ref: TransformRef): Finding {
  return {
    severity: 'error',
    code: 'TRANSFORM_TOO_LARGE',
    message: say`transform ${JSON.stringify(ref.module)} with all it imports is over 1 MB`,
    at: ref.at,
    hint: say`import less, or keep large tables out of the transform`,
  };
}

function failedLoader(ref: TransformRef, reason: string | undefined): Finding | undefined {
  if (reason === undefined) return undefined;
  return {
    severity: 'error',
    code: 'TRANSFORM_LOADER_FAILED',
    message: say`transform ${JSON.stringify(ref.module)} could not be loaded, the loader gave no answer: ${reason}`,
    at: ref.at,
    hint: say`the loader is a Node.js process of its own: check whether the code of the transform, too little memory or time, or missing permissions stop it`,
  };
}
