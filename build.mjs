/**
 * Builds `dist/` anew. Each entry below is a file of its own that others find by its place, and keeps it; all else is
 * bundled into `dist/parts`, as a start that looks up and reads 450 modules one by one spends a third of its time on it.
 * A bundled module still sees the place it would have had by itself as its `import.meta.url`. Declarations are kept as
 * far as the public API reaches them.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { writePage } from './build-page.mjs';
import { buildProgram } from './src/sandbox/host/worker-program.ts';

const ROOT = import.meta.dirname;
const SOURCE = join(ROOT, 'src');
const DIST = join(ROOT, 'dist');

/** What is started, imported or given to a thread by its place; as paths below `src`, without ending. */
const ENTRIES = [
  'main',
  'index',
  'channels/mattermost',
  'sandbox/author',
  'sandbox/loader/loader-process',
  'sandbox/unsandboxed-process',
  'storage/postgres/worker/connection-thread',
  'storage/postgres/worker/postgres-worker',
  'storage/sqlite/inspector',
  'storage/sqlite/worker/checkpoint-thread',
  'storage/sqlite/worker/storage-worker',
];

/** Gives every module the URL that it would have as a file of its own. */
const ownPlaces = {
  name: 'own places',
  /** @param {import('esbuild').PluginBuild} plugin */
  setup(plugin) {
    plugin.onResolve({ filter: /^sluice:dist$/ }, () => ({ path: 'dist', namespace: 'sluice' }));
    plugin.onLoad({ filter: /.*/, namespace: 'sluice' }, () => ({
      contents: 'export const placeOf = (path) => new URL(`../${path}`, import.meta.url).href;',
    }));
    plugin.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(relative(SOURCE, path).replace(/\.ts$/, '.js'));
      const own = text.replaceAll('import.meta.url', `placeOf(${place})`);
      return { contents: `${own}\nimport { placeOf } from 'sluice:dist';`, loader: 'ts' };
    });
  },
};

async function bundle() {
  await build({
    entryPoints: ENTRIES.map((entry) => ({ in: join(SOURCE, `${entry}.ts`), out: entry })),
    outdir: DIST,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    charset: 'utf8',
    plugins: [ownPlaces],
    logLevel: 'error',
  });
}

/** @param {string} file @param {Set<string>} reached */
function reach(file, reached) {
  if (reached.has(file) || !existsSync(file)) return;
  reached.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g)) {
    reach(resolve(dirname(file), `${specifier}.d.ts`), reached);
  }
}

/** Every installation carries them: 65 of 281. */
function writeDeclarations() {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'src'], { cwd: ROOT, stdio: 'inherit' });
  const reached = new Set();
  reach(join(DIST, 'index.d.ts'), reached);
  for (const file of globSync('**/*.d.ts', { cwd: DIST })) {
    if (!reached.has(join(DIST, file))) rmSync(join(DIST, file));
  }
}

rmSync(DIST, { recursive: true, force: true });
writeDeclarations();
await bundle();
mkdirSync(join(DIST, 'sandbox/worker'), { recursive: true });
writeFileSync(join(DIST, 'sandbox/worker/worker-program.txt'), (await buildProgram()).text);
await writePage(join(DIST, 'console/page'));
chmodSync(join(DIST, 'main.js'), 0o755);
