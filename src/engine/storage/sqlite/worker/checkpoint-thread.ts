import { openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { putThisThreadBehind } from '../../../../base/timers/timers.ts';
import { CELLS, NEARLY_ALL_PAGES, type CheckpointInput } from './checkpoints.ts';
import { LogFrames } from './log-frames.ts';
import { createPageCounter } from './log-pages.ts';

/**
 * Copies pages of the log into the store with a connection of its own, while the storage thread goes on committing.
 * Each pass leaves fewer pages than the one before; the storage thread copies the few that are left.
 */

/** A writer that is faster than the copies would keep them up for ever. */
const MAX_PASSES = 8;

const { file, cells } = workerData as CheckpointInput;
let database: DatabaseSync | undefined;
/** SQLite locks nothing in the log, so nothing is lost where it is closed with this thread. */
let log: LogFrames | undefined;

/** Copies nothing where the log is not as SQLite wrote it; false then. */
function copy(): boolean {
  database ??= open();
  const countPages = createPageCounter(database);
  log ??= new LogFrames(openSync(`${file}-wal`, 'r'));
  const written = countPages()?.log ?? 0;
  log.rewind();
  if (!log.readTo(written) && (countPages()?.log ?? 0) >= written) return false;
  const countWaiting = (): number => {
    const { log, checkpointed } = countPages() ?? { log: 0, checkpointed: 0 };
    return log - checkpointed;
  };
  let waiting = countWaiting();
  for (let pass = 0; pass < MAX_PASSES && waiting > NEARLY_ALL_PAGES; pass += 1) {
    if (Atomics.load(cells, CELLS.closing) === 1) return true;
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    const left = countWaiting();
    // Another process reads what an older part of the log says.
    if (left >= waiting) return true;
    waiting = left;
  }
  return true;
}

/** Never makes the file: it may have been moved away. */
function open(): DatabaseSync {
  const url = pathToFileURL(file);
  url.searchParams.set('mode', 'rw');
  const opened = new DatabaseSync(url);
  // Pages are only passed on.
  opened.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -64');
  return opened;
}

// Copying uses up a core for some milliseconds: what hooks wait for goes first.
putThisThreadBehind();
// However this thread ends, the storage thread waits for it no longer.
process.once('exit', () => {
  Atomics.store(cells, CELLS.closed, 1);
  Atomics.notify(cells, CELLS.closed);
});
parentPort?.on('message', (task: 'copy' | 'close') => {
  if (task === 'copy') {
    let isRead = true;
    try {
      isRead = copy();
    } catch {
      // A full disk: the log keeps everything, and the storage thread meets the same error where it matters.
    }
    parentPort?.postMessage(isRead ? 'copied' : 'spoilt');
    return;
  }
  database?.close();
  parentPort?.close();
});
