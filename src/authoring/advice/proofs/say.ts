/** Writes the sentences for what was found out about a proof. The store keeps that as codes and facts. */
import { inOpenClawFile } from '../openclaw-files.ts';
import { say, type Sentence } from '../../../base/finding.ts';
import { type ProofFinding, type SecretFacts, secretSentence } from '../../../engine/verify/verify.ts';
import type { FactsOf, FactName, OtherVerify, ProofCode } from '../../../engine/verify/facts.ts';
import { adviseOnCheck } from '../vocabulary/address-checks.ts';
import { secretHint, secretTitle } from '../vocabulary/senders.ts';
import { adviseVerify, wholeVerify } from './written-verify.ts';

const CARRIERS = 'Authorization: Bearer TOKEN, or X-Service-Token: TOKEN';

const SAY: { readonly [Code in ProofCode]: (facts: FactsOf<Code>) => Sentence } = {
  'other-scheme': sayOther,
  prefix: sayOther,
  encoding: sayOther,
  algorithm: sayOther,
  'signed-content': sayOther,
  'timestamp-unit': sayOther,
  'secret-encoding': sayOther,
  'secret-white-space': ({ names, around }) =>
    say`the value of the secret has ${around === 'space' ? 'white space' : 'quotes'} around it, and without that the proof is right: remove it where the value is set, in the environment or the file${ofPath(names)}`,
  'secret-prefix': ({ names, word, isSent }) =>
    isSent === true
      ? say`the header carries the secret behind the word ${word ?? ''}: where the value of the secret is set, write the word ${word ?? ''} and a blank before it${ofPath(names)}`
      : say`the proof fits the secret without ${word === undefined ? 'its prefix' : `"${word}" before it`}: write only what follows${ofPath(names)}`,
  'other-url': sayUrl,
  'no-token': ({ beside, has, mapping, near }) => {
    if (beside !== undefined)
      return say`beside the proof of the sender (${beside}), requireToken: true in a mapping of this path asks for the hook token as well, and none came: send it as ${CARRIERS}`;
    if (near !== undefined)
      return say`no mapping has the hook name it was sent to, so the hook token was asked for, and none came: ${nearNameWords(near)}`;
    if (has === 'basic')
      return say`the request carries Authorization: Basic, and this path asks for the hook token: send it as ${CARRIERS}; or, for a sender that can only send user and password, write verify: {scheme: basic, user: NAME, secrets: ['\${PASSWORD}']} ${placeOf(mapping)}`;
    return say`no hook token came; send it as ${CARRIERS}`;
  },
  'unknown-token': ({ around }) =>
    around === undefined
      ? say`a token came, and it is neither hooks.token nor one of hooks.previousTokens: compare it with what the service was started with`
      : say`the token that came is right, but the value of hooks.token has ${around === 'space' ? 'white space' : 'quotes'} around it: remove that where the value is set, and start the service again`,
  'token-elsewhere': ({ in: place, name = '', word, mapping }) => {
    const where = place === 'query' ? say`address as ?${name}=` : say`header ${name}${behind(word)}`;
    const found = say`the hook token stands in the ${where}, where it does not count: send it as ${CARRIERS}`;
    if (place === 'query' || word !== undefined || mapping === undefined) return found;
    return say`${found}; or, for a sender that has this header alone, ${adviseVerify([`header, header: ${textOf(name)}`], placeOf(mapping))}`;
  },
  'query-rejected': () =>
    say`the token came as ?token= in the address, which hooks.queryToken: reject refuses: send it as ${CARRIERS}`,
  'no-verify': ({ header, of, schemes, isUnknown, mapping, near }) => {
    const whose = of.length === 0 ? 'which looks like a signature' : `the proof of ${of.join(' or ')}`;
    if (isUnknown)
      return say`the request carries ${header}, ${whose}, but no mapping has the hook name it was sent to, so the hook token is asked for: ${near === undefined ? 'correct the address at the sender, or match.path of the mapping that was meant' : nearNameWords(near)}`;
    const asked = say`the request carries ${header}, ${whose}, but no mapping of this path says verify, so the hook token is asked for`;
    return schemes.length === 0
      ? say`${asked}; verify has no scheme for such a one: let a service of yours take the request, check it as the documents of the sender say, and pass it on with ${CARRIERS}`
      : say`${asked}: ${adviseVerify(schemes, placeOf(mapping))}`;
  },
  address: (address) =>
    say`the address that was judged is ${address}, and allowFrom of this path does not have it: add it there if it is the sender; if it is a proxy, let it write X-Forwarded-For, and add it to server.trustedProxies`,
  challenge: ({ asks, why, mapping = 'a mapping of this path', write, also }) =>
    why === undefined
      ? adviseOnCheck({ provider: asks, write, also }, mapping)
      : say`this only checks the address (challenge: ${asks}), and ${WRONG[why]}`,
  'wrong-secret': sayWrongSecret,
  'not-configured': ({ names, isUnset, doubts }) =>
    isUnset
      ? say`${names.join(', ')} is not set in the service; without it this path refuses every request: set it wherever the service starts`
      : say`this path has no secret that can be used, and refuses every request: ${doubts?.map(sayDoubt).join('; ') ?? '"sluice check" says why'}${ofPath(names)}`,
  'no-proof': sayAbsence,
  'malformed-proof': ({ scheme }) =>
    scheme === 'oidc'
      ? say`the Bearer value is no signed token (JWT)`
      : say`the header with the proof is there, but not in the form that this path reads${scheme === undefined ? '' : ` (${scheme})`}, or more than once`,
  'too-old': ({ scheme, ageSeconds = 0, toleranceSeconds = 0 }) =>
    scheme === 'oidc'
      ? say`the token has expired`
      : say`the proof is right, but its timestamp is ${ageSeconds} s old and this path takes ${toleranceSeconds} s both ways: a request that was sent again or delayed on the way, or a clock that is wrong; "sluice send FILE --sign" signs a saved request anew, and "sluice explain FILE" needs no proof`,
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

/** Returns undefined for what an earlier version stored without its facts. */
export function sayProof(found: { readonly code: string; readonly facts?: object }): Sentence | undefined {
  if (found.facts === undefined || !Object.hasOwn(SAY, found.code)) return undefined;
  const { code, facts } = found as ProofFinding;
  return inOpenClawFile((SAY[code] as (facts: object) => Sentence)(facts));
}

/** The sentence may hold names that only the sender wrote. */
function sayOther({ header = 'a signature', of = [], or = [], ...facts }: OtherVerify): Sentence {
  const replaced = { verb: 'replace the whole verify of the mapping by:', line: wholeVerify(facts) };
  const { verify, now, isProved } = facts;
  if (isProved)
    return say`the request is right by the scheme ${verify.scheme}, with the secret as it is, and this path reads it otherwise, as ${now}: ${replaced}`;
  const whose = of.length === 0 ? '' : `, a header of ${of.join(' or ')}`;
  const others = or.map((scheme) => `, or with scheme: ${scheme}`).join('');
  return say`the request carries ${header}${whose}; this path expects ${now}: ${replaced}${others}, and set the secret that this sender signs with`;
}

const sayDoubt = (doubt: SecretFacts): string => `${secretSentence(doubt)}; ${secretHint(doubt)}`;

/** Names the mapping's sources of a secret, never a value. */
function ofPath(names: readonly string[]): string {
  const are = names.length === 1 ? 'the secret of this path is' : 'the secrets of this path are';
  return ` (${are} ${names.join(', ')})`;
}

function sayUrl({ taken }: FactsOf<'other-url'>): Sentence {
  return taken === undefined
    ? say`this sender signs the address that it calls, and server.publicUrl does not say what that is: set it, e.g. https://hooks.example.com; if the signature still does not fit, the secret is another one`
    : say`this sender signs the address that it calls, and it was taken for ${taken} (server.publicUrl with the path): if another one stands at the sender, write the beginning of that at publicUrl; if it is this one, the secret is another one`;
}

const placeOf = (mapping = 'the mapping'): string => `in ${mapping}, beside match`;
const nearNameWords = (near: string): string =>
  `the nearest hook name is ${near}; correct it at one of the two, there or at the sender`;
const textOf = (name: FactName): string => (typeof name === 'string' ? name : name.sent);
const behind = (word: string | undefined): string => (word === undefined ? '' : ` behind the word ${word}`);

const WRONG: Readonly<Record<NonNullable<FactsOf<'challenge'>['why']>, string>> = {
  token:
    'its token is not the one of challenge: that must be the verification token of the Slack app, or the text which was typed as "Verify token" at Meta, not the app secret, which signs the events',
  secret: 'it has no plainToken, or the secret of verify, with which it is answered, is not set',
  origin: 'its header webhook-request-origin is no name of a host',
  text: 'what is to be sent back is missing or too long, or cannot stand in a header',
  key: 'its key is taken once, within ten minutes after "sluice add": run that again, and let it send the key again',
};

function sayWrongSecret({ names, scheme, ...facts }: FactsOf<'wrong-secret'>): Sentence {
  const { header, otherKey, time, isSentInQuotes } = facts;
  if (isSentInQuotes === true) return say`the sender sends the secret in quotes: remove them in its settings`;
  const shown = secretTitle(scheme);
  if (otherKey !== undefined)
    return say`the secret has the form of ${otherKey}, and is no signing secret: set it to ${shown ?? 'the secret that the sender shows for its webhook'}${ofPath(names)}`;
  if (header !== undefined)
    return say`the value of the header ${header} is not the secret of this path, nor nearly so: most likely the text that was entered at the sender is another one, for example a retired one${ofPath(names)}`;
  if (time !== undefined)
    return say`the signature does not fit, and the request carries ${time}, which looks like a time of signing: the sender probably signs the time, too, and this path takes the body alone as signed; look in its documents for what it signs, before the secret is blamed${ofPath(names)}`;
  const set = shown === undefined ? '' : `; set it to ${shown}`;
  return say`the signature does not fit the body as it came: the secret at the sender may be another one, for example a retired one${set}; the sender may sign more than the body (a time, the method, the address), as its documents say; or something on the way wrote the body anew (escapes, numbers such as 10.0, line ends), and how it was before cannot be known${ofPath(names)}`;
}

function sayAbsence({ scheme, headers, hasToken, carries }: FactsOf<'no-proof'>): Sentence {
  if (hasToken === true)
    return say`the request carries the hook token, but verify of this path asks for the proof of its sender: sign it ("sluice send --sign" does)`;
  const what =
    scheme === 'basic'
      ? 'Authorization: Basic'
      : scheme === 'token' || scheme === 'oidc'
        ? 'Authorization: Bearer'
        : headers.length === 0
          ? 'the fields timestamp, token and signature'
          : headers.join(' or ');
  const instead = carries === undefined ? '' : say`, but ${carries} is, which looks like a signature`;
  return say`the request carries no proof in the form that this path reads (${scheme}): ${what} is not there${instead}; set the secret at the sender, or look whether a proxy removes the header`;
}
