import * as z from 'zod';
import { addressOrRange } from '../../base/document/document.ts';
import { text, whole, within } from './schema-values.ts';
import { secretSchema } from './runner-schema.ts';

export const serverSchema = z.strictObject({
  host: text.default('127.0.0.1').describe('Address to listen on.'),
  port: whole(0, 65_535).exactOptional().describe('Port to listen on; default 8787. 0 takes a free port.'),
  stopGraceSeconds: within(0, 3600)
    .default(20)
    .describe('Seconds that requests and runs get to finish when the service stops.'),
  trustedProxies: z
    .array(addressOrRange)
    .max(100)
    .default([])
    .describe('Addresses of proxies whose X-Forwarded-For header is trusted.'),
  limits: z
    .strictObject({
      connections: whole(1, 1_000_000)
        .default(2_000)
        .describe('Open connections at most; for a new one, the one that was idle longest is closed.'),
      perAddress: whole(1, 1_000_000)
        .default(500)
        .describe(
          'Open connections of one address (IPv6: /64) at most; proxies in trustedProxies have no limit.',
        ),
      idleSeconds: within(1, 3600)
        .default(75)
        .describe('Seconds a connection stays open between two requests.'),
      strangerSeconds: within(1, 3600)
        .default(10)
        .describe('Seconds an idle connection stays open on which no sender has proved itself.'),
    })
    .prefault({})
    .describe('Limits on connections.'),
  health: z
    .strictObject({
      host: text.default('127.0.0.1').describe('Address of the health listener.'),
      port: whole(0, 65_535).describe('Port of the health listener; 0 takes a free port.'),
    })
    .exactOptional()
    .describe('A separate listener for /healthz and /readyz; without this block there is none.'),
  publicUrl: z
    .url({
      protocol: /^https?$/,
      error: 'must be an http or https address such as https://hooks.example.com',
    })
    .exactOptional()
    .describe('Address that senders call; some of them sign it.'),
});

export const metricsSchema = z.strictObject({
  host: text.default('127.0.0.1').describe('Address of the metrics listener.'),
  port: whole(0, 65_535).describe('Port of the metrics listener; 0 takes a free port.'),
});

const consoleRole = z
  .enum(['view', 'inspect', 'operate'])
  .describe(
    'What its owner may do: view shows what became of requests without anything they carried, inspect shows what is kept, operate changes the queue, too.',
  );

const consoleKeySchema = z.strictObject({
  role: consoleRole,
  key: z
    .string()
    .min(32, { error: 'must have at least 32 characters' })
    .describe('The key, a secret of at least 32 characters that only its owner has.'),
});

export const consoleSchema = z.strictObject({
  enabled: z
    .boolean()
    .exactOptional()
    .describe('Whether the console is served; default true in `sluice dev`, false in `sluice serve`.'),
  host: text
    .default('127.0.0.1')
    .describe('Address of the console in `sluice serve`; `sluice dev` serves it on 127.0.0.1 only.'),
  port: whole(0, 65_535)
    .exactOptional()
    .describe(
      'Port of the console; 0 takes a free port. Default 8788, and in `sluice dev` a free port where that is taken.',
    ),
  publicUrl: z
    .url({
      protocol: /^https?$/,
      error: 'must be an http or https address such as https://console.example.com',
    })
    .exactOptional()
    .describe('Address that browsers use where a proxy stands in front of the console.'),
  keys: z
    .record(z.string().regex(/^[\w-]{1,40}$/), consoleKeySchema)
    .default({})
    .describe('Further keys of the console by the name of their owner; removing one ends its sessions.'),
  proxy: z
    .strictObject({
      from: z
        .array(addressOrRange)
        .min(1)
        .max(100)
        .describe('Addresses of the proxy. From any other address the header counts for nothing.'),
      header: z
        .string()
        .regex(/^[A-Za-z][\w-]{0,99}$/, { error: 'must be the name of a header' })
        .describe('Header that names the user; the proxy must write it over what a browser sends.'),
      users: z.record(text, consoleRole).default({}).describe('Roles by the name of the user.'),
      others: consoleRole.exactOptional(),
    })
    .exactOptional()
    .describe('Users whom a proxy in front of the console has signed in: they need no key.'),
});

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
