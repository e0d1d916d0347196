/**
 * Serves the page's files. The package has them bundled (`build/build-page.mjs`, a step of the build);
 * where the service runs from `src`, they are bundled when the first page is opened.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly packed: Buffer;
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

export async function loadAssets(): Promise<Assets> {
  const files = isBuilt ? await readBuilt() : await bundle();
  return new Map(
    files.map(({ name, bytes }) => {
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name, { type, body: bytes, packed: gzipSync(bytes) }] as const;
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
  const module = (await import(new URL('../../../build/build-page.mjs', import.meta.url).href)) as {
    readonly bundlePage: () => Promise<readonly NamedBytes[]>;
  };
  return module.bundlePage();
}

/** Forbids everything inline but styles that carry the nonce (the editor makes some), and every other address. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Returns the document of the console, which is the same for everybody; its script makes everything else.
 * The form for the key stays hidden where the page has a session or the link a key.
 */
export function pageDocument(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sluice console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="csp-nonce" content="${nonce}">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/main.css">
<script type="module" src="/assets/sign-in.js"></script>
</head>
<body>
<div id="app"></div>
<main class="sign-in" hidden>
<h1>Sluice console</h1>
<form id="sign-in">
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="off" required>
<button type="submit">Open</button>
<p id="problem" role="alert"></p>
</form>
<p class="quiet">With sluice dev, the printed link opens the console. With sluice serve, the log names the file that holds the key.</p>
</main>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}
