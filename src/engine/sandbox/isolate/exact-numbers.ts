/**
 * Numbers as their sender wrote them. `JSON.parse` makes doubles, so an id of 18 digits loses its last ones; the text
 * of the argument still has them. It is read once more, with the text of each number, when a transform asks.
 */

/** The text of a number below an object or an array of a transform's argument. */
export type ExactTextOf = (holder: unknown, key: string | number) => string | undefined;

/** A transform's argument as text, and what `JSON.parse` made of it. */
export interface ArgumentText {
  readonly json: string;
  readonly value: unknown;
}

/** `JSON.parse` hands the source text of each primitive to its reviver; TypeScript's library does not know it yet. */
type Revive = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Reads the argument that `argument` says; asked for again after another call began, it reads that one's. */
export function createExactText(argument: () => ArgumentText): ExactTextOf {
  let read: ArgumentText | undefined;
  let texts = new Map<unknown, unknown>();
  return (holder, key) => {
    if (typeof holder !== 'object' || holder === null) return undefined;
    const value = (holder as Record<string, unknown>)[key];
    if (typeof value !== 'number') return undefined;
    const current = argument();
    if (read !== current) {
      texts = pairUp(current.value, JSON.parse(current.json, textOfNumber as never) as unknown);
      read = current;
    }
    const text = (texts.get(holder) as Record<string, unknown> | undefined)?.[key];
    // The transform may have put another number there.
    return typeof text === 'string' && Object.is(Number(text), value) ? text : String(value);
  };
}

const textOfNumber: Revive = (_, value, { source }) => (typeof value === 'number' ? source : value);

/** Every object and array of a value with its double that holds texts. */
function pairUp(value: unknown, double: unknown): Map<unknown, unknown> {
  const pairs = new Map<unknown, unknown>();
  const waiting: [unknown, unknown][] = [[value, double]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [one, other] = next;
    if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) continue;
    if (pairs.has(one)) continue;
    pairs.set(one, other);
    for (const key of Object.keys(other)) {
      const held = Object.getOwnPropertyDescriptor(one, key)?.value as unknown;
      waiting.push([held, (other as Record<string, unknown>)[key]]);
    }
  }
  return pairs;
}
