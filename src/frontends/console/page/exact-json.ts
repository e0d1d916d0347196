/** Parses JSON with numbers exactly as they were sent. */

/** A number that a double cannot hold, as its text. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type ExactValue =
  | null
  | boolean
  | number
  | string
  | NumberText
  | readonly ExactValue[]
  | { readonly [key: string]: ExactValue };

/** Parses JSON. Browsers give the text of a number since 2024; an older one shows the nearest double. */
export function parseExact(text: string): ExactValue {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined) return value;
    if (String(value) === source || Number.isSafeInteger(value)) return value;
    // 1.50 and 1.5e0 are the same number; more digits than a double has are not.
    return source.replaceAll(/\D/g, '').length <= 15 ? value : new NumberText(source);
  }) as ExactValue;
}

/** The list is made once for each object, because one with 100,000 keys is asked for them many times. */
const known = new WeakMap<object, readonly (readonly [string, ExactValue])[]>();

/** Returns keys and values of what holds others; none for anything else. */
export function entriesOf(value: ExactValue): readonly (readonly [string, ExactValue])[] {
  if (typeof value !== 'object' || value === null || value instanceof NumberText) return [];
  const found = known.get(value) ?? Object.entries(value);
  known.set(value, found);
  return found;
}

export function sizeOf(value: ExactValue): number {
  return Array.isArray(value) ? value.length : entriesOf(value).length;
}
