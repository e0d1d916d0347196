import { holdsCredentials } from '../../document/document.ts';
import { secondsIn, type SchemaAdvice, type ValueHint } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { FOREIGN_SETTINGS } from './settings.ts';
import { MAX_HEARTBEAT_SECONDS } from '../../config/facts.ts';
import { isProvider, modelRunner, postingRunner } from './providers.ts';
import { meantTimeZone } from './time-zones.ts';
import { theirValue, theirWord } from './openclaw-settings.ts';

/** How values of the configuration were meant that it does not take. */
const meantSetting: NonNullable<SchemaAdvice['value']> = (key, value, beside) => {
  const object = theirValue(key, value) ?? meantParts(key, value) ?? meantBlock(key, value);
  if (object !== undefined || typeof value !== 'string') return object;
  const word = meantWord(key, value, beside);
  if (word !== undefined) return word;
  const address =
    /\.(?:url|publicUrl|baseUrl)$/.test(key) && key !== 'storage.url' ? meantAddress(value) : undefined;
  if (address !== undefined) return { hint: `write ${address}`, text: JSON.stringify(address) };
  if (key.endsWith('.timeZone')) {
    const zone = meantTimeZone(value);
    return zone === undefined ? undefined : { hint: `did you mean ${zone}?`, text: zone };
  }
  return /\.activeHours\.(?:from|to)$/.test(key) ? meantTime(value) : undefined;
};

/** An address without its scheme. */
function meantAddress(written: string): string | undefined {
  const text = written.trim();
  if (!/^(?:[\w-]+\.)*[\w-]+(?::\d{1,5})?(?:\/[\w./-]*)?$/.test(text) || holdsCredentials(text))
    return undefined;
  const isHere = /^(?:localhost|127\.|10\.|192\.168\.)|:\d/.test(text);
  return `${isHere ? 'http' : 'https'}://${text}`;
}

/** By each of its words what is meant. */
const meanings = (words: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(words).flatMap(([meant, others]) => others.split(' ').map((word) => [word, meant])),
  );

/** What others call the levels of a log, and kinds of runners. */
const LEVELS = meanings({
  debug: 'trace verbose silly all',
  info: 'notice',
  warn: 'warning',
  error: 'err critical fatal silent off none',
});
const KINDS = meanings({
  claude: 'claude-code claude_code claudecode claude-cli',
  codex: 'openai-codex codex-cli',
  gemini: 'gemini-cli google',
  command: 'shell exec script bash process cli program',
  forward: 'http webhook gateway',
  model: 'llm api',
});

function meantWord(key: string, written: string, beside: unknown): ValueHint | undefined {
  const word = written.trim().toLowerCase();
  const words = key === 'log.level' ? LEVELS : /^gateway\.runner(?:s\.[^.]+)?\.kind$/.test(key) ? KINDS : {};
  const runner = words === KINDS ? wholeRunner(word, beside) : undefined;
  if (runner !== undefined) return { hint: runner };
  const meant = Object.hasOwn(words, word) ? words[word] : undefined;
  if (meant === undefined) return undefined;
  const name = key.slice(key.lastIndexOf('.') + 1);
  return { hint: `write ${name}: ${meant}`, text: meant };
}

/** Kinds that are a provider, an agent of the same maker, or an address. */
function wholeRunner(word: string, beside: unknown): string | undefined {
  if (isProvider(word)) {
    const alone = `write ${modelRunner(word, beside) ?? ''}`;
    const agent = word === 'openai' ? 'codex' : word === 'anthropic' ? 'claude' : undefined;
    // An agent and a model of one maker are two runners; with a key or an address it is the model.
    const isModel = isJsonObject(beside) && ['apiKey', 'baseUrl', 'baseURL'].some((key) => key in beside);
    return agent === undefined || isModel
      ? alone
      : `for the coding agent write kind: ${agent}; for the model alone ${alone}`;
  }
  const isAddress = /^(?:https?|rest|webhook|url|api)$/.test(word) && isJsonObject(beside);
  return !isAddress || 'token' in beside
    ? undefined
    : `an endpoint of your own gets the prompt by a command: write ${postingRunner(beside)}; the hooks of another gateway are kind: forward, with url and token`;
}

/** A list in the place of an object by name, or of entries in files of their own. */
function meantParts(key: string, value: unknown): ValueHint | undefined {
  if (key === 'hooks.mappings') return meantMappings(value);
  if (key === 'storage.keepRequests' && typeof value === 'boolean') {
    const text = `{which: ${value ? 'all' : 'none'}}`;
    return { hint: `write keepRequests: ${text}`, text };
  }
  if (key === 'server.trustedProxies' && typeof value === 'boolean')
    return { hint: 'write the addresses of the proxies: trustedProxies: [127.0.0.1]' };
  if (key.endsWith('.passEnv') && isJsonObject(value))
    return {
      hint: `passEnv is a list of names, which are passed on as they are set: write passEnv: [${Object.keys(value).slice(0, 8).join(', ')}]; a variable with another value is env: {NAME: "\${OTHER}"}`,
    };
  if ((key !== 'channels' && key !== 'gateway.runners') || !Array.isArray(value)) return undefined;
  const parts = value.map((one) => namedPart(one, key === 'channels'));
  const name = key.slice(key.lastIndexOf('.') + 1);
  return parts.length === 0 || parts.includes(undefined)
    ? undefined
    : { hint: `write ${name}: {${parts.join(', ')}}: each has a name, and its settings below it` };
}

/** `{type: telegram, botToken: …}` as `telegram: {botToken: …}`; values are not repeated: they may be secrets. */
function namedPart(part: unknown, isChannel: boolean): string | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined;
  const { name, id = name, type, kind = type, ...rest } = part as Readonly<Record<string, unknown>>;
  const called = isChannel ? (kind ?? id) : (id ?? kind);
  if (typeof called !== 'string' || !/^[\w-]{1,40}$/.test(called)) return undefined;
  const own = isChannel || typeof kind !== 'string' ? [] : [`kind: ${kind}`];
  return `${called}: {${[...own, ...Object.keys(rest).map((key) => `${key}: …`)].join(', ')}}`;
}

function meantMappings(value: unknown): ValueHint | undefined {
  if (typeof value === 'string')
    return {
      hint: `files of mappings are found in a folder: write mappingsDir: ${value.replace(/\/?[^/]*\.(?:ya?ml|json)$/i, '') || './mappings'} in its place`,
    };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [name = 'name'] = Object.keys(value);
  return {
    hint: `it is a list: write "- id: ${name.slice(0, 40)}" in place of "${name.slice(0, 40)}:", and so with the others`,
  };
}

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

const LOG_WORDS = meanings({ format: 'json pretty', level: 'debug info warn error' });

/** The block that a single value in its place was meant to be. */
function meantBlock(key: string, value: unknown): ValueHint | undefined {
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
  const [, channel, to] = /^gateway\.(?:main|alerts)$/.test(key) ? (TARGET.exec(String(value)) ?? []) : [];
  if (channel !== undefined) return `{channel: ${channel}, to: ${JSON.stringify(to)}}`;
  const block = Object.hasOwn(BLOCKS, key) ? BLOCKS[key] : undefined;
  if (typeof value === 'number' && block?.number !== undefined) return `{${block.number}: ${value}}`;
  if (typeof value === 'boolean' && block?.flag !== undefined) return `{${block.flag}: ${value}}`;
  if (typeof value !== 'string' || block?.text === undefined) return undefined;
  // An address may hold a password.
  if (value.includes('@') || holdsCredentials(value)) return undefined;
  const written = key === 'storage' ? storageUrl(value) : value;
  return written === undefined ? undefined : `{${block.text}: ${JSON.stringify(written)}}`;
}

/** A channel and a place in it, in one text. */
const TARGET = /^([a-z]+)[:/ ]\s*(\S.*)$/;

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
function meantTime(written: string): ValueHint | undefined {
  const [, hour = '', minute = '00', half = ''] =
    /^(\d{1,2})(?:[:.h](\d{2}))?\s*([ap]m)?$/i.exec(written.trim()) ?? [];
  const plain = Number(hour) % (half === '' ? 25 : 12);
  const hours = half.toLowerCase() === 'pm' ? plain + 12 : plain;
  if (hour === '' || hours > 23 || Number(minute) > 59) return undefined;
  const time = `${String(hours).padStart(2, '0')}:${minute}`;
  return { hint: `write "${time}"`, text: `"${time}"` };
}

/** The token of another gateway, or the command that calls what is none. */
function missingSetting(key: string, beside: unknown): string | undefined {
  if (!isJsonObject(beside) || beside['kind'] !== 'forward') return undefined;
  if (!/^gateway\.runner(?:s\.[^.]+)?\.token$/.test(key)) return undefined;
  const add = "add token: '${OPENCLAW_HOOKS_TOKEN}', with the hook token of that gateway in the variable";
  return /:18789\b|\/hooks\b/.test(JSON.stringify(beside['url'] ?? ''))
    ? add
    : `where it is the gateway of OpenClaw, or another Sluice, ${add}; any other endpoint gets the prompt by a command: write ${postingRunner(beside)} in place of the runner`;
}

/** What is known of words and values of others in the configuration. */
export const CONFIGURATION_WORDS: SchemaAdvice = {
  missing: missingSetting,
  value: meantSetting,
  foreign: theirWord,
  keys: FOREIGN_SETTINGS,
};
