import type { ProofFinding } from '../../../engine/verify/verify.ts';
import { isPlainHeaderName, presentedToken } from '../../../engine/verify/facts.ts';
import { TOKEN_HEADERS } from '../../../base/request.ts';
import { defined } from '../../../base/json.ts';
import type { TokenFacts } from '../../../service/server/server.ts';
import { shippedSenders } from '../../../engine/senders/senders.ts';
import { findCarried, isSureShape, longSignature, shapesOf } from './signatures.ts';
import { writtenProof, writtenScheme } from './written-verify.ts';

/** A sender chooses how many headers and fields there are, so only some are read. */
const MAX_LOOKED_AT = 50;

/**
 * Says why a request did not prove itself with the hook token. `near` is the hook name nearest to one that
 * no mapping has.
 */
export function findTokenFault(facts: TokenFacts, near?: string, senders = shippedSenders()): ProofFinding {
  const { rawHeaders, unknownName, mapping, reason } = facts;
  const place = defined({ mapping, near });
  const elsewhere = tokenElsewhere(facts);
  if (elsewhere !== undefined) return elsewhere;
  const carried = findCarried(withoutAuthorization(rawHeaders), senders);
  if (carried !== undefined) {
    const schemes = carried.senders.map(({ verify }) => writtenProof(verify));
    const of = carried.senders.map(({ title }) => title);
    const isUnknown = unknownName !== undefined;
    return { code: 'no-verify', facts: { header: carried.header, of, schemes, isUnknown, ...place } };
  }
  if (reason === 'query-rejected') return { code: 'query-rejected', facts: {} };
  if (reason === 'wrong') return wrongToken(facts);
  const shape = shapesOf({ rawHeaders }).find(isSureShape);
  const name = shape?.header ?? longSignature(rawHeaders);
  if (name !== undefined && mapping !== undefined && unknownName === undefined) {
    const header = { sent: name };
    const schemes = shape === undefined ? [] : [writtenScheme(shape)];
    return { code: 'no-verify', facts: { header, of: [], schemes, isUnknown: false, mapping } };
  }
  const isBasic = headersOf(rawHeaders).some(
    ({ name, value }) => name === 'authorization' && /^basic\s/i.test(value),
  );
  return { code: 'no-token', facts: { ...place, ...(isBasic && { has: 'basic' }) } };
}

const withoutAuthorization = (rawHeaders: readonly string[]): readonly string[] =>
  rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]?.toLowerCase() !== 'authorization');

const AROUND: readonly (readonly [before: string, behind: string, what: 'space' | 'quotes'])[] = [
  ['"', '"', 'quotes'],
  ["'", "'", 'quotes'],
  ['', '\n', 'space'],
  ['', '\r', 'space'],
  ['', ' ', 'space'],
  [' ', '', 'space'],
];

function wrongToken({ rawHeaders, addressToken, isToken }: TokenFacts): ProofFinding {
  const value = presentedToken(rawHeaders) ?? addressToken ?? '';
  const around = AROUND.find(([before, behind]) => isToken(before + value + behind))?.[2];
  return { code: 'unknown-token', facts: defined({ around }) };
}

interface Header {
  readonly name: string;
  readonly value: string;
}

function headersOf(raw: readonly string[]): readonly Header[] {
  const headers: Header[] = [];
  for (let i = 0; i + 1 < raw.length && headers.length < MAX_LOOKED_AT; i += 2)
    headers.push({ name: String(raw[i]).toLowerCase(), value: String(raw[i + 1]).trim() });
  return headers;
}

function tokenElsewhere({ rawHeaders, query, mapping, ...facts }: TokenFacts): ProofFinding | undefined {
  const isToken = (text = ''): boolean => text !== '' && facts.isToken(text);
  for (const { name, value } of headersOf(rawHeaders)) {
    const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/s.exec(value) ?? [];
    const kind = word.toLowerCase();
    const pair = kind === 'basic' ? Buffer.from(rest, 'base64').toString('latin1').split(':') : [];
    const isCarrier = TOKEN_HEADERS.some((carrier) => carrier === name);
    const counts = (name === 'authorization' && kind === 'bearer') || (isCarrier && word === '');
    if (counts || ![value, rest, ...pair].some(isToken)) continue;
    const place = name === 'authorization' ? 'authorization' : 'header';
    const more = defined({ word: word === '' ? undefined : kind, mapping: isCarrier ? undefined : mapping });
    return { code: 'token-elsewhere', facts: { in: place, name: nameOf(name), ...more } };
  }
  const fields = Object.entries(query).slice(0, MAX_LOOKED_AT);
  const field = fields.find(([, value]) => isToken(value))?.[0];
  if (field === undefined) return undefined;
  return { code: 'token-elsewhere', facts: { in: 'query', name: nameOf(field) } };
}

const nameOf = (name: string): { readonly sent: string } => ({ sent: isPlainHeaderName(name) ? name : '…' });
