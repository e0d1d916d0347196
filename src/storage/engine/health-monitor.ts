import type { StorageError } from '../storage-error.ts';

/** Knows whether the store can take requests, and tells when that changes. */
export class HealthMonitor {
  readonly #lookForReplaced: () => StorageError | undefined;
  #listener: (trouble: StorageError | undefined) => void = () => undefined;
  #trouble: StorageError | undefined;

  constructor(lookForReplaced: () => StorageError | undefined) {
    this.#lookForReplaced = lookForReplaced;
  }

  onChange(listener: (trouble: StorageError | undefined) => void): void {
    this.#listener = listener;
  }

  /** Why the last write failed; undefined where it did not. */
  get trouble(): StorageError | undefined {
    return this.#trouble;
  }

  /** Looks whether the open store is still the one that others find. */
  findReplaced(): StorageError | undefined {
    const replaced = this.#lookForReplaced();
    if (replaced !== undefined) this.note(replaced);
    return replaced;
  }

  /** Takes the outcome of a write down. */
  note(trouble: StorageError | undefined): void {
    if (trouble?.code === this.#trouble?.code) return;
    this.#trouble = trouble;
    this.#listener(trouble);
  }
}
