import { readFileSync } from 'node:fs';

/** The commit that `build/build.mjs` built; no such name exists where the program runs from source. */
declare const BUILT_COMMIT: string | undefined;

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const commit = typeof BUILT_COMMIT === 'undefined' ? undefined : BUILT_COMMIT;

/**
 * The version of `package.json`, which stands one folder above `src/` and `dist/`; a build adds its commit
 * (`0.1.0+1a2b3c4d`).
 */
export const version: string = commit === undefined ? manifest.version : `${manifest.version}+${commit}`;
