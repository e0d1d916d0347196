/**
 * What is packed has no scripts: nothing runs where it is installed, and nobody reads there what they do. `prepack` builds,
 * as npm finds no `prepare` in the shorter file, and puts the shorter `package.json` in the place of ours
 * (`node build/pack-manifest.mjs shorten`); `postpack` gives ours back.
 */
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
const MANIFEST = join(ROOT, 'package.json');
const OURS = join(ROOT, 'node_modules/.cache/package.json');
/** Keys that say how this checkout is worked with. */
const OF_CHECKOUT = ['scripts', 'devDependencies', 'allowScripts', 'prettier', 'knip'];

if (process.argv[2] === 'shorten') {
  mkdirSync(dirname(OURS), { recursive: true });
  copyFileSync(MANIFEST, OURS);
  const entries = Object.entries(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  const kept = Object.fromEntries(entries.filter(([key]) => !OF_CHECKOUT.includes(key)));
  writeFileSync(MANIFEST, `${JSON.stringify(kept, null, 2)}\n`);
} else renameSync(OURS, MANIFEST);
