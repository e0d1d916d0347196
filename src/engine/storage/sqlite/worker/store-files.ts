import { type Stats, statSync } from 'node:fs';
import { GO_BACK } from '../sqlite-errors.ts';
import { StorageError } from '../../storage-error.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { CountPages, LogPages } from './log-pages.ts';

export interface FileOptions {
  readonly checkpoints: Checkpoints;
  readonly countPages: CountPages;
  /** Reads every page; resolves to what is wrong. */
  checkPages(): Promise<readonly string[]>;
}

interface Seen {
  readonly size: number;
  readonly at: number;
  readonly pages: LogPages;
  /** Checkpoints of the service by then. */
  readonly ended: number;
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
  #seen: Seen | undefined;
  #overwritten: StorageError | undefined;

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

  /** To be told of every commit: one may have begun the log anew. */
  follow({ log, checkpointed }: LogPages): void {
    const { pages } = this.#seen ?? {};
    if (pages === undefined || log < pages.log || checkpointed !== pages.checkpointed)
      this.#look(statOf(this.#file));
  }

  #look(stat: Stats | undefined): void {
    const { checkpoints, countPages } = this.#options;
    const pages = countPages();
    if (stat === undefined || pages === undefined || checkpoints.isCopying(pages)) return;
    const { size, mtimeMs: at } = stat;
    const { ended } = checkpoints;
    const seen = this.#seen;
    this.#seen = { size, at, pages, ended };
    if (seen === undefined || (seen.size === size && seen.at === at)) return;
    const isBegunAnew = pages.log < seen.pages.log;
    if (ended !== seen.ended || (pages.checkpointed !== seen.pages.checkpointed && !isBegunAnew)) return;
    if (size < seen.size && !isBegunAnew) this.#note(`its size is ${size} bytes and was ${seen.size}`);
    else this.#checkPages();
  }

  #checkPages(): void {
    const note = (findings: readonly string[]) => findings[0] !== undefined && this.#note(findings[0]);
    const { checkPages } = this.#options;
    checkPages().then(note, (error: unknown) => {
      if (error instanceof StorageError && error.code === 'corrupt') this.#note(error.message);
    });
  }

  #note(finding: string): void {
    this.#overwritten ??= new StorageError(
      'corrupt',
      `${this.#file}: something else wrote into the store while the service was using it (${finding.slice(0, 200)}); stop the service, then ${GO_BACK}`,
    );
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Which file stands at a path: device and number, as the system counts them. */
function identityOf(stat: Stats | undefined): string | undefined {
  return stat && `${stat.dev}:${stat.ino}`;
}
