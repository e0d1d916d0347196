/** Keys of a mapping whose value is an object, where people write a number, a word or a flag: the object that was meant. */
import { secondsIn, type SchemaAdvice } from '../schema-words.ts';
import { isScalar } from '../../json.ts';
import { findSender } from '../../senders/senders.ts';
import { signatureOf } from './senders.ts';
import { PROVIDER_NAMES } from '../../verify/facts.ts';
import { writtenScheme } from '../proofs/written-verify.ts';

type Meant = ReturnType<NonNullable<SchemaAdvice['value']>>;

/** Undefined where the value is an object already, or says nothing. */
export function meantObject(key: string, value: unknown): Meant {
  const meant = Object.hasOwn(OBJECTS, key) ? OBJECTS[key] : undefined;
  return meant?.(value);
}

/** By the key, what a value was meant as. */
const OBJECTS: Readonly<Record<string, (value: unknown) => Meant>> = {
  debounce: meantDebounce,
  verify: (value) => (isScalar(value) ? meantVerify(String(value).trim()) : undefined),
};

/** The window of a gathering: what the text says, as far as it may be one; an example where there is no number. */
function windowOf(written: string): string {
  if (!/\d/.test(written)) return '30';
  const seconds = secondsIn(written) ?? 0;
  return seconds >= 1 && seconds <= 86_400 ? String(seconds) : '…';
}

/** What events have in common nobody can tell for somebody else, so this is shown and not written. */
function meantDebounce(value: unknown): Meant {
  if (!isScalar(value)) return undefined;
  return {
    hint: `write debounce: {key: '{{id}}', seconds: ${windowOf(String(value))}}, where key is what the events that belong together have in common`,
  };
}

const HMAC = /^(?:hmac[-_ ]?)?(sha(?:1|256|384|512))$|^(?:hmac|signature)$/i;

function meantVerify(text: string): Meant {
  const name = text.toLowerCase();
  const proof = meantProvider(name) ?? meantHmac(text);
  if (proof !== undefined) return proof;
  if (name === 'token' || name === 'basic' || name === 'bearer') {
    const scheme = name === 'bearer' ? 'token' : name;
    return { hint: `write verify: {scheme: ${scheme}, secrets: ['\${WEBHOOK_SECRET}']}` };
  }
  return {
    hint: "write verify: {scheme: …, secrets: ['${NAME}']}: the scheme is the sender (github, stripe, …) or hmac, token, basic; the secret stands in the environment",
  };
}

function meantProvider(name: string): Meant {
  const sender = findSender(name);
  const columns = sender && signatureOf(sender);
  const scheme = (PROVIDER_NAMES as readonly string[]).includes(name)
    ? name
    : columns && writtenScheme(columns);
  if (scheme === undefined) return undefined;
  const variable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_SECRET`;
  return {
    hint: `write verify: {scheme: ${scheme}, secrets: ['\${${variable}}']}, and set ${variable} in the environment`,
  };
}

function meantHmac(text: string): Meant {
  const [isHmac, algorithm] = HMAC.exec(text) ?? [];
  if (isHmac === undefined) return undefined;
  const how = algorithm === undefined ? '' : `, algorithm: ${algorithm.toLowerCase()}`;
  return {
    hint: `write verify: {scheme: hmac${how}, header: X-Signature, secrets: ['\${WEBHOOK_SECRET}']}, with the header that carries the signature; of a sender that Sluice knows, its name is the scheme (github, stripe, …)`,
  };
}
