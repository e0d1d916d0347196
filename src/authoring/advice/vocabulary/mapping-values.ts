/** How values were meant that a mapping does not take: what other tools, or people in a hurry, write. */
import { CHANNEL_ALIASES, CHANNEL_IDS } from '../../../base/action.ts';
import { didYouMean } from '../../../base/document/document.ts';
import type { SchemaAdvice, ValueHint } from '../schema-hints.ts';
import { isJsonObject, isScalar } from '../../../base/json.ts';
import { findSender } from '../../../engine/senders/senders.ts';
import { PROVIDER_NAMES } from '../../../engine/verify/facts.ts';
import { writtenScheme } from '../proofs/written-verify.ts';
import { challengeFor } from './address-checks.ts';
import { schemeWord, signatureOf } from './senders.ts';

/** What is known of the value of one key; `text` is the value without spaces around it, where it is a text. */
type Find = (value: unknown, text: string | undefined) => ValueHint | undefined;

export const valueOfMapping: NonNullable<SchemaAdvice['value']> = (key, value) => {
  const text = typeof value === 'string' ? value.trim() : undefined;
  if (text !== undefined && key.startsWith('transform.env.')) return literalHint(text);
  return Object.hasOwn(VALUES, key) ? VALUES[key]?.(value, text) : undefined;
};

const ofText =
  (find: (text: string) => ValueHint | undefined): Find =>
  (_, text) =>
    text === undefined ? undefined : find(text);

const ONE_PATH = { hint: 'write an entry for each path, with an id of its own: a mapping takes one path' };
const ONE_METHOD = {
  hint: 'write method: POST, or GET for a sender that can send nothing else: a path takes one method',
};
const ONE_TRANSFORM = {
  hint: 'write transform: a.ts, as a mapping has one transform, and let that module import the other (import { … } from "./b.ts")',
};

const VALUES: Readonly<Record<string, Find>> = {
  match: (value, text) => {
    if (Array.isArray(value) && value.length > 1) return ONE_PATH;
    return text !== undefined && /^[\w./-]+$/.test(text)
      ? { hint: `write match: {path: ${text}}`, text: `{path: ${JSON.stringify(text)}}` }
      : undefined;
  },
  'match.path': (value) => (Array.isArray(value) ? ONE_PATH : undefined),
  method: (value, text = '') =>
    Array.isArray(value) || /^(?:put|patch|delete|any|\*|all)$/i.test(text) ? ONE_METHOD : undefined,
  bodyFormat: ofText(formatHint),
  verify: (value) => (isScalar(value) ? proofHint(String(value).trim()) : undefined),
  'verify.scheme': ofText(schemeHint),
  'verify.algorithm': ofText((text) =>
    pickWord('algorithm', `sha${/sha-?(1|256|384|512)(?!\d)/i.exec(text)?.[1] ?? ''}`),
  ),
  'verify.encoding': ofText((text) =>
    pickWord('encoding', /^(?:hex|base-?64)/i.exec(text)?.[0].toLowerCase().replace('-', '') ?? ''),
  ),
  'verify.secrets': (value, text) =>
    secretHint(Array.isArray(value) ? value.find((one) => typeof one === 'string') : text),
  dedupe: dedupeHint,
  allowFrom: ofText((text) =>
    /^[a-z][\w.-]*\.[a-z]{2,}$/i.test(text)
      ? {
          hint: 'write the addresses of the sender, such as 203.0.113.7 or 203.0.113.0/24: names are not looked up',
        }
      : undefined,
  ),
  forEach: () => ({ hint: 'write the path of a list in the payload: forEach: alerts' }),
  transform: (value) => (Array.isArray(value) ? ONE_TRANSFORM : undefined),
  deliver: ofText((text) =>
    CHANNELS.has(text.toLowerCase())
      ? { hint: `write channel: ${text.toLowerCase()} in its place: deliver is true or false` }
      : undefined,
  ),
  thinking: (value) =>
    typeof value === 'boolean'
      ? { hint: `write thinking: ${value ? 'high' : '"off"'}, a level`, text: value ? 'high' : '"off"' }
      : undefined,
  challenge: challengeHint,
};

const CHANNELS: ReadonlySet<string> = new Set([...CHANNEL_IDS, ...Object.keys(CHANNEL_ALIASES)]);

/** A reference where a transform gets literals only. */
function literalHint(text: string): ValueHint | undefined {
  const reference = /\$\{\w+\}/.exec(text)?.[0];
  return reference === undefined
    ? undefined
    : {
        hint: `write the value itself in place of ${reference}: a transform gets nothing of the environment, so that no secret comes into it`,
      };
}

/** The word of a key that a text holds. */
function pickWord(key: string, word: string): ValueHint | undefined {
  return word === '' || word === 'sha' ? undefined : { hint: `write ${key}: ${word}`, text: word };
}

const FORMATS: readonly (readonly [RegExp, string])[] = [
  [/urlencoded|multipart|(?<![a-z])form(?![a-z])|form-?data/i, 'form'],
  [/cloud-?events?/i, 'cloudevents'],
  [/json/i, 'json'],
  [/xml/i, 'xml'],
  [/text|plain|string|raw/i, 'text'],
];

function formatHint(text: string): ValueHint | undefined {
  const format = FORMATS.find(([pattern]) => pattern.test(text))?.[1];
  return format === text ? undefined : pickWord('bodyFormat', format ?? '');
}

/** `challenge: true` and `challenge: dropbox`: here it is the name of who asks, or what is sent back. */
function challengeHint(value: unknown): ValueHint | undefined {
  const who = isJsonObject(value) ? value['kind'] : value;
  const line = typeof who === 'string' ? challengeFor(who) : undefined;
  if (line !== undefined) return { hint: `write ${line}` };
  const isShaped = isJsonObject(value) && (who !== undefined || value['echo'] !== undefined);
  return isShaped
    ? undefined
    : {
        hint: 'write who asks: challenge: slack, or meta, graph, zoom, cloudevents; or what is sent back, as in challenge: {echo: body.challenge}',
      };
}

/** `sha256`, `hmac-sha1`, `HMAC_SHA512`. */
const HMAC = /^(?:hmac[-_ ]?)?sha[-_]?(1|256|384|512)$|^(?:hmac|signature)$/i;

/** Of a sender without a scheme of its own how it signs, in keys of the general scheme. */
function schemeOfSender(name: string): { readonly title: string; readonly scheme: string } | undefined {
  const sender = findSender(name);
  const columns = sender && signatureOf(sender);
  return columns && { title: sender.title, scheme: writtenScheme(columns) };
}

/** A word in the place of a whole proof. */
function proofHint(text: string): ValueHint {
  const name = text.toLowerCase();
  if (NO_PROOF_WORDS.test(name)) return { hint: NO_PROOF };
  const [isHmac, size] = HMAC.exec(text) ?? [];
  const known = (PROVIDER_NAMES as readonly string[]).includes(name) ? name : schemeOfSender(name)?.scheme;
  const general = { token: 'token', bearer: 'token', basic: 'basic' }[name];
  const hmac = `hmac${size === undefined ? '' : `, algorithm: sha${size}`}, header: X-Signature`;
  const scheme = known ?? general ?? (isHmac === undefined ? undefined : hmac);
  if (scheme === undefined)
    return {
      hint: "write verify: {scheme: …, secrets: ['${NAME}']}: the scheme is the sender (github, stripe, …) or hmac, token, basic; the secret stands in the environment",
    };
  const variable =
    known === undefined ? 'WEBHOOK_SECRET' : `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_SECRET`;
  return {
    hint: `write verify: {scheme: ${scheme}, secrets: ['\${${variable}}']}, and set ${variable} in the environment`,
  };
}

function schemeHint(text: string): ValueHint | undefined {
  const name = text.toLowerCase();
  const size = HMAC.exec(name)?.[1];
  if (size === '256') return { hint: 'write scheme: hmac', text: 'hmac' };
  if (size !== undefined) return { hint: `write scheme: hmac, and below it algorithm: sha${size}` };
  const [word, why] = schemeWord(name) ?? [];
  const scheme = word ?? PROVIDER_NAMES.find((one) => name !== one && name.split(/[^a-z]+/).includes(one));
  if (scheme !== undefined)
    return { hint: `write scheme: ${scheme}${why === undefined ? '' : ` (${name} ${why})`}`, text: scheme };
  const own = schemeOfSender(name);
  if (own !== undefined)
    return {
      hint: `write scheme: ${own.scheme} in place of scheme: ${text}: ${own.title} has no scheme of its own`,
    };
  if (NO_PROOF_WORDS.test(name)) return { hint: NO_PROOF };
  return didYouMean(name, SCHEME_NAMES) === undefined ? { hint: GENERAL_SCHEMES } : undefined;
}

const SCHEME_NAMES = [...PROVIDER_NAMES, 'hmac', 'ed25519', 'ecdsa', 'oidc', 'basic', 'header', 'token'];

/** Where no proof is wanted. */
const NO_PROOF_WORDS = /^(?:none|off|false|no|disabled|public|open|anonymous)$/;
const NO_PROOF =
  'remove verify: the path then asks for the hook token, as no path takes requests of everybody; a sender that can send no header may carry it in the query of the address, under the name token';

/** For a sender whose name is no scheme. */
const GENERAL_SCHEMES =
  'write scheme: hmac with header: NAME for a sender that signs the body with a secret, scheme: header for one that sends a fixed secret in a header, or scheme: basic with user and password: no such sender is known; all are listed in docs/senders.md';

function dedupeHint(value: unknown, text: string | undefined): ValueHint | undefined {
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
function secretHint(written: unknown): ValueHint | undefined {
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
