/** Bundles the console's page: into `dist` as a step of the build, into memory where the service runs from `src`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as esbuild from 'esbuild';

const PAGE = join(import.meta.dirname, 'src/console/page');

/** @returns {Promise<{ name: string, bytes: Buffer }[]>} */
export async function bundlePage() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(PAGE, 'main.tsx'), join(PAGE, 'sign-in.ts'), join(PAGE, 'main.css')],
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
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
  return [...bundled, { name: 'icon.svg', bytes: readFileSync(join(PAGE, 'icon.svg')) }];
}

/** @param {string} folder */
export async function writePage(folder) {
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of await bundlePage()) writeFileSync(join(folder, name), bytes);
}
