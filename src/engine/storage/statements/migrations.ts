import { StorageError } from '../storage-error.ts';
import { both, type Dialects, type Sql } from './statements.ts';
import { BIG, FIRST_TABLES, KEYED, SEQ, STRICT } from './first-tables.ts';

/** How a run ended before it was begun anew (`queue retry`): a JSON list, the oldest first. */
const EARLIER = 'ALTER TABLE runs ADD COLUMN earlier TEXT;';

/**
 * What accepts count stands in slots, so that they wait neither for each other nor for those who lock the counters. The
 * totals are what is counted there and here. A claim has an id, so that it may be asked again.
 * Conversations that a coding agent keeps on a disk have the name of that place.
 */
const SLOTS = `
CREATE TABLE counter_slots (
  slot INTEGER PRIMARY KEY,
  queued_runs BIGINT NOT NULL,
  run_bytes BIGINT NOT NULL,
  pending_wakes BIGINT NOT NULL,
  pending_events BIGINT NOT NULL,
  heartbeat_at BIGINT
) WITH (fillfactor = 50);
ALTER TABLE runs ADD COLUMN claim TEXT;
ALTER TABLE replicas ADD COLUMN place TEXT;
CREATE TABLE kept_conversations (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  place TEXT NOT NULL,
  PRIMARY KEY (owner, key),
  FOREIGN KEY (owner, key) REFERENCES sessions ON DELETE CASCADE
);
CREATE VIEW totals AS SELECT one, (counters.queued_runs + slots.queued_runs)::bigint AS queued_runs, active_runs, dead_runs,
  ended_runs, (counters.run_bytes + slots.run_bytes)::bigint AS run_bytes, queued_outbox, dead_outbox, ended_outbox,
  (counters.pending_wakes + slots.pending_wakes)::bigint AS pending_wakes,
  (counters.pending_events + slots.pending_events)::bigint AS pending_events, dead_events, ended_events, sessions,
  least(counters.heartbeat_at, slots.heartbeat_at) AS heartbeat_at, opened
FROM counters, (SELECT coalesce(sum(queued_runs), 0) AS queued_runs, coalesce(sum(run_bytes), 0) AS run_bytes,
  coalesce(sum(pending_wakes), 0) AS pending_wakes, coalesce(sum(pending_events), 0) AS pending_events,
  min(heartbeat_at) AS heartbeat_at FROM counter_slots) AS slots;
`;

/** The sentences of decisions that are there already go. */
const WITHOUT_SENTENCES: Dialects = {
  sqlite: `
UPDATE decisions SET decision = json_set(
  json_remove(decision, '$.note', '$.detail', '$.transformNotes', '$.refusal.text'), '$.isOlder', json('true'));
UPDATE decisions SET decision = json_set(decision, '$.missed', (SELECT json_group_array(json_remove(value, '$.how', '$.instead'))
  FROM json_each(decision, '$.missed'))) WHERE json_type(decision, '$.missed') = 'array';
UPDATE decisions SET decision = json_set(decision, '$.empty', (SELECT json_group_array(json_remove(value, '$.instead'))
  FROM json_each(decision, '$.empty'))) WHERE json_type(decision, '$.empty') = 'array';`,
  postgres: `
UPDATE decisions SET decision = (((decision::jsonb #- '{refusal,text}') - 'note' - 'detail' - 'transformNotes')
  || '{"isOlder": true}')::text;
UPDATE decisions SET decision = jsonb_set(decision::jsonb, '{missed}', (SELECT coalesce(jsonb_agg(one - 'how' - 'instead'), '[]')
  FROM jsonb_array_elements(decision::jsonb -> 'missed') AS one))::text
  WHERE jsonb_typeof(decision::jsonb -> 'missed') = 'array';
UPDATE decisions SET decision = jsonb_set(decision::jsonb, '{empty}', (SELECT coalesce(jsonb_agg(one - 'instead'), '[]')
  FROM jsonb_array_elements(decision::jsonb -> 'empty') AS one))::text
  WHERE jsonb_typeof(decision::jsonb -> 'empty') = 'array';`,
};

/**
 * A decision holds codes and facts. A kept request is `whole`, or the `shape` of one that was accepted. What was live when a
 * request was judged (`generations`: names and hashes of files) stays as long as a decision names it, each content once
 * (`generation_files`: base64 of deflated bytes).
 */
const GENERATIONS = both`${WITHOUT_SENTENCES}
ALTER TABLE decisions ADD COLUMN generation TEXT;
ALTER TABLE kept_requests ADD COLUMN kind TEXT NOT NULL DEFAULT 'whole';
ALTER TABLE kept_requests ADD COLUMN path TEXT NOT NULL DEFAULT '';
CREATE INDEX kept_requests_by_path ON kept_requests (kind, path, seq, bytes);
CREATE INDEX kept_requests_by_age ON kept_requests (received_at);
CREATE INDEX decisions_by_generation ON decisions (generation) WHERE generation IS NOT NULL;
CREATE TABLE generations (id TEXT PRIMARY KEY, kept_at ${BIG} NOT NULL, files TEXT NOT NULL${KEYED};
CREATE TABLE generation_files (hash TEXT PRIMARY KEY, content TEXT NOT NULL${KEYED};
`;

/**
 * Runs of a mapping that count together (`maxRuns` with a key) have one `max_runs_key`. `approval`: until when somebody
 * may say that the run begins, and what was said, as JSON.
 */
const KEYS_OF_RUNS = `
ALTER TABLE runs ADD COLUMN max_runs_key TEXT;
ALTER TABLE runs ADD COLUMN approval TEXT;
`;

/**
 * What turns cost, as their agents say it: by the day on which they ended (UTC, days since 1970), mapping and runner, and in
 * millionths of a dollar. Nothing of it goes with its runs. `audit`: who changed what, from where. The runs of a conversation
 * are found by their `line`, which most runs do not have.
 */
const COSTS_AND_AUDIT = both`
CREATE TABLE costs (
  day INTEGER NOT NULL,
  mapping_id TEXT NOT NULL,
  runner TEXT NOT NULL,
  turns ${BIG} NOT NULL,
  input_tokens ${BIG} NOT NULL,
  output_tokens ${BIG} NOT NULL,
  micro_usd ${BIG} NOT NULL,
  PRIMARY KEY (day, mapping_id, runner)
${KEYED};
CREATE TABLE audit (
  ${SEQ},
  at ${BIG} NOT NULL,
  who TEXT NOT NULL,
  source TEXT NOT NULL,
  what TEXT NOT NULL,
  about TEXT NOT NULL,
  changed ${BIG} NOT NULL
${STRICT};
CREATE INDEX runs_of_line ON runs (line, seq) WHERE line IS NOT NULL;
`;

/**
 * How often somebody set where `last` leads, and how often when a delivery came up: one that came up before moves it no
 * more. Runs that failed are counted and found without a look at those that went well.
 */
const SET_TARGET_AND_FAILED_RUNS = both`
ALTER TABLE last_target ADD COLUMN times_set ${BIG} NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN last_set ${BIG} NOT NULL DEFAULT 0;
CREATE INDEX runs_failed ON runs (seq)
  WHERE state = 4 AND kind = 'hook' AND outcome IN ('error', 'timeout') AND error_code <> 'dropped';
`;

/** Counts the turns whose cost is not known. */
const UNKNOWN_COSTS = 'ALTER TABLE costs ADD COLUMN cost_unknown INTEGER NOT NULL DEFAULT 0;';

/**
 * Decisions on requests that proved something are numbered, so that those to forget are found without a look at those that
 * stay. Requests of strangers have no number.
 */
const NUMBERED_DECISIONS: Dialects = {
  sqlite: `
ALTER TABLE decisions ADD COLUMN number INTEGER;`,
  postgres: `
ALTER TABLE decisions ADD COLUMN number BIGSERIAL;
ALTER TABLE decisions ALTER COLUMN number DROP NOT NULL;
UPDATE decisions SET number = NULL;`,
};
const NUMBERS = both`${NUMBERED_DECISIONS}
UPDATE decisions SET number = numbered.number
  FROM (SELECT seq AS of_seq, row_number() OVER (ORDER BY seq) AS number FROM decisions WHERE outcome <> 'stranger') AS numbered
  WHERE seq = of_seq;
CREATE INDEX decisions_by_number ON decisions (number) WHERE number IS NOT NULL;
CREATE INDEX decisions_of_strangers ON decisions (seq) WHERE number IS NULL;
`;

/** What turns cost by the minute, of the last day. Of turns before that only the day is known: they count from its beginning. */
const RECENT_COSTS = both`
CREATE TABLE recent_costs (
  minute ${BIG} NOT NULL,
  mapping_id TEXT NOT NULL,
  input_tokens ${BIG} NOT NULL,
  output_tokens ${BIG} NOT NULL,
  micro_usd ${BIG} NOT NULL,
  PRIMARY KEY (minute, mapping_id)
${KEYED};
INSERT INTO recent_costs SELECT day * 1440, mapping_id, sum(input_tokens), sum(output_tokens), sum(micro_usd) FROM costs
  WHERE day = (SELECT max(day) FROM costs) GROUP BY day, mapping_id;
`;

/**
 * Deliveries to one recipient (channel, line break, recipient; callbacks have none) are sent in the order of `seq`: one
 * that stands `behind` another that has not ended is not looked at by a claim. The first one stands behind none.
 */
const RECIPIENTS = both`
ALTER TABLE outbox ADD COLUMN recipient TEXT;
ALTER TABLE outbox ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_of_recipient ON outbox (recipient, behind, seq) WHERE recipient IS NOT NULL AND state <= 1;
CREATE INDEX outbox_next ON outbox (due_at, seq) WHERE state = 0 AND behind = 0;
UPDATE outbox SET recipient = ${{
  sqlite: "(body ->> 'channel') || char(10) || coalesce(body ->> 'to', '')",
  postgres: "(body::json ->> 'channel') || chr(10) || coalesce(body::json ->> 'to', '')",
}} WHERE kind = 'delivery' AND (state <= 1 OR state = 4);
UPDATE outbox SET behind = 1 WHERE state = 0 AND seq IN (SELECT seq FROM (
  SELECT seq, row_number() OVER (PARTITION BY recipient ORDER BY seq) AS place FROM outbox
  WHERE recipient IS NOT NULL AND state <= 1) AS waiting WHERE place > 1);
`;

/** By which a service knows its store again; a copy of it begins another epoch. */
const IDENTITY = both`
CREATE TABLE store_identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,
  epoch INTEGER NOT NULL
${STRICT};
INSERT INTO store_identity VALUES (1, ${{ sqlite: 'lower(hex(randomblob(16)))', postgres: 'gen_random_uuid()::text' }}, 0);
`;

/** Finds the first and the last request of a cause without a look at those between. */
const CAUSES = both`
ALTER TABLE kept_requests ADD COLUMN cause TEXT NOT NULL DEFAULT '';
CREATE INDEX kept_requests_by_cause ON kept_requests (kind, cause, seq);
DROP INDEX kept_requests_by_path;
CREATE INDEX kept_requests_by_path ON kept_requests (kind, path, seq, bytes, cause);
`;

/** How far the log of each path's sender was looked at, and what was asked for again. */
const RECOVERIES = both`
CREATE TABLE recoveries (
  path TEXT PRIMARY KEY,
  state TEXT NOT NULL DEFAULT '',
  wanted TEXT NOT NULL DEFAULT ''
${STRICT};
`;

/**
 * A run that a worker carries is active, and nobody takes it over before `worker_until`. Its attempt is kept after that, until
 * another one begins: null where the lease is over, 0 where the worker has handed over how the attempt ended. `worker_end`
 * is why the worker is asked to end it, `worker_access` what its agent may do, where the worker says that. `workers`: who
 * takes runs, and when each was heard of last.
 */
const WORKERS = both`
ALTER TABLE runs ADD COLUMN worker TEXT;
ALTER TABLE runs ADD COLUMN worker_attempt TEXT;
ALTER TABLE runs ADD COLUMN worker_until ${BIG};
ALTER TABLE runs ADD COLUMN worker_end TEXT;
ALTER TABLE runs ADD COLUMN worker_access TEXT;
CREATE TABLE workers (
  runner TEXT NOT NULL,
  name TEXT NOT NULL,
  seen_at ${BIG} NOT NULL,
  PRIMARY KEY (runner, name)
${KEYED};
`;

/**
 * By which keys conversations are known that several mappings share, or that their events begin or end, and events that
 * wait: each has a run that is not claimed, and says which keys of repeats are free when it ends as one (`frees`). With
 * the `secret` marks and tokens of agents are proved; `marked` is the key of what used the mark of a run first.
 */
const CONVERSATIONS = both`
ALTER TABLE runs ADD COLUMN marked TEXT;
ALTER TABLE store_identity ADD COLUMN secret TEXT NOT NULL DEFAULT '';
UPDATE store_identity SET secret = ${{
  sqlite: 'lower(hex(randomblob(32)))',
  postgres: 'gen_random_uuid()::text || gen_random_uuid()::text',
}};
CREATE TABLE conversation_keys (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  conversation TEXT NOT NULL,
  added_by TEXT NOT NULL,
  run_id TEXT NOT NULL,
  added_at ${BIG} NOT NULL,
  expires_at ${BIG} NOT NULL,
  PRIMARY KEY (owner, key)
${KEYED};
CREATE INDEX conversation_keys_of ON conversation_keys (owner, conversation);
CREATE INDEX conversation_keys_expiry ON conversation_keys (expires_at);
CREATE TABLE waiting_events (
  ${SEQ},
  run_id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  bytes ${BIG} NOT NULL,
  frees TEXT NOT NULL
${STRICT};
CREATE INDEX waiting_events_of_path ON waiting_events (path, seq, bytes);
CREATE TABLE waited_keys (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (owner, key, run_id)
${KEYED};
CREATE INDEX waited_keys_of_run ON waited_keys (run_id);
DROP INDEX runs_failed;
CREATE INDEX runs_failed ON runs (seq) WHERE state = 4 AND kind = 'hook' AND outcome IN ('error', 'timeout')
  AND error_code NOT IN ('dropped', 'superseded', 'no_conversation');
`;

/** Finds what a run sends without a look at what others sent. */
const OUTBOX_OF_RUN = 'CREATE INDEX outbox_of_run ON outbox (run_id, seq);';

/** One step of the schema, with the version that it leads to; without one where a database does not need it. */
interface Migration {
  readonly sqlite?: number;
  readonly postgres?: number;
  readonly sql: Sql;
}

/** Released steps are never edited: a change is a new one, at the end. */
const MIGRATIONS: readonly Migration[] = [
  { sqlite: 7, postgres: 4, sql: FIRST_TABLES },
  { sqlite: 8, postgres: 5, sql: EARLIER },
  { postgres: 6, sql: SLOTS },
  { sqlite: 9, postgres: 7, sql: GENERATIONS },
  { sqlite: 10, postgres: 8, sql: KEYS_OF_RUNS },
  { sqlite: 11, postgres: 9, sql: COSTS_AND_AUDIT },
  { sqlite: 12, postgres: 10, sql: SET_TARGET_AND_FAILED_RUNS },
  { sqlite: 13, postgres: 11, sql: UNKNOWN_COSTS },
  { sqlite: 14, postgres: 12, sql: NUMBERS },
  { sqlite: 15, postgres: 13, sql: RECENT_COSTS },
  { sqlite: 16, postgres: 14, sql: RECIPIENTS },
  { sqlite: 17, postgres: 15, sql: IDENTITY },
  { sqlite: 18, postgres: 16, sql: CAUSES },
  { sqlite: 19, postgres: 17, sql: RECOVERIES },
  { sqlite: 20, postgres: 18, sql: WORKERS },
  { sqlite: 21, postgres: 19, sql: CONVERSATIONS },
  { sqlite: 22, postgres: 20, sql: OUTBOX_OF_RUN },
];

export function newestVersion(database: keyof Dialects): number {
  return Math.max(...MIGRATIONS.map((step) => step[database] ?? 0));
}

/** What leads from a version to the newest. */
export function stepsFrom(version: number, database: keyof Dialects): readonly string[] {
  const steps = MIGRATIONS.filter((step) => (step[database] ?? 0) > version);
  return steps.map(({ sql }) => (typeof sql === 'string' ? sql : sql[database]));
}

const WAY_BACK: Dialects = {
  sqlite:
    'go back with "sluice storage restore" and the copy that was made beside the store before its upgrade',
  postgres: 'restore a copy from before the upgrade',
};

/** @throws StorageError where the store at a place is newer than what is known, or older than the first release */
export function refuseUnknown(place: string, version: number, database: keyof Dialects): void {
  const known = newestVersion(database);
  if (version > known) {
    throw new StorageError(
      'newer_schema',
      `${place}: the store has schema version ${version}, this Sluice knows up to ${known}; run the newer Sluice that wrote it, or ${WAY_BACK[database]}`,
    );
  }
  if (version > 0 && version < (MIGRATIONS[0]?.[database] ?? 0)) {
    throw new StorageError(
      'failed',
      `${place}: the store has schema version ${version}, which is from before 0.1.0; start version 0.1.0 on it once, then this one`,
    );
  }
}
