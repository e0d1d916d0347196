/** The sentences of what was found out about a proof, which is kept as codes and facts. */
import { inTheirFile } from '../their-files.ts';
import { say, write as writeLine, type Sentence } from '../../../base/finding.ts';
import {
  type Diagnosis,
  nameOfSecret,
  type SecretFacts,
  secretSentence,
} from '../../../engine/verify/verify.ts';
import type { DiagnosisCode, FactsOf, Name, OtherVerify } from '../../../engine/verify/facts.ts';
import { adviseOnCheck } from '../vocabulary/address-checks.ts';
import { secretHint } from '../vocabulary/secrets.ts';
import { shownAs } from '../vocabulary/senders.ts';
import { adviseVerify, generalScheme, keysOf, wholeVerify, writtenKeys } from './written-verify.ts';

const CARRIERS = 'Authorization: Bearer TOKEN, or X-Service-Token: TOKEN';

type Say = { readonly [Code in DiagnosisCode]: (facts: FactsOf<Code>) => Sentence };

const SAY: Say = {
  'other-scheme': ({ header, of = [], ...facts }) => {
    if (facts.isProved)
      return say`the request is right by the scheme ${facts.verify.scheme}, with the secret as it is, and this path expects ${facts.now}: ${remedy(facts)}`;
    const what = of.length === 0 ? 'which looks like a signature' : `the header of ${of.join(' or ')}`;
    const or = facts.or?.map((scheme) => `, or with scheme: ${scheme}`).join('') ?? '';
    return say`the request carries ${header ?? ''}, ${what}; this path expects ${facts.now}: ${remedy(facts)}${or}, and set the secret that this sender signs with`;
  },
  prefix: sayForm,
  encoding: sayForm,
  algorithm: sayForm,
  'signed-content': sayForm,
  'timestamp-unit': (facts) =>
    say`the timestamp is ${UNITS[keysOf(facts.verify)['timestampUnit'] ?? 'seconds'] ?? ''}, and this path reads another form: ${remedy(facts)}`,
  'secret-encoding': (facts) =>
    say`the secret is ${keysOf(facts.verify)['secretEncoding'] ?? ''}, and the sender signs with the bytes it stands for: ${remedy(facts)}${ofPath(facts.secrets.map(nameOfSecret))}`,
  're-encoded-body': ({ form, escapes }) =>
    say`the signature fits the body ${BODIES[form]}${escapes === undefined ? '' : ESCAPES[escapes]}: something between the sender and this service read the body and wrote it again; let it pass the bytes as they are`,
  'secret-white-space': ({ names, around }) =>
    say`the value of the secret has ${around === 'space' ? 'white space' : 'quotes'} around it, and without that the proof is right: remove it where the value is set, in the environment or the file${ofPath(names)}`,
  'secret-prefix': ({ names, word, isSent }) =>
    isSent === true
      ? say`the header carries the secret behind the word ${word ?? ''}: where the value of the secret is set, write the word ${word ?? ''} and a blank before it${ofPath(names)}`
      : say`the proof fits the secret without ${word === undefined ? 'its prefix' : `"${word}" before it`}: write only what follows${ofPath(names)}`,
  'other-url': sayUrl,
  'no-token': ({ beside, has, takesQuery, mapping, near }) => {
    if (beside !== undefined)
      return say`beside the proof of the sender (${beside}), requireToken: true in a mapping of this path asks for the hook token as well: most senders that sign cannot send it, and the proof is enough`;
    if (near !== undefined)
      return say`no mapping has the hook name it was sent to, so the hook token was asked for, and none came: ${nearNameWords(near)}`;
    if (has === 'basic')
      return say`the request carries Authorization: Basic, and this path asks for the hook token: send it as ${CARRIERS}; or, for a sender that can only send user and password, write verify: {scheme: basic, user: NAME, secrets: ['\${PASSWORD}']} ${placeOf(mapping)}`;
    return say`no hook token came; ${has === 'other' ? 'Authorization is there, but without the word Bearer; ' : ''}send it as ${CARRIERS}${takesQuery === true ? ', or ?token=TOKEN in the address (deprecated)' : ''}`;
  },
  'unknown-token': ({ around, isVariable }) =>
    around === undefined
      ? isVariable === true
        ? say`a token came, and it looks like the name of a variable that the sender did not replace`
        : say`a token came, and it is neither hooks.token nor one of hooks.previousTokens: compare it with what the service was started with`
      : say`the token that came is right, but the value of hooks.token has ${around === 'space' ? 'white space' : 'quotes'} around it: remove that where the value is set, and start the service again`,
  'token-elsewhere': sayElsewhere,
  'query-rejected': () =>
    say`the token came as ?token= in the address, which hooks.queryToken: reject refuses: send it as ${CARRIERS}`,
  'no-verify': ({ header, of, schemes, isUnknown, mapping, near }) => {
    if (isUnknown)
      return say`the request carries ${header}, the proof of ${of.join(' or ')}, but no mapping has the hook name it was sent to, so the hook token is asked for: ${near === undefined ? 'correct the address at the sender, or match.path of the mapping that was meant' : nearNameWords(near)}`;
    const place = placeOf(mapping);
    return of.length > 0
      ? say`the request carries ${header}, the proof of ${of.join(' or ')}, but no mapping of this path says verify, so the hook token is asked for: ${adviseVerify(schemes, place)}`
      : say`no hook token came, but the header ${header}, which looks like the proof of its sender: ${adviseVerify(schemes.length > 0 ? schemes : [generalScheme(textOf(header))], place)}; or send the hook token as ${CARRIERS}`;
  },
  address: (address) =>
    say`the address that was judged is ${address}, and allowFrom of this path does not have it: add it there if it is the sender; if it is a proxy, let it write X-Forwarded-For, and add it to server.trustedProxies`,
  challenge: ({ asks, why, mapping = 'a mapping of this path', write, also }) =>
    why === undefined
      ? say`${adviseOnCheck({ provider: asks, write, also }, mapping)}`
      : say`this is how ${ASKERS[asks] ?? 'its sender'} checks the address, and ${WRONG[why]}`,
  'wrong-secret': sayWrongSecret,
  'not-configured': ({ names, isUnset, doubts }) =>
    isUnset
      ? say`${names.join(', ')} is not set in the service; without it this path refuses every request: set it wherever the service starts`
      : say`this path has no secret that can be used, and refuses every request: ${doubts?.map(sayDoubt).join('; ') ?? '"sluice check" says why'}${ofPath(names)}`,
  'no-proof': sayAbsence,
  'malformed-proof': (facts) =>
    'verify' in facts
      ? sayForm(facts)
      : facts.scheme === 'oidc'
        ? say`the Bearer value is no signed token (JWT)`
        : say`the header with the proof is there, but not in the form of the scheme ${facts.scheme}, or more than once`,
  'too-old': ({ scheme, ageSeconds = 0, toleranceSeconds = 0 }) =>
    scheme === 'oidc'
      ? say`the token has expired`
      : say`the proof is right, but its timestamp is ${ageSeconds} s old and this path takes ${toleranceSeconds} s both ways: a request that was sent again or held up on the way, or a clock that is wrong; "sluice send FILE --sign" signs a saved request anew, and "sluice explain FILE" needs no proof`,
  'too-new': ({ scheme, ageSeconds = 0, toleranceSeconds = 0 }) =>
    scheme === 'oidc'
      ? say`the token is not valid yet: set the clock of this machine`
      : say`the proof is right, but its timestamp lies ${-ageSeconds} s ahead and this path takes ${toleranceSeconds} s both ways: set the clock of this machine; if it is right, the sender writes a wrong one`,
  'no-timestamp': () => say`the time of signing is not there; a proxy may have removed its header`,
  'malformed-timestamp': () => say`the time of signing is not a whole number`,
  'malformed-id': () => say`the id of the delivery is not there, or holds a full stop or white space`,
  'unreadable-body': () => say`the fields of the body that are signed cannot be read`,
  'body-not-covered': () =>
    say`the signature covers the address but not this body: a form is expected, or bodySHA256 in the address`,
  'wrong-claims': ({ detail = '' }) =>
    say`the token is signed by the issuer, but its claim ${detail} is missing or not the one that this path asks for`,
  'no-keys': ({ detail = 'not tried yet' }) =>
    say`the issuer's keys could not be fetched (${detail}): look at the issuer, and whether this machine reaches it`,
  'wrong-proof': ({ scheme, user, detail }) => {
    if (user !== undefined)
      return say`the password is right, but the user is another one than "${user}", which verify names: write the user of the sender at verify.user, or "${user}" at the sender`;
    return scheme === 'oidc'
      ? say`the token is not signed by a key of the issuer${detail === undefined ? '' : `: ${detail}`}`
      : say`the credentials are there and are wrong: compare them with what was typed at the sender`;
  },
};

/** What was found out, in a sentence; undefined of what an earlier version kept without its facts. */
export function sayProof(found: { readonly code: string; readonly facts?: object }): Sentence | undefined {
  if (found.facts === undefined || !Object.hasOwn(SAY, found.code)) return undefined;
  const { code, facts } = found as Diagnosis;
  return inTheirFile((SAY[code] as (facts: object) => Sentence)(facts));
}

/** What to write. Names that only the sender wrote may be in it. */
function remedy({ verify, secrets, write, remove = [] }: OtherVerify): Sentence {
  if (write === undefined)
    return say`${{ verb: 'replace the whole verify of the mapping by:', line: wholeVerify({ verify, secrets }) }}`;
  const keys = writtenKeys(write);
  if (keys === '') return say`remove ${remove.join(', ')} from verify of the mapping`;
  const also = remove.length === 0 ? '' : `, and remove ${remove.join(', ')} there`;
  return say`${writeLine(keys, 'in verify of the mapping')}${also}`;
}

/** How a signature is made and written. */
function sayForm(facts: OtherVerify): Sentence {
  const { algorithm = 'sha256', encoding = 'hex', prefix, signed = '{body}' } = keysOf(facts.verify);
  const after = prefix === undefined ? '' : ` after "${prefix}"`;
  return facts.isProved
    ? say`the secret is right; the sender signs ${signed} with ${algorithm} and writes it in ${encoding}${{ sent: after }}: ${remedy(facts)}`
    : say`the signature is written in ${encoding}${{ sent: after }}, as long as one of ${algorithm}, and this path reads another form: ${remedy(facts)}; no secret of the path fits it`;
}

const UNITS: Readonly<Record<string, string>> = {
  seconds: 'in seconds',
  milliseconds: 'in milliseconds',
  iso8601: 'a date and time (ISO 8601)',
};

const BODIES: Readonly<Record<FactsOf<'re-encoded-body'>['form'], string>> = {
  trimmed: 'without the white space at its end',
  'line end': 'with a line end',
  'line ends': 'with CR before each line end',
  compact: 'as compact JSON',
  'two spaces': 'as JSON with two spaces',
  Python: 'as JSON the way Python writes it',
};
const ESCAPES = {
  letters: ', other letters as \\u escapes',
  slashes: ', slashes escaped',
  signs: ', < > & as \\u escapes',
} as const;

const sayDoubt = (doubt: SecretFacts): string => `${secretSentence(doubt)}; ${secretHint(doubt)}`;

/** Where a secret of the path comes from: its names in the mapping, never a value. */
function ofPath(names: readonly string[]): string {
  const are = names.length === 1 ? 'the secret of this path is' : 'the secrets of this path are';
  return ` (${are} ${names.join(', ')})`;
}

function sayUrl({ origin, path, cut = '', taken }: FactsOf<'other-url'>): Sentence {
  if (origin === undefined && path === undefined)
    return taken === undefined
      ? say`this sender signs the address that it calls, and server.publicUrl does not say what that is: set it, e.g. https://hooks.example.com; if the signature still does not fit, the secret is another one`
      : say`this sender signs the address that it calls, and it was taken for ${taken} (server.publicUrl with the path): if another one stands at the sender, write the beginning of that at publicUrl; if it is this one, the secret is another one`;
  const remedies = [
    ...(path === undefined ? [] : [PATHS[path](cut)]),
    ...(origin === undefined ? [] : [say`write publicUrl: ${origin} below server`]),
  ];
  const [first = say``, second] = remedies;
  const all = second === undefined ? first : say`${first}; and ${second}`;
  return say`the secret is right, and the sender signed another address: ${all}`;
}

const KEPT =
  'something on the way changes it: let the proxy pass the path on as it came, or enter the address at the sender as it arrives here';
const PATHS: Readonly<Record<'query' | 'slash' | 'begin', (cut: string) => Sentence>> = {
  query: () => say`without its query; ${KEPT}`,
  slash: () => say`one that differs in the slash at its end; ${KEPT}`,
  begin: (cut) =>
    say`without ${cut} before its path; server.publicUrl is only the beginning of the address, and the path of the hook is added to it: write it without ${cut} at its end`,
};

const placeOf = (mapping = 'the mapping'): string => `in ${mapping}, beside match`;
const nearNameWords = (near: string): string =>
  `the nearest hook name is ${near}; correct it at one of the two, there or at the sender`;
const textOf = (name: Name): string => (typeof name === 'string' ? name : name.sent);

function sayElsewhere({ in: place, name = '', word = '', ...facts }: FactsOf<'token-elsewhere'>): Sentence {
  if (place === 'query') {
    const query = facts.takesQuery
      ? say`let the address at the sender end in ?token=TOKEN, and not in ?${name}=TOKEN`
      : say`send it as ${CARRIERS}`;
    return say`the hook token stands in the address as ?${name}=, where it does not count: ${query}`;
  }
  if (place === 'authorization') {
    if (word === 'basic')
      return say`Authorization: Basic holds the hook token: send it as ${CARRIERS}; or add verify: {scheme: basic, user: NAME, secrets: ['\${NAME}']} ${placeOf(facts.mapping)}`;
    return say`Authorization holds the hook token ${word === '' ? 'alone' : 'behind another word than Bearer'}: write Authorization: Bearer TOKEN`;
  }
  const after = word === '' ? '' : ` behind the word ${word}`;
  const where = say`the hook token stands in the header ${name}${after}, where it does not count`;
  if (facts.mapping === undefined) return say`${where}: send it as ${CARRIERS}`;
  const behind = word === '' ? '' : ', with the word Bearer and a blank before it, as they come';
  return say`${where}: ${adviseVerify([`header, header: ${textOf(name)}`], placeOf(facts.mapping))}${behind}`;
}

/** What `challenge` of a mapping answers, by its kind. */
const ASKERS: Readonly<Record<string, string>> = {
  slack: 'Slack',
  meta: 'Meta',
  graph: 'Microsoft Graph',
  zoom: 'Zoom',
  cloudevents: 'a sender of CloudEvents',
  notion: 'Notion',
};
const WRONG: Readonly<Record<NonNullable<FactsOf<'challenge'>['why']>, string>> = {
  token:
    'its token is not the one of challenge: that must be the verification token of the Slack app, or the text which was typed as "Verify token" at Meta, not the app secret, which signs the events',
  secret: 'it has no plainToken, or the secret of verify, with which it is answered, is not set',
  origin: 'its header webhook-request-origin is no name of a host',
  text: 'what is to be sent back is missing or too long, or cannot stand in a header',
  key: 'its key is taken once, within ten minutes after "sluice add": run that again, and let it send the key again',
};

function sayWrongSecret({
  names,
  scheme,
  header,
  otherKey,
  time,
  isSentInQuotes,
}: FactsOf<'wrong-secret'>): Sentence {
  if (isSentInQuotes === true) return say`the sender sends the secret in quotes: remove them in its settings`;
  const shown = shownAs(scheme);
  if (otherKey !== undefined)
    return say`the secret has the form of ${otherKey}, and is no signing secret: set it to ${shown ?? 'the secret that the sender shows for its webhook'}${ofPath(names)}`;
  if (header !== undefined)
    return say`the value of the header ${header} is not the secret of this path, nor nearly so: most likely the text that was entered at the sender is another one, for example a retired one${ofPath(names)}`;
  const set = shown === undefined ? '' : `; set it to ${shown}`;
  if (time !== undefined)
    return say`the signature does not fit, and the request carries ${time}, which looks like a time of signing: the sender probably signs the time, too, and this path takes the body alone as signed; look in its documents for what it signs, before the secret is blamed${ofPath(names)}`;
  return say`the signature fits neither the body as it came nor the usual forms in which JSON is written: either the secret at the sender is another one, for example a retired one${set}; or something on the way wrote the body anew (escapes, numbers such as 10.0, line ends), and how it was before cannot be told${ofPath(names)}`;
}

function sayAbsence({ scheme, headers, hasToken }: FactsOf<'no-proof'>): Sentence {
  if (hasToken === true)
    return say`the request carries the hook token, but verify of this path asks for the proof of its sender instead: sign it (sluice send --sign does), or remove verify from the mappings of the path`;
  if (scheme === 'oidc') return say`the request carries no credentials: Authorization: Bearer is not there`;
  if (scheme === 'basic')
    return say`the request carries no credentials: Authorization: Basic is not there: set user and password at the sender`;
  if (scheme === 'token')
    return say`the request carries no credentials: Authorization: Bearer is not there: let the sender send the secret so, or let its address end in ?token=SECRET (unless hooks.queryToken is reject)`;
  const what = headers.length === 0 ? 'the fields timestamp, token and signature' : headers.join(' or ');
  return say`the request carries no proof: ${what} is not there; set the secret at the sender, or look whether a proxy removes the header`;
}
