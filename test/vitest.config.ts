import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './support/longest-first.ts';

/** Tests start the real service, workers and transforms' processes many times: compiled code is kept between them. */
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('../node_modules/.cache/compile', import.meta.url),
);

const isCi = !['', 'false', '0'].includes(process.env['CI'] ?? '');

/** Two workers: the suite is sized for two cores, and real services and sandboxes run beside the tests. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    reporters: ['default', fileURLToPath(new URL('./support/closing-line.ts', import.meta.url))],
    maxWorkers: 2,
    // Files share a worker's modules: nothing in src/ keeps state in a module, and to load it for every file anew took
    // two fifths of the processor time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Real processes, clocks and a shared machine: in CI a test that fails is tried twice more, and said to be flaky.
    retry: isCi ? 2 : 0,
    // Only ends what hangs: a busy machine is not to fail a test that is right.
    testTimeout: 40_000,
    hookTimeout: 30_000,
    // States are waited for; on a busy machine they take longer than the second that is the default.
    expect: { poll: { timeout: 10_000 } },
  },
});
