import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Two workers: the suite is sized for two cores, and real services and sandboxes run beside the tests. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // States are waited for; on a busy machine they take longer than the second that is the default.
    expect: { poll: { timeout: 10_000 } },
  },
});
