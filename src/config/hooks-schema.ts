import * as z from 'zod';
import { SUMMARY_MODES, WAKE_MODES } from '../action.ts';
import { mailSchema } from './mail-schema.ts';
import { secretSchema } from './runner-schema.ts';
import { text, whole } from './schema-values.ts';

export const hooksSchema = z.strictObject({
  enabled: z.boolean().default(false).meta({ description: 'Turns the hook endpoints on.' }),
  token: secretSchema
    .exactOptional()
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
    .exactOptional()
    .meta({ description: 'Directory of mapping files; default ./mappings next to this file.' }),
  transformsDir: text
    .exactOptional()
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
      limits: z
        .strictObject({
          runsPerHour: whole(1, 100_000).exactOptional().meta({
            description: 'Runs of any one mapping that may begin within an hour; further ones wait.',
          }),
          runsPerHourAndSession: whole(1, 100_000)
            .exactOptional()
            .meta({ description: 'The same for any one conversation of a mapping.' }),
        })
        .exactOptional()
        .meta({
          description: 'How many runs of a mapping may begin within an hour; no limit unless written.',
        }),
    })
    .prefault({})
    .meta({ description: 'What runs do where neither the request nor the mapping says it.' }),
  unmatched: z.enum(['reject', 'skip']).default('reject').meta({
    description:
      'The answer to a request that no mapping takes: 404 (reject), or 204, and nothing is done (skip).',
  }),
  lenient: z.boolean().exactOptional().meta({
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
        .exactOptional()
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
        .exactOptional()
        .meta({ description: 'The agent id of hooks that give none; `allowed` is checked against it.' }),
      allowed: z.array(z.string()).max(1000).exactOptional().meta({
        description: 'Agents that may be used; all where this is left out, none where the list is empty.',
      }),
    })
    .prefault({})
    .meta({ description: 'Agents that a hook may choose with agentId.' }),
  // Whatever the first does not take is looked at when the settings are made: an older block is only a warning.
  mail: z
    .union([mailSchema, z.looseObject({})])
    .exactOptional()
    .meta({ description: 'The mailbox that is read; written by `sluice webhooks mail setup`.' }),
});
