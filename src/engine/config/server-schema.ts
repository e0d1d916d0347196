import * as z from 'zod';
import { addressOrRange } from '../../base/document/document.ts';
import { text, whole, within } from './schema-values.ts';

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
