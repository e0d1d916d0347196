import type { AuditRecord, DecisionRecord, KeptFile, KeptGeneration, KeptCapacity } from '../records.ts';
import { both, type Dialects, listed } from './statements.ts';
import { type DecisionRow, type KeptRow, MAX_STRANGERS, STRANGER } from '../request-records.ts';
import type { Store } from './store.ts';

const NOTE = 'INSERT INTO audit (at, who, source, what, about, changed) VALUES (?, ?, ?, ?, ?, ?)';
const DECIDED = 'SELECT seq, decision FROM decisions WHERE request_id = ? ORDER BY seq DESC LIMIT 1';
const REDECIDE = 'UPDATE decisions SET decision = ? WHERE seq = ?';
/** Replays that a request names: the last ones. */
const MAX_REPLAYS = 20;
const DECIDE: Dialects = {
  sqlite: `INSERT INTO decisions (request_id, mapping_id, outcome, generation, decision, number)
  VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM decisions WHERE number IS NOT NULL))`,
  postgres:
    'INSERT INTO decisions (request_id, mapping_id, outcome, generation, decision) VALUES (?, ?, ?, ?, ?)',
};
const DECIDE_STRANGER = `INSERT INTO decisions (request_id, outcome, generation, decision, number)
  VALUES (?, '${STRANGER}', ?, ?, NULL)`;
/** Rows that go at most where much less is to be kept: the next writes take the rest. */
const FORGOTTEN_AT_ONCE = 5_000;
const numberOf = (which: 'min' | 'max'): string =>
  `(SELECT ${which}(number) FROM decisions WHERE number IS NOT NULL)`;
const FORGET_DECISIONS = both`DELETE FROM decisions
  WHERE number <= ${{ sqlite: 'min', postgres: 'least' }}(${numberOf('max')} - ?, ${numberOf('min')} + ${FORGOTTEN_AT_ONCE})`;
const FORGET_STRANGERS = `DELETE FROM decisions WHERE number IS NULL AND seq <= (
  SELECT seq FROM decisions WHERE number IS NULL ORDER BY seq DESC LIMIT 1 OFFSET ?)`;
const FORGET_ALIKE = both`DELETE FROM decisions WHERE number IS NULL AND request_id IN ${listed('?')}`;
const KEEP = `INSERT INTO kept_requests (request_id, received_at, kind, path, cause, bytes, request)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const SHARES = `SELECT path, count(*) AS count, CAST(sum(bytes) AS BIGINT) AS bytes, min(seq) AS oldest FROM kept_requests
  WHERE kind = ? GROUP BY path`;
/** Rows of a path that are looked at together. */
const ROWS_AT_ONCE = 200;
const oldestOf = (which: string): string =>
  `SELECT seq, bytes FROM kept_requests AS one WHERE kind = ? AND path = ? AND seq >= ? ${which} ORDER BY seq LIMIT ${ROWS_AT_ONCE}`;
const ofCause = (which: 'min' | 'max'): string =>
  `(SELECT ${which}(seq) FROM kept_requests AS other WHERE other.kind = one.kind AND other.cause = one.cause)`;
const OLDEST_BETWEEN = oldestOf(`AND seq > ${ofCause('min')} AND seq < ${ofCause('max')}`);
const OLDEST = oldestOf('');
const FORGET_KEPT = both`DELETE FROM kept_requests WHERE seq IN ${listed('?', 'bigint')}`;
const FORGET_OLD = 'DELETE FROM kept_requests WHERE received_at < ?';

/** Forgets all but the newest `keep` of all decisions, where that is given. */
export function recordDecisions({ sql }: Store, decisions: readonly DecisionRow[], keep?: number): void {
  const rows = decisions.map(
    ({ requestId, mappingId, outcome, generation, json }) =>
      [requestId, mappingId, outcome, generation, json] as const,
  );
  sql.postRows(DECIDE, rows);
  if (keep !== undefined) sql.post(FORGET_DECISIONS, keep);
}

/** The same for requests that proved nothing, in a ring of their own; those of `forgotten` ids make space in it. */
export function recordStrangers(
  { sql }: Store,
  strangers: readonly DecisionRow[],
  forgotten: readonly string[],
): void {
  const rows = strangers.map(({ requestId, generation, json }) => [requestId, generation, json] as const);
  sql.postRows(DECIDE_STRANGER, rows);
  if (forgotten.length > 0) sql.post(FORGET_ALIKE, JSON.stringify(forgotten));
  sql.post(FORGET_STRANGERS, MAX_STRANGERS);
}

/** Keeps requests; `freeKeptSpace` forgets what is too much. */
export function keepRequests({ sql }: Store, requests: readonly KeptRow[]): void {
  const rows = requests.map(
    ({ requestId, receivedAt, kind, path, cause, bytes, json }) =>
      [requestId, Math.round(receivedAt), kind, path, cause, bytes, json] as const,
  );
  sql.postRows(KEEP, rows);
}

export function forgetRequests({ sql }: Store, beforeMs: number): void {
  sql.post(FORGET_OLD, Math.round(beforeMs));
}

interface KeptSize {
  readonly seq: number;
  readonly bytes: number;
}

/** How much of the kept space one path uses. */
interface PathShare {
  readonly path: string;
  count: number;
  bytes: number;
  /** None that may go is older. */
  oldest: number;
  /** The rows that go next. */
  rows?: KeptSize[];
}

/**
 * A path with more than a quarter gives the space that is needed, the largest first; where none has, the oldest go. The
 * first and the last of each cause go only where they alone are too much.
 */
export function freeKeptSpace({ sql }: Store, kind: KeptRow['kind'], capacity: KeptCapacity): void {
  if (!hasMadeSpace(sql, kind, { capacity, oldest: OLDEST_BETWEEN }))
    hasMadeSpace(sql, kind, { capacity, oldest: OLDEST });
}

function hasMadeSpace(
  sql: Store['sql'],
  kind: KeptRow['kind'],
  { capacity, oldest }: { readonly capacity: KeptCapacity; readonly oldest: string },
): boolean {
  const shares = new Set(sql.all<PathShare>(SHARES, kind));
  const partOf = ({ count, bytes }: Pick<PathShare, 'count' | 'bytes'>): number =>
    Math.max(count / (capacity.count ?? Infinity), bytes / capacity.bytes);
  const all = { count: 0, bytes: 0 };
  for (const { count, bytes } of shares) {
    all.count += count;
    all.bytes += bytes;
  }
  const gone: number[] = [];
  while (partOf(all) > 1 && shares.size > 0) {
    const largest = [...shares].reduce((a, b) => (partOf(b) > partOf(a) ? b : a));
    const isLarge = partOf(largest) > 0.25;
    const giver = isLarge ? largest : [...shares].reduce((a, b) => (b.oldest < a.oldest ? b : a));
    const isNext = (seq: number): boolean =>
      isLarge ? partOf(giver) > 0.25 : [...shares].every((each) => each === giver || each.oldest >= seq);
    giver.rows = giver.rows?.length ? giver.rows : sql.all<KeptSize>(oldest, kind, giver.path, giver.oldest);
    if (giver.rows.length === 0) shares.delete(giver);
    for (let [row] = giver.rows; row !== undefined && partOf(all) > 1; [row] = giver.rows) {
      const { seq, bytes } = row;
      giver.oldest = seq;
      // Another path may have become the one that gives.
      if (!isNext(seq)) break;
      gone.push(seq);
      giver.rows.shift();
      giver.oldest += 1;
      for (const sum of [giver, all]) {
        sum.count -= 1;
        sum.bytes -= bytes;
      }
    }
  }
  if (gone.length > 0) sql.post(FORGET_KEPT, JSON.stringify(gone));
  return partOf(all) <= 1;
}

/** Has a request and its replay name each other; false, and nothing is changed, where one of them is not known (yet). */
export function noteReplay({ sql }: Store, original: string, replay: string): boolean {
  const [first, again] = [original, replay].map((id) =>
    sql.find<{ seq: number; decision: string }>(DECIDED, id),
  );
  if (first === undefined || again === undefined) return false;
  const [of, as] = [first, again].map(({ decision }) => JSON.parse(decision) as DecisionRecord) as [
    DecisionRecord,
    DecisionRecord,
  ];
  const replays = [...(of.replays ?? []), { requestId: replay, outcome: as.outcome }].slice(-MAX_REPLAYS);
  sql.post(REDECIDE, JSON.stringify({ ...of, replays }), first.seq);
  sql.post(REDECIDE, JSON.stringify({ ...as, replayOf: original }), again.seq);
  return true;
}

/** Does nothing: its answer comes after everything handed over before it is on disk. */
export function flush(): void {}

/** Notes a change that somebody made. */
export function recordAudit({ sql }: Store, { at, who, source, what, about, changed }: AuditRecord): void {
  sql.post(NOTE, Math.round(at), who, source, what, about, changed);
}

/* What was live when requests were judged: each file once, by its hash, for as long as a decision names its generation. */

const KEEP_GENERATION = `INSERT INTO generations (id, kept_at, files) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET kept_at = excluded.kept_at`;
const KEEP_FILE = 'INSERT INTO generation_files (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING';
const FORGET_GENERATIONS = `DELETE FROM generations WHERE kept_at < ? AND NOT EXISTS
  (SELECT 1 FROM decisions WHERE decisions.generation = generations.id)`;
const FORGET_FILES = both`DELETE FROM generation_files WHERE hash IN ${listed('?')}`;
/** Another service may have made one live a moment ago, and nothing has come to it yet. */
const UNNAMED_MS = 86_400_000;

/** Keeps the files that are live, each content once; then forgets those of generations that no decision names any more. */
export function keepGeneration({ sql }: Store, { id, files }: KeptGeneration, nowMs: number): void {
  const names = files.map(({ folder, name, hash }) => ({ folder, name, hash }));
  sql.post(KEEP_GENERATION, id, nowMs, JSON.stringify(names));
  for (const { hash, content } of files) sql.post(KEEP_FILE, hash, content);
  sql.post(FORGET_GENERATIONS, nowMs - UNNAMED_MS);
  const all = sql.all<{ files: string }>('SELECT files FROM generations').flatMap((row) => filesOf(row));
  const used = new Set([...names, ...all].map(({ hash }) => hash));
  const stored = sql.all<{ hash: string }>('SELECT hash FROM generation_files');
  const gone = stored.flatMap(({ hash }) => (used.has(hash) ? [] : [hash]));
  if (gone.length > 0) sql.post(FORGET_FILES, JSON.stringify(gone));
}

const filesOf = ({ files }: { readonly files: string }): readonly Omit<KeptFile, 'content'>[] =>
  JSON.parse(files) as readonly Omit<KeptFile, 'content'>[];
