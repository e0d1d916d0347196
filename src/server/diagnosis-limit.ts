const PER_SECOND = 5;

/** Lets a few refusals a second be diagnosed: each costs some dozens of signatures. */
export class DiagnosisLimit {
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
