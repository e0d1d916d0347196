import * as z from 'zod';
import { runnerSchema, secretSchema } from './runner-schema.ts';
import { text, whole } from './schema-values.ts';

/** A year. */
const MAX_HEARTBEAT_SECONDS = 31_536_000;

const heartbeatSchema = z.strictObject({
  everySeconds: z
    .number()
    .min(0)
    .max(MAX_HEARTBEAT_SECONDS)
    .default(1800)
    .meta({ description: 'Seconds between two periodic checks of the main session; 0 turns them off.' }),
  instructions: text
    .exactOptional()
    .meta({ description: 'Instructions for the main session: what to do with its events.' }),
  model: text.exactOptional().meta({ description: 'Model of the heartbeat; default agents.defaults.model.' }),
  runner: text.exactOptional().meta({ description: 'Runner of the heartbeat; default gateway.runner.' }),
  activeHours: z
    .strictObject({
      from: timeOfDay().meta({ description: 'Start, e.g. 08:00.' }),
      to: timeOfDay().meta({ description: 'End, e.g. 22:00; an end before the start is on the next day.' }),
      timeZone: z
        .string()
        .refine(isTimeZone, { error: 'must be a time zone such as Europe/Berlin' })
        .exactOptional()
        .meta({ description: 'IANA time zone; default that of the machine.' }),
    })
    .exactOptional()
    .meta({ description: 'Hours of the day in which periodic checks run.' }),
});

export const gatewaySchema = z.strictObject({
  token: secretSchema
    .exactOptional()
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
    .exactOptional()
    .meta({ description: 'Most runs of one mapping at the same time; default no separate limit.' }),
  workFolders: z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, { error: 'a name has letters, digits, and . _ -, at most 64' }),
      text,
    )
    .default({})
    .meta({ description: 'Folders that a mapping may name with `cwd`, by name.' }),
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
      channel: text.exactOptional().meta({ description: 'Channel of the main session.' }),
      to: z
        .union([
          text,
          z.number().refine(Number.isSafeInteger, {
            error: 'must be in quotes, because a number this long loses digits',
          }),
        ])
        .exactOptional()
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
    .exactOptional()
    .meta({
      description: 'Messages when a runner, channel or mapping keeps failing, and when it works again.',
    }),
  callbackSecret: secretSchema
    .exactOptional()
    .meta({ description: 'Standard Webhooks secret (whsec_…) that signs callbacks.' }),
});

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
