/**
 * The program of a worker process as one text, which the worker reads from its standard input. It holds a second
 * program: the realm that every isolate gets. Both are ordinary modules that esbuild bundles: where the package is
 * built once, into a file of `dist`; where it runs from `src`, with each loading, which takes 40 ms beside it.
 */
import * as esbuild from 'esbuild';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const BUILT = fileURLToPath(new URL('../worker/worker-program.txt', import.meta.url));
/** The worker runs in the root folder, from where the package's name would lead nowhere. */
const ISOLATED_VM = 'sluice:isolated-vm';
const isBuilt = import.meta.url.endsWith('.js');

/** The program as this installation's worker processes run it. */
export async function workerProgram(): Promise<string> {
  const text = isBuilt ? readFileSync(BUILT, 'utf8') : (await buildProgram()).text;
  return text.replace(JSON.stringify(ISOLATED_VM), JSON.stringify(import.meta.resolve('isolated-vm')));
}

/** Bundles the program from its sources; the build writes it into `dist`. */
export async function buildProgram(): Promise<Bundle> {
  const realm = await bundle('../isolate/realm', {
    format: 'iife',
    globalName: 'realm',
    platform: 'neutral',
    // For a library that decodes its tables while it is loaded.
    inject: [besideThis('../isolate/text-encoding')],
  });
  const script = `(() => { 'use strict';\n${realm.text}\nreturn realm.createRealm(); })`;
  const worker = await bundle('../worker/worker-process', {
    format: 'esm',
    platform: 'node',
    define: { REALM_SCRIPT: JSON.stringify(script) },
    plugins: [absoluteIsolatedVm],
  });
  return { text: worker.text, files: [...realm.files, ...worker.files] };
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

interface Bundle {
  readonly text: string;
  /** Paths of all files that it was made of, from the package's root. */
  readonly files: readonly string[];
}

const besideThis = (entry: string): string =>
  fileURLToPath(new URL(`${entry}${path.extname(import.meta.url)}`, import.meta.url));

async function bundle(entry: string, options: esbuild.BuildOptions): Promise<Bundle> {
  const entryPoints = [besideThis(entry)];
  const { outputFiles, metafile } = await esbuild.build({ entryPoints, ...ONE_TEXT, ...options });
  return { text: outputFiles?.[0]?.text ?? '', files: Object.keys(metafile?.inputs ?? {}) };
}
