import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type ErrorWire, fromErrorWire, toErrorWire } from '../sqlite-errors.ts';
import { StorageError } from '../../storage-error.ts';

/**
 * Long reads (a backup, a check of every page) on a connection and a thread of their own: the log lets them see one
 * state of the store while it goes on being written, and nothing waits for them.
 */

type InspectorInput = { readonly file: string } & (
  { readonly task: 'backup'; readonly target: string } | { readonly task: 'verify' }
);

type InspectorMessage =
  | { readonly kind: 'done'; readonly findings: readonly string[] }
  | { readonly kind: 'failed'; readonly error: ErrorWire };

/** Runs one inspection to its end and resolves to its findings. */
export function inspect(input: InspectorInput): Promise<readonly string[]> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { inspect: input },
    name: 'storage-inspector',
  });
  return new Promise((resolve, reject) => {
    worker.on('message', (message: InspectorMessage) => {
      if (message.kind === 'done') resolve(message.findings);
      else reject(fromErrorWire(message.error));
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

/** What `sqlite-schema.ts` promises about the rows: each entry counts the rows that break it. */
const INVARIANTS: readonly (readonly [finding: string, sql: string])[] = [
  [
    'session keys with more than one ready or active run',
    'SELECT count(*) FROM (SELECT 1 FROM runs WHERE state IN (1, 3) GROUP BY session_key HAVING count(*) > 1)',
  ],
  [
    'blocked runs that nothing is before',
    `SELECT count(*) FROM runs AS behind WHERE state = 0 AND NOT EXISTS (SELECT 1 FROM runs INDEXED BY runs_in_line
       WHERE line = behind.line AND state IN (1, 3) AND state <= 3)`,
  ],
  ['runs without an action', 'SELECT count(*) FROM runs WHERE seq NOT IN (SELECT seq FROM run_actions)'],
  ['actions without a run', 'SELECT count(*) FROM run_actions WHERE seq NOT IN (SELECT seq FROM runs)'],
  ...(
    [
      ['sessions', 'sessions', 'true'],
      ['queued_runs', 'runs', 'state <= 2'],
      ['active_runs', 'runs', 'state = 3'],
      ['dead_runs', 'runs', 'state = 5'],
      ['ended_runs', 'runs', 'state >= 4'],
      ['queued_outbox', 'outbox', 'state = 0'],
      ['dead_outbox', 'outbox', 'state = 4'],
      ['ended_outbox', 'outbox', 'state >= 2'],
      ['pending_events', 'events', 'state <= 1'],
      ['pending_wakes', 'events', "state <= 1 AND kind = 'wake'"],
      ['dead_events', 'events', 'state = 3'],
      ['ended_events', 'events', 'state >= 2'],
    ] as const
  ).map(
    ([column, table, states]) =>
      [
        `difference of the counter ${column}`,
        `SELECT abs((SELECT ${column} FROM counters) - (SELECT count(*) FROM ${table} WHERE ${states}))`,
      ] as const,
  ),
  [
    'difference of the counter run_bytes',
    'SELECT abs((SELECT run_bytes FROM counters) - (SELECT coalesce(sum(bytes), 0) FROM runs WHERE state <= 3))',
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
    post({ kind: 'failed', error: toErrorWire(error, place) });
  }
}

// The main thread and other workers import this file for `inspect`; only its own worker was given a task.
const given = workerData as { readonly inspect?: InspectorInput } | null;
if (given?.inspect !== undefined) main(given.inspect);
