import { createHash } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
/** What the program is built from. */
const INPUTS = ['src/**/*.{ts,tsx,css,html,yaml}', 'build/*', 'package-lock.json'];

/** Another text (hex) whenever a file that the program is built from has changed, come or gone. */
export function sourceState(): string {
  const state = createHash('sha256');
  for (const file of globSync(INPUTS, { cwd: ROOT }).toSorted()) {
    const { mtimeMs, size } = statSync(join(ROOT, file));
    state.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return state.digest('hex');
}
