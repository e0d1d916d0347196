import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { StorageError } from '../../storage-error.ts';
import { deserializeError, serializeError, type SerializedError } from '../sqlite-errors.ts';
import { EVENT, OUTBOX, RUN } from '../worker/states.ts';

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
  let descriptor: number;
  try {
    descriptor = openSync(target, 'wx', 0o600);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const reason = exists ? 'exists already; give another file' : 'cannot be made; check its folder';
    throw new StorageError(exists ? 'exists' : 'unwritable', `${target}: ${reason}`, { cause: error });
  }
  try {
    database.prepare('VACUUM INTO ?').run(target);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** What each counter counts. */
const COUNTED: readonly (readonly [column: string, table: string, rows: string])[] = [
  ['sessions', 'sessions', 'true'],
  ['queued_runs', 'runs', `state <= ${RUN.waiting}`],
  ['active_runs', 'runs', `state = ${RUN.active}`],
  ['dead_runs', 'runs', `state = ${RUN.dead}`],
  ['ended_runs', 'runs', `state >= ${RUN.completed}`],
  ['queued_outbox', 'outbox', `state = ${OUTBOX.queued}`],
  ['dead_outbox', 'outbox', `state = ${OUTBOX.dead}`],
  ['ended_outbox', 'outbox', `state >= ${OUTBOX.completed}`],
  ['pending_events', 'events', `state <= ${EVENT.claimed}`],
  ['pending_wakes', 'events', `state <= ${EVENT.claimed} AND kind = 'wake'`],
  ['dead_events', 'events', `state = ${EVENT.dead}`],
  ['ended_events', 'events', `state >= ${EVENT.consumed}`],
];

/** What `migrations.ts` promises about the rows: each entry counts the rows that break it. */
const INVARIANTS: readonly (readonly [finding: string, sql: string])[] = [
  [
    'conversations with more than one ready or active run',
    `SELECT count(*) FROM (SELECT 1 FROM runs WHERE state IN (${RUN.ready}, ${RUN.active})
       GROUP BY owner, session_key HAVING count(*) > 1)`,
  ],
  [
    'blocked runs that nothing is before',
    `SELECT count(*) FROM runs AS behind WHERE state = ${RUN.blocked}
       AND NOT EXISTS (SELECT 1 FROM runs INDEXED BY runs_in_line
         WHERE line = behind.line AND state IN (${RUN.ready}, ${RUN.active}) AND state <= ${RUN.active})`,
  ],
  ['runs without an action', 'SELECT count(*) FROM runs WHERE seq NOT IN (SELECT seq FROM run_actions)'],
  ['actions without a run', 'SELECT count(*) FROM run_actions WHERE seq NOT IN (SELECT seq FROM runs)'],
  ...COUNTED.map(
    ([column, table, rows]) =>
      [
        `difference of the counter ${column}`,
        `SELECT abs((SELECT ${column} FROM counters) - (SELECT count(*) FROM ${table} WHERE ${rows}))`,
      ] as const,
  ),
  [
    'difference of the counter run_bytes',
    `SELECT abs((SELECT run_bytes FROM counters)
       - (SELECT coalesce(sum(bytes), 0) FROM runs WHERE state <= ${RUN.active}))`,
  ],
];

function verify(database: DatabaseSync): string[] {
  const findings = database
    .prepare('PRAGMA integrity_check(100)')
    .all()
    .map((row) => String(Object.values(row)[0]))
    .filter((finding) => finding !== 'ok');
  if (findings.length > 0) return findings;
  database.exec('BEGIN');
  return INVARIANTS.flatMap(([finding, sql]) => {
    const broken = Number(Object.values(database.prepare(sql).get() ?? {})[0]);
    return broken === 0 ? [] : [`${finding}: ${broken}`];
  });
}

function inspectHere(input: InspectorInput): string[] {
  const database = new DatabaseSync(input.file, { readOnly: true, timeout: 5000 });
  try {
    if (input.task === 'verify') return verify(database);
    backup(database, input.target);
    return [];
  } finally {
    database.close();
  }
}

function main(input: InspectorInput): void {
  const post = (message: InspectorMessage) => parentPort?.postMessage(message);
  try {
    post({ kind: 'done', findings: inspectHere(input) });
  } catch (error) {
    const place = input.task === 'backup' ? input.target : input.file;
    post({ kind: 'failed', error: serializeError(error, place) });
  }
}

// The main thread and other workers import this file for `inspect`; only its own worker was given a task.
const given = workerData as { readonly inspect?: InspectorInput } | null;
if (given?.inspect !== undefined) main(given.inspect);
