import * as z from 'zod';
import { runnerSchema, secretSchema } from './runner-schema.ts';
import { text, whole, within } from './schema-values.ts';

/** A year. */
const MAX_HEARTBEAT_SECONDS = 31_536_000;

const heartbeatSchema = z.strictObject({
  everySeconds: within(0, MAX_HEARTBEAT_SECONDS)
    .default(1800)
    .describe('Seconds between two periodic checks of the main session; 0 turns them off.'),
  instructions: text
    .exactOptional()
    .describe('Instructions for the main session: what to do with its events.'),
  model: text.exactOptional().describe('Model of the heartbeat; default agents.defaults.model.'),
  runner: text.exactOptional().describe('Runner of the heartbeat; default gateway.runner.'),
  activeHours: z
    .strictObject({
      from: timeOfDay().describe('Start, e.g. 08:00.'),
      to: timeOfDay().describe('End, e.g. 22:00; an end before the start is on the next day.'),
      timeZone: z
        .string()
        .refine(isTimeZone, { error: 'must be a time zone such as Europe/Berlin' })
        .exactOptional()
        .describe('IANA time zone; default that of the machine.'),
    })
    .exactOptional()
    .describe('Hours of the day in which periodic checks run.'),
});

export const gatewaySchema = z.strictObject({
  token: secretSchema
    .exactOptional()
    .describe("The gateway's own secret; it must not be the same as a hook token."),
  runner: z
    .union([text, runnerSchema])
    .default('echo')
    .describe('The default runner: a name of gateway.runners, "echo", or the runner itself.'),
  runners: z.record(text, runnerSchema).default({}).describe('Further runners by name.'),
  workers: z
    .strictObject({
      listen: z
        .strictObject({
          host: text.default('127.0.0.1').describe('Address to listen on.'),
          port: whole(0, 65_535).describe('Port.'),
        })
        .exactOptional()
        .describe('A port of its own for workers; default the port of hooks.'),
    })
    .exactOptional()
    .describe('How workers are reached.'),
  maxRuns: whole(1, 1000)
    .default(4)
    .describe('Most runs at the same time here; the heartbeat and what workers carry are not counted.'),
  maxRunsPerMapping: whole(1, 1000).exactOptional().meta({
    deprecated: true,
    description:
      'Most runs of one mapping at the same time, where its `maxRuns` says nothing else; default no separate limit.',
  }),
  workFolders: z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, { error: 'a name has letters, digits, and . _ -, at most 64' }),
      text,
    )
    .default({})
    .describe('Folders that a mapping may name with `cwd`, by name.'),
  holdHours: within(0, 8760)
    .default(24)
    .describe(
      'Hours for which runs wait for an agent that cannot be reached; then they fail. For workers they wait on.',
    ),
  heartbeat: heartbeatSchema.prefault({}).describe('The turn in which the main session reads its events.'),
  events: z
    .strictObject({
      maxPending: whole(1, 10_000_000)
        .default(10_000)
        .describe('Most system events that may wait; further wakes are answered 503.'),
    })
    .prefault({})
    .describe('The queue of system events.'),
  main: z
    .strictObject({
      channel: text.exactOptional().describe('Channel of the main session.'),
      to: z
        .union([
          text,
          z.number().refine(Number.isSafeInteger, {
            error: 'must be in quotes, because a number this long loses digits',
          }),
        ])
        .exactOptional()
        .describe('Recipient of the main session.'),
    })
    .prefault({})
    .describe('The channel and recipient that "last" means before another was used.'),
  sessions: z
    .strictObject({
      maxTurns: whole(1, 10_000).default(50).describe('Most turns of history that are kept of a session.'),
      maxTokens: whole(100, 10_000_000)
        .default(60_000)
        .describe('Most tokens of history (estimated) that are kept of a session.'),
    })
    .prefault({})
    .describe('Limits of the history of sessions.'),
  alerts: z
    .strictObject({
      channel: text.describe('Channel of the operator.'),
      to: z.union([text, z.number().int()]).transform(String).describe('Recipient on it.'),
      after: whole(1, 1000)
        .default(3)
        .describe('Failures in a row of one runner, channel or mapping before a message goes out.'),
      replies: z
        .boolean()
        .exactOptional()
        .describe(
          'Send what the main session replies to the summary of a failure here, too, in place of "last".',
        ),
    })
    .exactOptional()
    .describe('Messages when a runner, channel or mapping keeps failing, and when it works again.'),
  callbackSecret: secretSchema
    .exactOptional()
    .describe('Standard Webhooks secret (whsec_…) that signs callbacks.'),
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
