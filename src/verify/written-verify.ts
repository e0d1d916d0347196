/** `verify` as a person writes it. */
import type { SignatureColumns } from './scheme.ts';
import { secretsText, type VerifySettings } from './verify-settings.ts';
import type { TableSettings } from './ways.ts';

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
  /^[A-Za-z][\w-]*$/.test(text) ? text : /[\n']/.test(text) ? JSON.stringify(text) : `'${text}'`;

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

export const writtenKey = (name: string, value: string): string => `${name}: ${quoted(value)}`;

/** The general scheme for these columns, with its keys: what stands behind `scheme:`. */
export function writtenScheme(columns: SignatureColumns): string {
  const scheme = columns.algorithm.startsWith('hmac-') ? 'hmac' : columns.algorithm.replace('-sha256', '');
  return [scheme, ...writtenKeys(columns)].join(', ');
}

/** The text of a verify, with the secrets as the path has them. */
export function wholeVerify(scheme: string, { secrets }: Pick<TableSettings, 'secrets'>): string {
  return `verify: { scheme: ${scheme}, ${secretsText(secrets)} }`;
}

/** Whether the settings describe the signature themselves, so that one key can be changed. */
export function isGeneral({ scheme }: VerifySettings): boolean {
  return scheme === 'hmac' || scheme === 'ed25519' || scheme === 'ecdsa';
}
