/**
 * Builds `dist/` anew. Each entry below is a file of its own that others find by its place, and keeps it; all else is
 * bundled into `dist/parts`, as a start that looks up and reads every module one by one spends a third of its time on it.
 * A bundled module still sees the place it would have had by itself as its `import.meta.url`. Packages that every start
 * loads are bundled, too, with their licences in one file; all others are dependencies. Declarations are kept as far as
 * the public API reaches them. With a folder's name, as tests give it, only the program is built, there; with
 * `--if-changed` nothing is done where `dist/` was built from the same files.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { writePage } from './build-page.mjs';
import { sourceState } from './build-state.ts';
import { buildProgram } from '../src/engine/sandbox/host/worker-program.ts';
import { shippedSenders } from '../src/engine/senders/senders.ts';

const ROOT = dirname(import.meta.dirname);
const SOURCE = join(ROOT, 'src');
const [FOLDER = 'dist'] = process.argv.slice(2).filter((each) => !each.startsWith('--'));
const DIST = join(ROOT, FOLDER);

/** What is started, imported or given to a thread by its place; as paths below `src`, without ending. */
const ENTRIES = [
  'main',
  'index',
  'service/channels/mattermost',
  'base/document/document-thread',
  'service/mail/reader-program',
  'engine/sandbox/author',
  'engine/sandbox/loader/loader-process',
  'engine/storage/postgres/worker/connection-thread',
  'engine/storage/postgres/worker/postgres-worker',
  'engine/storage/sqlite/inspector',
  'engine/storage/sqlite/worker/storage-worker',
];

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** Of packages in CommonJS: what they require of Node. */
const REQUIRE =
  "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);";

/** The commit of this checkout; undefined outside one, where only a packed tree is built. */
function findCommit() {
  try {
    const git = { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], git).trim();
  } catch {
    return undefined;
  }
}
const COMMIT = existsSync(join(ROOT, '.git')) ? findCommit() : undefined;

/** Gives every module the URL that it would have as a file of its own. */
const ownPlaces = {
  name: 'own places',
  /** @param {import('esbuild').PluginBuild} plugin */
  setup(plugin) {
    plugin.onResolve({ filter: /^sluice:dist$/ }, () => ({ path: 'dist', namespace: 'sluice' }));
    // Handlebars makes source maps with it, which nobody asks for: where it is installed, each start would read it.
    plugin.onResolve({ filter: /^source-map$/ }, () => ({ path: 'nothing', namespace: 'nothing' }));
    plugin.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: '' }));
    plugin.onLoad({ filter: /.*/, namespace: 'sluice' }, () => ({
      contents: 'export const bundledModuleUrl = (path) => new URL(`../${path}`, import.meta.url).href;',
    }));
    plugin.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      if (text.includes('bundledModuleUrl')) throw new Error(`${path} uses the name that the build puts in`);
      const place = JSON.stringify(relative(SOURCE, path).replace(/\.ts$/, '.js'));
      const own = text.replaceAll('import.meta.url', `bundledModuleUrl(${place})`);
      return { contents: `${own}\nimport { bundledModuleUrl } from 'sluice:dist';`, loader: 'ts' };
    });
  },
};

/** Bundles; returns the files it read, by their paths from here. */
async function bundle() {
  const { metafile } = await build({
    entryPoints: ENTRIES.map((entry) => ({ in: join(SOURCE, `${entry}.ts`), out: entry })),
    outdir: DIST,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    banner: { js: REQUIRE },
    // A running process keeps its source text: V8 takes two bytes a character where one is not Latin-1.
    charset: 'ascii',
    minifyWhitespace: true,
    // What fails is printed with its line.
    lineLimit: 200,
    legalComments: 'none',
    define: COMMIT === undefined ? {} : { BUILT_COMMIT: JSON.stringify(COMMIT) },
    plugins: [ownPlaces],
    metafile: true,
    absWorkingDir: ROOT,
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs);
}

/** The licences of all packages that `files` belong to, as one text. @param {readonly string[]} files */
function licencesOf(files) {
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const [licence] = globSync('[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*', { cwd: join(ROOT, folder) });
    if (licence === undefined) throw new Error(`${name} is bundled and brings no text of its licence`);
    return `${name} ${version}\n\n${readFileSync(join(ROOT, folder, licence), 'utf8').trim()}\n`;
  });
  return `dist contains code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
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

/** Leaves only the declarations that the public API reaches: every installation carries them. */
function writeDeclarations() {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'src'], { cwd: ROOT, stdio: 'inherit' });
  const reached = new Set();
  reach(join(DIST, 'index.d.ts'), reached);
  for (const file of globSync('**/*.d.ts', { cwd: DIST })) {
    if (!reached.has(join(DIST, file))) rmSync(join(DIST, file));
  }
}

/** Of the golden cases, a package carries those that `add` uses: npm leaves out what the file names. */
function writePackedCases() {
  const used = new Set();
  for (const { examples = [] } of shippedSenders())
    for (const { file } of examples)
      if (file) used.add(relative(ROOT, resolve(SOURCE, 'engine/senders', file)));
  for (const file of Array.from(used)) {
    const bodies = readFileSync(join(ROOT, file), 'utf8').matchAll(/^ *(?:- )?bodyFile: *['"]?([^'"#\n]+)/gm);
    for (const [, body] of bodies) used.add(relative(ROOT, resolve(ROOT, dirname(file), body.trim())));
  }
  for (const folder of ['test/golden', 'test/fixtures/payloads']) {
    const kept = [...used].filter((file) => file.startsWith(`${folder}/`)).toSorted();
    const lines = kept.map((file) => `!/${relative(folder, file)}\n`).join('');
    writeFileSync(
      join(ROOT, folder, '.npmignore'),
      `# Written by build/build.mjs: what a package does not carry.\n*.*\n${lines}`,
    );
  }
}

// `npx sluice` in a checkout has npm prepare it each first time: that costs nothing where this build is what it would make.
const STATE = join(ROOT, 'node_modules/.cache/built-from');
const state = `${sourceState()} ${COMMIT ?? ''}`;
const isBuilt =
  existsSync(join(DIST, 'main.js')) && existsSync(STATE) && readFileSync(STATE, 'utf8') === state;
if (process.argv.includes('--if-changed') && isBuilt) process.exit();

rmSync(DIST, { recursive: true, force: true });
if (FOLDER === 'dist') writePackedCases();
if (FOLDER === 'dist') writeDeclarations();
const files = await bundle();
mkdirSync(join(DIST, 'engine/sandbox/worker'), { recursive: true });
// Types of transforms, where no declarations were written.
if (FOLDER !== 'dist')
  copyFileSync(join(SOURCE, 'engine/sandbox/author.ts'), join(DIST, 'engine/sandbox/author.ts'));
writeFileSync(join(DIST, 'engine/sandbox/worker/worker-program.txt'), (await buildProgram()).text);
mkdirSync(join(DIST, 'engine/senders'), { recursive: true });
writeFileSync(join(DIST, 'engine/senders/senders.json'), JSON.stringify(shippedSenders()));
files.push(...(await writePage(join(DIST, 'frontends/console/page'))));
writeFileSync(join(DIST, 'LICENCES.txt'), licencesOf(files));
chmodSync(join(DIST, 'main.js'), 0o755);
if (FOLDER === 'dist') {
  mkdirSync(dirname(STATE), { recursive: true });
  writeFileSync(STATE, state);
}
