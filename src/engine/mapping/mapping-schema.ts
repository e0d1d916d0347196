import * as z from 'zod';
import { AFTER_CRASH, RETRIED_FAILURES, SUMMARY_MODES, WAKE_MODES } from '../../base/action.ts';
import { conditionDefinitions } from './condition/condition-schema.ts';
import { pathSettingsShape, whole } from './path-settings-schema.ts';

/** A reference would bring a secret into code that only handles what came from outside. */
const LiteralSchema = z
  .string()
  .max(4096)
  .refine((text) => !/\$\{[A-Za-z_]\w*\}/.test(text), {
    error: 'must be a literal: a reference such as ${NAME} is not resolved for a transform',
  });

/** Bounds of a transform's limits; `sandbox/transform.ts` says what each limits. */
const TransformSchema = z.union([
  z
    .string()
    .min(1)
    .describe(
      'Module in hooks.transformsDir; its default export is called, or else its export named transform.',
    ),
  z.strictObject({
    module: z.string().min(1).describe('Module in hooks.transformsDir.'),
    export: z
      .string()
      .min(1)
      .optional()
      .describe('Name of the exported function; default `default`, or else `transform`.'),
    timeoutMs: whole(1, 30_000).optional().describe('Time limit in milliseconds; default 1000.'),
    memoryMb: whole(8, 128).optional().describe('Memory limit in MiB; default 64.'),
    maxResultBytes: whole(1, 4_194_304).optional().describe('Largest result in bytes; default 1048576.'),
    maxLogBytes: whole(0, 1_048_576).optional().describe('Most bytes of console output; default 65536.'),
    reuse: z.boolean().optional().describe('Whether calls share the state of the module; default false.'),
    jit: z.boolean().optional().describe('Whether the module may use the JIT compiler; default false.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), LiteralSchema)
      .optional()
      .describe('What the module reads as process.env: literals, no references and no secrets.'),
  }),
]);

/** Recipients are often written as numbers. Beyond 2^53 a YAML number has lost its last digits already. */
const RecipientSchema = z.union([
  z.string(),
  z
    .number()
    .refine(Number.isSafeInteger, { error: 'must be in quotes, because a number this long loses digits' }),
]);

/** What a request may decide where the mapping says so. */
const TRUSTED_KEYS = ['channel', 'to', 'model', 'thinking', 'agentId'] as const;

const FallbackSchema = z.strictObject({
  channel: z.string().min(1).describe('Channel id; no template.'),
  to: RecipientSchema.optional().describe('Recipient on that channel; no template.'),
});

const ApproveSchema = z.strictObject({
  channel: z.string().min(1).describe('Channel on which somebody is asked; no template.'),
  to: RecipientSchema.optional().describe('Who is asked on that channel; no template.'),
  withinSeconds: z
    .number()
    .min(10)
    .max(604_800)
    .optional()
    .describe('Seconds within which it may be answered, at most seven days; default 3600.'),
});

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

/** At most so many that a look-up in a request costs nothing. */
const AccountsSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

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

const RetrySchema = z.strictObject({
  on: z
    .array(z.enum(RETRIED_FAILURES))
    .min(1)
    .describe(
      'Failures that are tried again: timeout, exit (a code or signal of a command), error (any other).',
    ),
  attempts: z.int().min(2).max(10).optional().describe('Attempts in all, the first one counted; default 3.'),
  delaySeconds: z.number().min(1).max(3600).optional().describe('Seconds between two attempts; default 60.'),
});

const IgnoreSendersSchema = z.union([
  AccountsSchema.describe('Accounts, compared without case with where senders usually put them.'),
  z.strictObject({
    names: AccountsSchema.describe('Accounts, compared without case.'),
    from: z.string().min(1).describe('Template: where the sender puts the account.'),
  }),
]);

const MatchSchema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe(
      'Hook name: the part of the URL after hooks.path, without slashes at its ends. Left out, blank or / matches any name.',
    ),
  source: z.string().optional().describe('The value that `source` in the payload must have.'),
  // Any value here, since the condition compiler says more about a wrong one.
  when: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'boolean' }, { $ref: '#/definitions/rule' }],
      description:
        'JsonLogic condition over the request; where its result is unknown, the mapping does not match.',
    }),
});

/** A URL, or a reference to the secret that holds it. */
const CallbackSchema = z.union([
  z.string().min(1).describe('http or https URL, or ${NAME} to take it from an environment variable.'),
  z.strictObject({ file: z.string().min(1) }).describe('File that contains the URL.'),
]);

/** One mapping as it is written in a file. */
export const MappingSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, { error: 'letters, digits, and . : _ -, at most 100' })
    .optional()
    .describe('Unique name of the mapping in logs, golden files and dedupe; default mapping-<n>.'),
  enabled: z.boolean().optional().describe('Whether the mapping is used; default true.'),
  match: MatchSchema.optional().describe(
    'Which requests the mapping takes; left out, all that no other mapping takes.',
  ),
  continue: z
    .boolean()
    .optional()
    .describe(
      'Experimental: whether the mappings after this one are asked as well, so that one request becomes the actions of several; default false.',
    ),
  action: z
    .enum(['agent', 'wake', 'notify', 'skip'])
    .optional()
    .describe(
      'What a request becomes: an agent run, a wake, a message to people without an agent (notify), or nothing (skip, answered 204). Default agent.',
    ),
  name: z.string().optional().describe('Template: name of the hook for people; default Hook.'),
  wakeMode: z.enum(WAKE_MODES).optional().describe('Default hooks.defaults.wakeMode, else now.'),
  sessionKey: z
    .string()
    .optional()
    .describe('Template: key of the conversation; default a random one for every run.'),
  instructions: z
    .string()
    .optional()
    .describe('Your own words to the agent, outside the safety boundary; no template.'),
  messageTemplate: z
    .string()
    .optional()
    .describe('Template of what the agent, or with notify the people, read; for agent and notify mappings.'),
  textTemplate: z.string().optional().describe("Template of the system event's text; for wake mappings."),
  deliver: z
    .boolean()
    .optional()
    .describe('Whether the reply is sent to a channel; default hooks.defaults.deliver, else true.'),
  channel: z.string().optional().describe('Template: channel id; default last.'),
  to: RecipientSchema.optional().describe('Template: recipient on the channel; default the last one.'),
  thread: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Experimental: template of the thread on the channel in which the reply stands, e.g. {{event.ts}}; a blank value is none.',
    ),
  trust: z
    .array(z.enum(TRUSTED_KEYS))
    .min(1)
    .optional()
    .describe(
      'Keys that the request may decide, by a template or a transform: whoever sends it decides where the reply goes, or which agent and model run.',
    ),
  model: z.string().optional().describe('Template: model name or alias for this run.'),
  thinking: z.string().optional().describe('Template: thinking level for this run.'),
  timeoutSeconds: z
    .number()
    .positive()
    .optional()
    .describe('Time limit of a run in seconds; fractions are kept.'),
  allowUnsafeExternalContent: z
    .boolean()
    .optional()
    .describe('Turns the safety boundary off for this mapping, which is dangerous; default false.'),
  transform: TransformSchema.optional().describe('Code that turns the request into actions.'),
  forEach: z
    .string()
    .min(1)
    .optional()
    .describe('Path of a list in the payload; each element becomes an action of its own.'),
  runner: z
    .string()
    .min(1)
    .optional()
    .describe('Runner of this mapping, a name from gateway.runners; default gateway.runner.'),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder in which the agent works, a name from gateway.workFolders; default that of the runner.',
    ),
  fallback: FallbackSchema.optional().describe(
    'Channel that is tried when delivery on the first channel has failed for good.',
  ),
  approve: ApproveSchema.optional().describe(
    'Experimental: a run begins only after somebody approved it; not answered in time, it is given up.',
  ),
  summary: z
    .enum(SUMMARY_MODES)
    .optional()
    .describe(
      'When the main session gets a line about the run; default hooks.defaults.summary, else always.',
    ),
  callbackUrl: CallbackSchema.optional().describe('URL to which the outcome of the run is posted.'),
  dedupe: DedupeSchema.optional().describe(
    'How repeats of a request are recognised; a repeat gets the answer of the first.',
  ),
  debounce: DebounceSchema.optional().describe(
    'Events that follow each other closely become one run, which reads them all; for agent mappings.',
  ),
  limits: LimitsSchema.optional().describe(
    'How many runs may begin within an hour; default hooks.defaults.limits, key by key, else no limit.',
  ),
  maxRuns: MaxRunsSchema.optional().describe(
    'Experimental: how many runs go on at the same time, of all services together; further ones wait in the queue.',
  ),
  retry: RetrySchema.optional().describe(
    'Experimental: runs that began and failed are performed again, also what they had done before; default never.',
  ),
  afterCrash: z
    .enum(AFTER_CRASH)
    .optional()
    .describe(
      'Experimental: whether a run that was under way when the service ended is begun again; default hooks.defaults.afterCrash, else never for a coding agent with access edit or full, and again for all others.',
    ),
  ignoreSenders: IgnoreSendersSchema.optional().describe(
    'Accounts whose events make nothing and are answered 204, e.g. the one that comments for the agent.',
  ),
  ...pathSettingsShape,
});
export type MappingSource = z.output<typeof MappingSchema>;

/** Every key of a mapping. */
export const MAPPING_KEYS: ReadonlySet<string> = new Set(Object.keys(MappingSchema.shape));

/** A mapping file: a list of mappings, an object that holds one, or one mapping. */
const MappingFileSchema = z.union([
  z.array(MappingSchema),
  z.strictObject({ mappings: z.array(MappingSchema) }),
  MappingSchema,
]);

/** JSON Schema (draft 7) of mapping files, for editors. */
export function mappingJsonSchema(): { readonly definitions: object } {
  return {
    title: 'Sluice mapping file',
    ...z.toJSONSchema(MappingFileSchema, { target: 'draft-07', io: 'input' }),
    definitions: conditionDefinitions(),
  };
}
