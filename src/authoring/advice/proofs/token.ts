import type { Diagnosis } from '../../../engine/verify/verify.ts';
import {
  type FactsOf,
  isPlainHeaderName,
  presentedToken,
  TOKEN_HEADERS,
} from '../../../engine/verify/facts.ts';
import { defined } from '../../../base/json.ts';
import type { TokenFacts } from '../../../service/server/server.ts';
import { type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import { findCarried } from './carried.ts';
import { carriesSignature, shapeOf } from './signature-shapes.ts';
import { writtenProof, writtenScheme } from './written-verify.ts';
import { surest, type Way } from '../rule.ts';

/** Headers and fields that are looked through for the token: a sender chooses how many there are. */
const MAX_LOOKED_AT = 50;

/** A request, and the nearest hook name to one that no mapping has. */
interface TokenRequest extends TokenFacts {
  readonly near: string | undefined;
  readonly senders: readonly Sender[];
}

/** Says why a request did not prove itself with the hook token: what it carries instead, and which carriers there are. */
export function diagnoseToken(facts: TokenFacts, near?: string, senders = shippedSenders()): Diagnosis {
  const request = { ...facts, near, senders };
  return surest(WAYS, request) ?? { code: 'query-rejected', facts: {} };
}

const WAYS: readonly Way<TokenRequest, Diagnosis>[] = [
  { name: 'token-elsewhere', confidence: 'certain', find: tokenElsewhere },
  { name: 'proof-not-asked', confidence: 'certain', find: proofNotAsked },
  {
    name: 'no-token',
    confidence: 'likely',
    find: (request) => (request.reason === 'missing' ? withoutToken(request) : undefined),
  },
  {
    name: 'wrong-token',
    confidence: 'likely',
    find: (request) => (request.reason === 'query-rejected' ? undefined : wrongToken(request)),
  },
];

/** The proof of a known sender, on a path that asks for the hook token. */
function proofNotAsked({
  rawHeaders,
  unknownName,
  mapping,
  near,
  senders,
}: TokenRequest): Diagnosis | undefined {
  const carried = findCarried(rawHeaders, { senders, except: AUTHORIZATION });
  if (carried === undefined) return undefined;
  const { header } = carried;
  const schemes = carried.senders.map(({ verify }) => writtenProof(verify));
  const of = carried.senders.map(({ title }) => title);
  const isUnknown = unknownName !== undefined;
  return { code: 'no-verify', facts: { header, of, schemes, isUnknown, ...defined({ mapping, near }) } };
}

const AUTHORIZATION: ReadonlySet<string> = new Set(['authorization']);

/** Names of headers in which senders put a secret, and of those that are of the web or of ours. */
const SECRET_NAME = /token|secret|api-?key/;
const NO_PROOF =
  /^(?:authorization|x-service-token|x-openclaw-token|cookie|idempotency|x-(?:csrf|xsrf|amz|goog)|sec-|signature-input)/;

function withoutToken({ rawHeaders, mapping, unknownName, near, queryToken }: TokenRequest): Diagnosis {
  const place = defined({ mapping, near: unknownName === undefined ? undefined : near });
  const headers = headersOf(rawHeaders);
  const authorization = headers.find(({ name }) => name === 'authorization')?.value;
  const isBasic = /^basic\s/i.test(authorization ?? '');
  const has: FactsOf<'no-token'>['has'] = isBasic
    ? 'basic'
    : authorization === undefined
      ? undefined
      : 'other';
  const proof = headers.find(
    ({ name, value }) =>
      isPlainHeaderName(name) &&
      !NO_PROOF.test(name) &&
      (SECRET_NAME.test(name) || carriesSignature(name, value)),
  );
  const shape = proof && shapeOf(proof.name, proof.value);
  if (!isBasic && proof !== undefined && mapping !== undefined && place.near === undefined)
    return {
      code: 'no-verify',
      facts: {
        header: { sent: proof.name },
        of: [],
        schemes: shape === undefined ? [] : [writtenScheme(shape)],
        isUnknown: false,
        mapping,
      },
    };
  return { code: 'no-token', facts: { takesQuery: queryToken !== 'reject', ...place, ...defined({ has }) } };
}

/** How hooks.token came to hold more than the token: what stands before and behind it. */
const AROUND: readonly (readonly [before: string, behind: string, what: 'space' | 'quotes'])[] = [
  ['"', '"', 'quotes'],
  ["'", "'", 'quotes'],
  ['', '\n', 'space'],
  ['', '\r', 'space'],
  ['', ' ', 'space'],
  [' ', '', 'space'],
];

function wrongToken({ rawHeaders, addressToken, isToken }: TokenRequest): Diagnosis {
  const value = presentedToken(rawHeaders) ?? addressToken ?? '';
  const around = AROUND.find(([before, behind]) => isToken(before + value + behind))?.[2];
  const isVariable = /^[$<{%]|\{\{/.test(value);
  return { code: 'unknown-token', facts: { isVariable, ...defined({ around }) } };
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

/** Where the right token stands in a place or form in which it does not count. */
function tokenElsewhere(request: TokenRequest): Diagnosis | undefined {
  const { rawHeaders, query, mapping, queryToken } = request;
  const isToken = (text = ''): boolean => text !== '' && request.isToken(text);
  const known = { takesQuery: queryToken !== 'reject', ...defined({ mapping }) };
  for (const { name, value } of headersOf(rawHeaders)) {
    const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/s.exec(value) ?? [];
    const isBasic =
      word.toLowerCase() === 'basic' &&
      Buffer.from(rest, 'base64').toString('latin1').split(':').some(isToken);
    const isThere = isToken(value) || isBasic || (isToken(rest) && isWord(word));
    const counts =
      (name === 'authorization' && word.toLowerCase() === 'bearer') || (isBare(name) && word === '');
    if (!isThere || counts) continue;
    const place = name === 'authorization' ? 'authorization' : 'header';
    const shown = word === '' ? {} : { word: word.toLowerCase() };
    return {
      code: 'token-elsewhere',
      facts: { in: place, name: nameOf(name), ...shown, ...(isBare(name) ? { takesQuery: false } : known) },
    };
  }
  const fields = Object.entries(query).slice(0, MAX_LOOKED_AT);
  const field = fields.find(([, value]) => isToken(value))?.[0];
  return field === undefined
    ? undefined
    : { code: 'token-elsewhere', facts: { in: 'query', name: nameOf(field), ...known } };
}

const isBare = (name: string): boolean => TOKEN_HEADERS.some((carrier) => carrier === name);
/** Words that stand before credentials: another may be a part of the token. */
const isWord = (word: string): boolean => /^(?:token|bearer|apikey|api-key|key|hmac)$/i.test(word);
/** A name that the sender chose. */
const nameOf = (name: string): { readonly sent: string } => ({ sent: isPlainHeaderName(name) ? name : '…' });
