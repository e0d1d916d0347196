import { z } from 'zod';
import { SUMMARY_MODES, WAKE_MODES } from '../action.ts';
import { pathSettingsShape } from './path-settings.ts';

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
    .describe('Module below hooks.transformsDir; its default export, else its export named transform.'),
  z.strictObject({
    module: z.string().min(1).describe('Module below hooks.transformsDir.'),
    export: z.string().min(1).optional().describe('Default: `default`, else `transform`.'),
    timeoutMs: z.int().min(1).max(30_000).optional().describe('Milliseconds; default 1000.'),
    memoryMb: z.int().min(8).max(128).optional().describe('MiB; default 64.'),
    maxResultBytes: z.int().min(1).max(4_194_304).optional().describe('Bytes; default 1048576.'),
    maxLogBytes: z.int().min(0).max(1_048_576).optional().describe('Bytes; default 65536.'),
    reuse: z.boolean().optional().describe('State is shared between calls; default false.'),
    jit: z.boolean().optional().describe('The module may use the JIT; default false.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), LiteralSchema)
      .optional()
      .describe('What the module reads as process.env: literals, no references and no secrets.'),
  }),
]);

/** Recipients are often written as numbers. Beyond 2^53 a YAML number has lost its last digits already. */
const RecipientSchema = z.union([
  z.string(),
  z.number().refine(Number.isSafeInteger, { error: 'must be in quotes: as a number it loses digits' }),
]);

const FallbackSchema = z.strictObject({
  channel: z.string().min(1).describe('Channel id, literal.'),
  to: RecipientSchema.optional().describe('Recipient on that channel, literal.'),
});

const DedupeSchema = z.union([
  z.literal('body').describe('A repeat is a request with the same body, for a day.'),
  z.strictObject({
    key: z.string().min(1).describe('Template of what makes a repeat, or `body`; blank for no dedupe.'),
    ttlSeconds: z.int().min(1).max(2_592_000).optional().describe('Seconds; default 86400, at most 30 days.'),
  }),
]);

const MatchSchema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe('Hook name after hooks.path; outer slashes do not count; absent, blank or / matches any name.'),
  source: z.string().optional().describe("The payload's own `source`, exact."),
  // Any value here, since the condition compiler says more about a wrong one.
  when: z
    .unknown()
    .optional()
    .meta({ type: ['object', 'boolean'], description: 'JsonLogic over the scope; unknown is no match.' }),
});

/** A URL, or a reference to the secret that holds it. */
const CallbackSchema = z.union([
  z.string().min(1).describe('http(s) URL, or ${NAME} for one from the environment.'),
  z.strictObject({ file: z.string().min(1) }).describe('File that holds the URL.'),
]);

/** One mapping as it is written in a file. */
export const MappingSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, { error: 'letters, digits, and . : _ -, at most 100' })
    .optional()
    .describe('Unique; default mapping-<n>.'),
  enabled: z.boolean().optional().describe('Default true.'),
  match: MatchSchema.optional().describe('Absent: every hook name without another mapping.'),
  action: z
    .enum(['agent', 'wake', 'skip'])
    .optional()
    .describe('Default agent; skip answers 204 on purpose.'),
  name: z.string().optional().describe('Template: human-readable name of the hook; default Hook.'),
  wakeMode: z.enum(WAKE_MODES).optional().describe('Default hooks.defaults.wakeMode, else now.'),
  sessionKey: z.string().optional().describe('Template; default a random one for every run.'),
  instructions: z
    .string()
    .optional()
    .describe("The operator's own words, outside the safety boundary; literal."),
  messageTemplate: z.string().optional().describe('Template of what the agent reads; for agent mappings.'),
  textTemplate: z.string().optional().describe("Template of the system event's text; for wake mappings."),
  deliver: z
    .boolean()
    .optional()
    .describe('Whether the reply is sent to a channel; default hooks.defaults.deliver, else true.'),
  channel: z.string().optional().describe('Template: channel id; default last.'),
  to: RecipientSchema.optional().describe('Template: recipient on the channel; default the last one.'),
  model: z.string().optional().describe('Template: model name or alias for this run.'),
  thinking: z.string().optional().describe('Template: thinking level for this run.'),
  timeoutSeconds: z.number().positive().optional().describe('Seconds one run may take, fractions kept.'),
  allowUnsafeExternalContent: z
    .boolean()
    .optional()
    .describe('Turns the safety boundary off for this mapping. Dangerous. Default false.'),
  transform: TransformSchema.optional().describe('Code that turns the request into actions.'),
  forEach: z.string().min(1).optional().describe('Payload path of a list: one action per element.'),
  runner: z.string().min(1).optional().describe('Key of gateway.runners; default gateway.runner.'),
  fallback: FallbackSchema.optional().describe('Tried when delivery on the first channel is given up.'),
  summary: z
    .enum(SUMMARY_MODES)
    .optional()
    .describe(
      'When the main session gets a line about the run; default hooks.defaults.summary, else always.',
    ),
  callbackUrl: CallbackSchema.optional().describe('The outcome of the run is posted there.'),
  dedupe: DedupeSchema.optional().describe('What makes a request a repeat that gets the first answer.'),
  ...pathSettingsShape,
});
export type MappingSource = z.output<typeof MappingSchema>;

/** A mapping file: a list of mappings, an object that holds one, or one mapping. */
const MappingFileSchema = z.union([
  z.array(MappingSchema),
  z.strictObject({ mappings: z.array(MappingSchema) }),
  MappingSchema,
]);

/** JSON Schema (draft 7) of mapping files, for editors. */
export function mappingJsonSchema(): object {
  return {
    title: 'Sluice mapping file',
    ...z.toJSONSchema(MappingFileSchema, { target: 'draft-07', io: 'input' }),
  };
}
