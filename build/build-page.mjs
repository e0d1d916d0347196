/** Bundles the console's page: into `dist` as a step of the build, into memory where the service runs from `src`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as esbuild from 'esbuild';

const ROOT = dirname(import.meta.dirname);
const PAGE = join(ROOT, 'src/frontends/console/page');

/** @returns {Promise<{ name: string, bytes: Buffer }[]>} */
export async function bundlePage() {
  return (await bundle()).files;
}

async function bundle() {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [join(PAGE, 'main.tsx'), join(PAGE, 'sign-in.ts'), join(PAGE, 'main.css')],
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
    format: 'esm',
    target: 'es2022',
    outdir: PAGE,
    chunkNames: 'chunk-[hash]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
    logLevel: 'error',
  });
  const bundled = outputFiles.map(({ path, contents }) => ({
    name: basename(path),
    bytes: Buffer.from(contents),
  }));
  const files = [...bundled, { name: 'icon.svg', bytes: readFileSync(join(PAGE, 'icon.svg')) }];
  return { files, inputs: Object.keys(metafile.inputs) };
}

/** Returns the files it was made of, by their paths from here. @param {string} folder */
export async function writePage(folder) {
  mkdirSync(folder, { recursive: true });
  const { files, inputs } = await bundle();
  for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
  return inputs;
}
