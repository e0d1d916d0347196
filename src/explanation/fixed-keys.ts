/*
 * Keys of a mapping that are a fixed text where a field of the request was meant: `debounce: {key: host}`. A fixed text is
 * right where one key for all is wanted, so it is told only where the request has a field of that name.
 */
import { shown, spanOf } from '../advice/requests.ts';
import { formatPlace, type Place } from '../document/document.ts';
import { fieldAt, isScalar, type JsonValue } from '../json.ts';
import type { CompiledMapping, CompiledTemplate } from '../mapping/mapping.ts';

/** The keys, and what it means that one is the same for every request. */
const KEYS: Readonly<
  Record<
    string,
    {
      readonly of: (mapping: CompiledMapping) => CompiledTemplate | undefined;
      readonly means: (mapping: CompiledMapping) => string;
    }
  >
> = {
  'debounce.key': {
    of: ({ debounce }) => debounce?.key,
    means: () => 'so events of this mapping join one run, whatever they are about',
  },
  'dedupe.key': {
    of: ({ dedupe }) => (dedupe === undefined || dedupe.key === 'body' ? undefined : dedupe.key),
    means: ({ dedupe }) =>
      `so every other event counts as a repeat of the first, for ${spanOf(dedupe?.ttlSeconds ?? 0)}`,
  },
  sessionKey: {
    of: ({ sessionKey }) => sessionKey,
    means: () => 'so events of this mapping share one conversation, whatever they are about',
  },
  name: { of: ({ name }) => name, means: () => 'so every run has this name' },
  to: { of: ({ to }) => to, means: () => 'so every reply goes to a recipient of this name' },
};

/** A path as people write it without braces; letters of both cases are those of the field. */
const PATH = /^\$?\.?(?:(?:body|payload)\.)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,20})$/;

/** Of one of the keys; undefined where it is no field of this request. */
export function fixedKeyNote(
  key: string,
  mapping: CompiledMapping | undefined,
  payload: JsonValue | undefined,
): { readonly at: Place; readonly text: string } | undefined {
  const { of, means } = KEYS[key] ?? {};
  const template = mapping && of?.(mapping);
  const literal = template?.literal?.trim() ?? '';
  const [, path] = PATH.exec(literal) ?? [];
  if (mapping === undefined || template === undefined || path === undefined) return undefined;
  const keys = path.split('.');
  const value = fieldAt(payload, keys);
  if (value === undefined || !isScalar(value) || value === '') return undefined;
  const name = key.split('.').at(-1) ?? key;
  return {
    at: template.at,
    text: `the key is the fixed text ${literal}, the same for every request, ${means?.(mapping) ?? ''}. The request has ${path} (${shown(keys, value)}): write ${name}: '{{${path}}}'`,
  };
}

interface FixedKeyNote {
  readonly setting: string;
  readonly at: string;
  readonly text: string;
}

/** Such notes before all others, of which those go that are about the same key. */
export function withFixedKeys<Note extends { readonly setting: string }>(
  mapping: CompiledMapping | undefined,
  payload: JsonValue | undefined,
  others: readonly Note[],
): readonly (Note | FixedKeyNote)[] {
  const fixed = Object.keys(KEYS).flatMap((setting) => {
    const told = fixedKeyNote(setting, mapping, payload);
    return told === undefined ? [] : [{ setting, at: formatPlace(told.at), text: told.text }];
  });
  const keys = new Set(fixed.map(({ setting }) => setting));
  return [...fixed, ...others.filter(({ setting }) => !isAboutFixed(setting, keys))];
}

/** Whether a note is one of these. */
export const isFixedNote = (text: string): boolean => text.startsWith('the key is the fixed text ');

/** Settings of which nothing else is told beside that. */
export function isAboutFixed(setting: string, fixed: ReadonlySet<string>): boolean {
  return fixed.has(setting) || [...fixed].some((key) => key.startsWith(`${setting}.`));
}
