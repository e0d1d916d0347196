const MAX_DESCRIPTION_CHARS = 300;

/** A platform's words on one line of at most 300 characters, with our secrets removed. */
export function describe(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  let clean = text.slice(0, MAX_DESCRIPTION_CHARS * 4);
  for (const secret of secrets) clean = clean.replaceAll(secret, '***');
  clean = clean.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return clean.length > MAX_DESCRIPTION_CHARS ? `${clean.slice(0, MAX_DESCRIPTION_CHARS - 1)}…` : clean;
}

/** A property of an unknown value; undefined where it is no object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A property that is a list; empty where it is none. */
export function listField(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** A property that is text; undefined where it is not. */
export function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' ? text : undefined;
}
