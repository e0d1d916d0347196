import type { StorageError } from '../storage-error.ts';

/** A store counts as well again when nothing has failed for so long. */
const WELL_AFTER_MS = 2_000;
/** The longest wait; it is doubled where a store fails again soon after, so that one outage is not reported as many. */
const WELL_AFTER_AT_MOST_MS = 30_000;
const SOON_MS = 60_000;

/** Knows whether the store can take requests, and tells when that changes. */
export class HealthMonitor {
  readonly #lookForReplaced: () => StorageError | undefined;
  #listener: (trouble: StorageError | undefined) => void = () => undefined;
  #trouble: StorageError | undefined;
  #wellAfterMs = WELL_AFTER_MS;
  /** Since when nothing has failed. */
  #wellSince: number | undefined;
  #recoveredAt = -Infinity;

  constructor(lookForReplaced: () => StorageError | undefined) {
    this.#lookForReplaced = lookForReplaced;
  }

  onChange(listener: (trouble: StorageError | undefined) => void): void {
    this.#listener = listener;
  }

  /** Why a write failed lately; undefined where none did. */
  get trouble(): StorageError | undefined {
    return this.#trouble;
  }

  /** Looks whether the open store is still the one that others find. */
  findReplaced(): StorageError | undefined {
    const replaced = this.#lookForReplaced();
    if (replaced !== undefined) this.note(replaced);
    return replaced;
  }

  /** Notes the outcome of a write. Trouble is reported at once, and its end when it has been over for a while. */
  note(trouble: StorageError | undefined): void {
    if (trouble === undefined) return this.#noteWell();
    this.#wellSince = undefined;
    const isNew = this.#trouble === undefined;
    if (isNew) {
      const isSoon = performance.now() - this.#recoveredAt < SOON_MS;
      this.#wellAfterMs = isSoon ? Math.min(2 * this.#wellAfterMs, WELL_AFTER_AT_MOST_MS) : WELL_AFTER_MS;
    }
    if (trouble.code !== this.#trouble?.code) this.#tell(trouble);
  }

  #noteWell(): void {
    if (this.#trouble === undefined) return;
    this.#wellSince ??= performance.now();
    if (performance.now() - this.#wellSince < this.#wellAfterMs) return;
    this.#wellSince = undefined;
    this.#recoveredAt = performance.now();
    this.#tell(undefined);
  }

  #tell(trouble: StorageError | undefined): void {
    this.#trouble = trouble;
    this.#listener(trouble);
  }
}
