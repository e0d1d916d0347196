/** What modules that run outside the sandbox are made of, without running any of them. */
import { createHash } from 'node:crypto';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** An import that leads nowhere yet is no failure: what is put there later makes another hash. */
const unresolved: Plugin = {
  name: 'unresolved',
  setup(build) {
    const isAsked = {};
    build.onResolve({ filter: /.*/ }, async ({ path: name, kind, resolveDir, importer, pluginData }) => {
      if (kind === 'entry-point' || pluginData === isAsked) return undefined;
      const found = await build.resolve(name, { kind, resolveDir, importer, pluginData: isAsked });
      return found.errors.length > 0 ? { path: name, external: true } : found;
    });
  },
};

/**
 * A hash of these files, of all that they import, and of the manifests of their packages; undefined where they cannot be
 * read as a whole.
 */
export async function hashModules(entries: readonly string[]): Promise<string | undefined> {
  const root = path.parse(entries[0] ?? '/').root;
  try {
    // A service that starts reads no compiler.
    const { build } = await import('esbuild');
    const { metafile } = await build({
      entryPoints: [...entries],
      bundle: true,
      write: false,
      metafile: true,
      outdir: '/hashed',
      absWorkingDir: root,
      platform: 'node',
      format: 'esm',
      tsconfigRaw: {},
      logLevel: 'silent',
      loader: { '.node': 'copy', '.wasm': 'copy' },
      plugins: [unresolved],
    });
    const read = Object.keys(metafile.inputs).map((name) => path.resolve(root, name));
    const manifests = read.map((file) => findPackageJSON(pathToFileURL(file)) ?? file);
    const hash = createHash('sha256').update(JSON.stringify(entries));
    for (const file of [...new Set([...read, ...manifests])].toSorted())
      hash.update(`\0${file}\0`).update(createHash('sha256').update(readFileSync(file)).digest());
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}
