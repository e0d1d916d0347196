import { statSync } from 'node:fs';
import { StorageError } from '../../storage-error.ts';

/** The files of a store as they were when it was opened, so that it is noticed when they are moved or replaced. */
export class StoreFiles {
  readonly #file: string;
  readonly #identities: readonly (readonly [file: string, identity: string | undefined])[];

  constructor(file: string) {
    this.#file = file;
    this.#identities = [file, `${file}.lock`, `${file}-wal`].map((path) => [path, identityOf(path)]);
  }

  /** The finding where a file at its path is no longer the one that is open. Costs three calls of the system. */
  findReplaced(): StorageError | undefined {
    const found = this.#identities.find(([path, identity]) => identityOf(path) !== identity);
    if (found === undefined) return undefined;
    const [path] = found;
    const what = path === this.#file ? 'the store' : `its file ${path}`;
    return new StorageError(
      'replaced',
      `${this.#file}: ${what} was moved away or replaced while the service was using it; put it back, or restart the service so that it uses what is there now`,
    );
  }
}

/** Which file stands at a path: device and number, as the system counts them. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}
