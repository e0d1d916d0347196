/* Fields that hold JSON as a text, as it is or in base64: no path of a condition or a template leads into one. */
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';

/** A field with JSON in it. */
export interface EncodedField {
  /** As the reader of it wrote it. */
  readonly path: string;
  readonly isBase64: boolean;
}

/** What a path can begin with. */
export interface JsonTextScope {
  readonly request: Pick<HookRequest, 'payload'>;
  readonly item?: JsonValue | undefined;
}

/** Longer texts are not decoded to be looked at. */
const MAX_DECODED_CHARS = 262_144;

/** The JSON of a text, with how it stands there; undefined of any other text. */
export function readEncoded(text: string): { readonly json: string; readonly isBase64: boolean } | undefined {
  if (isJsonLike(text)) return { json: text, isBase64: false };
  // What begins with `{` or `[` begins so in base64.
  const isBase64 = /^(?:e[a-zA-Z0-9]|W[a-zA-Z0-9])[\w+/-]{6,}={0,2}$/.test(text);
  if (!isBase64 || text.length > MAX_DECODED_CHARS) return undefined;
  const json = Buffer.from(text, 'base64').toString('utf8');
  return isJsonLike(json) ? { json, isBase64 } : undefined;
}

const isJsonLike = (text: string): boolean => /^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text);

/** The part of a path at which there is a text with JSON in it. */
export function jsonTextOn(path: string, { request, item }: JsonTextScope): EncodedField | undefined {
  if (!/^[A-Za-z_][\w-]*(?:\.[\w-]+)+$/.test(path)) return undefined;
  const [first = '', ...rest] = path.split('.');
  const roots = { payload: request.payload, item: item ?? null, headers: null, query: null };
  const hasRoot = Object.hasOwn(roots, first);
  let value: JsonValue | undefined = hasRoot ? roots[first as keyof typeof roots] : request.payload;
  const keys = hasRoot ? rest : [first, ...rest];
  for (const [index, key] of keys.entries()) {
    if (typeof value === 'string') {
      const before = [...(hasRoot ? [first] : []), ...keys.slice(0, index)].join('.');
      const found = readEncoded(value);
      return found && { path: before, isBase64: found.isBase64 };
    }
    const isInside: boolean = (isJsonObject(value) || Array.isArray(value)) && Object.hasOwn(value, key);
    value = isInside ? (value as Readonly<Record<string, JsonValue>>)[key] : undefined;
  }
  return undefined;
}

/** How a transform reads it; `code` is the field in JavaScript. */
export const parseCode = (code: string, isBase64: boolean): string =>
  isBase64 ? `JSON.parse(Buffer.from(${code}, 'base64').toString('utf8'))` : `JSON.parse(${code})`;

/** What such a field is, for people. */
export const encodedWords = (isBase64: boolean): string =>
  isBase64 ? 'JSON in base64' : 'a text that holds JSON';
