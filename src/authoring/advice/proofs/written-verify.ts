/** `verify` as a person writes it. */
import { say, write, type Sentence } from '../../../base/finding.ts';
import {
  isTable,
  type OtherVerify,
  schemeOf,
  secretsText,
  type SignatureColumns,
} from '../../../engine/verify/facts.ts';
import {
  SCHEMES,
  type SecretReference,
  type SenderProof,
  type VerifySettings,
} from '../../../engine/verify/verify.ts';

/** What the general schemes take where nothing is said. */
const DEFAULTS: Readonly<Record<string, string>> = {
  algorithm: 'sha256',
  encoding: 'hex',
  signed: '{body}',
  secretEncoding: 'text',
  timestampUnit: 'seconds',
  assign: '=',
  prefix: '',
};

/** First the header, then what is signed, then the secret. */
const ORDER = [
  'user',
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'separator',
  'assign',
  'signatureField',
  'signed',
  'timestampField',
  'timestampHeader',
  'timestampMember',
  'timestampUnit',
  'idHeader',
  'secretEncoding',
  'secretPrefix',
] as const;

const quoted = (text: string): string =>
  /^[A-Za-z][\w.-]*$/.test(text) ? text : /[\n']/.test(text) ? JSON.stringify(text) : `'${text}'`;

export const writtenKey = (name: string, value: unknown): string =>
  `${name}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`;

/** Keys of a proof with their values, but for those that need not be written. */
export function keysOf(proof: object): Readonly<Record<string, string>> {
  const values = proof as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(
    ORDER.flatMap((name) => {
      const value = values[name];
      return value === undefined || value === (DEFAULTS[name] ?? '') ? [] : [[name, value]];
    }),
  );
}

/** The general scheme with these columns. */
export function generalProof({ algorithm, ...columns }: SignatureColumns): SenderProof {
  const [, hash] = /^hmac-(.*)/.exec(algorithm) ?? [];
  const scheme = hash === undefined ? algorithm.replace('-sha256', '') : 'hmac';
  return { scheme, ...(hash === undefined ? {} : { algorithm: hash }), ...columns } as SenderProof;
}

/** A proof as it is written behind `scheme:`. */
export const writtenProof = (proof: SenderProof): string =>
  [proof.scheme, ...Object.entries(keysOf(proof)).map(([key, value]) => writtenKey(key, value))].join(', ');

/** The general scheme for these columns: what stands behind `scheme:`. */
export const writtenScheme = (columns: SignatureColumns): string => writtenProof(generalProof(columns));

/** The text of a verify, with the secrets as the path has them. */
export const wholeVerify = ({ verify, secrets }: Pick<OtherVerify, 'verify' | 'secrets'>): string =>
  `verify: { scheme: ${writtenProof(verify)}, ${secretsText(secrets)} }`;

/** A proof with the secrets of a path. */
export const withSecrets = (verify: SenderProof, secrets: readonly SecretReference[]): VerifySettings =>
  ({ ...verify, ...(verify.scheme !== 'oidc' && { secrets: [...secrets] }) }) as VerifySettings;

/** The signatures in headers that a proof takes. */
export const columnsOf = (settings: VerifySettings): readonly SignatureColumns[] =>
  isTable(settings)
    ? schemeOf(settings).ways.flatMap(({ way }) => (way.kind === 'signature' ? [way.columns] : []))
    : [];

/**
 * What to write at `place` for a proof in a header, and what else is to be done. `schemes`: those of the senders that
 * are known by the header, or a general one with its keys.
 */
export function adviseVerify([scheme = '', ...others]: readonly string[], place: string): Sentence {
  const or = others.length === 0 ? '' : say` (or scheme: ${others.join(' or ')}, as the sender is)`;
  const sender = Object.hasOwn(SCHEMES, scheme) ? scheme : 'webhook';
  const variable = `${sender.toUpperCase().replaceAll('-', '_')}_SECRET`;
  return say`${write(`verify: {scheme: ${scheme}, secrets: ['\${${variable}}']}`)} ${place}${or}, and set ${variable} in the environment of the service to the secret that the sender has`;
}
