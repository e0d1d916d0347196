import type { StorageError } from '../../storage-error.ts';
import type { StoreFiles } from './store-files.ts';

/** Knows whether the store can take requests, and tells when that changes. */
export class HealthMonitor {
  readonly #files: StoreFiles;
  readonly #onChange: (trouble: StorageError | undefined) => void;
  #trouble: StorageError | undefined;

  constructor(files: StoreFiles, onChange: (trouble: StorageError | undefined) => void) {
    this.#files = files;
    this.#onChange = onChange;
  }

  /** Why the last write failed; undefined where it did not. */
  get trouble(): StorageError | undefined {
    return this.#trouble;
  }

  /** Looks whether the open file is still the one that others find. */
  findReplaced(): StorageError | undefined {
    const replaced = this.#files.findReplaced();
    if (replaced !== undefined) this.note(replaced);
    return replaced;
  }

  /** Takes the outcome of a write down. */
  note(trouble: StorageError | undefined): void {
    if (trouble?.code === this.#trouble?.code) return;
    this.#trouble = trouble;
    this.#onChange(trouble);
  }
}
