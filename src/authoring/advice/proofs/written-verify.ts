/** Writes `verify` as a person writes it. */
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

const DEFAULTS: Readonly<Record<string, string>> = {
  algorithm: 'sha256',
  encoding: 'hex',
  signed: '{body}',
  secretEncoding: 'text',
  timestampUnit: 'seconds',
  assign: '=',
  prefix: '',
};

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

export function keysOf(proof: object): Readonly<Record<string, string>> {
  const values = proof as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(
    ORDER.flatMap((name) => {
      const value = values[name];
      return value === undefined || value === (DEFAULTS[name] ?? '') ? [] : [[name, value]];
    }),
  );
}

export function generalProof({ algorithm, ...columns }: SignatureColumns): SenderProof {
  const [, hash] = /^hmac-(.*)/.exec(algorithm) ?? [];
  const scheme = hash === undefined ? algorithm.replace('-sha256', '') : 'hmac';
  return { scheme, ...(hash === undefined ? {} : { algorithm: hash }), ...columns } as SenderProof;
}

export const writtenProof = (proof: SenderProof): string =>
  [proof.scheme, ...Object.entries(keysOf(proof)).map(([key, value]) => writtenKey(key, value))].join(', ');

export const writtenScheme = (columns: SignatureColumns): string => writtenProof(generalProof(columns));

export const wholeVerify = ({ verify, secrets }: Pick<OtherVerify, 'verify' | 'secrets'>): string =>
  `verify: { scheme: ${writtenProof(verify)}, ${secretsText(secrets)} }`;

export const withSecrets = (verify: SenderProof, secrets: readonly SecretReference[]): VerifySettings =>
  ({ ...verify, ...(verify.scheme !== 'oidc' && { secrets: [...secrets] }) }) as VerifySettings;

export const columnsOf = (settings: VerifySettings): readonly SignatureColumns[] =>
  isTable(settings)
    ? schemeOf(settings).ways.flatMap(({ way }) => (way.kind === 'signature' ? [way.columns] : []))
    : [];

/**
 * Says what to write at `place` for a proof in a header, and what else is to be done. `schemes` has those
 * of the senders that are known by the header, or a general one with its keys.
 */
export function adviseVerify([scheme = '', ...others]: readonly string[], place: string): Sentence {
  const or = others.length === 0 ? '' : say` (or scheme: ${others.join(' or ')}, as the sender is)`;
  const sender = Object.hasOwn(SCHEMES, scheme) ? scheme : 'webhook';
  const variable = `${sender.toUpperCase().replaceAll('-', '_')}_SECRET`;
  return say`${write(`verify: {scheme: ${scheme}, secrets: ['\${${variable}}']}`)} ${place}${or}, and set ${variable} in the environment of the service to the secret that the sender has`;
}
