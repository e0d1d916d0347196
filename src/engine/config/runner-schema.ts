import * as z from 'zod';
import { text, whole } from './schema-values.ts';

/** Coding agents whose command line is known. */
export const AGENT_KINDS = ['claude', 'codex', 'gemini', 'opencode'] as const;
export type AgentKind = (typeof AGENT_KINDS)[number];
/** What a coding agent may do: read its folder, change files in it, or everything that its user may. */
const AGENT_ACCESS = ['read', 'edit', 'full'] as const;
export type AgentAccess = (typeof AGENT_ACCESS)[number];

/** A secret: literal, `${NAME}` from the environment, or the content of a file. References are resolved before. */
export const secretSchema = z
  .union([text, z.strictObject({ file: text.describe('File that holds the secret.') })])
  .transform((secret) => (typeof secret === 'string' ? secret : `{file: ${secret.file}}`));

const maxRuns = whole(1, 1000).exactOptional().describe('Most runs at the same time with this runner.');

const providerBase = {
  apiKey: secretSchema.exactOptional().describe('API key of the provider.'),
  reasoning: z.boolean().exactOptional().describe('Whether `thinking` is sent to the provider.'),
};

/** A reference whose variable is not set is reported as such, and is no wrong address. */
const url = z.string().regex(/^(?:https?:\/\/[^\s/]|\$\{)/, {
  error: 'an address that starts with http:// or https://',
});

const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai-compatible'),
    baseUrl: url.describe('Base URL of the API of the provider.'),
    ...providerBase,
  }),
  z.strictObject({ kind: z.literal('openai'), baseUrl: url.exactOptional(), ...providerBase }),
  z.strictObject({ kind: z.literal('anthropic'), baseUrl: url.exactOptional(), ...providerBase }),
]);

const model = text
  .exactOptional()
  .describe('Model of this runner where no other is chosen, in place of agents.defaults.model.');

/** Besides PATH, HOME, LANG, LC_*, TZ, TMPDIR, USER and SHELL. */
const passEnv = z.array(text).max(1000).default([]).describe('Variables passed on to the command.');

const maxReplyBytes = whole(1, 67_108_864)
  .default(1_048_576)
  .describe('Longest output of the command in bytes; more is an error.');

/** What every runner that starts a command of your choice takes. */
const placeAndEnvironment = {
  cwd: text
    .exactOptional()
    .describe(
      'Working folder: "private" for one of its own per conversation, outside of the configuration; or a path.',
    ),
  env: z.record(text, secretSchema).default({}).describe('Variables set for the command.'),
  passEnv,
  maxReplyBytes,
} as const;

/** A coding agent by its own command line: arguments, sessions and reply are known. */
const agentSchema = z.strictObject({
  kind: z.enum(AGENT_KINDS),
  argv: z
    .array(z.string())
    .max(1000)
    .default([])
    .describe("Further arguments of the agent's command, before the prompt."),
  access: z
    .enum(AGENT_ACCESS)
    .default('read')
    .describe(
      'What the agent may do, by its own permission flags: read files of its folder (default), edit them too, or everything.',
    ),
  command: text.exactOptional().describe('The program, where it is not on PATH under its name.'),
  ...placeAndEnvironment,
  model,
  maxRuns,
});

const commandSchema = z.strictObject({
  kind: z.literal('command'),
  // {prompt_file} {model} {thinking} {session_key} {session_id} {timeout_seconds} {run_id} {history_file}
  argv: z.array(z.string()).min(1).max(1000).describe('The command and its arguments, with placeholders.'),
  prompt: z.enum(['stdin', 'file']).default('stdin').describe('How the prompt arrives.'),
  replyPath: text.exactOptional().describe('Dot path of the reply in JSON on stdout; default all of stdout.'),
  ...placeAndEnvironment,
  model,
  retryExitCodes: z
    .array(whole(1, 255))
    .max(255)
    .default([])
    .describe('Exit codes that mean nothing was started: the run is tried again.'),
  maxRuns,
});

const modelSchema = z.strictObject({
  kind: z.literal('model'),
  providers: z.record(text, providerSchema).describe('Providers by the first part of a model name.'),
  model,
  system: text.exactOptional().describe('System text before every conversation.'),
  maxOutputTokens: z.number().int().min(1).exactOptional().describe('Longest reply in tokens.'),
  maxRuns,
});

const forwardSchema = z.strictObject({
  kind: z.literal('forward'),
  forwardSummaries: z
    .boolean()
    .default(true)
    .describe('Whether summaries of runs also go to the other gateway; with false they are only listed.'),
  url: url.describe("URL of the other gateway's hooks, with their path."),
  token: secretSchema.describe(
    'Hook token of the other gateway, as "${NAME}"; an endpoint that is no gateway is called by a command (curl).',
  ),
  maxRuns,
});

const openClawSchema = z.strictObject({
  kind: z.literal('openclaw'),
  command: text.default('openclaw').describe('The command of OpenClaw.'),
  agent: text
    .exactOptional()
    .describe('Id of the agent in OpenClaw; default the one that its gateway chooses.'),
  hooks: z
    .strictObject({
      url: url.describe("URL of that gateway's hooks, with their path."),
      token: secretSchema.describe('Its hook token.'),
    })
    .exactOptional()
    .describe('Where events of the main session go; needed for the heartbeat.'),
  passEnv,
  maxReplyBytes,
  maxRuns,
});

const workerSchema = z.strictObject({
  kind: z.literal('worker'),
  tokens: z
    .array(secretSchema)
    .min(1)
    .max(20)
    .describe('Tokens with which workers ask for runs, as references; several while one is replaced.'),
  leaseSeconds: whole(10, 3600)
    .default(60)
    .describe('Seconds of silence after which a worker counts as gone, as a service does after a crash.'),
  maxReplyBytes,
  maxRuns,
});

export const runnerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('echo'), maxRuns }),
  commandSchema,
  agentSchema,
  modelSchema,
  forwardSchema,
  openClawSchema,
  workerSchema,
]);

export type RunnerFile = z.output<typeof runnerSchema>;
