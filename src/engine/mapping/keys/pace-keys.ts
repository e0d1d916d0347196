import * as z from 'zod';
import { AFTER_CRASH, RETRIED_FAILURES } from '../../../base/action.ts';
import { inWords, say, spanOf } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { type KeyCompiling, keysOf, same, whole } from './mapping-key.ts';

const DAY_SECONDS = 86_400;
/** Where it is not said how long the first event of a debounced run may wait at most. */
const MAX_SECONDS_FACTOR = 10;

const DedupeSchema = z.union([
  z.literal('body').describe('A request with the same body within a day is a repeat.'),
  z.strictObject({
    key: z
      .string()
      .min(1)
      .describe(
        'Template, or `body`: requests with the same value are repeats. A blank value turns dedupe off for the request.',
      ),
    ttlSeconds: whole(1, 2_592_000)
      .optional()
      .describe('Seconds for which a repeat is recognised; default 86400, at most 30 days.'),
  }),
]);

const DebounceSchema = z.strictObject({
  key: z
    .string()
    .min(1)
    .describe('Template: events of the same value become one run. A blank value lets its event run alone.'),
  seconds: z
    .number()
    .min(1)
    .max(86_400)
    .describe('The run begins when no event of its key came for this many seconds.'),
  maxSeconds: z
    .number()
    .min(1)
    .max(86_400)
    .optional()
    .describe('It begins at the latest this many seconds after its first event; default ten times seconds.'),
  keep: z
    .enum(['all', 'latest'])
    .optional()
    .describe('Experimental: whether the agent reads all events, or the newest alone; default all.'),
});

const LimitsSchema = z.strictObject({
  runsPerHour: whole(1, 100_000)
    .optional()
    .describe('Runs of this mapping that may begin within an hour; further ones wait in the queue.'),
  runsPerHourAndSession: whole(1, 100_000)
    .optional()
    .describe('The same for any one conversation (sessionKey) of the mapping.'),
  usdPerDay: z
    .number()
    .positive()
    .max(1_000_000)
    .optional()
    .describe(
      'Experimental: a run begins while the runs of this mapping that ended in the current day (UTC) cost fewer US dollars; further ones wait. The runner has to be one that tells money: a Claude Code or opencode agent.',
    ),
});

const MaxRunsSchema = z.union([
  z.int().min(1).max(1000).describe('Most runs of this mapping at the same time.'),
  z.strictObject({
    key: z
      .string()
      .min(1)
      .describe('Template: runs of the same value are counted. A run with a blank value is not counted.'),
    runs: z.int().min(1).max(1000).describe('Most runs of one value at the same time.'),
  }),
]);

const RetrySchema = z
  .strictObject({
    on: z
      .array(z.enum(RETRIED_FAILURES))
      .min(1)
      .optional()
      .describe(
        'Failures that are tried again: timeout, exit (a code or signal of a command), error (any other).',
      ),
    attempts: z
      .int()
      .min(2)
      .max(10)
      .optional()
      .describe('Attempts in all, the first one counted; default 3.'),
    delaySeconds: z
      .number()
      .min(1)
      .max(3600)
      .optional()
      .describe('Seconds between two attempts; default 60.'),
    afterCrash: z
      .enum(AFTER_CRASH)
      .optional()
      .describe(
        'Whether a run that was under way when the service ended is begun again; default hooks.defaults.afterCrash, else never for a coding agent with access edit or full, and again for all others.',
      ),
  })
  .refine(({ on, afterCrash, ...pace }) => on || (afterCrash && Object.keys(pace).length === 0), {
    error: 'must say after which failures: on: [timeout, exit, error]',
  })
  .meta({ minProperties: 1, dependentRequired: { attempts: ['on'], delaySeconds: ['on'] } });

/** Which requests begin a run, and how many. */
export const paceKeys = keysOf({
  dedupe: {
    about: 'How repeats of a request are recognised; a repeat gets the answer of the first.',
    schema: DedupeSchema,
    see: '#repeats',
    compile: (written, at) => {
      const { key, ttlSeconds = DAY_SECONDS } = written === 'body' ? { key: written } : written;
      const compiled = key === 'body' ? key : at.template(['dedupe', 'key']);
      return compiled && { key: compiled, ttlSeconds };
    },
    golden: ({ key }) => key,
  },
  debounce: {
    about: 'Events that follow each other closely become one run, which reads them all; for agent mappings.',
    schema: DebounceSchema,
    see: '#events-that-become-one-run',
    actions: ['agent'],
    compile: (written, at) => {
      const { seconds, maxSeconds = seconds * MAX_SECONDS_FACTOR, keep } = written;
      checkDebounce(at, seconds, maxSeconds);
      const key = at.template(['debounce', 'key']);
      return key && { key, seconds, maxSeconds, ...(keep === 'latest' ? { keep } : {}) };
    },
    fill: (rule, { mapping, request, nameOf }) => {
      const key = nameOf('debounce.key', rule.key, {
        code: 'blank_debounce_key',
        message: 'the debounce key was blank, so the run of this event begins at once',
      });
      const { instructions } = mapping;
      return key === undefined ? key : { ...rule, key, ...defined({ instructions }), nonce: request.nonce };
    },
    golden: ({ key, seconds, maxSeconds, keep }) => ({ key, seconds, maxSeconds, ...defined({ keep }) }),
    explain: ({ key, seconds, maxSeconds, keep }) =>
      `${clearLine(key)}: begins ${spanOf(seconds)} after the last of its events, at most ${spanOf(maxSeconds)} after the first${keep === undefined ? '' : ', and reads the newest alone'}`,
  },
  limits: {
    about:
      'How many runs may begin within an hour; default hooks.defaults.limits, key by key, else no limit.',
    schema: LimitsSchema,
    see: '#limits',
    actions: ['agent'],
    compile: same,
  },
  maxRuns: {
    about:
      'Experimental: how many runs go on at the same time, of all services together; further ones wait in the queue.',
    schema: MaxRunsSchema,
    see: '#limits',
    actions: ['agent'],
    compile: (written, at) => {
      if (typeof written === 'number') return { runs: written };
      const key = at.template(['maxRuns', 'key']);
      return key && { runs: written.runs, key };
    },
    fill: ({ runs, key: written }, { nameOf }) => {
      if (written === undefined) return { runs };
      const key = nameOf('maxRuns.key', written, {
        code: 'blank_max_runs_key',
        message: 'the key of maxRuns was blank, so the run of this event is not counted',
      });
      return key === undefined ? undefined : { runs, key };
    },
    explain: ({ runs, key }) =>
      `${runs}: further runs ${key === undefined ? 'of the mapping' : `of the key ${clearLine(key)}`} wait until one has ended`,
  },
});

/** What becomes of a run that failed. */
export const retryKeys = keysOf({
  retry: {
    about:
      'Experimental: runs that began and failed, or that a crash cut off, are performed again, also what they had done before; default never, and after a crash as hooks.defaults.afterCrash says.',
    schema: RetrySchema,
    see: 'runners.md#runs-that-failed',
    actions: ['agent'],
    compile: ({ on, ...written }) => ({
      ...(on && { on, attempts: 3, delaySeconds: 60 }),
      ...defined(written),
    }),
    explain: ({ on, attempts, delaySeconds = 0, afterCrash }) => {
      const retried =
        on && `after ${inWords(on, 'or')}: ${attempts} attempts in all, ${spanOf(delaySeconds)} apart`;
      const crashed = afterCrash && `after a crash: ${afterCrash}`;
      return [retried, crashed].filter((part) => part !== undefined).join('; ');
    },
  },
});

function checkDebounce({ source, reporter }: KeyCompiling, seconds: number, maxSeconds: number): void {
  if (maxSeconds < seconds) {
    reporter.report(['debounce', 'maxSeconds'], {
      code: 'INVALID_DEBOUNCE',
      message: say`debounce.maxSeconds must be at least debounce.seconds (${seconds}), found ${maxSeconds}`,
      hint: say`write maxSeconds: ${seconds} or more, or leave it out: it is then ${seconds * MAX_SECONDS_FACTOR}`,
    });
  }
  if (source.approve !== undefined) {
    reporter.report(['debounce'], {
      code: 'INVALID_DEBOUNCE',
      message: say`a run cannot wait for further events and for somebody's approval`,
      hint: say`remove debounce or approve`,
    });
  }
}
