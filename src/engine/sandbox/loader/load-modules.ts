/** The host's side of loading: runs the loader process and turns what it found into findings at their places. */
import { quoted, say, shorten, type SourceText } from '../../../base/finding.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { displayName, sourceOfCode, type Finding, type Place } from '../../../base/document/document.ts';
import type { LoaderAnswer, LoaderModule, LoaderRequest } from './loader-process.ts';
import type { SourceFinding } from './scan-sources.ts';
import { findingOn, type TransformRef } from '../transform.ts';
import type { SandboxFacts } from '../facts.ts';

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
  readonly findings: readonly Finding[];
  /** Absolute paths of all files that were read, and of entries that are missing so that their arrival is noticed. */
  readonly files: readonly string[];
  /** The program of a worker process; empty where nothing was loaded. */
  readonly workerProgram: string;
}

/** A loader that hangs would hold a reload for ever; twenty files take 0.1 s. */
const LOADER_TIMEOUT_MS = 30_000;
/** Linked code beyond this does not fit 64 MB of heap together with a request. */
const MAX_CODE_BYTES = 1024 * 1024;

const NOTHING: LoadedModules = {
  modules: new Map(),
  findings: [],
  files: [],
  workerProgram: '',
};

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
    const failed = refs.filter(({ module }) => blamed.has(module));
    return { ...NOTHING, findings: failed.map((ref) => failedLoader(ref, blamed.get(ref.module)!)) };
  }
  const modules = new Map<string, LoadedModule>();
  const findings: Finding[] = answer.findings
    .filter((finding) => concerns(finding, answer, refs))
    .map((finding) => describeFinding(folder, answer, { finding, users: usersOf(finding, answer, refs) }));
  const files = new Set<string>();
  for (const loaded of answer.modules) {
    const users = refs.filter((ref) => ref.module === loaded.module);
    if ('problem' in loaded) {
      files.add(path.resolve(answer.root, loaded.module));
      findings.push(...users.map((ref) => describeProblem(folder, loaded, ref)));
      continue;
    }
    for (const id of loaded.files) files.add(path.join(answer.root, id));
    if (loaded.linked === undefined) continue;
    if (Buffer.byteLength(loaded.linked.code) > MAX_CODE_BYTES) {
      findings.push(...users.map(describeTooLarge));
      continue;
    }
    modules.set(loaded.module, { module: loaded.module, ...loaded.linked });
  }
  return { modules, findings, files: [...files], workerProgram: answer.workerProgram };
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

/**
 * For synchronous calls, as tsx makes them for each file, esbuild starts a thread with a service of its own (40 ms of
 * processor time), or else a process a file (8 ms).
 */
const FEW_MODULES = 4;

/** Runs the loader process; a text instead of an answer says why there is none. */
async function runLoader(request: LoaderRequest, timeout: number): Promise<LoaderAnswer | string> {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const esbuildThread = request.modules.length > FEW_MODULES ? {} : { ESBUILD_WORKER_THREADS: '0' };
  const child = spawn(process.execPath, ['--no-warnings', fileURLToPath(LOADER)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // tsx's disk cache lies in a predictable folder of the temporary directory.
    env: { ...environment, ...esbuildThread, TSX_DISABLE_CACHE: '1', NODE_NO_WARNINGS: '1' },
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
  { file }: Pick<SourceFinding, 'file'>,
  answer: LoaderAnswer,
  refs: readonly TransformRef[],
): readonly TransformRef[] {
  const modules = answer.modules.filter((one) => 'files' in one && one.files.includes(file));
  return refs.filter((ref) => modules.some(({ module }) => module === ref.module));
}

function sourceIn(folder: TransformsFolder, { texts }: LoaderAnswer, id: string): SourceText {
  return sourceOfCode(displayName(path.join(folder.dir, id), folder.cwd), texts[id] ?? '');
}

function describeFinding(
  folder: TransformsFolder,
  answer: LoaderAnswer,
  { finding, users }: { readonly finding: SourceFinding; readonly users: readonly TransformRef[] },
): Finding {
  const { severity = 'error', code, message, file, line, column, length, env } = finding;
  const user = env === undefined ? undefined : users.find((ref) => !Object.hasOwn(ref.env, env));
  return {
    severity,
    code,
    message: quoted(message),
    at: placeAt(sourceIn(folder, answer, file), line, column, length),
    facts: {
      ...finding.facts,
      dir: folder.dir,
      file: path.join(folder.dir, file),
      ...(env === undefined ? {} : { name: env, user }),
    },
  };
}

function describeProblem(
  folder: TransformsFolder,
  { module, problem }: Extract<LoaderModule, { problem: string }>,
  ref: TransformRef,
): Finding {
  const { dir, cwd } = folder;
  const name = JSON.stringify(shorten(module));
  const { code, fault } = FAULTS[problem];
  if (problem !== 'not-found')
    return findingOn(ref, code, say`transform ${name} ${fault}`, { facts: { of: 'file' } });
  const facts: SandboxFacts['TRANSFORM_NOT_FOUND'] = { ref, dir };
  return findingOn(ref, code, say`there is no transform ${name} in ${displayName(dir, cwd)}`, { facts });
}

const FAULTS = {
  'not-found': { code: 'TRANSFORM_NOT_FOUND', fault: '' },
  outside: { code: 'TRANSFORM_OUTSIDE', fault: 'lies outside the transforms folder' },
  'too-large': { code: 'TRANSFORM_TOO_LARGE', fault: 'is a file of over 4 MB' },
  'file-type': {
    code: 'TRANSFORM_FILE_TYPE',
    fault: 'has an ending that a transform cannot have, expected .ts .mts .js .mjs .cjs',
  },
} as const;

function describeTooLarge(ref: TransformRef): Finding {
  const message = say`transform ${JSON.stringify(ref.module)} with all it imports is over 1 MB`;
  return findingOn(ref, 'TRANSFORM_TOO_LARGE', message, { facts: { of: 'linked' } });
}

function failedLoader(ref: TransformRef, reason: string): Finding {
  const name = JSON.stringify(ref.module);
  const message = say`transform ${name} could not be loaded, the loader gave no answer: ${reason}`;
  return findingOn(ref, 'TRANSFORM_LOADER_FAILED', message);
}
