/*
 * The page's files. The package holds them bundled (`build-page.mjs`, a step of the build); where the service runs from
 * `src`, they are bundled when the first page is opened.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** One file as it is sent. */
export interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
}

/** Files by name, without a slash. `main.js`, `sign-in.js`, `main.css` and `icon.svg` are always there. */
export type Assets = ReadonlyMap<string, Asset>;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const BUILT = fileURLToPath(new URL('./page/', import.meta.url));
const isBuilt = import.meta.url.endsWith('.js');

/** Reads or bundles the page's files. */
export async function loadAssets(): Promise<Assets> {
  const files = isBuilt ? await readBuilt() : await bundle();
  return new Map(
    files.map(({ name, bytes }) => {
      const contentType = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name, { contentType, bytes, compressed: gzipSync(bytes) }] as const;
    }),
  );
}

interface NamedBytes {
  readonly name: string;
  readonly bytes: Buffer;
}

async function readBuilt(): Promise<readonly NamedBytes[]> {
  const names = (await readdir(BUILT)).filter((name) => Object.hasOwn(TYPES, extname(name)));
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(BUILT, name)) })));
}

async function bundle(): Promise<readonly NamedBytes[]> {
  const module = (await import(new URL('../../build-page.mjs', import.meta.url).href)) as {
    readonly bundlePage: () => Promise<readonly NamedBytes[]>;
  };
  return module.bundlePage();
}
