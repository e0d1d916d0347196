import { holdsCredentials, meantTimeZone, secondsIn, type SchemaAdvice } from '../document/document.ts';
import { MAX_HEARTBEAT_SECONDS } from './gateway-schema.ts';
import { theirValue, theirWord } from './openclaw/their-words.ts';

/** How values of the configuration were meant that it does not take. */
const meantSetting: NonNullable<SchemaAdvice['value']> = (key, value) => {
  const object = theirValue(key, value) ?? meantBlock(key, value);
  if (object !== undefined || typeof value !== 'string') return object;
  if (key.endsWith('.timeZone')) {
    const zone = meantTimeZone(value);
    return zone === undefined ? undefined : { hint: `did you mean ${zone}?`, text: zone };
  }
  return /\.activeHours\.(?:from|to)$/.test(key) ? meantTime(value) : undefined;
};

/** What a number, a word, true or false sets in a block. */
const BLOCKS: Readonly<
  Record<string, { readonly number?: string; readonly text?: string; readonly flag?: string }>
> = {
  server: { number: 'port' },
  'server.health': { number: 'port' },
  'server.limits': { number: 'connections' },
  metrics: { number: 'port' },
  console: { number: 'port', flag: 'enabled' },
  storage: { text: 'url' },
  'storage.keep': { number: 'days' },
  'storage.keepRequests': { text: 'which', number: 'count' },
  'storage.maxBacklog': { number: 'runs' },
  'gateway.main': { text: 'channel' },
  'gateway.events': { number: 'maxPending' },
  'gateway.sessions': { number: 'maxTurns' },
  'hooks.defaults.limits': { number: 'runsPerHour' },
  'agents.defaults': { text: 'model' },
};

/** Blocks that take more than one value can say. */
const SHOWN: Readonly<Record<string, string>> = {
  hooks: 'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}"}',
  metrics: 'metrics: {port: 9090}',
  'gateway.alerts': 'alerts: {channel: slack, to: C0123456}, with the channel and recipient of the operator',
  'gateway.runners': 'runners: {claude: {kind: claude}}: each runner has a name, and its settings below it',
  'gateway.heartbeat': 'heartbeat: {everySeconds: 1800}, a number of seconds',
  'gateway.heartbeat.activeHours': 'activeHours: {from: "08:00", to: "22:00"}',
  'hooks.defaults': 'defaults: {summary: failures}; the keys here are: wakeMode, deliver, summary, limits',
  'hooks.limits':
    'limits: {steps: …}, the limits of the work of one request; how many runs may begin is defaults: {limits: {runsPerHour: 60}}',
  'hooks.sessionKeys': 'sessionKeys: {default: …}, or {allowedPrefixes: ["hook:"]}',
  'hooks.agents': 'agents: {default: main, allowed: [main]}',
  storage: 'storage: {url: …}',
  log: 'log: {level: info}, with the level debug, info, warn or error; the format is json or pretty',
  channels: 'channels: {slack: {botToken: "${SLACK_TOKEN}"}}',
};

const LOG_WORDS: Readonly<Record<string, string>> = {
  json: 'format',
  pretty: 'format',
  debug: 'level',
  info: 'level',
  warn: 'level',
  error: 'level',
};

/** The block that a single value in its place was meant to be. */
function meantBlock(key: string, value: unknown): ReturnType<NonNullable<SchemaAdvice['value']>> {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const name = key.split('.').at(-1) ?? key;
  const written = blockText(key, value);
  if (written !== undefined) return { hint: `write ${name}: ${written}`, text: written };
  if (/^channels\.[a-z]+$/.test(key)) {
    return {
      hint: `write ${name}: {botToken: "\${${name.toUpperCase()}_TOKEN}"}, with the settings that docs/channels.md names for ${name}`,
    };
  }
  return Object.hasOwn(SHOWN, key) ? { hint: `write ${SHOWN[key]}` } : undefined;
}

function blockText(key: string, value: unknown): string | undefined {
  if (Array.isArray(value)) return undefined;
  if (key === 'gateway.heartbeat') return heartbeatText(value);
  if (key === 'log') return logText(value);
  if (key === 'server' && typeof value === 'string') return addressText(value);
  const block = Object.hasOwn(BLOCKS, key) ? BLOCKS[key] : undefined;
  if (typeof value === 'number' && block?.number !== undefined) return `{${block.number}: ${value}}`;
  if (typeof value === 'boolean' && block?.flag !== undefined) return `{${block.flag}: ${value}}`;
  if (typeof value !== 'string' || block?.text === undefined) return undefined;
  // An address may hold a password.
  if (value.includes('@') || holdsCredentials(value)) return undefined;
  const written = key === 'storage' ? storageUrl(value) : value;
  return written === undefined ? undefined : `{${block.text}: ${JSON.stringify(written)}}`;
}

/** The address of a store, of which a plain path is one of SQLite; what a reference leads to is not known. */
function storageUrl(text: string): string | undefined {
  if (text.includes('${')) return undefined;
  if (/^(?:sqlite|postgres(?:ql)?):/.test(text)) return text;
  return /^(?![a-z][a-z0-9+.-]+:)[^?&=\s]+$/i.test(text) ? `sqlite:${text}` : undefined;
}

/** One of the words that a key of the log takes; no other is repeated. */
function logText(value: unknown): string | undefined {
  const word = String(value).toLowerCase();
  return Object.hasOwn(LOG_WORDS, word) ? `{${LOG_WORDS[word]}: ${word}}` : undefined;
}

/** Seconds, a time with a unit, or a flag. */
function heartbeatText(value: unknown): string | undefined {
  if (value === false || /^(?:off|no|never|none)$/i.test(String(value))) return '{everySeconds: 0}';
  const seconds = secondsIn(String(value));
  const isMeant = seconds !== undefined && Number.isInteger(seconds) && seconds <= MAX_HEARTBEAT_SECONDS;
  return isMeant ? `{everySeconds: ${seconds}}` : undefined;
}

/** `host:port` or a port in quotes. */
function addressText(text: string): string | undefined {
  const [, host, port] = /^(?:([\w.-]+):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  if (port === undefined) return undefined;
  return host === undefined ? `{port: ${port}}` : `{host: ${JSON.stringify(host)}, port: ${port}}`;
}

/** `8:00`, `8` and `8pm` as `08:00` and `20:00`. */
function meantTime(written: string): ReturnType<NonNullable<SchemaAdvice['value']>> {
  const [, hour = '', minute = '00', half = ''] =
    /^(\d{1,2})(?:[:.h](\d{2}))?\s*([ap]m)?$/i.exec(written.trim()) ?? [];
  const plain = Number(hour) % (half === '' ? 25 : 12);
  const hours = half.toLowerCase() === 'pm' ? plain + 12 : plain;
  if (hour === '' || hours > 23 || Number(minute) > 59) return undefined;
  const time = `${String(hours).padStart(2, '0')}:${minute}`;
  return { hint: `write "${time}"`, text: `"${time}"` };
}

const AGAIN = {
  hint: 'remove it: an agent that is away is waited for (gateway.holdHours), and deliveries are tried again, without a key',
};

/** What is known of words and values of others in the configuration. */
export const CONFIG_ADVICE: SchemaAdvice = {
  value: meantSetting,
  foreign: theirWord,
  keys: {
    'hooks.secret': {
      hint: 'the token that senders carry is hooks.token: token: ${NAME}; the secret of a sender that signs is verify.secrets of its mapping',
    },
    'hooks.secrets': { hint: 'the secret of a sender that signs is verify.secrets of its mapping' },
    'hooks.port': { hint: 'the port is server.port' },
    'hooks.host': { hint: 'the address to listen on is server.host' },
    port: { hint: 'the port is server.port' },
    host: { hint: 'the address to listen on is server.host' },
    token: { hint: 'the token that senders carry is hooks.token' },
    mappings: { hint: 'mappings stand in hooks.mappings, or in files of the folder hooks.mappingsDir' },
    runner: { hint: 'the runner is gateway.runner' },
    runners: { hint: 'runners are gateway.runners' },
    heartbeat: { hint: 'the heartbeat is gateway.heartbeat' },
    path: { hint: 'the path of hooks is hooks.path' },
    presets: { hint: 'presets are hooks.presets' },
    mail: { hint: 'the mailbox is hooks.mail' },
    database: { hint: 'the store is storage.url' },
    logging: { hint: 'the log is log.level and log.format' },
    models: { hint: 'the models that may be chosen are agents.defaults.models' },
    'hooks.limits.runsPerHour': {
      hint: 'how many runs may begin is hooks.defaults.limits: {runsPerHour: 60}',
    },
    'hooks.limits.runsPerHourAndSession': {
      hint: 'how many runs may begin is hooks.defaults.limits: {runsPerHourAndSession: 20}',
    },
    'hooks.rate': { hint: 'the rate of a path stands in a mapping of it: rate: {perMinute: 60}' },
    'hooks.verify': {
      hint: 'the proof of a sender stands in a mapping of its path: verify: {scheme: github, secrets: ["${NAME}"]}',
    },
    'hooks.dedupe': { hint: 'repeats are recognised by a mapping: dedupe: {key: "{{id}}"}' },
    'hooks.otherwise': { hint: 'for all paths it is called "unmatched"', rename: 'unmatched' },
    'hooks.wakeMode': { hint: 'it belongs into hooks.defaults: defaults: {wakeMode: now}' },
    'hooks.deliver': { hint: 'it belongs into hooks.defaults: defaults: {deliver: false}' },
    'hooks.summary': { hint: 'it belongs into hooks.defaults: defaults: {summary: failures}' },
    'gateway.retry': AGAIN,
    'gateway.retries': AGAIN,
    'gateway.maxRetries': AGAIN,
    'gateway.concurrency': { hint: 'here it is called "maxRuns"', rename: 'maxRuns' },
    'gateway.timeoutSeconds': { hint: 'the time limit of runs is agents.defaults.timeoutSeconds' },
    'gateway.model': { hint: 'the model of runs is agents.defaults.model' },
    'gateway.heartbeat.every': { hint: 'write everySeconds, a number of seconds: everySeconds: 1800' },
    'gateway.heartbeat.interval': { hint: 'write everySeconds, a number of seconds: everySeconds: 1800' },
    'gateway.heartbeat.enabled': { hint: 'a heartbeat that is off is everySeconds: 0' },
    'gateway.heartbeat.prompt': { hint: 'here it is called "instructions"', rename: 'instructions' },
    'storage.path': { hint: 'write url: "sqlite:FILE"' },
    'storage.file': { hint: 'write url: "sqlite:FILE"' },
    'storage.retention': { hint: 'how long completed work is kept is keep: {days: 30}' },
    'hooks.timezone': {
      hint: 'a time zone is set at gateway.heartbeat.activeHours.timeZone, or in a template: {{date value tz="Europe/Berlin"}}',
    },
  },
};
