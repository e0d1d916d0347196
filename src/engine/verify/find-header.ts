/** What stands in a header: nothing, one value, or more than one, which no proof may choose from. */
export type HeaderValue = string | undefined | typeof SEVERAL;

export const SEVERAL = Symbol('several');

/**
 * The value of a header in node's flat list, without the blanks and tabs around it that RFC 9110, 5.5 allows: all other
 * bytes are the sender's, a no-break space among them. `name` is in lower case.
 */
export function findHeader(rawHeaders: readonly string[], name: string): HeaderValue {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    if (found !== undefined) return SEVERAL;
    found = rawHeaders[i + 1] as string;
  }
  return found === undefined ? undefined : withoutBlanks(found);
}

function withoutBlanks(text: string): string {
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** Headers that are looked at: a sender chooses how many it sends, and each is looked for among all. */
const MAX_FOUND = 2;
const MAX_CANDIDATES = 8;

/** Whether a name, which a sender chooses, may be shown and written into a mapping. */
export const isPlainHeaderName = (name: string): boolean => /^[\w-]{1,60}$/.test(name);

/** Headers with such a name and such a value, the first few; a name that is there twice counts as none. */
export function findHeadersLike(
  rawHeaders: readonly string[],
  names: Pick<RegExp, 'test'>,
  values: RegExp,
): readonly { readonly name: string; readonly text: string }[] {
  const found: { name: string; text: string }[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (found.length === MAX_FOUND || seen.size === MAX_CANDIDATES) break;
    const name = (rawHeaders[at] as string).toLowerCase();
    if (seen.has(name) || !names.test(name) || !isPlainHeaderName(name)) continue;
    seen.add(name);
    const text = findHeader(rawHeaders, name);
    if (typeof text === 'string' && values.test(text)) found.push({ name, text });
  }
  return found;
}

/** True where the body is a form, as the header says it; only such a body's fields are signed as fields. */
export function isForm(rawHeaders: readonly string[]): boolean {
  return mediaTypeOf(rawHeaders) === 'application/x-www-form-urlencoded';
}

export function isFormInParts(rawHeaders: readonly string[]): boolean {
  return mediaTypeOf(rawHeaders) === 'multipart/form-data';
}

function mediaTypeOf(rawHeaders: readonly string[]): string | undefined {
  const type = findHeader(rawHeaders, 'content-type');
  return typeof type === 'string' ? type.split(';', 1)[0]?.trim().toLowerCase() : undefined;
}
