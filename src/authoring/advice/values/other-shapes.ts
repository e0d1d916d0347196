/** A value of another kind than the one that is wanted, written as that: in quotes, in brackets, as an object of its parts. */
import type { z } from 'zod';
import { isJsonObject } from '../../../base/json.ts';
import type { Place } from '../../../base/finding.ts';
import { holdsCredentials, isSecretPath } from '../../../base/document/document.ts';
import { type ValueHint } from '../schema-hints.ts';
import { knownKeys } from '../../../base/document/facts.ts';

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
  if (!Array.isArray(value) || typeof value[0] !== 'string') return undefined;
  const isOne = value.length === 1 && !holdsCredentials(value[0]);
  return isOne ? { hint: NO_BRACKETS, text: JSON.stringify(value[0]) } : undefined;
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
        hint: 'write "- " before the first key, and indent the others by two spaces more: it is a list',
      };
}

function asObject({ key, value, at, schemas }: OtherShape): ValueHint | undefined {
  const written = textAt(at);
  if (typeof value === 'string') return ofText(value, schemas);
  if (!Array.isArray(value)) return undefined;
  const [only, ...more] = value as readonly unknown[];
  const isMeant =
    more.length === 0 && isJsonObject(only) && schemas.some((one) => one.safeParse(only).success);
  if (!isMeant) return undefined;
  return written.startsWith('[')
    ? { hint: NO_BRACKETS, text: written.slice(1, -1).trim() }
    : { hint: `remove the dash before ${Object.keys(only)[0] ?? key}: it is one object and no list` };
}

/** `path:github` */
function ofText(text: string, schemas: OtherShape['schemas']): ValueHint | undefined {
  const [, key = '', value = ''] = /^([A-Za-z_]\w*)[:：]\s*(\S.*)$/.exec(text.trim()) ?? [];
  const isKey = schemas.some((one) => knownKeys(one).includes(key));
  return !isKey || isSecretPath([key]) || holdsCredentials(value)
    ? undefined
    : {
        hint: `write ${key}: ${value}, with a space behind the colon`,
        text: `{${key}: ${JSON.stringify(value)}}`,
      };
}
