/**
 * Builds `dist/` anew: compiles, bundles the program of the sandbox's workers and the console's page, makes the command line executable, and
 * keeps of the declarations only those that the public API reaches (65 of 281), because every installation carries them.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writePage } from './build-page.mjs';

const DIST = join(import.meta.dirname, 'dist');
const reached = new Set();

/** @param {string} file */
function reach(file) {
  if (reached.has(file) || !existsSync(file)) return;
  reached.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g)) {
    reach(resolve(dirname(file), `${specifier}.d.ts`));
  }
}

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [join(import.meta.dirname, 'node_modules/typescript/bin/tsc'), '-p', 'src'], {
  cwd: import.meta.dirname,
  stdio: 'inherit',
});
execFileSync(process.execPath, [join(DIST, 'sandbox/build-worker-program.js')], { stdio: 'inherit' });
await writePage(join(DIST, 'console/page'));
chmodSync(join(DIST, 'main.js'), 0o755);
reach(join(DIST, 'index.d.ts'));
for (const file of globSync('**/*.d.ts', { cwd: DIST })) {
  if (!reached.has(join(DIST, file))) rmSync(join(DIST, file));
}
