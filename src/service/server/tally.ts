/** Counts things by name and reports the counts after a second: a flood of them must not become a flood of lines. */
export class Tally<Name extends string> {
  readonly #report: (counts: Readonly<Record<Name, number>>) => void;
  readonly #names: readonly Name[];
  #counts: Record<Name, number> | undefined;

  constructor(names: readonly Name[], report: (counts: Readonly<Record<Name, number>>) => void) {
    this.#names = names;
    this.#report = report;
  }

  count(name: Name): void {
    if (this.#counts === undefined) {
      this.#counts = Object.fromEntries(this.#names.map((each) => [each, 0])) as Record<Name, number>;
      setTimeout(() => this.#flush(), REPORT_MS).unref();
    }
    this.#counts[name] += 1;
  }

  #flush(): void {
    const counts = this.#counts;
    this.#counts = undefined;
    if (counts !== undefined) this.#report(counts);
  }
}

const REPORT_MS = 1_000;
