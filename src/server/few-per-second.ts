const PER_SECOND = 5;

/** Lets a few things a second happen: a diagnosis costs some dozens of signatures, and a flood must not fill the log. */
export class FewPerSecond {
  #second = 0;
  #taken = 0;

  take(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken = 0;
    }
    this.#taken += 1;
    return this.#taken <= PER_SECOND;
  }
}
