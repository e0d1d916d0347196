import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './support/longest-first.ts';

/** Tests start the real service, workers and transforms' processes many times: compiled code is kept between them. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
process.env['NODE_COMPILE_CACHE'] ??= compiled;
// Vitest gives test files an address with the time of the run, so each run adds two entries for each: before they are
// more than a few hundred MB, the cache begins anew.
if (existsSync(compiled) && readdirSync(compiled, { recursive: true }).length > 20_000)
  rmSync(compiled, { recursive: true, force: true });

const isCi = !['', 'false', '0'].includes(process.env['CI'] ?? '');

/** Two workers: the suite is sized for two cores, and real services and sandboxes run beside the tests. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    reporters: [
      'default',
      fileURLToPath(new URL('./support/how-long.ts', import.meta.url)),
      fileURLToPath(new URL('./support/closing-line.ts', import.meta.url)),
      fileURLToPath(new URL('./support/built-program.ts', import.meta.url)),
    ],
    setupFiles: [fileURLToPath(new URL('./support/built-threads.ts', import.meta.url))],
    maxWorkers: 2,
    // Files share a worker's modules: nothing in src/ keeps state in a module, and to load it for every file anew took
    // two fifths of the processor time.
    isolate: false,
    // Node itself loads the tests and what they test, as it does in service: Vite's runner took a quarter of the processor
    // time for transforms and for a getter at each use of an import. Nothing here needs it, nor `vi.mock`.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // Real processes, clocks and a shared machine: in CI a test that fails is tried twice more, and said to be flaky.
    retry: isCi ? 2 : 0,
    // Only ends what hangs: a busy machine is not to fail a test that is right.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // States are waited for; on a busy machine they take many times longer than on a quiet one.
    expect: { poll: { timeout: 60_000 } },
  },
});
