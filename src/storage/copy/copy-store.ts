import { StorageError } from '../storage-error.ts';
import { COPIED_TABLES, type CopyPosition, type CopySide, withoutHolder } from './copied-tables.ts';

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
export async function copyBetween(from: CopySide, to: CopySide, options: CopyOptions): Promise<CopyReport> {
  const source = await fingerprint(from);
  const begun = await to.findCopy();
  if (begun !== undefined && begun.source !== from.place) {
    throw new StorageError(
      'unfinished_copy',
      `${to.place}: a copy of ${begun.source} into it has not ended; end that one, or give an empty store`,
    );
  }
  const isSame = begun?.position.source === source;
  if (begun === undefined) await refuseUsed(to);
  if (!isSame) await to.begin(from.place, { source, table: Object.keys(COPIED_TABLES)[0] ?? '' });
  await copyRows(from, to, { position: isSame ? begun.position : undefined, source, options });
  const rows = await compare(from, to);
  await to.finish();
  return { from: from.place, to: to.place, rows, wasResumed: isSame };
}

async function copyRows(
  from: CopySide,
  to: CopySide,
  {
    position,
    source,
    options,
  }: { readonly position: CopyPosition | undefined; readonly source: string; readonly options: CopyOptions },
): Promise<void> {
  const tables = Object.keys(COPIED_TABLES);
  const first = position === undefined ? 0 : tables.indexOf(position.table);
  for (const table of tables.slice(first)) {
    const start = table === position?.table ? position : { source, table };
    // oxlint-disable-next-line no-await-in-loop
    await copyTable(from, to, { start, options });
  }
}

async function copyTable(
  from: CopySide,
  to: CopySide,
  { start, options }: { readonly start: CopyPosition; readonly options: CopyOptions },
): Promise<void> {
  let copied = 0;
  let step = await copyStep(from, to, start);
  while (step !== undefined) {
    copied += step.rows;
    options.onProgress?.(start.table, copied);
    // Each step begins where the one before ended.
    // oxlint-disable-next-line no-await-in-loop
    step = await copyStep(from, to, step.position);
  }
}

/** Copies the rows behind a position; undefined where there are none. */
async function copyStep(
  from: CopySide,
  to: CopySide,
  { source, table, after }: CopyPosition,
): Promise<{ readonly position: CopyPosition; readonly rows: number } | undefined> {
  const rows = await from.read(table, after, STEP_ROWS);
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const keys = (COPIED_TABLES[table] ?? []).map((column) => last[column] ?? null);
  const position = { source, table, after: keys };
  await to.write(table, rows.map(withoutHolder), position);
  return { position, rows: rows.length };
}

/** What changes with every start of a service, and with nearly everything else. */
async function fingerprint(side: CopySide): Promise<string> {
  const counters = await side.read('counters', undefined, 1);
  const ends: number[] = [];
  for (const table of ['runs', 'outbox', 'events', 'session_turns']) {
    // A connection takes one question after the other.
    // oxlint-disable-next-line no-await-in-loop
    ends.push(await side.count(table));
  }
  return JSON.stringify([counters[0], ends]);
}

async function refuseUsed(to: CopySide): Promise<void> {
  for (const table of Object.keys(COPIED_TABLES)) {
    // oxlint-disable-next-line no-await-in-loop
    if (table === 'counters' || (await to.count(table)) === 0) continue;
    throw new StorageError(
      'exists',
      `${to.place}: it holds work already (table ${table}); give an empty store, nothing was copied`,
    );
  }
}

async function compare(from: CopySide, to: CopySide): Promise<Readonly<Record<string, number>>> {
  const counted: Record<string, number> = {};
  const findings = [...(await to.verify())];
  for (const table of Object.keys(COPIED_TABLES)) {
    // oxlint-disable-next-line no-await-in-loop
    const [wanted, found] = [await from.count(table), await to.count(table)];
    counted[table] = found;
    if (wanted !== found) findings.push(`${table}: ${wanted} rows in the source, ${found} in the copy`);
  }
  if (findings.length === 0) return counted;
  throw new StorageError(
    'corrupt',
    `${to.place}: the copy is not what was copied (${findings.slice(0, 3).join('; ')}); verify the source with "sluice storage verify", then empty the target and copy again`,
  );
}
