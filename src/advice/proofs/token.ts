import { hasFix, say, todo, write, type Sentence } from '../../finding.ts';
import { adviseVerify, generalScheme } from './written-verify.ts';
import type { Diagnosis } from '../../verify/verify.ts';
import {
  isPlainHeaderName,
  schemesOfHeader,
  presentedToken,
  TOKEN_HEADERS,
  trimMarks,
} from '../../verify/facts.ts';
import { findProofHeader } from './absence.ts';
import type { TokenFacts } from '../../server/server.ts';

/** A request, and the hook name that was probably meant by one that no mapping has, in words of the operator's files. */
interface TokenRequest extends TokenFacts {
  readonly near: Sentence | undefined;
}

/** Headers that are looked through for the token: a sender chooses how many there are. */
const MAX_HEADERS = 50;
const CARRIERS = `Authorization: Bearer TOKEN, or X-Service-Token: TOKEN`;

/** Says why a request did not prove itself with the hook token: what it carries instead, and which carriers there are. */
export function diagnoseToken(facts: TokenFacts, near?: Sentence): Diagnosis {
  const request = { ...facts, near };
  const { reason } = facts;
  const elsewhere = tokenElsewhere(request);
  if (elsewhere !== undefined) return { code: 'token-elsewhere', text: elsewhere };
  const proof = findProofHeader(request.rawHeaders);
  if (proof !== undefined) return signatureNotAsked(proof, request);
  if (reason === 'query-rejected') {
    const text = say`the token came as ?token= in the address, which hooks.queryToken: reject refuses: ${todo}send it as ${CARRIERS}`;
    return { code: 'query-rejected', text };
  }
  return reason === 'missing' ? withoutToken(request) : wrongToken(request);
}

/** Where a verify is to stand. */
const placeIn = ({ mapping = 'the mapping' }: TokenRequest): string => `in ${mapping}, beside match`;

type FoundProof = NonNullable<ReturnType<typeof findProofHeader>>;

function signatureNotAsked({ header, schemes }: FoundProof, request: TokenRequest): Diagnosis {
  const { unknownName, near } = request;
  const meant =
    near === undefined
      ? say`correct the address at the sender, or match.path of the mapping that was meant`
      : nameMeant(near);
  const carried = say`the request carries ${header}, the proof of ${schemes.join(' or ')}`;
  return {
    code: 'no-verify',
    text:
      unknownName === undefined
        ? say`${carried}, but no mapping of this path says verify, so the hook token is asked for: ${adviseVerify(schemes, placeIn(request))}`
        : say`${carried}, but no mapping has the hook name it was sent to, so the hook token is asked for: ${meant}`,
  };
}

const nameMeant = (near: Sentence): Sentence =>
  say`the hook name ${near}${hasFix(near) ? '' : '; correct it at one of the two, there or at the sender'}`;

/** Names of headers in which senders put a secret or a signature, and of those that are of the web or of ours. */
const PROOF_NAME = /token|secret|signature|hmac|api-?key/;
const NO_PROOF =
  /^(?:authorization|x-service-token|x-openclaw-token|cookie|idempotency|x-(?:csrf|xsrf|amz|goog)|sec-|signature-input)/;

function withoutToken(request: TokenRequest): Diagnosis {
  const { rawHeaders, mapping, unknownName, near, queryToken } = request;
  if (unknownName !== undefined && near !== undefined) {
    const text = say`no mapping has the hook name it was sent to, so the hook token was asked for, and none came: ${nameMeant(near)}`;
    return { code: 'no-token', text };
  }
  const query = queryToken === 'reject' ? '' : say`, or ?token=TOKEN in the address (deprecated)`;
  const word = wordOf(headersOf(rawHeaders).find(({ name }) => name === 'authorization')?.value);
  if (word === 'basic') {
    return {
      code: 'no-token',
      text: say`the request carries Authorization: Basic, and this path asks for the hook token: send it as ${CARRIERS}; or, ${write(`verify: {scheme: basic, user: NAME, secrets: ['\${PASSWORD}']}`, undefined, 'for a sender that can only send user and password')} ${placeIn(request)}`,
    };
  }
  const proof = headersOf(rawHeaders).find(
    ({ name }) =>
      isPlainHeaderName(name) &&
      PROOF_NAME.test(name) &&
      !NO_PROOF.test(name) &&
      schemesOfHeader(name).length === 0,
  )?.name;
  if (proof !== undefined && mapping !== undefined) {
    return {
      code: 'no-verify',
      text: say`no hook token came, but the header ${proof}, which looks like the proof of its sender: ${adviseVerify([generalScheme(proof)], placeIn(request))}; or send the hook token as ${CARRIERS}`,
    };
  }
  const other = word === undefined ? '' : say`Authorization is there, but without the word Bearer; `;
  return { code: 'no-token', text: say`no hook token came; ${other}send it as ${CARRIERS}${query}` };
}

/** How hooks.token came to hold more than the token: what stands before and behind it, and what that is. */
const AROUND: readonly (readonly [before: string, behind: string, what: string])[] = [
  ['"', '"', `quotes around it (an env_file of Docker keeps them)`],
  ["'", "'", `quotes around it (an env_file of Docker keeps them)`],
  ['', '\n', `a line break behind it`],
  ['', '\r', `a carriage return behind it (a file with the line ends of Windows)`],
  ['', ' ', `a space behind it`],
  [' ', '', `a space before it`],
  ['Bearer ', '', `the word Bearer before it`],
];

function wrongToken({ rawHeaders, addressToken, isToken }: TokenRequest): Diagnosis {
  const value = presentedToken(rawHeaders) ?? addressToken;
  const around = AROUND.find(([before, behind]) => value !== undefined && isToken(before + value + behind));
  if (around !== undefined) {
    const text = say`the token that came is right, but the value of hooks.token has ${around[2]}: ${todo}remove that where the value is set, and start the service again`;
    return { code: 'unknown-token', text };
  }
  const isTemplate = value !== undefined && /^[$<{%]|\{\{/.test(value);
  return {
    code: 'unknown-token',
    text: isTemplate
      ? say`a token came, and it looks like the name of a variable that the sender did not replace`
      : say`a token came, and it is neither hooks.token nor one of hooks.previousTokens: ${todo}compare it with what the service was started with`,
  };
}

interface Header {
  readonly name: string;
  readonly value: string;
}

function headersOf(raw: readonly string[]): readonly Header[] {
  const headers: Header[] = [];
  for (let i = 0; i + 1 < raw.length && headers.length < MAX_HEADERS; i += 2) {
    headers.push({ name: String(raw[i]).toLowerCase(), value: String(raw[i + 1]).trim() });
  }
  return headers;
}

/** Words that stand before credentials. */
const WORDS = ['basic', 'token', 'bearer', 'apikey', 'api-key', 'digest', 'key', 'hmac'];

/** Its first word where it is a usual one: another may be the secret itself. */
function wordOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const word = /^\S+/.exec(authorization)?.[0]?.toLowerCase() ?? '';
  return WORDS.includes(word) ? word : '';
}

/** Where the right token stands in a place or form in which it does not count. */
function tokenElsewhere(request: TokenRequest): Sentence | undefined {
  const { rawHeaders, query } = request;
  const isToken = (text: string): boolean => text !== '' && request.isToken(text);
  const known: Known = { isToken, place: placeIn(request), takesVerify: request.mapping !== undefined };
  for (const { name, value } of headersOf(rawHeaders)) {
    const isUsual = name === 'authorization';
    const found = isUsual ? inAuthorization(value, known) : inOtherHeader(name, value, known);
    if (found !== undefined) return found;
  }
  const parameter = nameOf(query, isToken);
  if (parameter === undefined) return undefined;
  const written = `?${shownName(parameter)}=`;
  const remedy =
    request.queryToken === 'reject'
      ? say`send it as ${CARRIERS}`
      : say`let the address at the sender end in ?token=TOKEN, and not in ${written}TOKEN`;
  return say`the hook token stands in the address as ${written}, where it does not count: ${remedy}`;
}

/** Fields that are searched: a sender chooses how many there are. */
const MAX_FIELDS = 50;

const nameOf = (
  values: Readonly<Record<string, string>>,
  isToken: (text: string) => boolean,
): string | undefined =>
  Object.keys(values)
    .slice(0, MAX_FIELDS)
    .find((name) => isToken(values[name] ?? ''));

/** A name that the sender chose. */
const shownName = (name: string): string => (isPlainHeaderName(name) ? name : '…');

interface Known {
  readonly isToken: (text: string) => boolean;
  /** Where a verify is to stand. */
  readonly place: string;
  /** Whether there is a mapping that may have one. */
  readonly takesVerify: boolean;
}

function inAuthorization(value: string, { isToken, place }: Known): Sentence | undefined {
  const word = wordOf(value) ?? '';
  const rest = value.replace(/^\S+\s+/, '');
  if (isToken(value) && word === 'bearer')
    return say`the value of hooks.token has the word Bearer before it: ${todo}remove that where the value is set, and start the service again`;
  if (isToken(value))
    return say`Authorization holds the hook token alone: ${todo}write the word Bearer before it`;
  if (word === 'bearer' && [unquoted(rest), rest.replace(/^bearer\s+/i, '')].some(isToken)) {
    return say`Authorization: Bearer holds the hook token with more around it: ${todo}send it without quotes, and with the word Bearer once`;
  }
  if (word === 'basic' && basicParts(rest).some(isToken)) {
    return say`Authorization: Basic holds the hook token: ${todo}send it as ${CARRIERS}; or add verify: {scheme: basic, user: NAME, secrets: ['\${NAME}']} ${place}`;
  }
  if (!isToken(rest) && !isToken(unquoted(rest))) return undefined;
  return say`Authorization holds the hook token behind another word than Bearer${word === '' ? '' : ` (${word})`}: ${todo}write Authorization: Bearer TOKEN`;
}

function inOtherHeader(
  name: string,
  value: string,
  { isToken, place, takesVerify }: Known,
): Sentence | undefined {
  const isBare = [value, unquoted(value)].some(isToken);
  if (!isBare && !isToken(value.replace(/^bearer\s+/i, ''))) return undefined;
  if (TOKEN_HEADERS.some((carrier) => carrier === name))
    return say`the hook token stands in ${name} with more around it: ${todo}send the bare token there, without quotes and without Bearer`;
  const where = say`the hook token stands in the header ${name}, where it does not count`;
  return !takesVerify
    ? say`${where}: ${todo}send it as ${CARRIERS}`
    : say`${where}: ${adviseVerify([`header, header: ${name}`], place)}${isBare ? '' : ', with the word Bearer and a blank before it, as they come'}`;
}

const unquoted = (text: string): string => trimMarks(text, `"'<`, `"'>`);

function basicParts(text: string): readonly string[] {
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return decoded.split(':');
}
