import * as z from 'zod';
import { secretSchema } from './runner-schema.ts';
import { whole, within } from './schema-values.ts';

export const storageSchema = z.strictObject({
  url: secretSchema
    .default('sqlite:./.sluice/sluice.db')
    .describe(
      'Where the store is: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE, which several services may share.',
    ),
  leaseSeconds: within(1, 3_600)
    .default(20)
    .describe(
      'PostgreSQL only: a service that cannot reach the database ends its runs after three quarters of this time, and other services take them over when the whole time has passed.',
    ),
  keep: z
    .strictObject({
      days: z.number().gt(0).max(36_500).default(30).describe('Days for which completed work is kept.'),
      rows: whole(1, 100_000_000)
        .default(1_000_000)
        .describe('Most completed runs and events that are kept.'),
      decisions: whole(1, 1_000_000)
        .default(10_000)
        .describe('Decisions on requests that are kept, for `sluice requests` and the console.'),
    })
    .prefault({})
    .describe('How long completed work is kept.'),
  keepRequests: z
    .strictObject({
      which: z
        .enum(['none', 'transforms', 'failed', 'shapes', 'all'])
        .exactOptional()
        .describe(
          'Which requests are kept: none, those whose transform failed, all that were answered 4xx or 5xx, these and the shapes of the accepted ones (default of serve), or all (default of dev).',
        ),
      count: whole(1, 1_000_000)
        .optional()
        .describe('Whole requests kept at most; default no limit but that of bytes.'),
      bytes: whole(1, 10_000_000_000)
        .optional()
        .describe('Bytes of whole requests at most; default 67108864 with shapes and in dev, else 16777216.'),
      days: z
        .number()
        .gt(0)
        .max(36_500)
        .optional()
        .describe('Days a request is kept; default 1 with shapes and in dev, else no limit.'),
    })
    .prefault({})
    .describe('Experimental: requests kept for explain and replay; whole ones hold what senders wrote.'),
  maxBacklog: z
    .strictObject({
      runs: whole(1, 100_000_000).default(100_000).describe('Most runs that may wait.'),
      bytes: whole(1, 1_000_000_000_000).default(1_073_741_824).describe('Most bytes of waiting runs.'),
    })
    .prefault({})
    .describe('Limits of waiting work; hooks beyond them are answered 503.'),
});
