import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../storage-error.ts';

/**
 * Writes all that a connection sees into a new file, reads every page of it, and only then gives it its name: a file
 * of that name is whole, whatever ends the process.
 * @throws StorageError `corrupt` where the copy cannot be read back, or an error of SQLite
 */
export function writeVerifiedCopy(database: DatabaseSync, target: string): void {
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  try {
    database.prepare('VACUUM INTO ?').run(unfinished);
    verifyCopy(unfinished);
    syncPath(unfinished);
    renameSync(unfinished, target);
    syncPath(dirname(target));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function verifyCopy(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const finding = Object.values(copy.prepare('PRAGMA integrity_check(1)').get() ?? {})[0];
    if (finding === 'ok') return;
    throw new StorageError('corrupt', `${file}: the copy is damaged (${String(finding).slice(0, 200)})`);
  } finally {
    copy.close();
  }
}

/** Brings a file, or the names in a folder, to the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** `20260301T120000Z`: a time as a part of a file's name. */
export function fileTime(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}
