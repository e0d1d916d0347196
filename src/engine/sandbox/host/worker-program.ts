/**
 * The program of a worker process as one text, which the worker reads from its standard input. It holds a second
 * program: the realm that every isolate gets. Both are ordinary modules that esbuild bundles: where the package is
 * built once, into a file of `dist`; where it runs from `src`, on first use, kept in `node_modules/.cache` together
 * with the hashes of all files it was made of, and made again when one of them differs.
 */
import * as esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const BUILT = fileURLToPath(new URL('../worker/worker-program.txt', import.meta.url));
const CACHE = path.join(ROOT, 'node_modules/.cache/sluice/worker-program.json');
/** The worker runs in the root folder, from where the package's name would lead nowhere. */
const ISOLATED_VM = 'sluice:isolated-vm';
const isBuilt = import.meta.url.endsWith('.js');

export interface Program {
  readonly text: string;
  /** SHA-256 of every file it was made of, by path from the package's root. */
  readonly inputs: Readonly<Record<string, string>>;
}

interface CachedProgram extends Program {
  readonly esbuild: string;
}

/** The program as this installation's worker processes run it. */
export async function workerProgram(cacheFile: string = CACHE): Promise<string> {
  const text = isBuilt
    ? readFileSync(BUILT, 'utf8')
    : (readCache(cacheFile) ?? (await buildIntoCache(cacheFile))).text;
  return text.replace(JSON.stringify(ISOLATED_VM), JSON.stringify(import.meta.resolve('isolated-vm')));
}

function readCache(cacheFile: string): Program | undefined {
  try {
    const cached = JSON.parse(readFileSync(cacheFile, 'utf8')) as CachedProgram;
    const isCurrent = Object.entries(cached.inputs).every(([file, hash]) => hashOf(file) === hash);
    return isCurrent && cached.esbuild === esbuild.version ? cached : undefined;
  } catch {
    return undefined;
  }
}

async function buildIntoCache(cacheFile: string): Promise<Program> {
  const program = await buildProgram();
  try {
    mkdirSync(path.dirname(cacheFile), { recursive: true });
    // Others may build at the same moment: a reader finds one whole file or another.
    const own = `${cacheFile}.${process.pid}`;
    writeFileSync(own, JSON.stringify({ ...program, esbuild: esbuild.version } satisfies CachedProgram));
    renameSync(own, cacheFile);
  } catch {
    // A folder that cannot be written costs the next start 50 ms.
  }
  return program;
}

/** Bundles the program from its sources; the build writes it into `dist`. */
export async function buildProgram(): Promise<Program> {
  const realm = await bundle('../isolate/realm', {
    format: 'iife',
    globalName: 'realm',
    platform: 'neutral',
  });
  const script = `((trace) => { 'use strict';\n${realm.text}\nreturn realm.createRealm(trace); })`;
  const worker = await bundle('../worker/worker-process', {
    format: 'esm',
    platform: 'node',
    define: { REALM_SCRIPT: JSON.stringify(script) },
    plugins: [absoluteIsolatedVm],
  });
  const files = [...new Set([...realm.files, ...worker.files])].toSorted();
  return { text: worker.text, inputs: Object.fromEntries(files.map((file) => [file, hashOf(file)])) };
}

const absoluteIsolatedVm: esbuild.Plugin = {
  name: 'isolated-vm',
  setup(build) {
    build.onResolve({ filter: /^isolated-vm$/ }, () => ({ path: ISOLATED_VM, external: true }));
  },
};

const ONE_TEXT = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  target: 'esnext',
  charset: 'utf8',
  legalComments: 'none',
  tsconfigRaw: {},
  logLevel: 'silent',
} as const satisfies esbuild.BuildOptions;

async function bundle(
  entry: string,
  options: esbuild.BuildOptions,
): Promise<{ readonly text: string; readonly files: readonly string[] }> {
  const url = new URL(`${entry}${path.extname(import.meta.url)}`, import.meta.url);
  const entryPoints = [fileURLToPath(url)];
  const { outputFiles, metafile } = await esbuild.build({ entryPoints, ...ONE_TEXT, ...options });
  return { text: outputFiles?.[0]?.text ?? '', files: Object.keys(metafile?.inputs ?? {}) };
}

function hashOf(file: string): string {
  return createHash('sha256')
    .update(readFileSync(path.join(ROOT, file)))
    .digest('hex');
}
