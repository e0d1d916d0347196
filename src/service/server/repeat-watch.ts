import type { DedupeKey } from '../../base/action.ts';

/** A sender tries one event again with another time or count in its body, but hardly so often. */
const MANY = 10;
/** Keys that are looked at; the oldest is forgotten. */
const MAX_KEYS = 1_000;

/** Notices keys of `dedupe` that are the same for events of their own: their repeats have many different bodies. */
export class RepeatWatch {
  readonly #bodies = new Map<string, Set<string>>();
  readonly #told = new Set<string>();

  /** How many bodies the repeats of this key had, where that has just become too many; once for each mapping. */
  count({ scope, key }: DedupeKey, bodySha256: string): number | undefined {
    if (this.#told.has(scope)) return undefined;
    const name = `${scope}\n${key}`;
    const bodies = this.#bodies.get(name) ?? new Set<string>();
    bodies.add(bodySha256);
    this.#bodies.delete(name);
    this.#bodies.set(name, bodies);
    const [oldest = ''] = this.#bodies.keys();
    if (this.#bodies.size > MAX_KEYS) this.#bodies.delete(oldest);
    if (bodies.size < MANY) return undefined;
    this.#told.add(scope);
    return bodies.size;
  }
}
