import * as z from 'zod';
import { secretSchema } from './runner-schema.ts';
import { whole } from './schema-values.ts';

export const storageSchema = z.strictObject({
  url: secretSchema.default('sqlite:./.sluice/sluice.db').meta({
    description:
      'Where the store is: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE, which several services may share.',
  }),
  leaseSeconds: z.number().min(1).max(3_600).default(20).meta({
    description:
      'PostgreSQL only: a service that cannot reach the database ends its runs after three quarters of this time, and other services take them over when the whole time has passed.',
  }),
  keep: z
    .strictObject({
      days: z
        .number()
        .gt(0)
        .max(36_500)
        .default(30)
        .meta({ description: 'Days for which completed work is kept.' }),
      rows: whole(1, 100_000_000)
        .default(1_000_000)
        .meta({ description: 'Most completed runs and events that are kept.' }),
      decisions: whole(1, 1_000_000).default(10_000).meta({
        description: 'Decisions on requests that are kept, for `sluice requests` and the console.',
      }),
    })
    .prefault({})
    .meta({ description: 'How long completed work is kept.' }),
  keepRequests: z
    .strictObject({
      which: z.enum(['none', 'transforms', 'failed', 'all']).exactOptional().meta({
        description:
          'Which requests are kept with their bodies: none, those whose transform failed (default of serve), all that were answered 4xx or 5xx, or all (default of dev).',
      }),
      count: whole(1, 1_000_000)
        .exactOptional()
        .meta({ description: 'Requests kept at most; default 100, dev 1000.' }),
      bytes: whole(1, 10_000_000_000)
        .exactOptional()
        .meta({ description: 'Bytes of kept requests at most; default 16777216, dev 67108864.' }),
      days: z
        .number()
        .gt(0)
        .max(36_500)
        .exactOptional()
        .meta({ description: 'Days a request is kept; default no limit, dev 1.' }),
    })
    .prefault({})
    .meta({
      description: 'Experimental: requests kept whole for explain and replay; they hold what senders wrote.',
    }),
  maxBacklog: z
    .strictObject({
      runs: whole(1, 100_000_000).default(100_000).meta({ description: 'Most runs that may wait.' }),
      bytes: whole(1, 1_000_000_000_000)
        .default(1_073_741_824)
        .meta({ description: 'Most bytes of waiting runs.' }),
    })
    .prefault({})
    .meta({ description: 'Limits of waiting work; hooks beyond them are answered 503.' }),
});
