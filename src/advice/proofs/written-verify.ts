/** `verify` as a person writes it. */
import { say, write, type Fix, type Sentence } from '../../finding.ts';
import { type SignatureColumns, type TableSettings, secretsText } from '../../verify/facts.ts';
import { type Diagnosis, SCHEMES, type VerifySettings } from '../../verify/verify.ts';

/** Keys of the general scheme, with the values with which the proof fits. */
export type KeyChange = { readonly [Key in 'prefix' | 'encoding' | 'algorithm' | 'secretEncoding']?: string };

/** A diagnosis whose text says what is wrong, where keys have to change: what to write depends on the scheme of the path. */
export interface FoundKeys extends Diagnosis {
  readonly change?: KeyChange;
}

/** What the general schemes take where nothing is said. */
const GENERAL: Readonly<Record<string, string>> = {
  algorithm: 'sha256',
  encoding: 'hex',
  signed: '{body}',
  secretEncoding: 'text',
  timestampUnit: 'seconds',
  assign: '=',
};

/** First the header, then what is signed, then the secret. */
const ORDER = [
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
] as const satisfies readonly (keyof SignatureColumns)[];

const quoted = (text: string): string =>
  /^[A-Za-z][\w.-]*$/.test(text) ? text : /[\n']/.test(text) ? JSON.stringify(text) : `'${text}'`;

/** Keys of `verify` with their values, but for those that need not be written. */
function writtenKeys({ algorithm, ...columns }: SignatureColumns): readonly string[] {
  const values: Readonly<Record<string, string | undefined>> = {
    ...columns,
    algorithm: algorithm.startsWith('hmac-') ? algorithm.slice('hmac-'.length) : undefined,
  };
  return ORDER.flatMap((name) => {
    const value = values[name];
    return value === undefined || value === '' || GENERAL[name] === value ? [] : [writtenKey(name, value)];
  });
}

export const writtenKey = (name: string, value: unknown): string =>
  `${name}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`;

/** The general scheme for these columns, with its keys: what stands behind `scheme:`. */
export function writtenScheme(columns: SignatureColumns): string {
  const scheme = columns.algorithm.startsWith('hmac-') ? 'hmac' : columns.algorithm.replace('-sha256', '');
  return [scheme, ...writtenKeys(columns)].join(', ');
}

/** The text of a verify, with the secrets as the path has them. */
export function wholeVerify(scheme: string, { secrets }: Pick<TableSettings, 'secrets'>): string {
  return `verify: { scheme: ${scheme}, ${secretsText(secrets)} }`;
}

/** That the whole `verify` is another one. */
export const replaceBy = (verify: string, verb = 'replace the whole verify of the mapping by:'): Fix => ({
  verb,
  line: verify,
});

/** The general scheme for the header of a sender that is not known. */
export const generalScheme = (header: string): string =>
  `${/signature|hmac/.test(header) ? 'hmac' : 'header'}, header: ${header}`;

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

/** Whether the settings describe the signature themselves, so that one key can be changed. */
export function isGeneral({ scheme }: VerifySettings): boolean {
  return scheme === 'hmac' || scheme === 'ed25519' || scheme === 'ecdsa';
}
