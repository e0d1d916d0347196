import { holdsCredentials } from '../../document/document.ts';
import { type SchemaAdvice, type ValueHint } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { FOREIGN_SETTINGS } from './settings.ts';
import { meantTimeZone } from './time-zones.ts';
import { theirValue, theirWord } from './openclaw-settings.ts';

/** How values of the configuration were meant that it does not take. */
const meantSetting: NonNullable<SchemaAdvice['value']> = (key, value) => {
  const object = theirValue(key, value) ?? meantParts(key, value);
  if (object !== undefined || typeof value !== 'string') return object;
  const word = meantWord(key, value);
  if (word !== undefined) return word;
  const address =
    /\.(?:url|publicUrl|baseUrl)$/.test(key) && key !== 'storage.url' ? meantAddress(value) : undefined;
  if (address !== undefined) return { hint: `write ${address}`, text: JSON.stringify(address) };
  const zone = key.endsWith('.timeZone') ? meantTimeZone(value) : undefined;
  return zone === undefined ? undefined : { hint: `did you mean ${zone}?`, text: zone };
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
  model: 'llm api openai anthropic ollama openrouter',
});

function meantWord(key: string, written: string): ValueHint | undefined {
  const word = written.trim().toLowerCase();
  const words = key === 'log.level' ? LEVELS : /^gateway\.runner(?:s\.[^.]+)?\.kind$/.test(key) ? KINDS : {};
  const meant = Object.hasOwn(words, word) ? words[word] : undefined;
  if (meant === undefined) return undefined;
  const name = key.slice(key.lastIndexOf('.') + 1);
  return { hint: `write ${name}: ${meant}`, text: meant };
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

/** The token of another gateway. */
function missingSetting(key: string, beside: unknown): string | undefined {
  if (!isJsonObject(beside) || beside['kind'] !== 'forward') return undefined;
  if (!/^gateway\.runner(?:s\.[^.]+)?\.token$/.test(key)) return undefined;
  return "add token: '${OPENCLAW_HOOKS_TOKEN}', with the hook token of that gateway in the variable";
}

/** What is known of words and values of others in the configuration. */
export const CONFIGURATION_WORDS: SchemaAdvice = {
  missing: missingSetting,
  value: meantSetting,
  foreign: theirWord,
  keys: FOREIGN_SETTINGS,
};
