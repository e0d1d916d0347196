import { StorageError } from '../storage-error.ts';
import { COPIED_TABLES, type CopyPosition, type CopySide, withoutHolder } from './copy-side.ts';

/*
 * Copies a store into another one, table by table, while nobody uses either. Each step writes some rows and how far it
 * came in one transaction, so a copy that was interrupted goes on where it stopped. Until it has ended and was
 * verified, the target carries a mark, and no service starts on it.
 */

const STEP_ROWS = 500;

export interface CopyReport {
  readonly from: string;
  readonly to: string;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Whether it went on with a copy that was interrupted. */
  readonly wasResumed: boolean;
}

export interface CopyOptions {
  /** Hears how many rows of a table have been copied. */
  onProgress?(table: string, rows: number): void;
}

/** @throws StorageError that says what is wrong; the source is never changed */
export function copyBetween(from: CopySide, to: CopySide, options: CopyOptions): CopyReport {
  const source = fingerprint(from);
  const begun = to.findCopy();
  if (begun !== undefined && begun.source !== from.place) {
    throw new StorageError(
      'unfinished_copy',
      `${to.place}: a copy of ${begun.source} into it has not ended; end that one, or give an empty store`,
    );
  }
  const isSame = begun?.position.source === source;
  if (begun === undefined) refuseUsed(to);
  const position = isSame ? begun.position : { source, table: Object.keys(COPIED_TABLES)[0] ?? '' };
  if (!isSame) to.begin(from.place, position);
  copyRows(from, to, { position, options });
  const rows = compare(from, to);
  to.finish();
  return { from: from.place, to: to.place, rows, wasResumed: isSame };
}

function copyRows(
  from: CopySide,
  to: CopySide,
  { position: begin, options }: { readonly position: CopyPosition; readonly options: CopyOptions },
): void {
  const tables = Object.keys(COPIED_TABLES);
  for (const table of tables.slice(tables.indexOf(begin.table))) {
    let copied = 0;
    let position = table === begin.table ? begin : { source: begin.source, table };
    for (let step = copyStep(from, to, position); step !== undefined; step = copyStep(from, to, position)) {
      copied += step.rows;
      options.onProgress?.(table, copied);
      ({ position } = step);
    }
  }
}

/** Copies the rows behind a position; undefined where there are none. */
function copyStep(
  from: CopySide,
  to: CopySide,
  { source, table, after }: CopyPosition,
): { readonly position: CopyPosition; readonly rows: number } | undefined {
  const rows = from.read(table, after, STEP_ROWS);
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const keys = (COPIED_TABLES[table] ?? []).map((column) => last[column] ?? null);
  const position = { source, table, after: keys };
  to.write(table, rows.map(withoutHolder), position);
  return { position, rows: rows.length };
}

/** What changes with every start of a service, and with nearly everything else. */
function fingerprint(side: CopySide): string {
  const counters = side.read('counters', undefined, 1);
  const ends = ['runs', 'outbox', 'events', 'session_turns'].map((table) => side.count(table));
  return JSON.stringify([counters[0], ends]);
}

function refuseUsed(to: CopySide): void {
  for (const table of Object.keys(COPIED_TABLES)) {
    if (table === 'counters' || table === 'store_identity' || to.count(table) === 0) continue;
    throw new StorageError(
      'exists',
      `${to.place}: it holds work already (table ${table}); give an empty store, nothing was copied`,
    );
  }
}

function compare(from: CopySide, to: CopySide): Readonly<Record<string, number>> {
  const counted: Record<string, number> = {};
  const findings = [...to.verify()];
  for (const table of Object.keys(COPIED_TABLES)) {
    const [wanted, found] = [from.count(table), to.count(table)];
    counted[table] = found;
    if (wanted !== found) findings.push(`${table}: ${wanted} rows in the source, ${found} in the copy`);
  }
  if (findings.length === 0) return counted;
  throw new StorageError(
    'corrupt',
    `${to.place}: the copy is not what was copied (${findings.slice(0, 3).join('; ')}); verify the source with "sluice storage verify", then empty the target and copy again`,
  );
}
