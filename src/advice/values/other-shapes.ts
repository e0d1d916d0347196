/** A value of another kind than the one that is wanted, written as that: in quotes, in brackets, as an object of its parts. */
import type { z } from 'zod';
import { isJsonObject } from '../../json.ts';
import type { Place } from '../../finding.ts';
import { holdsCredentials, isSecretPath } from '../../document/document.ts';
import { type ValueHint } from '../schema-words.ts';
import { knownKeys } from '../../document/facts.ts';

/** Longer values are not written out. */
const MAX_SHOWN = 400;

export interface OtherShape {
  readonly key: string;
  /** Whether the value may be a secret: then no hint repeats it. */
  readonly secret: boolean;
  readonly value: unknown;
  /** The kinds that are taken, in words. */
  readonly expected: readonly string[];
  readonly schemas: readonly z.ZodType[];
  readonly at: Place;
}

/** Undefined where nothing says that the value is meant. */
export function otherShape(shape: OtherShape): ValueHint | undefined {
  const { expected, secret } = shape;
  const found =
    (expected.includes('a string') ? asString(shape) : undefined) ??
    (expected.includes('a list') ? asList(shape) : undefined) ??
    (expected.includes('an object') ? asObject(shape) : undefined);
  return secret && found !== undefined && !WITHOUT_VALUE.has(found.hint) ? undefined : found;
}

const QUOTES = 'put it in quotes';
const BRACKETS = 'put it in [ ]';
const NO_BRACKETS = 'write it without [ ]';
const WITHOUT_VALUE: ReadonlySet<string> = new Set([QUOTES, BRACKETS, NO_BRACKETS]);

const textAt = ({ source, start, end }: Place): string => source.text.slice(start, end);

function asString({ key, value, at }: OtherShape): ValueHint | undefined {
  const written = textAt(at);
  if (typeof value === 'number' || typeof value === 'boolean') return { hint: QUOTES, text: `"${written}"` };
  // A template or placeholder without quotes is a map.
  if (/^\{\{?[\w .-]+\}\}?$/.test(written))
    return { hint: `put it in quotes: ${key}: '${written}'`, text: `'${written}'` };
  if (!Array.isArray(value) || value.length === 0 || !value.every((one) => typeof one === 'string'))
    return undefined;
  const [only] = value;
  if (value.some((one: string) => holdsCredentials(one))) return undefined;
  if (value.length === 1) return { hint: NO_BRACKETS, text: JSON.stringify(only) };
  const lines = value.map((one: string) => `  ${one}`).join('\n');
  const isProse = value.some((one: string) => /\s/.test(one.trim()));
  return isProse && lines.length <= MAX_SHOWN
    ? { hint: `it is one text of several lines: write\n${key}: |\n${lines}` }
    : {
        hint: `it is one text: write ${key}: ${wordOf(String(value[0]).slice(0, 80))}, or another one of them`,
      };
}

function asList({ value, at, schemas }: OtherShape): ValueHint | undefined {
  const written = textAt(at);
  if (typeof value === 'string' || typeof value === 'number') {
    const item = /^[|>]|[,\n]/.test(written) ? JSON.stringify(value) : written;
    return { hint: BRACKETS, text: `[${item}]` };
  }
  if (!isJsonObject(value) || !schemas.some((one) => one.safeParse([value]).success)) return undefined;
  return written.startsWith('{')
    ? { hint: BRACKETS, text: `[${written}]` }
    : {
        hint: 'a list begins with a dash: write "- " before the first key, and indent the others by two spaces more',
      };
}

function asObject({ key, value, at, schemas }: OtherShape): ValueHint | undefined {
  const written = textAt(at);
  if (typeof value === 'string') return ofText(value, { key, schemas });
  if (!Array.isArray(value)) return undefined;
  const [only, ...more] = value as readonly unknown[];
  if (more.length === 0 && isJsonObject(only) && schemas.some((one) => one.safeParse(only).success)) {
    return written.startsWith('[')
      ? { hint: NO_BRACKETS, text: written.slice(1, -1).trim() }
      : { hint: `it is one object and no list: remove the dash before ${Object.keys(only)[0] ?? key}` };
  }
  const merged = mergedOf(value as readonly unknown[]);
  return merged === undefined ? undefined : asWrittenObject(merged, { key, schemas });
}

type Taken = Pick<OtherShape, 'key' | 'schemas'>;

/** `path:github`, `a=b&c=d` or `A=b`. */
function ofText(text: string, taken: Taken): ValueHint | undefined {
  const [, key = '', value = ''] = /^([A-Za-z_]\w*)[:：]\s*(\S.*)$/.exec(text.trim()) ?? [];
  if (!mayBeSecret(key, value) && taken.schemas.some((one) => knownKeys(one).includes(key)))
    return {
      hint: `a space is missing behind the colon: write ${key}: ${value}`,
      text: `{${key}: ${JSON.stringify(value)}}`,
    };
  const pairs = text.split('&').map(pairOf);
  return pairs.includes(undefined) ? undefined : asWrittenObject(Object.assign({}, ...pairs), taken);
}

function asWrittenObject(value: object, { key, schemas }: Taken): ValueHint | undefined {
  if (!schemas.some((one) => knownKeys(one).length === 0 && one.safeParse(value).success)) return undefined;
  if (Object.entries(value).some(([name, one]) => mayBeSecret(name, one))) return undefined;
  const members = Object.entries(value).map(([name, one]) => `${wordOf(name)}: ${JSON.stringify(one)}`);
  const text = `{${members.join(', ')}}`;
  return text.length > MAX_SHOWN ? undefined : { hint: `write ${key}: ${text}`, text };
}

function mayBeSecret(name: string, value: unknown): boolean {
  const text = JSON.stringify(value) ?? '';
  return !/^"\$\{\w+\}"$/.test(text) && (isSecretPath([name]) || holdsCredentials(text.slice(1, -1)));
}

const wordOf = (name: string): string => (/^[A-Za-z_][\w-]*$/.test(name) ? name : JSON.stringify(name));

/** A list of `{name: value}`, `{name: A, value: b}` or `A=b` as one object. */
function mergedOf(list: readonly unknown[]): object | undefined {
  const parts = list.map((one) => {
    if (typeof one === 'string') return pairOf(one);
    if (!isJsonObject(one)) return undefined;
    const { name, key = name, value, ...rest } = one;
    return typeof key === 'string' && value !== undefined && Object.keys(rest).length === 0
      ? { [key]: value }
      : one;
  });
  return parts.length === 0 || parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
}

function pairOf(text: string): object | undefined {
  const [, name = '', value = ''] = /^([A-Za-z][\w.-]*)\s*(?:=|:\s+)(.*)$/.exec(text.trim()) ?? [];
  return name === '' ? undefined : { [name]: value };
}
