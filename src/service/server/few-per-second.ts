const PER_SECOND = 5;
/** Of all together, where each has its own five. */
const PER_SECOND_OF_ALL = 2 * PER_SECOND;

/** Lets a few things a second happen: to find why a proof failed costs some dozens of signatures, and a flood must not fill the log. */
export class FewPerSecond {
  readonly #perSecond: number;
  #second = 0;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  constructor(perSecond: number = PER_SECOND) {
    this.#perSecond = perSecond;
  }

  /** `weight`: how many it counts for. The first of each kind in a second happens in any case. */
  take(nowMs: number, weight = 1, kind?: string): boolean {
    this.#begin(nowMs);
    const isFirst = kind !== undefined && !this.#takenBy.has(kind);
    if (this.#taken >= this.#perSecond && !isFirst) return false;
    this.#taken += weight;
    if (isFirst) this.#takenBy.set(kind, 1);
    return true;
  }

  /** The same for each of several, so that a burst of one leaves something for the others. */
  takeFor(who: string, nowMs: number): boolean {
    this.#begin(nowMs);
    const before = this.#takenBy.get(who) ?? 0;
    if (before >= PER_SECOND || this.#taken >= PER_SECOND_OF_ALL) return false;
    this.#taken += 1;
    this.#takenBy.set(who, before + 1);
    return true;
  }

  #begin(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#taken = 0;
    this.#takenBy.clear();
  }
}
