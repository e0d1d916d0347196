/** Rules of fields with the values that are wanted, as other tools write them: `{action: opened}`, and names with a sign. */
import { isScalar, type JsonObject } from '../../../base/json.ts';
import { renameVariables } from '../rule-parts.ts';
import { withDots, withoutRoot } from './paths.ts';

export type FieldRule = Readonly<Record<string, unknown>>;

function oneOf(path: string, values: readonly unknown[]): FieldRule | undefined {
  if (values.length === 0 || !values.every(isScalar)) return undefined;
  return values.length === 1 ? { '===': [{ var: path }, values[0]] } : { in: [{ var: path }, values] };
}

/** The rule for a sign or a word of comparison, spelt in small letters, of what a rule reads; undefined where it is not known. */
export function compareTo(name: string, read: object, value: unknown): FieldRule | undefined {
  if (/^(?:not(?!equal)|doesnot|nin$)/.test(name)) {
    const rule = compareTo(name.replace(/^(?:not|doesnot|n(?=in$))/, ''), read, value);
    return rule && { '!': rule };
  }
  if (/^(?:exists?|isset|present|defined)$/.test(name))
    return value === false ? isMissing(read) : isThere(read);
  const sign = SIGNS.get(name);
  if (value === null) return sign === '===' ? isMissing(read) : sign === '!==' ? isThere(read) : undefined;
  if (name === 'in' || name === 'oneof')
    return Array.isArray(value) && 'var' in read ? oneOf(String(read.var), value) : undefined;
  if (!isScalar(value)) return undefined;
  if (sign !== undefined) return { [sign]: [read, value] };
  if (/^(?:contain|include)s?$/.test(name)) return value === '' ? undefined : { in: [value, read] };
  if (typeof value !== 'string' || value === '') return undefined;
  if (/^(?:(?:starts?|begins)with|hasprefix)$/.test(name))
    return { '===': [{ substr: [read, 0, value.length] }, value] };
  return /^(?:endswith|endwith|hassuffix)$/.test(name)
    ? { '===': [{ substr: [read, -value.length] }, value] }
    : undefined;
}

/** false and 0 are there, too; of what is no name only its truth can be asked. */
function isThere(read: object): FieldRule {
  const missing = isMissing(read);
  return 'missing' in missing ? { '!': missing } : { '!!': read };
}

function isMissing(read: object): FieldRule {
  const name = 'var' in read ? read.var : undefined;
  return typeof name === 'string' && name !== '' ? { missing: [name] } : { '!': read };
}

/** Signs with the words for them, spelt in small letters. */
export const SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '===': 'eq equal equals equalto is = ==',
    '!==': 'ne neq notequal notequals != <>',
    '>': 'gt larger greaterthan',
    '>=': 'gte greaterthaninclusive greaterthanorequal largerequal',
    '<': 'lt smaller lessthan',
    '<=': 'lte lessthaninclusive lessthanorequal smallerequal',
  }).flatMap(([sign, words]) => [sign, ...words.split(' ')].map((word) => [word, sign])),
);

/** A path as other tools write it, in the words for the request here. */
export function pathHere(written: string): string | undefined {
  const bare = written
    .replace(/^=?\s*\$?\{\{\s*/, '')
    .replace(/\s*\}\}\s*$/, '')
    .trim();
  const steps = withDots(bare.replaceAll('?.', '.'));
  if (!/^[\w$@.-]+$/.test(steps)) return undefined;
  const inner = withoutRoot(steps.replace(/^@\./, '').replace(/^\$json\.(?=headers\.|query\.)/, ''));
  const header = /^(?:headers?|request\.headers?)\.(.+)$/.exec(inner)?.[1];
  if (header !== undefined) return `headers.${header.toLowerCase()}`;
  if (/^(?:query|payload|item)\.|^(?:payload|path|now|item|index)$/.test(inner)) return inner;
  return `payload.${inner.replace(/^body\.(?=.)/, '')}`;
}

/** The same rule where the names are those of an element. */
export const ofElement = (rule: FieldRule): FieldRule =>
  renameVariables(rule as JsonObject, (name) => name.replace(/^payload\./, '')) as FieldRule;
