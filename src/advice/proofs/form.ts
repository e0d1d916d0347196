/** A header with a signature that is not in the form of the path: which part of the form it is, and what to write. */
import { say, todo, write, type Sentence } from '../../finding.ts';
import type { KeyObject } from 'node:crypto';
import type { SignedRequest } from '../../verify/verify.ts';
import type { FoundKeys } from './written-verify.ts';
import {
  compileContent,
  contentBytes,
  decodeExactly,
  ENCODINGS,
  findHeader,
  findKey,
  readPresented,
  SEVERAL,
  type SignatureColumns,
  valuesOf,
} from '../../verify/facts.ts';
import { hashOf, prefixOf } from './signature-shapes.ts';

/** A list such as `t=1700000000,v1=…`. */
const LIST = /^\s*[a-z]\w{0,19}=[^,;]*([,;])\s*[a-z]\w{0,19}=/i;

/** The form in which the signature is right. */
export function explainForm(
  columns: SignatureColumns,
  keys: readonly KeyObject[],
  request: SignedRequest,
): FoundKeys | undefined {
  const { header: name, separator } = columns;
  const header = findHeader(request.rawHeaders, name);
  if (typeof header !== 'string' || separator !== undefined) return undefined;
  const right = formsOf(columns, header).find((form) =>
    isSignedBy(form.columns, keys, withHeader(request, name, form.value)),
  );
  return right === undefined ? undefined : otherForm(columns, right.columns, true);
}

/** The form that a header has by its look, where no secret of the path fits it in any. */
export function guessForm(columns: SignatureColumns, request: SignedRequest): FoundKeys | undefined {
  const { header: name, separator } = columns;
  const header = findHeader(request.rawHeaders, name);
  if (header === SEVERAL) return { code: 'malformed-proof', text: twice(name) };
  if (header === undefined) return undefined;
  if (separator !== undefined) return missingField(columns, header);
  const list = LIST.exec(header)?.[1];
  if (list !== undefined) return { code: 'malformed-proof', text: listText(name, header, list) };
  const [likely] = formsOf(columns, header);
  return likely === undefined
    ? { code: 'malformed-proof', text: notEncoded(columns, header) }
    : otherForm(columns, likely.columns, false);
}

const twice = (header: string): Sentence =>
  say`the request carries ${header} more than once, and no proof chooses among several: ${todo}let the sender, or the proxy that adds the second one, send it once`;

interface Form {
  readonly columns: SignatureColumns;
  /** What stands behind the prefix. */
  readonly value: string;
}

/** The forms in which the value can be read: without a prefix, or behind one; the algorithm by the length. */
function formsOf(columns: SignatureColumns, header: string): readonly Form[] {
  const isHmac = columns.algorithm.startsWith('hmac-');
  const own = columns.prefix ?? '';
  const prefixes = [...new Set([header.startsWith(own) ? own : '', prefixOf(header), ''])];
  const encodings = [...new Set([columns.encoding, ...ENCODINGS])];
  return prefixes.flatMap((prefix) =>
    encodings.flatMap((encoding) => {
      const value = header.slice(prefix.length);
      const signature = decodeExactly(value, encoding);
      const hash = hashOf(signature);
      const fits = signature !== undefined && (!isHmac || hash !== undefined);
      const algorithm = isHmac && hash !== undefined ? (`hmac-${hash}` as const) : columns.algorithm;
      return fits ? [{ columns: { ...columns, prefix, encoding, algorithm }, value }] : [];
    }),
  );
}

function isSignedBy(columns: SignatureColumns, keys: readonly KeyObject[], request: SignedRequest): boolean {
  const parts = compileContent(columns.signed);
  const presented = readPresented({ ...columns, prefix: '' }, parts, request);
  if (typeof presented === 'string') return false;
  const content = contentBytes(parts, valuesOf(request, presented));
  return findKey({ columns, keys }, content, presented.signatures) >= 0;
}

function withHeader(request: SignedRequest, name: string, value: string): SignedRequest {
  const rawHeaders = request.rawHeaders.map((entry, index, all) =>
    index % 2 === 1 && (all[index - 1] as string).toLowerCase() === name ? value : entry,
  );
  return { ...request, rawHeaders };
}

/** The columns that differ, with what to write; the doctor of a provider's path makes the whole verify of it. */
function otherForm(columns: SignatureColumns, found: SignatureColumns, isRight: boolean): FoundKeys {
  const { header, prefix: expected = '' } = columns;
  const { prefix = '', encoding, algorithm } = found;
  const isOther = { prefix: prefix !== expected, encoding: encoding !== columns.encoding };
  const what = [
    ...(isOther.prefix ? [prefixText(prefix, expected)] : []),
    ...(isOther.encoding
      ? [
          `${isRight ? 'is the right signature, written in' : 'has the form of'} ${encoding}; this path expects ${columns.encoding}`,
        ]
      : []),
    ...(algorithm === columns.algorithm ? [] : [`is as long as one of ${algorithm.slice('hmac-'.length)}`]),
  ];
  return {
    code: isOther.prefix ? 'prefix' : isOther.encoding ? 'encoding' : 'algorithm',
    text: say`the value of ${header} ${what.join(', and ')}`,
    change: {
      ...(isOther.prefix ? { prefix } : {}),
      ...(isOther.encoding ? { encoding } : {}),
      ...(algorithm === columns.algorithm ? {} : { algorithm: algorithm.slice('hmac-'.length) }),
    },
  };
}

function prefixText(found: string, expected: string): string {
  if (expected === '') return `begins with "${found}", and verify has no prefix`;
  const begins = found === '' ? '' : `begins with "${found}": it `;
  return `${begins}does not begin with "${expected}", which this path expects`;
}

function listText(header: string, value: string, separator: string): Sentence {
  const names = itemNames(value, separator, '=').filter(isItemName);
  const time = names.find((name) => /^(?:t|ts|timestamp)$/i.test(name));
  const field = names.find((name) => name !== time) ?? '';
  const timed = time === undefined ? '' : say`, timestampField: ${time}, signed: '{timestamp}.{body}'`;
  return say`the value of ${header} is a list (${names.map((name) => `${name}=…`).join(separator)}), and this path expects the signature alone: ${write(`separator: '${separator}'`)}, signatureField: ${field}${timed} in verify of the mapping`;
}

/** The names of the first items of a list; an item without a name may be the signature itself. */
function itemNames(value: string, separator: string, assign: string): readonly string[] {
  return value
    .split(separator, 6)
    .map((item) => item.trim())
    .filter((item) => item.includes(assign))
    .map((item) => item.split(assign, 1)[0] ?? '');
}

const isItemName = (name: string): boolean => /^[\w-]{1,20}$/.test(name);

function missingField(
  { header, separator = ',', assign = '=', signatureField = '' }: SignatureColumns,
  value: string,
): FoundKeys | undefined {
  const named = itemNames(value, separator, assign);
  if (named.includes(signatureField)) return undefined;
  const there =
    named.every(isItemName) && named.length > 0
      ? say`; its items are ${named.join(', ')}`
      : say`; it is no list`;
  return {
    code: 'malformed-proof',
    text: say`the value of ${header} has no item ${signatureField}${assign}…, which this path expects${there}`,
  };
}

function notEncoded({ header, encoding, prefix = '' }: SignatureColumns, value: string): Sentence {
  const rest = value.startsWith(prefix) ? value.slice(prefix.length) : value;
  const begins = value.startsWith(prefix) ? '' : say`does not begin with "${prefix}", and `;
  return say`the value of ${header} ${begins}is no signature in ${encoding}, nor in another encoding (${String(rest.length)} characters): ${todo}look what the sender puts there, and whether verify names the right header`;
}
