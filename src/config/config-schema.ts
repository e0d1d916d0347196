import { isIP } from 'node:net';
import { z } from 'zod';
import { SUMMARY_MODES, WAKE_MODES } from '../action.ts';
import { mailSchema } from './mail-schema.ts';
import { runnerSchema, secretSchema } from './runner-schema.ts';

/** A whole number within bounds. */
function whole(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max);
}

const text = z.string().min(1);

const hooksSchema = z.strictObject({
  enabled: z.boolean().default(false).meta({ description: 'Turns the hook endpoints on.' }),
  token: secretSchema
    .optional()
    .meta({ description: 'The hook token; required when hooks are enabled, and used for nothing else.' }),
  previousTokens: z.array(secretSchema).max(16).default([]).meta({
    description: 'Old tokens that are still accepted while you change the token; each use is logged.',
  }),
  path: z.string().default('/hooks').meta({ description: 'Path below which hooks are received; not "/".' }),
  presets: z
    .array(text)
    .max(100)
    .default([])
    .meta({ description: 'Built-in mappings to enable: mail (alias gmail).' }),
  mappings: z
    .array(z.unknown())
    .default([])
    .meta({ description: 'Mappings written here; they are tried before those of mappingsDir.' }),
  mappingsDir: text
    .optional()
    .meta({ description: 'Directory of mapping files; default ./mappings next to this file.' }),
  transformsDir: text
    .optional()
    .meta({ description: 'Directory of transform modules; default ./transforms next to this file.' }),
  maxBodyBytes: whole(1, 64 * 1024 * 1024)
    .default(262_144)
    .meta({ description: 'Largest request body in bytes; a mapping with match.path can set its own limit.' }),
  limits: z
    .strictObject({
      steps: whole(1, 1_000_000_000).default(16_000_000).meta({
        description: 'Most steps that evaluating one request may take; a million steps take about 10 ms.',
      }),
      renderedBytes: whole(1, 256 * 1024 * 1024)
        .default(4_194_304)
        .meta({ description: 'Most bytes that all templates of one request may render together.' }),
      storedBytes: whole(1, 256 * 1024 * 1024)
        .default(16_777_216)
        .meta({ description: 'Most bytes of text that one request may store.' }),
    })
    .prefault({})
    .meta({
      description:
        'Limits for the work of one request; a request that needs more is answered 413 too_much_work.',
    }),
  queryToken: z
    .enum(['warn', 'reject'])
    .default('warn')
    .meta({ description: 'Whether ?token= is accepted with a warning (deprecated) or answered 401.' }),
  authFailuresPerMinute: whole(0, 1_000_000).default(20).meta({
    description:
      'Failed authentications that one address may make in a minute; further ones are answered 429. 0 turns the limit off.',
  }),
  defaults: z
    .strictObject({
      wakeMode: z
        .enum(WAKE_MODES)
        .default('now')
        .meta({ description: 'Whether the end of a run wakes the main session at once.' }),
      deliver: z.boolean().default(true).meta({ description: 'Whether replies go to a channel.' }),
      summary: z
        .enum(SUMMARY_MODES)
        .default('always')
        .meta({ description: 'When the main session gets a line about a run.' }),
    })
    .prefault({})
    .meta({ description: 'What runs do where neither the request nor the mapping says it.' }),
  unmatched: z.enum(['reject', 'skip']).default('reject').meta({
    description:
      'What a request that no mapping takes is answered: 404 (reject), or 204 and nothing is done (skip).',
  }),
  lenient: z.boolean().optional().meta({
    description:
      'Correct wrong types and unknown values in request bodies, with a warning, instead of answering 400.',
  }),
  exposeRuns: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether GET {path}/runs/<id> with the hook token shows the state of a run.' }),
  sessionKeys: z
    .strictObject({
      allowFromRequest: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether a request body may choose its session key.' }),
      default: text
        .optional()
        .meta({ description: 'Session key of requests that give none; default hook:<uuid>.' }),
      allowedPrefixes: z.array(text).max(100).default([]).meta({
        description: 'A session key must start with one of these prefixes; an empty list allows any key.',
      }),
      shared: z.array(text).max(100).default([]).meta({
        description:
          'Prefixes of session keys that have no owner: every mapping, and /agent bodies too, can take part in such a conversation. Other conversations belong to the one mapping that writes into them.',
      }),
    })
    .prefault({})
    .meta({ description: 'Which session keys a request may use.' }),
  agents: z
    .strictObject({
      runners: z
        .record(text, text)
        .default({})
        .meta({ description: 'The runner of each agent id that a body, a mapping or a transform may name.' }),
      default: text
        .optional()
        .meta({ description: 'The agent id of hooks that give none; `allowed` is checked against it.' }),
      allowed: z.array(z.string()).max(1000).optional().meta({
        description: 'Agents that may be used; all where this is left out, none where the list is empty.',
      }),
    })
    .prefault({})
    .meta({ description: 'Agents that a hook may choose with agentId.' }),
  // Whatever the first does not take is looked at when the settings are made: an older block is only a warning.
  mail: z
    .union([mailSchema, z.looseObject({})])
    .optional()
    .meta({ description: 'The mailbox that is read; written by `sluice webhooks mail setup`.' }),
});

const proxySchema = z.string().refine(isAddressOrRange, {
  error: 'must be an IP address or a range such as 10.0.0.0/8',
});

const serverSchema = z.strictObject({
  host: text.default('127.0.0.1').meta({ description: 'Address to listen on.' }),
  port: whole(0, 65_535)
    .optional()
    .meta({ description: 'Port to listen on; default 8787. 0 takes a free port.' }),
  stopGraceSeconds: z
    .number()
    .min(0)
    .max(3600)
    .default(20)
    .meta({ description: 'Seconds that requests and runs get to finish when the service stops.' }),
  trustedProxies: z
    .array(proxySchema)
    .max(100)
    .default([])
    .meta({ description: 'Addresses of proxies whose X-Forwarded-For header is trusted.' }),
  limits: z
    .strictObject({
      connections: whole(1, 1_000_000)
        .default(2_000)
        .meta({ description: 'Open connections at most; the idlest has to go for a new one.' }),
      perAddress: whole(1, 1_000_000).default(500).meta({
        description: 'Of one address (IPv6: /64) at most; proxies in trustedProxies have no limit.',
      }),
      idleSeconds: z
        .number()
        .min(1)
        .max(3600)
        .default(75)
        .meta({ description: 'Seconds a connection stays open between two requests.' }),
      strangerSeconds: z
        .number()
        .min(1)
        .max(3600)
        .default(10)
        .meta({ description: 'The same for a connection on which no sender has proved itself.' }),
    })
    .prefault({})
    .meta({ description: 'Limits on connections.' }),
  health: z
    .strictObject({
      host: text.default('127.0.0.1').meta({ description: 'Address of the health listener.' }),
      port: whole(0, 65_535).meta({ description: 'Port of the health listener; 0 takes a free port.' }),
    })
    .optional()
    .meta({ description: 'A separate listener for /healthz and /readyz; without this block there is none.' }),
  publicUrl: z
    .url({
      protocol: /^https?$/,
      error: 'must be an http or https address such as https://hooks.example.com',
    })
    .optional()
    .meta({ description: 'Address that senders call; some of them sign it.' }),
});

const heartbeatSchema = z.strictObject({
  everySeconds: z
    .number()
    .min(0)
    .max(31_536_000)
    .default(1800)
    .meta({ description: 'Seconds between two periodic checks of the main session; 0 turns them off.' }),
  instructions: text
    .optional()
    .meta({ description: 'Instructions for the main session: what to do with its events.' }),
  model: text.optional().meta({ description: 'Model of the heartbeat; default agents.defaults.model.' }),
  runner: text.optional().meta({ description: 'Runner of the heartbeat; default gateway.runner.' }),
  activeHours: z
    .strictObject({
      from: timeOfDay().meta({ description: 'Start, e.g. 08:00.' }),
      to: timeOfDay().meta({ description: 'End, e.g. 22:00; an end before the start is on the next day.' }),
      timeZone: z
        .string()
        .refine(isTimeZone, { error: 'must be a time zone such as Europe/Berlin' })
        .optional()
        .meta({ description: 'IANA time zone; default that of the machine.' }),
    })
    .optional()
    .meta({ description: 'Hours of the day in which periodic checks run.' }),
});

const gatewaySchema = z.strictObject({
  token: secretSchema
    .optional()
    .meta({ description: "The gateway's own secret; it must not be the same as a hook token." }),
  runner: z
    .union([text, runnerSchema])
    .default('echo')
    .meta({ description: 'The default runner: a name of gateway.runners, "echo", or the runner itself.' }),
  runners: z.record(text, runnerSchema).default({}).meta({ description: 'Further runners by name.' }),
  maxRuns: whole(1, 1000)
    .default(4)
    .meta({ description: 'Most runs at the same time; the heartbeat is not counted.' }),
  maxRunsPerMapping: whole(1, 1000)
    .optional()
    .meta({ description: 'Most runs of one mapping at the same time; default no separate limit.' }),
  holdHours: z
    .number()
    .min(0)
    .max(8760)
    .default(24)
    .meta({ description: 'Hours for which runs wait for an agent that cannot be reached; then they fail.' }),
  heartbeat: heartbeatSchema
    .prefault({})
    .meta({ description: 'The turn in which the main session reads its events.' }),
  events: z
    .strictObject({
      maxPending: whole(1, 10_000_000)
        .default(10_000)
        .meta({ description: 'Most system events that may wait; further wakes are answered 503.' }),
    })
    .prefault({})
    .meta({ description: 'The queue of system events.' }),
  main: z
    .strictObject({
      channel: text.optional().meta({ description: 'Channel of the main session.' }),
      to: z
        .union([
          text,
          z.number().refine(Number.isSafeInteger, {
            error: 'must be in quotes, because a number this long loses digits',
          }),
        ])
        .optional()
        .meta({ description: 'Recipient of the main session.' }),
    })
    .prefault({})
    .meta({ description: 'The channel and recipient that "last" means before another was used.' }),
  sessions: z
    .strictObject({
      maxTurns: whole(1, 10_000)
        .default(50)
        .meta({ description: 'Most turns of history that are kept of a session.' }),
      maxTokens: whole(100, 10_000_000)
        .default(60_000)
        .meta({ description: 'Most tokens of history (estimated) that are kept of a session.' }),
    })
    .prefault({})
    .meta({ description: 'Limits of the history of sessions.' }),
  alerts: z
    .strictObject({
      channel: text.meta({ description: 'Channel of the operator.' }),
      to: z.union([text, z.number().int()]).transform(String).meta({ description: 'Recipient on it.' }),
      after: whole(1, 1000).default(3).meta({
        description: 'Failures in a row of one runner, channel or mapping before a message goes out.',
      }),
    })
    .optional()
    .meta({
      description: 'Messages when a runner, channel or mapping keeps failing, and when it works again.',
    }),
  callbackSecret: secretSchema
    .optional()
    .meta({ description: 'Standard Webhooks secret (whsec_…) that signs callbacks.' }),
});

const agentsSchema = z.strictObject({
  defaults: z
    .strictObject({
      model: text.optional().meta({ description: 'Model of runs for which no other is chosen.' }),
      models: z
        .array(text)
        .max(1000)
        .optional()
        .meta({ description: 'Models that a request or a mapping may choose; an empty list allows none.' }),
      aliases: z.record(text, text).default({}).meta({ description: 'Short names of models.' }),
      timeoutSeconds: z
        .number()
        .gt(0)
        .default(600)
        .meta({ description: 'Time limit of a run, in seconds, where the request or mapping gives none.' }),
    })
    .prefault({})
    .meta({ description: 'Defaults of every run.' }),
});

const storageSchema = z.strictObject({
  url: secretSchema.default('sqlite:./.sluice/sluice.db').meta({
    description:
      'Where the store is: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE, which several services may share.',
  }),
  leaseSeconds: z.number().min(1).max(3_600).default(20).meta({
    description:
      'PostgreSQL only: a service that cannot reach the database ends its runs after three quarters of this time, and others take them over after all of it.',
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
      which: z.enum(['none', 'transforms', 'failed', 'all']).optional().meta({
        description:
          'Which requests are kept with their bodies: none, those whose transform failed (default of serve), all that were answered 4xx or 5xx, or all (default of dev).',
      }),
      count: whole(1, 1_000_000)
        .optional()
        .meta({ description: 'Requests kept at most; default 100, dev 1000.' }),
      bytes: whole(1, 10_000_000_000)
        .optional()
        .meta({ description: 'Bytes of kept requests at most; default 16777216, dev 67108864.' }),
      days: z
        .number()
        .gt(0)
        .max(36_500)
        .optional()
        .meta({ description: 'Days a request is kept; default no limit, dev 1.' }),
    })
    .prefault({})
    .meta({ description: 'Requests kept whole for explain and replay; they hold what senders wrote.' }),
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

const metricsSchema = z.strictObject({
  host: text.default('127.0.0.1').meta({ description: 'Address of the metrics listener.' }),
  port: whole(0, 65_535).meta({ description: 'Port of the metrics listener; 0 takes a free port.' }),
});

const consoleSchema = z.strictObject({
  enabled: z.boolean().optional().meta({
    description: 'Whether the console is served; default true in `sluice dev`, false in `sluice serve`.',
  }),
  host: text.default('127.0.0.1').meta({
    description: 'Address of the console in `sluice serve`; `sluice dev` serves it on 127.0.0.1 only.',
  }),
  port: whole(0, 65_535).optional().meta({
    description:
      'Port of the console; 0 takes a free port. Default 8788, and in `sluice dev` a free port where that is taken.',
  }),
  publicUrl: z
    .url({
      protocol: /^https?$/,
      error: 'must be an http or https address such as https://console.example.com',
    })
    .optional()
    .meta({ description: 'Address that browsers use where a proxy stands in front of the console.' }),
});

const logSchema = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({ description: 'Lowest level that is logged.' }),
  format: z
    .enum(['json', 'pretty'])
    .optional()
    .meta({ description: 'Form of the lines; default json for serve, pretty for dev.' }),
});

/** The configuration file. Defaults that depend on other keys or on the file's place are filled in later. */
export const configSchema = z.strictObject({
  extends: text.optional().meta({
    description: 'An openclaw.json to build on; settings in this file win, and its mappings are tried first.',
  }),
  $schema: z.string().optional().meta({ description: 'Address of this schema, for editors.' }),
  hooks: hooksSchema.prefault({}).meta({ description: 'The hook endpoints.' }),
  server: serverSchema.prefault({}).meta({ description: 'The listener.' }),
  gateway: gatewaySchema.prefault({}).meta({ description: 'What performs accepted hooks.' }),
  agents: agentsSchema.prefault({}).meta({ description: 'Models and limits of runs.' }),
  channels: z
    .record(text, z.record(z.string(), z.unknown()))
    .default({})
    .meta({ description: 'Settings of each channel: credentials, `to`, `baseUrl`.' }),
  plugins: z.array(text).max(100).default([]).meta({ description: 'Modules that add channels.' }),
  storage: storageSchema.prefault({}).meta({ description: 'Where accepted hooks are kept.' }),
  metrics: metricsSchema
    .optional()
    .meta({ description: 'A separate listener for /metrics; without this block there is none.' }),
  console: consoleSchema
    .prefault({})
    .meta({ description: 'The web page that shows what came in and what became of it.' }),
  log: logSchema.prefault({}).meta({ description: 'The service log.' }),
});

/** The file's content, checked, with the defaults that depend on nothing else. */
export type ConfigFile = z.output<typeof configSchema>;

/**
 * JSON Schema (draft-07) of the file, for editors; `mapping` is the schema of one entry of `hooks.mappings`.
 */
export function configJsonSchema(mapping?: object): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-07',
    io: 'input',
    override: ({ jsonSchema }) => {
      allowReference(jsonSchema);
    },
  }) as { properties?: { hooks?: { properties?: { mappings?: { items?: object } } } } };
  const mappings = schema.properties?.hooks?.properties?.mappings;
  if (mappings === undefined || mapping === undefined) return schema;
  const { definitions, ...entry } = mapping as { readonly definitions?: object };
  mappings.items = entry;
  // What an entry refers to is looked for at the top of the file's schema.
  return { ...schema, ...(definitions && { definitions }) };
}

/** A number or boolean may come from the environment: its schema takes a text that is one reference, too. */
function allowReference(schema: z.core.JSONSchema.BaseSchema): void {
  const { type, description, default: fallback, ...bounds } = schema;
  if (type !== 'number' && type !== 'integer' && type !== 'boolean') return;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [
      { type, ...bounds },
      { type: 'string', pattern: String.raw`^\$\{[A-Za-z_]` },
    ],
  });
}

function timeOfDay(): z.ZodString {
  return z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'a time such as "08:00"' });
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function isAddressOrRange(value: string): boolean {
  const [address = '', bits, rest] = value.split('/');
  const version = isIP(address);
  if (version === 0 || rest !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
