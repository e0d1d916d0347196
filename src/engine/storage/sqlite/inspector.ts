import { closeSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { findBroken } from '../statements/invariants.ts';
import { deserializeError, type SerializedError, serializeError, StorageError } from '../storage-error.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import { readFile, writeVerifiedCopy } from './worker/database-file.ts';
import { findCutOff } from './worker/log-mark.ts';
import { SqliteStatements } from './worker/sqlite-statements.ts';

/**
 * Long reads (a backup, a check of every page) on a connection and a thread of their own: the log lets them see one
 * state of the store while it goes on being written, and nothing waits for them.
 */

type InspectorInput = { readonly file: string } & (
  { readonly task: 'backup'; readonly target: string } | { readonly task: 'verify' }
);

type InspectorMessage =
  | { readonly kind: 'done'; readonly findings: readonly string[] }
  | { readonly kind: 'failed'; readonly error: SerializedError };

/** Runs one inspection to its end and resolves to its findings. */
export function inspect(input: InspectorInput): Promise<readonly string[]> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { inspect: input },
    name: 'storage-inspector',
  });
  return new Promise((resolve, reject) => {
    worker.on('message', (message: InspectorMessage) => {
      if (message.kind === 'done') resolve(message.findings);
      else reject(deserializeError(message.error));
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new StorageError('failed', `${input.file}: the inspection ended early`)));
  });
}

function backup(database: DatabaseSync, target: string): void {
  createNew(target);
  try {
    writeVerifiedCopy(database, target);
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  }
}

/** Creates a file that was not there: it takes the name until the copy is whole. */
function createNew(target: string): void {
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const reason = exists ? 'exists already; give another file' : 'cannot be created; check its folder';
    throw new StorageError(exists ? 'exists' : 'unwritable', `${target}: ${reason}`, { cause: error });
  }
}

function verify(database: DatabaseSync, file: string): readonly string[] {
  const findings = database
    .prepare('PRAGMA integrity_check(100)')
    .all()
    .map((row) => String(Object.values(row)[0]))
    .filter((finding) => finding !== 'ok');
  if (findings.length > 0) return findings;
  const cutOff = findCutOff(database, file);
  database.exec('BEGIN');
  return [...cutOff, ...findBroken(new SqliteStatements(database))];
}

function inspectHere(input: InspectorInput): readonly string[] {
  return readFile(input.file, (database) => {
    if (input.task === 'verify') return verify(database, input.file);
    backup(database, input.target);
    return [];
  });
}

function main(input: InspectorInput): void {
  const post = (message: InspectorMessage) => parentPort?.postMessage(message);
  try {
    post({ kind: 'done', findings: inspectHere(input) });
  } catch (error) {
    const place = input.task === 'backup' ? input.target : input.file;
    post({ kind: 'failed', error: serializeError(error, (cause) => explainSqliteError(cause, place)) });
  }
}

// The main thread and other workers import this file for `inspect`; only its own worker was given a task.
const given = workerData as { readonly inspect?: InspectorInput } | null;
if (given?.inspect !== undefined) main(given.inspect);
