import assert from 'node:assert/strict';

/** What a signature covers, compiled from a text such as `v0:{timestamp}:{body}`. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'body' | 'timestamp' | 'id' | 'url' | 'method' };

const PLACEHOLDER = /\{([a-z]*)\}/g;
const NAMES = ['body', 'timestamp', 'id', 'url', 'method'] as const;

/** The values of one request; absent ones are not signed by this scheme. */
export interface ContentValues {
  readonly body: Buffer;
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
  readonly url: string;
  readonly method: string;
}

export function findContentProblem(signed: string): string | undefined {
  for (const [all, name] of signed.matchAll(PLACEHOLDER)) {
    if (!NAMES.some((known) => known === name)) {
      return `${all} is not a placeholder, expected one of {${NAMES.join('}, {')}}`;
    }
  }
  return /\{(?:body|url)\}/.test(signed)
    ? undefined
    : 'must contain {body}, without which the payload is not signed';
}

/** Compiles a text in which `findContentProblem` finds nothing. */
export function compileContent(signed: string): readonly ContentPart[] {
  const parts: ContentPart[] = [];
  let at = 0;
  for (const match of signed.matchAll(PLACEHOLDER)) {
    if (match.index > at) parts.push({ kind: 'text', text: signed.slice(at, match.index) });
    const name = NAMES.find((known) => known === match[1]);
    assert(name !== undefined, 'the settings hold only placeholders that are known');
    parts.push({ kind: name });
    at = match.index + match[0].length;
  }
  if (at < signed.length) parts.push({ kind: 'text', text: signed.slice(at) });
  return parts;
}

/** The bytes of each part, in order. Header values arrive as latin1, so their bytes are what was sent. */
export function contentBytes(parts: readonly ContentPart[], values: ContentValues): readonly Buffer[] {
  return parts.map((part) => {
    switch (part.kind) {
      case 'text':
        return Buffer.from(part.text, 'utf8');
      case 'body':
        return values.body;
      case 'url':
        return Buffer.from(values.url, 'latin1');
      case 'timestamp':
      case 'id':
      case 'method':
        return Buffer.from(values[part.kind] ?? '', 'latin1');
    }
  });
}
