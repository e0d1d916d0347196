/** What all parts of a URL are made of. */

const SPECIAL_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['https', '443'],
  ['ws', '80'],
  ['wss', '443'],
  ['ftp', '21'],
]);

/** The port a special scheme has by itself; undefined for any other scheme. */
export function specialPort(scheme: string): string | undefined {
  return SPECIAL_PORTS.get(scheme);
}

export function textOf(value: unknown): string {
  return String(value);
}

export function invalidUrl(): never {
  throw new TypeError('Invalid URL');
}

/** Percent-encodes, in UTF-8, controls, everything outside ASCII and the characters of `set`. */
export function percentEncode(text: string, set: string): string {
  let out = '';
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0x7e) out += encodeURIComponent(character);
    else if (code < 0x21 || set.includes(character))
      out += `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    else out += character;
  }
  return out;
}

const QUERY = '"#<>';
const PATH = `${QUERY}?^\`{}`;

/** What `percentEncode` encodes in each part of a URL. */
export const ENCODE_SETS = {
  fragment: '"<>`',
  query: QUERY,
  specialQuery: `${QUERY}'`,
  path: PATH,
  userinfo: `${PATH}/:;=@[\\]|`,
} as const;

/** The text before the first `mark`, and what follows it. */
export function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
