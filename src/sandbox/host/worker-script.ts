/** Builds the program of a worker process into one text, which it reads from its standard input. */
import * as esbuild from 'esbuild';
import { fileURLToPath } from 'node:url';

export async function buildWorkerScript(): Promise<string> {
  const entry = import.meta.url.endsWith('.ts')
    ? '../worker/worker-process.ts'
    : '../worker/worker-process.js';
  const result = await esbuild.build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    tsconfigRaw: {},
    logLevel: 'silent',
    // The worker runs in the root folder, from where the name would lead nowhere.
    plugins: [
      {
        name: 'isolated-vm',
        setup(build) {
          build.onResolve({ filter: /^isolated-vm$/ }, (args) => ({
            path: import.meta.resolve(args.path),
            external: true,
          }));
        },
      },
    ],
  });
  return result.outputFiles[0]?.text ?? '';
}
