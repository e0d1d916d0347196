/** Words of other tools in the configuration (OpenClaw, Express, nginx, Docker, adnanh/webhook), and what they are here. */
import { alike, below, calledHere, type KeyAdvice } from '../schema-words.ts';

const AGAIN: KeyAdvice = {
  hint: 'remove it: an agent that is away is waited for (gateway.holdHours), and deliveries are tried again, without a key',
};
const SENDERS: KeyAdvice = {
  hint: 'each sender is a mapping: write a file mappings/NAME.yaml with match: {path: NAME}, verify: {scheme: …, secrets: ["${NAME}"]} and messageTemplate; "sluice add" writes one',
};
const MAPPING: KeyAdvice = {
  group: 'mapping',
  hint: 'this is a mapping: move its keys into a file of its own, mappings/NAME.yaml, or make it an entry of hooks.mappings',
};
const TLS: KeyAdvice = {
  hint: 'there is no TLS here: put a proxy with TLS (Caddy, nginx, a tunnel) in front, and write its outside address as server.publicUrl',
};
const ENVIRONMENT: KeyAdvice = {
  hint: 'variables are set where the service starts, and read as ${NAME}; those of an agent are env and passEnv of its runner',
};
const WORKSPACE: KeyAdvice = {
  hint: 'the folder in which an agent works is cwd of its runner: gateway: {runner: {kind: claude, cwd: …}}',
};
const SKIPPED_LEVELS: KeyAdvice = {
  hint: 'write log: {level: info}, with the level debug, info, warn or error',
};

const LISTEN: KeyAdvice = {
  hint: 'where the service listens is server: {host: 127.0.0.1, port: 8787}',
};

/** What `kind: command` calls its program. */
const PROGRAM: KeyAdvice = {
  hint: 'the program and its arguments are one list: argv: ["python3", "agent.py"]',
  means: 'argv',
  group: 'program',
};

const PROVIDER: KeyAdvice = {
  group: 'provider',
  means: 'providers',
  hint: 'providers are named: write providers: {anthropic: {kind: anthropic, apiKey: "${NAME}"}}, and model: anthropic/NAME',
};
/** Where the reply of the heartbeat goes elsewhere. */
const TARGET: KeyAdvice = {
  group: 'target',
  hint: 'remove it: its reply goes where the channel last used leads, which is at first gateway.main: {channel: …, to: …}',
};

const PROXIES: KeyAdvice = {
  ...calledHere('trustedProxies'),
};

const ZONE: KeyAdvice = {
  hint: 'a time zone is set at gateway.heartbeat.activeHours.timeZone, or in a template: {{date value tz="Europe/Berlin"}}',
};

const TOP: Readonly<Record<string, KeyAdvice>> = {
  ...alike('port host', LISTEN),
  ...alike('listen bind address addr', LISTEN),
  ...alike('webhooks routes endpoints senders sources providers triggers', SENDERS),
  ...alike(
    'id match verify messageTemplate textTemplate instructions sessionKey transform dedupe forEach',
    MAPPING,
  ),
  ...alike('tls ssl https cert', TLS),
  ...alike('environment envVars', ENVIRONMENT),
  ...alike('logLevel loglevel log_level', SKIPPED_LEVELS),
  token: { hint: 'the token that senders carry is hooks.token' },
  mappings: { hint: 'mappings stand in hooks.mappings, or in files of the folder hooks.mappingsDir' },
  runner: { hint: 'the runner is gateway.runner' },
  agent: { hint: 'which agent runs is gateway.runner: {kind: claude} (or codex, gemini, opencode)' },
  runners: { hint: 'runners are gateway.runners' },
  heartbeat: { hint: 'the heartbeat is gateway.heartbeat' },
  path: { hint: 'the path of hooks is hooks.path' },
  presets: { hint: 'presets are hooks.presets' },
  mail: { hint: 'the mailbox is hooks.mail' },
  database: { hint: 'the store is storage.url' },
  logging: { hint: 'the log is log.level and log.format' },
  models: { hint: 'the models that may be chosen are agents.defaults.models' },
  ...alike('timezone timeZone tz', ZONE),
  version: { hint: 'remove it: the file has no version' },
};

const HOOKS: Readonly<Record<string, KeyAdvice>> = {
  secret: {
    hint: 'the token that senders carry is hooks.token: token: ${NAME}; the secret of a sender that signs is verify.secrets of its mapping',
  },
  secrets: { hint: 'the secret of a sender that signs is verify.secrets of its mapping' },
  tokens: {
    hint: 'the token is one: write token: ${NAME}; older ones that are still taken are previousTokens: [${OLD_NAME}]',
    means: 'token',
  },
  port: { hint: 'the port is server.port' },
  host: { hint: 'the address to listen on is server.host' },
  ...alike('basePath base_path prefix base baseUrl pathPrefix urlPrefix route endpoint', calledHere('path')),
  ...alike('webhooks routes endpoints senders sources providers', SENDERS),
  'limits.runsPerHour': { hint: 'how many runs may begin is hooks.defaults.limits: {runsPerHour: 60}' },
  'limits.runsPerHourAndSession': {
    hint: 'how many runs may begin is hooks.defaults.limits: {runsPerHourAndSession: 20}',
  },
  rate: { hint: 'the rate of a path stands in a mapping of it: rate: {perMinute: 60}' },
  verify: {
    hint: 'the proof of a sender stands in a mapping of its path: verify: {scheme: github, secrets: ["${NAME}"]}',
  },
  dedupe: { hint: 'repeats are recognised by a mapping: dedupe: {key: "{{id}}"}' },
  otherwise: { hint: 'for all paths it is called "unmatched"', rename: 'unmatched' },
  wakeMode: { hint: 'it belongs in hooks.defaults: defaults: {wakeMode: now}' },
  deliver: { hint: 'it belongs in hooks.defaults: defaults: {deliver: false}' },
  summary: { hint: 'it belongs in hooks.defaults: defaults: {summary: failures}' },
  ...alike('timezone timeZone tz', ZONE),
};

const GATEWAY: Readonly<Record<string, KeyAdvice>> = {
  ...alike('retry retries maxRetries', AGAIN),
  ...alike('host listen', LISTEN),
  ...alike('agent kind', {
    hint: 'which agent runs is runner: write runner: {kind: claude} (or codex, gemini, opencode)',
  }),
  ...alike('workspace workdir workDir cwd', WORKSPACE),
  concurrency: calledHere('maxRuns'),
  timeoutSeconds: { hint: 'the time limit of runs is agents.defaults.timeoutSeconds' },
  model: { hint: 'the model of runs is agents.defaults.model' },
  'heartbeat.every': { hint: 'write everySeconds, a number of seconds: everySeconds: 1800' },
  'heartbeat.interval': { hint: 'write everySeconds, a number of seconds: everySeconds: 1800' },
  'heartbeat.enabled': { hint: 'a heartbeat that is off is everySeconds: 0' },
  'heartbeat.prompt': calledHere('instructions'),
  ...below('heartbeat', { target: TARGET, to: { ...TARGET, beside: 'target' } }),
  ...below('heartbeat.activeHours', {
    ...alike('start begin', calledHere('from')),
    ...alike('end until stop', calledHere('to')),
    ...alike('timezone tz zone', calledHere('timeZone')),
  }),
  ...below('runner', {
    ...alike('command args arguments', PROGRAM),
    ...alike('workspace workdir workDir workingDirectory dir folder', calledHere('cwd')),
    ...alike('environment envVars', calledHere('env')),
    ...alike('permissions permissionMode permission', {
      hint: 'what the agent may do is access: read, edit or full',
    }),
    ...alike('timeout timeoutSeconds timeoutMs', {
      hint: 'the time limit of runs is agents.defaults.timeoutSeconds',
    }),
    provider: PROVIDER,
    ...alike('apiKey api_key', {
      group: 'provider',
      hint: 'the key of an agent is a variable of its environment: passEnv: [ANTHROPIC_API_KEY]; of kind: model it stands in providers: {NAME: {apiKey: …}}',
    }),
    ...alike('type name agent', calledHere('kind')),
  }),
};

/** What is known of words of others in the configuration. */
export const FOREIGN_SETTINGS: Readonly<Record<string, KeyAdvice>> = {
  ...TOP,
  ...below('hooks', HOOKS),
  ...below('gateway', GATEWAY),
  ...below('server', {
    ...alike('bind address hostname ip listen listenHost', calledHere('host')),
    ...alike('tls ssl https cert', TLS),
    ...alike('baseUrl url externalUrl public_url', calledHere('publicUrl')),
    ...alike('proxy trustProxy trust_proxy', PROXIES),
  }),
  ...below('agents.defaults', {
    ...alike('workdir cwd', WORKSPACE),
    timeout: calledHere('timeoutSeconds'),
  }),
  ...below('storage', {
    ...alike('path file sqlite db dbPath database', { hint: 'write url: "sqlite:FILE"' }),
    retention: { hint: 'how long completed work is kept is keep: {days: 30}' },
  }),
  ...below('log', {
    ...alike('verbosity', calledHere('level')),
    ...alike('json pretty', { hint: 'write format: json, or pretty' }),
  }),
};
