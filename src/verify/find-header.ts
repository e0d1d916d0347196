/** What stands in a header: nothing, one value, or more than one, which no proof may choose from. */
export type HeaderValue = string | undefined | typeof SEVERAL;

export const SEVERAL = Symbol('several');

/** The value of a header in node's flat list, without white space around it. `name` is in lower case. */
export function findHeader(rawHeaders: readonly string[], name: string): HeaderValue {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    if (found !== undefined) return SEVERAL;
    found = rawHeaders[i + 1] as string;
  }
  return found?.trim();
}

/** True where the body is a form, as the header says it; only such a body's fields are signed as fields. */
export function isForm(rawHeaders: readonly string[]): boolean {
  const type = findHeader(rawHeaders, 'content-type');
  if (typeof type !== 'string') return false;
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}
