import * as z from 'zod';
import { AFTER_CRASH, SUMMARY_MODES, WAKE_MODES } from '../../base/action.ts';
import { mailSchema } from './mail-schema.ts';
import { secretSchema } from './runner-schema.ts';
import { text, whole } from './schema-values.ts';

export const hooksSchema = z.strictObject({
  enabled: z.boolean().default(false).describe('Turns the hook endpoints on.'),
  token: secretSchema
    .exactOptional()
    .describe('The hook token; required when hooks are enabled, and used for nothing else.'),
  previousTokens: z
    .array(secretSchema)
    .max(16)
    .default([])
    .describe('Old tokens that are still accepted while you change the token; each use is logged.'),
  path: z.string().default('/hooks').describe('Path below which hooks are received; not "/".'),
  presets: z.array(text).max(100).default([]).describe('Built-in mappings to enable: mail (alias gmail).'),
  mappings: z
    .array(z.unknown())
    .default([])
    .describe('Mappings written here; they are tried before those of mappingsDir.'),
  mappingsDir: text
    .exactOptional()
    .describe('Directory of mapping files; default ./mappings next to this file.'),
  senders: z
    .array(text.regex(/^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/, { error: 'the name of an npm package' }))
    .max(20)
    .default([])
    .describe(
      'npm packages beside this file with files of senders (senders/*.yaml); none of their code runs.',
    ),
  transformsDir: text
    .exactOptional()
    .describe('Directory of transform modules; default ./transforms next to this file.'),
  maxBodyBytes: whole(1, 64 * 1024 * 1024)
    .default(262_144)
    .describe('Largest request body in bytes; a mapping with match.path can set its own limit.'),
  limits: z
    .strictObject({
      steps: whole(1, 1_000_000_000)
        .default(16_000_000)
        .describe('Most steps that evaluating one request may take; a million steps take about 10 ms.'),
      renderedBytes: whole(1, 256 * 1024 * 1024)
        .default(4_194_304)
        .describe('Most bytes that all templates of one request may render together.'),
      storedBytes: whole(1, 256 * 1024 * 1024)
        .default(16_777_216)
        .describe('Most bytes of text that one request may store.'),
    })
    .prefault({})
    .describe('Limits for the work of one request; a request that needs more is answered 413 too_much_work.'),
  queryToken: z
    .enum(['warn', 'reject'])
    .default('warn')
    .describe('Whether ?token= is accepted with a warning (deprecated) or answered 401.'),
  authFailuresPerMinute: whole(0, 1_000_000)
    .default(20)
    .describe(
      'Failed authentications that one address may make in a minute; further ones are answered 429. 0 turns the limit off.',
    ),
  defaults: z
    .strictObject({
      wakeMode: z
        .enum(WAKE_MODES)
        .default('now')
        .describe('Whether the end of a run wakes the main session at once.'),
      deliver: z.boolean().default(true).describe('Whether replies go to a channel.'),
      summary: z
        .enum(SUMMARY_MODES)
        .default('always')
        .describe('When the main session gets a line about a run.'),
      afterCrash: z
        .enum(AFTER_CRASH)
        .exactOptional()
        .describe(
          'Experimental: whether a run that was under way when the service ended is begun again; default never for a coding agent with access edit or full, and again for all others.',
        ),
      limits: z
        .strictObject({
          runsPerHour: whole(1, 100_000)
            .exactOptional()
            .describe('Runs of any one mapping that may begin within an hour; further ones wait.'),
          runsPerHourAndSession: whole(1, 100_000)
            .exactOptional()
            .describe('The same for any one conversation of a mapping.'),
          usdPerDay: z
            .number()
            .positive()
            .max(1_000_000)
            .exactOptional()
            .describe('Experimental: US dollars that the runs of any one mapping may cost in a day (UTC).'),
        })
        .exactOptional()
        .describe('How many runs of a mapping may begin within an hour; no limit unless written.'),
    })
    .prefault({})
    .describe('What runs do where neither the request nor the mapping says it.'),
  unmatched: z
    .enum(['reject', 'skip'])
    .default('reject')
    .describe(
      'The answer to a request that no mapping takes: 404 (reject), or 204, and nothing is done (skip).',
    ),
  lenient: z
    .boolean()
    .exactOptional()
    .describe(
      'Correct wrong types and unknown values in request bodies, with a warning, instead of answering 400.',
    ),
  exposeRuns: z
    .boolean()
    .default(false)
    .describe('Whether GET {path}/runs/<id> with the hook token shows the state of a run.'),
  sessionKeys: z
    .strictObject({
      allowFromRequest: z
        .boolean()
        .default(true)
        .describe('Whether a request body may choose its session key.'),
      default: text.exactOptional().describe('Session key of requests that give none; default hook:<uuid>.'),
      allowedPrefixes: z
        .array(text)
        .max(100)
        .default([])
        .describe('A session key must start with one of these prefixes; an empty list allows any key.'),
      shared: z
        .array(text)
        .max(100)
        .default([])
        .describe(
          'Prefixes of session keys that have no owner: every mapping, and /agent bodies too, can take part in such a conversation. Other conversations belong to the one mapping that writes into them.',
        ),
    })
    .prefault({})
    .describe('Which session keys a request may use.'),
  agents: z
    .strictObject({
      runners: z
        .record(text, text)
        .default({})
        .describe('The runner of each agent id that a body, a mapping or a transform may name.'),
      default: text
        .exactOptional()
        .describe('The agent id of hooks that give none; `allowed` is checked against it.'),
      allowed: z
        .array(z.string())
        .max(1000)
        .exactOptional()
        .describe('Agents that may be used; all where this is left out, none where the list is empty.'),
    })
    .prefault({})
    .describe('Agents that a hook may choose with agentId.'),
  // Whatever the first does not take is looked at when the settings are made: an older block is only a warning.
  mail: z
    .union([mailSchema, z.looseObject({})])
    .exactOptional()
    .describe('The mailbox that is read; written by `sluice webhooks mail setup`.'),
});
