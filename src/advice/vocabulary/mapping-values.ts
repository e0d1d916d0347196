import { CHANNEL_ALIASES, CHANNEL_IDS, THINKING_LEVELS } from '../../action.ts';
import { didYouMean } from '../../document/document.ts';
import { type SchemaAdvice } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { findSender } from '../../senders/senders.ts';
import type { SignatureColumns } from '../../verify/facts.ts';
import { PROVIDER_NAMES } from '../../verify/facts.ts';
import { writtenScheme } from '../proofs/written-verify.ts';
import { meantChallenge } from './challenges.ts';
import { meantObject } from './mapping-objects.ts';
import { schemeWord, signatureOf } from './senders.ts';

type Meant = ReturnType<NonNullable<SchemaAdvice['value']>>;

/** Times a minute, by the unit as people write it. */
const PER_MINUTE: readonly (readonly [RegExp, number])[] = [
  [/^s(?:ec(?:ond)?s?)?$/i, 60],
  [/^m(?:in(?:ute)?s?)?$/i, 1],
  [/^h(?:(?:ou)?rs?)?$/i, 1 / 60],
];

/** How values were meant that a mapping does not take: what other tools, or people in a hurry, write. */
export const meantValue: NonNullable<SchemaAdvice['value']> = (key, value) => {
  const text = typeof value === 'string' ? value.trim() : undefined;
  if (key === 'verify' && /^(?:false|none|off|no|disabled)$/i.test(String(value))) return { hint: NO_PROOF };
  if (key === 'method' && Array.isArray(value)) return ONE_METHOD;
  if (key === '' && text !== undefined) return MAPPING_FILE;
  if (text !== undefined && key.startsWith('transform.env.')) return meantLiteral(text);
  if (text !== undefined && Object.hasOwn(TEXTS, key)) return TEXTS[key]?.(text);
  return Object.hasOwn(VALUES, key) ? VALUES[key]?.(value, text) : meantObject(key, value);
};

/** A reference where a transform gets literals only. */
function meantLiteral(text: string): Meant {
  const reference = /\$\{\w+\}/.exec(text)?.[0];
  return reference === undefined
    ? undefined
    : {
        hint: `write the value itself in place of ${reference}: a transform gets nothing of the environment, so that no secret comes into it`,
      };
}

const MAPPING_FILE = {
  hint: 'it is no mapping: files of mappings are found in the folder hooks.mappingsDir (default ./mappings) without being named, so remove this entry',
};

/** Keys of which only a text says what was meant. */
const TEXTS: Readonly<Record<string, (text: string) => Meant>> = {
  match: meantMatch,
  bodyFormat: meantFormat,
  'verify.scheme': meantScheme,
  'verify.algorithm': (text) =>
    pickWord('algorithm', text, /sha-?(1|256|384|512)(?!\d)/i, (size) => `sha${size}`),
  'verify.encoding': (text) =>
    pickWord('encoding', text, /^(hex|base-?64)/i, (word) => word.toLowerCase().replace('-', '')),
  method: (text) => (/^(?:put|patch|delete|any|\*|all)$/i.test(text) ? ONE_METHOD : undefined),
};

/** The others; `text` is the value without spaces around it, where it is a text. */
const VALUES: Readonly<Record<string, (value: unknown, text: string | undefined) => Meant>> = {
  rate: meantRate,
  dedupe: meantDedupe,
  allowFrom: meantAddress,
  forEach: () => ({ hint: 'write the path of a list in the payload: forEach: alerts' }),
  transform: (value) => (Array.isArray(value) ? ONE_TRANSFORM : undefined),
  'match.path': (value) => (Array.isArray(value) ? ONE_PATH : undefined),
  match: (value) => (Array.isArray(value) && value.length > 1 ? ONE_PATH : undefined),
  deliver: meantDelivery,
  thinking: (value) =>
    typeof value === 'boolean'
      ? {
          hint: `write a level: thinking: ${value ? 'high' : '"off"'}, one of ${THINKING_LEVELS.join(', ')}`,
          text: value ? 'high' : '"off"',
        }
      : undefined,
  challenge: meantChallenge,
  'verify.secrets': (value, text) =>
    meantSecret(Array.isArray(value) ? value.find((one) => typeof one === 'string') : text),
};

/** `deliver: slack` and `deliver: {channel: slack, to: C0123456}`. */
function meantDelivery(value: unknown): Meant {
  if (typeof value === 'string' && /^[a-z]{4,}$/i.test(value.trim()))
    return CHANNELS.has(value.trim().toLowerCase())
      ? {
          hint: `deliver is true or false; where to is channel: write channel: ${value.trim().toLowerCase()} in its place`,
        }
      : undefined;
  if (!isJsonObject(value)) return undefined;
  const keys = Object.entries(value).filter(
    ([key, one]) => (key === 'channel' || key === 'to') && isShort(one),
  );
  const written = keys.map(([key, one]) => `${key}: ${JSON.stringify(one)}`).join(' and ');
  return {
    hint: `deliver is true or false; where to stands beside it: write ${written === '' ? 'channel: … and to: …' : written} in the mapping, in place of deliver`,
  };
}

const CHANNELS: ReadonlySet<string> = new Set([...CHANNEL_IDS, ...Object.keys(CHANNEL_ALIASES)]);
const isShort = (value: unknown): boolean =>
  ['string', 'number'].includes(typeof value) && String(value).length <= 60;

const ONE_PATH = {
  hint: 'a mapping takes one path: write an entry for each, with an id of its own',
};

const ONE_METHOD = {
  hint: 'a path takes one method: write method: POST, or GET for a sender that can send nothing else',
};

const ONE_TRANSFORM = {
  hint: 'a mapping has one transform: write transform: a.ts, and let that module import the other (import { … } from "./b.ts")',
};

/** The word of a key that a text holds. */
function pickWord(key: string, text: string, pattern: RegExp, write: (found: string) => string): Meant {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : { hint: `write ${key}: ${write(found)}`, text: write(found) };
}

function meantMatch(text: string): Meant {
  return /^[\w./-]+$/.test(text)
    ? { hint: `write match: {path: ${text}}`, text: `{path: ${JSON.stringify(text)}}` }
    : undefined;
}

function meantAddress(value: unknown): Meant {
  return typeof value === 'string' && /^[a-z][\w.-]*\.[a-z]{2,}$/i.test(value)
    ? {
        hint: 'names are not looked up: write the addresses of the sender, such as 203.0.113.7 or 203.0.113.0/24',
      }
    : undefined;
}

const FORMATS: readonly (readonly [RegExp, string])[] = [
  [/urlencoded|multipart|(?<![a-z])form(?![a-z])|form-?data/i, 'form'],
  [/cloud-?events?/i, 'cloudevents'],
  [/json/i, 'json'],
  [/xml/i, 'xml'],
  [/text|plain|string|raw/i, 'text'],
];

function meantFormat(text: string): Meant {
  const format = FORMATS.find(([pattern]) => pattern.test(text))?.[1];
  return format === undefined || format === text
    ? undefined
    : { hint: `write bodyFormat: ${format}`, text: format };
}

function meantScheme(text: string): Meant {
  const name = text.toLowerCase();
  const [, size] = /^(?:hmac[-_ ]?)?sha[-_]?(1|256|384|512)$/.exec(name) ?? [];
  if (size === '256') return { hint: 'write scheme: hmac', text: 'hmac' };
  if (size !== undefined) return { hint: `write scheme: hmac, and below it algorithm: sha${size}` };
  const [word, why] = schemeWord(name) ?? [];
  const scheme = word ?? PROVIDER_NAMES.find((one) => name !== one && name.split(/[^a-z]+/).includes(one));
  if (scheme !== undefined) {
    const because = why === undefined ? '' : ` (${name} ${why})`;
    return { hint: `write scheme: ${scheme}${because}`, text: scheme };
  }
  const sender = findSender(name);
  const columns = sender && signatureOf(sender);
  if (sender !== undefined && columns !== undefined) return schemeOfSender(sender.title, columns, text);
  if (/^(?:none|off|false|no|disabled|public|open|anonymous)$/.test(name)) return { hint: NO_PROOF };
  return didYouMean(name, SCHEME_NAMES) === undefined ? { hint: GENERAL_SCHEMES } : undefined;
}

/** A sender without a scheme of its own: how it signs, in keys of the general scheme. */
function schemeOfSender(title: string, columns: SignatureColumns, text: string): Meant {
  return {
    hint: `${title} has no scheme of its own: in place of scheme: ${text} write scheme: ${writtenScheme(columns)}`,
  };
}

const SCHEME_NAMES = [...PROVIDER_NAMES, 'hmac', 'ed25519', 'ecdsa', 'oidc', 'basic', 'header', 'token'];

/** Where no proof is wanted. */
const NO_PROOF =
  'remove verify: the path then asks for the hook token, as no path takes requests of everybody; a sender that can send no header may carry it in the query of the address, under the name token';

/** For a sender whose name is no scheme. */
const GENERAL_SCHEMES =
  'no such sender is known: one that signs the body with a secret is scheme: hmac with header: NAME; one that sends a fixed secret in a header is scheme: header; with user and password scheme: basic. All are listed in docs/senders.md';

function meantRate(value: unknown): Meant {
  const [, count = '', unit = 'm'] = /^(\d+)(?:\s*(?:\/|per)\s*([a-z]+))?$/i.exec(String(value).trim()) ?? [];
  const times = PER_MINUTE.find(([pattern]) => pattern.test(unit))?.[1] ?? Number.NaN;
  const perMinute = Number(count) * times;
  if (count === '' || !Number.isInteger(perMinute) || perMinute < 1) return undefined;
  return { hint: `write rate: {perMinute: ${perMinute}}`, text: `{perMinute: ${perMinute}}` };
}

function meantDedupe(value: unknown, text: string | undefined): Meant {
  if (value === true)
    return { hint: 'write dedupe: body: a body that came before is a repeat', text: 'body' };
  const parts = Array.isArray(value) ? value : [text];
  if (isJsonObject(value) || parts.length === 0 || !parts.every(isKeyPart)) return undefined;
  const key = parts.map((part) => (part.includes('{{') ? part : `{{${part.trim()}}}`)).join(' ');
  return { hint: `write dedupe: {key: '${key}'}`, text: `{key: ${JSON.stringify(key)}}` };
}

/** A template, or a path as templates have it. */
const isKeyPart = (part: unknown): part is string =>
  typeof part === 'string' && (part.includes('{{') || /^\s*[\w@][\w.@[\]-]*\s*$/.test(part));

/** A reference in another spelling; the text itself may be a secret and is told only where it is a variable's name. */
function meantSecret(written: unknown): Meant {
  if (typeof written !== 'string') return undefined;
  const [, name] =
    /^\s*(?:\$\{\{\s*(?:secrets|env)\.(?=\w+\s*\}\})|\$\{?|%|\{\{\s*(?:env\.)?|env:|process\.env\.)?([A-Z][A-Z0-9]*_[A-Z0-9_]*)\s*(?:%|\}{0,2})\s*$/.exec(
      written,
    ) ?? [];
  return name === undefined || name.split('_').some(isRandom)
    ? {
        hint: "put the secret itself into the environment or a file, and write where it is: ['${NAME}'] or [{file: PATH}]",
      }
    : { hint: `write secrets: ['\${${name}}']` };
}

/** A part of a name that is more likely one of a key: long, with digits between its letters. */
const isRandom = (word: string): boolean => word.length >= 8 && /\d[A-Z]|[A-Z]\d+[A-Z]/.test(word);
