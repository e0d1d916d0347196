import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestSpecification } from 'vitest/node';
import { sourceState } from '../../build/build-state.ts';

const ROOT = join(import.meta.dirname, '../..');
const PREFIX = '.built-';
/** A run of so many files gains more from built threads than the build costs. */
const MANY = 40;
const KEPT_MS = 24 * 60 * 60_000;
/** It takes two seconds; on a machine that does much else, half a minute. */
const MAX_BUILD_MS = 120_000;

let main: string | undefined;

/** Builds before the first test, where tests may start the program: within a test it would take of the test's own time. */
export default class BuildFirst implements Reporter {
  onTestRunStart(files: readonly TestSpecification[]): void {
    const isLong =
      files.length > MANY ||
      files.some(({ moduleId }) => /\.(?:guarantee|slow)\.test\.ts$|\/test\/lab\/endurance\//.test(moduleId));
    if (isLong) process.env['BUILT_FOR_TESTS'] = builtFolder();
  }
}

/**
 * `main.js` of the program as it is installed, built anew where a source has changed since. A start of it takes half the
 * processor time of one from `src`, which a test that starts processes pays each time.
 */
export function builtMain(): string {
  main ??= join(ROOT, builtFolder(), 'main.js');
  return main;
}

/** Below the root, as `dist` is: the program finds its schemas and mappings beside it. */
function builtFolder(): string {
  const folder = `${PREFIX}${sourceState().slice(0, 12)}`;
  if (existsSync(join(ROOT, folder))) return folder;
  removeOld();
  const made = `${folder}-${process.pid}`;
  execFileSync(process.execPath, ['build/build.mjs', made], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: MAX_BUILD_MS,
  });
  try {
    renameSync(join(ROOT, made), join(ROOT, folder));
  } catch {
    // Another worker of this run was first.
    rmSync(join(ROOT, made), { recursive: true });
  }
  return folder;
}

function removeOld(): void {
  for (const name of readdirSync(ROOT).filter((each) => each.startsWith(PREFIX))) {
    if (Date.now() - statSync(join(ROOT, name)).mtimeMs > KEPT_MS)
      rmSync(join(ROOT, name), { recursive: true, force: true });
  }
}
