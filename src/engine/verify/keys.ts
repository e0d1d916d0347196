import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type { SignatureColumns } from './scheme.ts';

/** A key, or what is wrong with the text that should be one. The text itself is never in the sentence. */
export type KeyResult =
  { readonly kind: 'key'; readonly key: KeyObject } | { readonly kind: 'problem'; readonly problem: string };

export function readKey(columns: SignatureColumns, secret: string): KeyResult {
  if (secret === '') return problem('it is empty');
  if (columns.algorithm === 'ed25519') return readPublicKey(secret, columns, 'ed25519');
  return columns.algorithm === 'ecdsa-sha256'
    ? readPublicKey(secret, columns, 'ec')
    : readSecretKey(secret, columns);
}

function problem(text: string): KeyResult {
  return { kind: 'problem', problem: text };
}

function withoutPrefix(secret: string, prefix: string | undefined): string {
  return prefix !== undefined && secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
}

function readSecretKey(secret: string, columns: SignatureColumns): KeyResult {
  const { secretEncoding = 'text', secretPrefix } = columns;
  const text = withoutPrefix(secret, secretPrefix);
  const bytes = secretEncoding === 'text' ? Buffer.from(text, 'utf8') : decodeExactly(text, secretEncoding);
  if (bytes === undefined || bytes.length === 0) {
    const after = secretPrefix === undefined ? '' : ` after "${secretPrefix}"`;
    return problem(`it is not ${secretEncoding}${after}; copy it as the provider shows it`);
  }
  return { kind: 'key', key: createSecretKey(bytes) };
}

function readPublicKey(secret: string, columns: SignatureColumns, type: 'ed25519' | 'ec'): KeyResult {
  const name = type === 'ec' ? 'an ECDSA public key' : 'an Ed25519 public key';
  try {
    const key = publicKeyOf(secret, columns);
    if (key?.asymmetricKeyType === type) return { kind: 'key', key };
  } catch {
    // What OpenSSL says about a broken key may quote it.
  }
  return problem(`it is not ${name}; copy the key that the provider shows, or its PEM`);
}

function publicKeyOf(secret: string, columns: SignatureColumns): KeyObject | undefined {
  if (secret.includes('-----BEGIN')) return createPublicKey(secret);
  const { secretEncoding = 'base64', secretPrefix } = columns;
  const text = withoutPrefix(secret, secretPrefix);
  const bytes = decodeExactly(text, secretEncoding === 'text' ? 'base64' : secretEncoding);
  if (bytes === undefined) return undefined;
  if (columns.algorithm === 'ed25519' && bytes.length === 32) {
    return createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
      format: 'jwk',
    });
  }
  return createPublicKey({ key: bytes, format: 'der', type: 'spki' });
}

export const ENCODINGS = [
  'hex',
  'base64',
  'base64url',
] as const satisfies readonly SignatureColumns['encoding'][];

const HEX = /^(?:[0-9a-f]{2})+$/i;

/** The bytes of a text, or undefined where it is not exactly one text of this encoding. */
export function decodeExactly(text: string, encoding: SignatureColumns['encoding']): Buffer | undefined {
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  const bytes = Buffer.from(text, encoding);
  // node skips what it does not know; only the text that these bytes are written as counts.
  return bytes.length > 0 && bytes.toString(encoding) === text ? bytes : undefined;
}
