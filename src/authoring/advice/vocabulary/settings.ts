/** Words of other tools in the configuration (OpenClaw, Express, nginx, Docker, adnanh/webhook), and what they are here. */
import { AGAIN, alike, below, calledHere, type KeyAdvice } from '../schema-hints.ts';

const SENDERS: KeyAdvice = {
  hint: 'write a mapping for each sender, a file mappings/NAME.yaml with match: {path: NAME}, verify: {scheme: …, secrets: ["${NAME}"]} and messageTemplate; "sluice add" writes one',
};
const MAPPING: KeyAdvice = {
  group: 'mapping',
  hint: 'move the keys of this mapping into a file of its own, mappings/NAME.yaml, or make it an entry of hooks.mappings',
};
const TLS: KeyAdvice = {
  hint: 'put a proxy with TLS (Caddy, nginx, a tunnel) in front, and write its outside address as server.publicUrl: there is no TLS here',
};
const ENVIRONMENT: KeyAdvice = {
  hint: 'set variables where the service starts, and read them as ${NAME}; those of an agent are env and passEnv of its runner',
};
const WORKSPACE: KeyAdvice = {
  hint: 'write cwd of the runner, the folder in which an agent works: gateway: {runner: {kind: claude, cwd: …}}',
};
const LISTEN: KeyAdvice = {
  hint: 'write server: {host: 127.0.0.1, port: 8787}, where the service listens',
};
const AGENT: KeyAdvice = {
  hint: 'write gateway: {runner: {kind: claude}} (or codex, gemini, opencode) to choose the agent',
};
const LIMIT: KeyAdvice = {
  hint: 'write agents: {defaults: {timeoutSeconds: 600}}, the time limit of runs',
};

/** What `kind: command` calls its program. */
const PROGRAM: KeyAdvice = {
  hint: 'write the program and its arguments as one list: argv: ["python3", "agent.py"]',
  means: 'argv',
  group: 'program',
};
const PROVIDER: KeyAdvice = {
  group: 'provider',
  means: 'providers',
  hint: 'write providers: {anthropic: {kind: anthropic, apiKey: "${NAME}"}}, and model: anthropic/NAME',
};
/** Where the reply of the heartbeat goes elsewhere. */
const TARGET: KeyAdvice = {
  group: 'target',
  hint: 'remove it: its reply goes where the channel last used leads, which is at first gateway.main: {channel: …, to: …}',
};
const ZONE: KeyAdvice = {
  hint: 'set a time zone at gateway.heartbeat.activeHours.timeZone, or in a template: {{date value tz="Europe/Berlin"}}',
};
const EVERY: KeyAdvice = { hint: 'write everySeconds, a number of seconds: everySeconds: 1800' };

const TOP: Readonly<Record<string, KeyAdvice>> = {
  token: { hint: 'write hooks: {token: ${NAME}}, the token that senders carry' },
  ...alike('port host listen bind address addr', LISTEN),
  ...alike('webhooks routes endpoints senders sources providers triggers', SENDERS),
  ...alike(
    'id match verify messageTemplate textTemplate instructions sessionKey transform dedupe forEach',
    MAPPING,
  ),
  ...alike('tls ssl https cert', TLS),
  ...alike('environment envVars', ENVIRONMENT),
  ...alike('logLevel loglevel log_level logging', {
    hint: 'write log: {level: info}, with the level debug, info, warn or error',
  }),
  agent: AGENT,
  database: { hint: 'write storage: {url: "sqlite:FILE"}' },
  models: { hint: 'write agents: {defaults: {models: [...]}}, the models that may be chosen' },
  ...alike('timezone timeZone tz', ZONE),
};

const HOOKS: Readonly<Record<string, KeyAdvice>> = {
  ...alike('secret secrets', {
    hint: 'write token: ${NAME}, the token that senders carry; the secret of a sender that signs is verify.secrets of its mapping',
  }),
  tokens: {
    hint: 'write token: ${NAME}, which is one; older ones that are still taken are previousTokens: [${OLD_NAME}]',
    means: 'token',
  },
  ...alike('basePath base_path prefix base baseUrl pathPrefix urlPrefix route endpoint', calledHere('path')),
  ...alike('webhooks routes endpoints senders sources providers', SENDERS),
  ...alike('limits.runsPerHour limits.runsPerHourAndSession', {
    hint: 'write it in hooks.defaults, how many runs may begin: defaults: {limits: {runsPerHour: 60}}',
  }),
  ...alike('rate verify dedupe', {
    hint: 'write it in a mapping of the path, in a file mappings/NAME.yaml',
  }),
  otherwise: calledHere('unmatched'),
  ...alike('timezone timeZone tz', ZONE),
};

const GATEWAY: Readonly<Record<string, KeyAdvice>> = {
  ...alike('retry retries maxRetries', AGAIN),
  ...alike('host listen', LISTEN),
  ...alike('agent kind', AGENT),
  ...alike('workspace workdir workDir cwd', WORKSPACE),
  concurrency: calledHere('maxRuns'),
  ...below('heartbeat', {
    ...alike('every interval', EVERY),
    enabled: { hint: 'write everySeconds: 0 for a heartbeat that is off' },
    prompt: calledHere('instructions'),
    target: TARGET,
    to: { ...TARGET, beside: 'target' },
  }),
  ...below('heartbeat.activeHours', {
    ...alike('start begin', calledHere('from')),
    ...alike('end until stop', calledHere('to')),
  }),
  ...below('runner', {
    ...alike('command args arguments', PROGRAM),
    ...alike('workspace workdir workDir workingDirectory dir folder', calledHere('cwd')),
    ...alike('environment envVars', calledHere('env')),
    ...alike('permissions permissionMode permission', {
      hint: 'write access, what the agent may do: access: read, edit or full',
    }),
    ...alike('timeout timeoutSeconds timeoutMs', LIMIT),
    provider: PROVIDER,
    ...alike('apiKey api_key', {
      group: 'provider',
      hint: 'write passEnv: [ANTHROPIC_API_KEY], as the key of an agent is a variable of its environment; of kind: model it stands in providers: {NAME: {apiKey: …}}',
    }),
    ...alike('type name agent', calledHere('kind')),
  }),
};

/** What is known of words of others in the configuration. */
export const SETTING_WORDS: Readonly<Record<string, KeyAdvice>> = {
  ...TOP,
  ...below('hooks', HOOKS),
  ...below('gateway', GATEWAY),
  ...below('server', {
    ...alike('bind address hostname ip listen listenHost', calledHere('host')),
    ...alike('tls ssl https cert', TLS),
    ...alike('baseUrl url externalUrl public_url', calledHere('publicUrl')),
    ...alike('proxy trustProxy trust_proxy', calledHere('trustedProxies')),
  }),
  ...below('agents.defaults', {
    ...alike('workdir cwd', WORKSPACE),
    timeout: calledHere('timeoutSeconds'),
  }),
  ...below('storage', {
    ...alike('path file sqlite db dbPath database', { hint: 'write url: "sqlite:FILE"' }),
    retention: { hint: 'write keep: {days: 30}, how long completed work is kept' },
  }),
};
