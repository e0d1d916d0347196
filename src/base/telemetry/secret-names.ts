/*
 * The one list of names under which credentials stand: for what is logged, kept, recorded, shown to agents, and for the
 * files of operators. A name says it by its end in a field or setting, where `maxTokens` and `sortKey` are plain words
 * as well, and by any part in a header or query, where next to nothing else has such a word.
 */

const ENDS =
  '(?:tokens?|secrets?|password|passwd|passphrase|passcode|(?:api|private|access|signing)[-_ ]?key|credentials?|authorization|cookies?)';
const WHOLE = '(?:auth|bearer|jwt|pass|pwd)';

/** Fields, settings and variables whose texts are secrets unless they are references; `queryToken` is a choice. */
export const SECRET_KEY = new RegExp(`^(?!queryToken$).*${ENDS}$`, 'i');

/** Names that hold a secret where they hold a text. */
const SECRET_TEXT_KEY = new RegExp(`^${WHOLE}$`, 'i');

/** The end of either as a pattern, for lines that nothing could read. */
export const SECRET_NAME = `(?:${ENDS}|(?<![\\w-])${WHOLE})s?`;

export function namesSecretText(name: string): boolean {
  return SECRET_KEY.test(name) || SECRET_TEXT_KEY.test(name);
}

/** Smaller numbers, such as counts and limits of tokens, are no secrets. */
export const MIN_SECRET_NUMBER = 1e8;

/** Headers and parameters that carry signatures, whatever their value looks like. */
export const SIGNATURE_NAME =
  /signature(?!-(?:timestamp|input))|hmac|(?:^|[-_])(?:sig|sign|signed|mac|digest|checksum|seal)(?:$|[-_])/i;

/**
 * Headers and parameters that carry credentials, signatures or assertions of known senders, proxies and clouds: who reads
 * them could forge a request. `Referer` is an address with whatever its query carried.
 */
export const SECRET_CARRIER = new RegExp(
  `${SIGNATURE_NAME.source}|authorization|cookie|token|secret|passw|passphrase|jwt|dpop|oidc|credential|session|^x-auth|^referer$|^(?:auth|bearer|code|key|pass|pwd)$|(?:api|access|account|functions?|master|private|sas|shared|signing|subscription)[-_]*key`,
  'i',
);

/** Whether the name of a field, also one for people such as "API Key:", says that its value is a secret. */
export function namesSecret(name: string): boolean {
  const plain = name.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '').replaceAll(/\s+/g, ' ');
  return SECRET_KEY.test(plain) || SECRET_KEY.test(plain.replaceAll(' ', '_'));
}
