import { BEARER, TOKEN_HEADERS } from '../../base/request.ts';
import { isSameBytes, placeOfFitting } from '../../base/compare-secrets.ts';
import { findHeader, type HeaderValue, SEVERAL } from './find-header.ts';
import { type Proof, proofBy, refused } from './proof.ts';

/** Compares what a header carries; its value arrives as latin1, the secret was written as UTF-8. */
export function judgeSecret(secrets: readonly Buffer[], presented: HeaderValue): Proof {
  if (presented === undefined || presented === '') return refused('no-proof');
  if (presented === SEVERAL) return refused('malformed-proof');
  return judgeBytes(secrets, Buffer.from(presented, 'latin1'));
}

const BASIC = /^basic[ \t]+(\S+)$/i;

/** HTTP Basic (RFC 7617): the user name and one of the passwords. */
export function judgeBasic(secrets: readonly Buffer[], rawHeaders: readonly string[]): Proof {
  const pair = basicPair(rawHeaders);
  if (pair !== undefined) return judgeBytes(secrets, pair);
  const isThere = findHeader(rawHeaders, 'authorization') !== undefined;
  return refused(isThere ? 'malformed-proof' : 'no-proof');
}

/** User, colon and password that HTTP Basic presents; undefined where the header is not there once and in its form. */
export function basicPair(rawHeaders: readonly string[]): Buffer | undefined {
  const header = findHeader(rawHeaders, 'authorization');
  const encoded = typeof header === 'string' ? BASIC.exec(header)?.[1] : undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}

/** A hook token of the path's own, in the carriers of the hook token; the first that is there is judged. */
export function judgeToken(
  secrets: readonly Buffer[],
  rawHeaders: readonly string[],
  queryToken: (() => string | undefined) | undefined,
): Proof {
  const presented = presentedToken(rawHeaders);
  if (presented !== undefined) return judgeBytes(secrets, Buffer.from(presented, 'latin1'));
  const inQuery = queryToken?.();
  if (inQuery === undefined || inQuery === '') return refused('no-proof');
  return judgeBytes(secrets, Buffer.from(inQuery, 'utf8'));
}

export function presentedToken(rawHeaders: readonly string[]): string | undefined {
  return bearerOf(rawHeaders) ?? tokenHeaderOf(rawHeaders);
}

export function bearerOf(rawHeaders: readonly string[]): string | undefined {
  const header = findHeader(rawHeaders, 'authorization');
  if (typeof header !== 'string') return undefined;
  const token = BEARER.exec(header)?.[1];
  return token === '' ? undefined : token;
}

function tokenHeaderOf(rawHeaders: readonly string[]): string | undefined {
  for (const name of TOKEN_HEADERS) {
    const value = findHeader(rawHeaders, name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function judgeBytes(secrets: readonly Buffer[], presented: Buffer): Proof {
  return proofBy(placeOfFitting(secrets, (each) => isSameBytes(presented, each)));
}
