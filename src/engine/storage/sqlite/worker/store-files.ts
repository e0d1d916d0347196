import { type Stats, statSync } from 'node:fs';
import { GO_BACK } from '../sqlite-errors.ts';
import { StorageError } from '../../storage-error.ts';
import type { CountPages, LogPages } from './log-mark.ts';

export interface FileOptions {
  readonly countPages: CountPages;
  /** Reads every page; resolves to what is wrong. */
  checkPages(): Promise<readonly string[]>;
}

interface LogSample {
  readonly size: number;
  readonly at: number;
  readonly pages: LogPages;
}

/**
 * The files of a store as they were when it was opened, so that it is noticed when they are moved or replaced, or when
 * something else writes into the store. SQLite writes into it in checkpoints only, and counts those: where its time has
 * changed without one, every page is read, as nobody may have written but to the time. SQLite makes it shorter in a
 * checkpoint only.
 */
export class StoreFiles {
  readonly #file: string;
  readonly #options: FileOptions;
  readonly #identities: readonly (readonly [file: string, identity: string | undefined])[];
  #seen: LogSample | undefined;
  #overwritten: StorageError | undefined;
  /** Pages are being read, and whether the file has changed again meanwhile. */
  #isChecking = false;
  #isStale = false;

  constructor(file: string, options: FileOptions) {
    this.#file = file;
    this.#options = options;
    const paths = [file, `${file}.lock`, `${file}-wal`];
    this.#identities = paths.map((path) => [path, identityOf(statOf(path))]);
    this.#look(statOf(file));
  }

  /** The finding where a file at its path is no longer the one that is open. Costs three calls of the system. */
  findReplaced(): StorageError | undefined {
    const stat = statOf(this.#file);
    const found = this.#identities.find(
      ([path, identity], index) => identityOf(index === 0 ? stat : statOf(path)) !== identity,
    );
    if (found === undefined) {
      if (stat?.mtimeMs !== this.#seen?.at || stat?.size !== this.#seen?.size) this.#look(stat);
      return this.#overwritten;
    }
    const [path] = found;
    const what = path === this.#file ? 'the store' : `its file ${path}`;
    return new StorageError(
      'replaced',
      `${this.#file}: ${what} was moved away or replaced while the service was using it; put it back, or restart the service so that it uses what is there now`,
    );
  }

  /** Must be called after every commit and every checkpoint: the log may have been begun anew, or copied. */
  follow(now: LogPages | undefined): void {
    const before = this.#seen?.pages;
    if (now === undefined) return;
    if (before === undefined || now.log < before.log || now.checkpointed !== before.checkpointed)
      this.#look(statOf(this.#file));
  }

  #look(stat: Stats | undefined): void {
    const pages = this.#options.countPages();
    if (stat === undefined || pages === undefined) return;
    const { size, mtimeMs: at } = stat;
    const seen = this.#seen;
    this.#seen = { size, at, pages };
    if (seen === undefined || (seen.size === size && seen.at === at)) return;
    const isBegunAnew = pages.log < seen.pages.log;
    if (pages.checkpointed !== seen.pages.checkpointed && !isBegunAnew) return;
    if (size < seen.size && !isBegunAnew) this.#note(`its size is ${size} bytes and was ${seen.size}`);
    else void this.#checkPages();
  }

  /** One reads all pages at a time: of a large store that takes longer than it takes to change its time again. */
  async #checkPages(): Promise<void> {
    this.#isStale = this.#isChecking;
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const [finding] = await this.#options.checkPages();
      if (finding !== undefined) this.#note(finding);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'corrupt') this.#note(error.message);
    }
    this.#isChecking = false;
    if (this.#isStale) void this.#checkPages();
  }

  #note(finding: string): void {
    this.#overwritten ??= new StorageError(
      'corrupt',
      `${this.#file}: something else wrote into the store while the service was using it (${finding.slice(0, 200)}); stop the service, then ${GO_BACK}`,
    );
  }
}

/** Undefined where there is nothing, or nothing that this user can reach: its folder may have become another one. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Which file stands at a path: device and number, as the system counts them. */
function identityOf(stat: Stats | undefined): string | undefined {
  return stat && `${stat.dev}:${stat.ino}`;
}
