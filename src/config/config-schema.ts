import { isIP } from 'node:net';
import { z } from 'zod';
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
  previousTokens: z
    .array(secretSchema)
    .max(16)
    .default([])
    .meta({ description: 'Retired tokens still accepted during a rotation; each use is logged.' }),
  path: z.string().default('/hooks').meta({ description: 'Base path of the endpoints; not "/".' }),
  presets: z
    .array(text)
    .max(100)
    .default([])
    .meta({ description: 'Built-in mappings to enable: mail (alias gmail).' }),
  mappings: z.array(z.unknown()).default([]).meta({ description: 'Mappings, before those of mappingsDir.' }),
  mappingsDir: text
    .optional()
    .meta({ description: 'Directory of mapping files; default ./mappings beside this file.' }),
  transformsDir: text
    .optional()
    .meta({ description: 'Directory of transform modules; default ./transforms beside this file.' }),
  maxBodyBytes: whole(1, 64 * 1024 * 1024)
    .default(262_144)
    .meta({ description: 'Largest request body in bytes; a mapping with a path of its own may differ.' }),
  limits: z
    .strictObject({
      steps: whole(1, 1_000_000_000)
        .default(16_000_000)
        .meta({ description: 'Steps that evaluating one request may take; a million take some 10 ms.' }),
      renderedBytes: whole(1, 256 * 1024 * 1024)
        .default(4_194_304)
        .meta({ description: 'Bytes that all templates of one request may render together.' }),
      storedBytes: whole(1, 256 * 1024 * 1024)
        .default(16_777_216)
        .meta({ description: 'Bytes of texts that one request may store.' }),
    })
    .prefault({})
    .meta({ description: 'What one request may cost; beyond, it is answered 413 too_much_work.' }),
  queryToken: z
    .enum(['warn', 'reject'])
    .default('warn')
    .meta({ description: 'Whether ?token= is accepted with a warning (deprecated) or answered 401.' }),
  authFailuresPerMinute: whole(0, 1_000_000)
    .default(20)
    .meta({ description: 'Failed authentications per address and minute, then 429; 0 turns the limit off.' }),
  lenient: z.boolean().optional().meta({
    description: 'Coerce wrong enum values and types in request bodies, with a warning, instead of 400.',
  }),
  exposeRuns: z
    .boolean()
    .default(false)
    .meta({ description: 'Serve GET {path}/runs/<id> with the hook token.' }),
  sessionKeys: z
    .strictObject({
      allowFromRequest: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether a request body may choose its session key.' }),
      default: text
        .optional()
        .meta({ description: 'Session key of requests without one; default hook:<uuid>.' }),
      allowedPrefixes: z
        .array(text)
        .max(100)
        .default([])
        .meta({ description: 'Prefixes a session key must start with; empty allows any.' }),
      shared: z.array(text).max(100).default([]).meta({
        description:
          'Prefixes of session keys that have no owner: every mapping, and /agent bodies too, can take part in such a conversation. Other conversations belong to the one mapping that writes into them.',
      }),
    })
    .prefault({})
    .meta({ description: 'Restrictions on session keys.' }),
  agents: z
    .strictObject({
      runners: z
        .record(text, text)
        .default({})
        .meta({ description: 'Runner by agent id: what an agentId in a body, mapping or transform means.' }),
      default: text.optional().meta({ description: 'The agent of what names none, for `allowed`.' }),
      allowed: z
        .array(z.string())
        .max(1000)
        .optional()
        .meta({ description: 'Agents that may be used; absent allows all, an empty list none.' }),
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
    .meta({ description: 'Port to listen on, default 8787; 0 takes a free one.' }),
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
    .meta({ description: 'Addresses of proxies whose X-Forwarded-For is believed.' }),
});

const heartbeatSchema = z.strictObject({
  everySeconds: z
    .number()
    .min(0)
    .max(31_536_000)
    .default(1800)
    .meta({ description: 'Seconds between periodic checks of the main session; 0 turns them off.' }),
  instructions: text.optional().meta({ description: 'What the main session is told to do with its events.' }),
  model: text.optional().meta({ description: 'Model of the heartbeat; default agents.defaults.model.' }),
  runner: text.optional().meta({ description: 'Runner of the heartbeat; default gateway.runner.' }),
  activeHours: z
    .strictObject({
      from: timeOfDay().meta({ description: 'Start, e.g. 08:00.' }),
      to: timeOfDay().meta({ description: 'End, e.g. 22:00; before the start: over midnight.' }),
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
    .meta({ description: "The gateway's own secret; refused where it equals a hook token." }),
  runner: z
    .union([text, runnerSchema])
    .default('echo')
    .meta({ description: 'The default runner: a name of gateway.runners, "echo", or the runner itself.' }),
  runners: z.record(text, runnerSchema).default({}).meta({ description: 'Further runners by name.' }),
  maxRuns: whole(1, 1000).default(4).meta({ description: 'Runs in parallel, the heartbeat not counted.' }),
  maxRunsPerMapping: whole(1, 1000)
    .optional()
    .meta({ description: 'Runs in parallel of one mapping; default no limit of its own.' }),
  holdHours: z
    .number()
    .min(0)
    .max(8760)
    .default(24)
    .meta({ description: 'Hours for which runs wait for an agent that is away, then they are given up.' }),
  heartbeat: heartbeatSchema
    .prefault({})
    .meta({ description: 'The turn in which the main session reads its events.' }),
  events: z
    .strictObject({
      maxPending: whole(1, 10_000_000)
        .default(10_000)
        .meta({ description: 'System events that may wait; a wake beyond is answered 503.' }),
    })
    .prefault({})
    .meta({ description: 'The queue of system events.' }),
  main: z
    .strictObject({
      channel: text.optional().meta({ description: 'Channel of the main session.' }),
      to: z
        .union([
          text,
          z
            .number()
            .refine(Number.isSafeInteger, { error: 'must be in quotes: as a number it loses digits' }),
        ])
        .optional()
        .meta({ description: 'Recipient of the main session.' }),
    })
    .prefault({})
    .meta({ description: 'Where the channel "last" starts.' }),
  sessions: z
    .strictObject({
      maxTurns: whole(1, 10_000).default(50).meta({ description: 'Turns of history kept per session.' }),
      maxTokens: whole(100, 10_000_000)
        .default(60_000)
        .meta({ description: 'Estimated tokens of history kept per session.' }),
    })
    .prefault({})
    .meta({ description: 'Bounds of conversations.' }),
  callbackSecret: secretSchema
    .optional()
    .meta({ description: 'Standard Webhooks secret (whsec_…) that signs callbacks.' }),
});

const agentsSchema = z.strictObject({
  defaults: z
    .strictObject({
      model: text.optional().meta({ description: 'Model of runs that name none.' }),
      models: z
        .array(text)
        .max(1000)
        .optional()
        .meta({ description: 'Models a request or mapping may choose; an empty list allows none.' }),
      aliases: z.record(text, text).default({}).meta({ description: 'Short names of models.' }),
      timeoutSeconds: z
        .number()
        .gt(0)
        .default(600)
        .meta({ description: 'Longest duration of a run that states none.' }),
    })
    .prefault({})
    .meta({ description: 'Defaults of every run.' }),
});

const storageSchema = z.strictObject({
  url: secretSchema
    .default('sqlite:./.sluice/sluice.db')
    .meta({ description: 'The file that holds the store, as sqlite:FILE.' }),
  keep: z
    .strictObject({
      days: z.number().gt(0).max(36_500).default(30).meta({ description: 'Days completed work is kept.' }),
      rows: whole(1, 100_000_000)
        .default(1_000_000)
        .meta({ description: 'Completed runs and events kept at most.' }),
    })
    .prefault({})
    .meta({ description: 'Retention of completed work.' }),
  maxBacklog: z
    .strictObject({
      runs: whole(1, 100_000_000).default(100_000).meta({ description: 'Waiting runs.' }),
      bytes: whole(1, 1_000_000_000_000)
        .default(1_073_741_824)
        .meta({ description: 'Bytes of waiting work.' }),
    })
    .prefault({})
    .meta({ description: 'Waiting work beyond these is answered 503.' }),
});

const metricsSchema = z.strictObject({
  host: text.default('127.0.0.1').meta({ description: 'Address of the metrics listener.' }),
  port: whole(0, 65_535).meta({ description: 'Port of the metrics listener; 0 takes a free one.' }),
});

const logSchema = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({ description: 'Least severe level.' }),
  format: z
    .enum(['json', 'pretty'])
    .optional()
    .meta({ description: 'Default json for serve, pretty for dev.' }),
});

/** The configuration file. Defaults that depend on other keys or on the file's place are filled in later. */
export const configSchema = z.strictObject({
  extends: text
    .optional()
    .meta({ description: 'An openclaw.json to build on; what stands here wins, mappings come first.' }),
  $schema: z.string().optional().meta({ description: 'Address of this schema, for editors.' }),
  hooks: hooksSchema.prefault({}).meta({ description: 'The hook endpoints.' }),
  server: serverSchema.prefault({}).meta({ description: 'The listener.' }),
  gateway: gatewaySchema.prefault({}).meta({ description: 'What performs accepted hooks.' }),
  agents: agentsSchema.prefault({}).meta({ description: 'Models and limits of runs.' }),
  channels: z
    .record(text, z.record(z.string(), z.unknown()))
    .default({})
    .meta({ description: 'Credentials, `to` and `baseUrl` by channel.' }),
  plugins: z.array(text).max(100).default([]).meta({ description: 'Modules that bring further channels.' }),
  storage: storageSchema.prefault({}).meta({ description: 'Where accepted hooks are kept.' }),
  metrics: metricsSchema.optional().meta({ description: 'A listener for /metrics; default none.' }),
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
  if (mappings !== undefined && mapping !== undefined) mappings.items = mapping;
  return schema;
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
