import * as z from 'zod';
import { findHeader } from './find-header.ts';
import type { SignedRequest } from './scheme.ts';
import { readJsonMember } from './signed-fields.ts';

/* A question that stands in one place of a request and wants it back: the way in which most providers check an address. */

const MAX_ECHO_BYTES = 1024;
const HEADER_NAME = /^[A-Za-z\d][A-Za-z\d-]{0,79}$/;
/** What a header of an answer can carry without a second line, or an escape. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** `challenge: {echo: …}` of a path, as it is written in a mapping. */
export const EchoSettings = z.strictObject({
  echo: z
    .string()
    .regex(/^(?:query\.[\w.-]{1,80}|headers\.[A-Za-z\d][A-Za-z\d-]{0,79}|body(?:\.[\w-]{1,80}){1,5})$/, {
      error: 'query.NAME, headers.NAME or body.NAME, such as query.challenge',
    })
    .describe(
      'Where the text stands that is sent back: query.NAME of a GET, headers.NAME, or body.NAME of a POST.',
    ),
  as: z
    .enum(['text', 'json', 'header'])
    .optional()
    .describe('How it is sent back; default text for query, json for body, header for headers.'),
  name: z
    .string()
    .regex(/^[\w.-]{1,80}$/)
    .optional()
    .describe('The key or the header in which it is sent back; default the name that it came under.'),
});
export type EchoSettings = z.output<typeof EchoSettings>;

type Source = 'query' | 'headers' | 'body';

/** The same, read. */
export interface EchoQuestion {
  readonly kind: 'echo';
  readonly from: Source;
  /** One name, or those on the way to a member of the body. */
  readonly path: readonly string[];
  readonly as: 'text' | 'json' | 'header';
  readonly name: string;
}

const USUAL_FORMS = { query: 'text', headers: 'header', body: 'json' } as const;

export function readEcho({ echo, as, name }: EchoSettings): EchoQuestion {
  const dot = echo.indexOf('.');
  const from = echo.slice(0, dot) as Source;
  const rest = echo.slice(dot + 1);
  const path = from === 'body' ? rest.split('.') : [from === 'headers' ? rest.toLowerCase() : rest];
  return { kind: 'echo', from, path, as: as ?? USUAL_FORMS[from], name: name ?? path.at(-1) ?? rest };
}

interface AskedRequest extends Pick<SignedRequest, 'method' | 'rawHeaders' | 'body'> {
  readonly query: Readonly<Record<string, string>>;
}

/** The text that is asked to be sent back; undefined of a request that asks nothing. */
export function askedText({ from, path }: EchoQuestion, request: AskedRequest): string | undefined {
  const { method, query, rawHeaders, body } = request;
  const [name = ''] = path;
  switch (from) {
    case 'query':
      return method === 'GET' && Object.hasOwn(query, name) ? query[name] : undefined;
    case 'headers': {
      const value = findHeader(rawHeaders, name);
      return typeof value === 'string' ? value : undefined;
    }
    case 'body':
      return method === 'POST' ? (readJsonMember(body, path) ?? formField(body, path)) : undefined;
  }
}

/** A field of a short form. */
function formField(body: Buffer, [name = '', ...deeper]: readonly string[]): string | undefined {
  if (deeper.length > 0 || body.length > MAX_ECHO_BYTES || body[0] === 0x7b) return undefined;
  return new URLSearchParams(body.toString('utf8')).get(name) ?? undefined;
}

/** Whether a text can be sent back in this form; strangers write it. */
export function canEcho({ as, name }: Pick<EchoQuestion, 'as' | 'name'>, text: string): boolean {
  if (text === '' || Buffer.byteLength(text) > MAX_ECHO_BYTES) return false;
  return as !== 'header' || (HEADER_NAME.test(name) && HEADER_TEXT.test(text));
}
