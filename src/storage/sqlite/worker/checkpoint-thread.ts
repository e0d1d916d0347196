import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { putThisThreadBehind } from '../../../timers/timers.ts';
import { NEARLY_ALL_PAGES, type CheckpointInput } from './checkpoints.ts';
import { WalIndex } from './wal-index.ts';

/**
 * Copies pages of the log into the store with a connection of its own, while the storage thread goes on committing.
 * Each pass leaves fewer pages than the one before; the storage thread copies the few that are left.
 */

/** A writer that is faster than the copies would keep them up for ever. */
const MAX_PASSES = 8;

const { file, closed } = workerData as CheckpointInput;
let database: DatabaseSync | undefined;

function copy(): void {
  database ??= open();
  const index = new WalIndex(file);
  try {
    for (let pass = 0; pass < MAX_PASSES && index.countWaiting() > NEARLY_ALL_PAGES; pass += 1) {
      const before = index.countWaiting();
      database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      // Another process reads what an older part of the log says.
      if (index.countWaiting() >= before) return;
    }
  } finally {
    index.close();
  }
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
parentPort?.on('message', (task: 'copy' | 'close') => {
  if (task === 'copy') {
    try {
      copy();
    } catch {
      // A full disk: the log keeps everything, and the storage thread meets the same error where it matters.
    }
    parentPort?.postMessage('copied');
    return;
  }
  database?.close();
  Atomics.store(closed, 0, 1);
  Atomics.notify(closed, 0);
  parentPort?.close();
});
