import type { DatabaseSync } from 'node:sqlite';
import { addOwners, type KnownOwners } from './owner-migration.ts';

/**
 * Written into every store, so that another program's database is never taken for one ("SLUI").
 */
export const APPLICATION_ID = 0x53_4c_55_49;

/**
 * How runs are queued (`states.ts` has the numbers of the states). `seq` is the order of arrival; no order depends on
 * a clock. A queued run is in one of three states, kept right by every transition, so that a claim never looks at work
 * it cannot take:
 *
 *   ready    the first due run of a conversation that has no active run: `runs_ready` holds nothing else
 *   blocked  due, but behind an active or a ready run of its conversation
 *   waiting  for its next attempt; meanwhile its conversation is free for later runs
 *
 * A conversation is the pair of owner and session key. Per conversation: at most one run is ready or active, and a blocked run implies that one is. A run under a key of its own
 * (`hook:` and its id) stands in no queue: nearly all runs are of this kind, and a random key costs a page of the log.
 * Once its owner names such a key again, the run that has it joins the queue (column `line`: owner, line break, key).
 *
 * The prompt stands in a table of its own, because a row is written again as a whole at every change of state.
 *
 * Counters are written with the transaction that changes what they count; `verify` counts again.
 */
const VERSION_1 = `
CREATE TABLE counters (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  queued_runs INTEGER NOT NULL DEFAULT 0,
  active_runs INTEGER NOT NULL DEFAULT 0,
  dead_runs INTEGER NOT NULL DEFAULT 0,
  ended_runs INTEGER NOT NULL DEFAULT 0,
  run_bytes INTEGER NOT NULL DEFAULT 0,
  queued_outbox INTEGER NOT NULL DEFAULT 0,
  dead_outbox INTEGER NOT NULL DEFAULT 0,
  ended_outbox INTEGER NOT NULL DEFAULT 0,
  pending_wakes INTEGER NOT NULL DEFAULT 0,
  pending_events INTEGER NOT NULL DEFAULT 0,
  dead_events INTEGER NOT NULL DEFAULT 0,
  ended_events INTEGER NOT NULL DEFAULT 0,
  sessions INTEGER NOT NULL DEFAULT 0,
  heartbeat_at INTEGER,
  opened INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO counters (one) VALUES (1);

CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  state INTEGER NOT NULL,
  session_key TEXT NOT NULL,
  line TEXT,
  mapping_id TEXT NOT NULL,
  runner TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  accepted_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  outcome TEXT,
  reply TEXT,
  error_code TEXT,
  error_message TEXT,
  usage TEXT,
  pgid INTEGER,
  start_ticks TEXT
) STRICT;
CREATE TABLE run_actions (seq INTEGER PRIMARY KEY, action TEXT NOT NULL) STRICT;
CREATE INDEX runs_queued ON runs (seq) WHERE state <= 2;
CREATE INDEX runs_ready ON runs (mapping_id, runner, seq) WHERE state = 1;
CREATE INDEX runs_ready_in_order ON runs (seq) WHERE state = 1;
CREATE INDEX runs_waiting ON runs (due_at, seq) WHERE state = 2;
CREATE INDEX runs_active ON runs (mapping_id, runner) WHERE state = 3;
CREATE INDEX runs_dead ON runs (seq) WHERE state = 5;
CREATE INDEX runs_in_line ON runs (line, state, seq) WHERE line IS NOT NULL AND state <= 3;
CREATE INDEX runs_ended ON runs (ended_at, seq) WHERE state >= 4;

CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  run_id TEXT NOT NULL,
  mapping_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  chunks_sent INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  ended_at INTEGER,
  target TEXT,
  error_code TEXT,
  error_message TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_queued ON outbox (due_at, seq) WHERE state = 0;
CREATE INDEX outbox_active ON outbox (seq) WHERE state = 1;
CREATE INDEX outbox_dead ON outbox (seq) WHERE state = 4;
CREATE INDEX outbox_ended ON outbox (ended_at, seq) WHERE state >= 2;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  state INTEGER NOT NULL,
  mode TEXT NOT NULL,
  run_id TEXT,
  mapping_id TEXT NOT NULL,
  turn_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  error_code TEXT,
  error_message TEXT,
  origin TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX events_pending ON events (seq) WHERE state = 0;
CREATE INDEX events_claimed ON events (seq) WHERE state = 1;
CREATE INDEX events_dead ON events (seq) WHERE state = 3;
CREATE INDEX events_ended ON events (ended_at, seq) WHERE state >= 2;
CREATE INDEX events_of_run ON events (run_id) WHERE run_id IS NOT NULL AND state = 0;

CREATE TABLE idempotency (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  body_sha256 TEXT NOT NULL,
  result TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE sessions (
  key TEXT PRIMARY KEY,
  turns INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_used ON sessions (last_used_at);
CREATE TABLE session_turns (
  seq INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  role TEXT NOT NULL,
  at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX session_turns_of_key ON session_turns (session_key, seq);

CREATE TABLE last_target (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  target TEXT NOT NULL,
  saved_at INTEGER NOT NULL
) STRICT;

CREATE TABLE decisions (
  seq INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL,
  mapping_id TEXT,
  outcome TEXT NOT NULL,
  decision TEXT NOT NULL
) STRICT;
CREATE TABLE kept_requests (
  seq INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  request TEXT NOT NULL
) STRICT;
`;

/**
 * Runners that cannot take runs at present, and since when; `model` is empty where all runs of the runner wait. The
 * runs themselves stay ready in their order: a claim is told which runners to pass over.
 */
const VERSION_2 = `
CREATE TABLE runner_holds (
  runner TEXT NOT NULL,
  model TEXT NOT NULL,
  since INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  retry_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  PRIMARY KEY (runner, model)
) STRICT, WITHOUT ROWID;
`;

/** Mailboxes: how far each was read and by whom, what was dealt with, and what the service refused. */
const VERSION_3 = `
CREATE TABLE mailboxes (
  mailbox TEXT PRIMARY KEY,
  holder TEXT,
  held_until INTEGER NOT NULL,
  position TEXT,
  floor_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mail_passed (
  mailbox TEXT NOT NULL,
  identity TEXT NOT NULL,
  fingerprint TEXT,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (mailbox, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_passed_again ON mail_passed (mailbox, fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX mail_passed_age ON mail_passed (mailbox, received_at);

CREATE TABLE mail_set_aside (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  mailbox TEXT NOT NULL,
  identity TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  set_aside_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
) STRICT;
CREATE INDEX mail_set_aside_of ON mail_set_aside (mailbox, state, seq);
`;

/**
 * Who holds what is under way, for a store that several processes share (PostgreSQL); here there is one, and `replicas`
 * stays empty. A row in `store_copy` says that the store is the target of a copy that has not ended.
 */
const VERSION_5 = `
ALTER TABLE runs ADD COLUMN holder TEXT;
ALTER TABLE outbox ADD COLUMN holder TEXT;
ALTER TABLE events ADD COLUMN holder TEXT;
CREATE INDEX outbox_queued_callbacks ON outbox (due_at, seq) WHERE state = 0 AND kind = 'callback';
CREATE TABLE replicas (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  host TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE leaders (name TEXT PRIMARY KEY, holder TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE store_copy (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  source TEXT NOT NULL,
  position TEXT NOT NULL
) STRICT;
`;

/**
 * Runs that gather events (`debounce` of a mapping): one that waits and has a `gather_key` takes further events of this
 * key, `gathered` of them so far, at the latest until `gather_until`. Its own action is its first event's.
 */
const VERSION_6 = `
ALTER TABLE runs ADD COLUMN gather_key TEXT;
ALTER TABLE runs ADD COLUMN gather_until INTEGER;
ALTER TABLE runs ADD COLUMN gathered INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_gathering ON runs (mapping_id, gather_key) WHERE state = 2 AND gather_key IS NOT NULL;
CREATE TABLE run_events (
  run_seq INTEGER NOT NULL,
  position INTEGER NOT NULL,
  action TEXT NOT NULL,
  PRIMARY KEY (run_seq, position)
) STRICT, WITHOUT ROWID;
`;

/**
 * Limits of mappings: what began within the last hour of those that have some (`run_starts`, with the conversation),
 * runs that a limit does not hold (`exempt`), and since when a mapping's runs wait for its limits. `queue_pauses`:
 * mappings of which no run is begun, `*` for all.
 */
const VERSION_7 = `
ALTER TABLE runs ADD COLUMN exempt INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_exempt ON runs (seq) WHERE state = 1 AND exempt = 1;
CREATE TABLE run_starts (
  run_seq INTEGER NOT NULL,
  mapping_id TEXT NOT NULL,
  line TEXT,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run_seq, started_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_starts_of_mapping ON run_starts (mapping_id, started_at);
CREATE INDEX run_starts_in_order ON run_starts (started_at);
CREATE TABLE queue_pauses (mapping_id TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE limited_mappings (
  mapping_id TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  waiting INTEGER NOT NULL,
  free_at INTEGER
) STRICT, WITHOUT ROWID;
`;

/** How a run ended before it was begun anew (`queue retry`): a JSON list, the oldest first. */
const VERSION_8 = `
ALTER TABLE runs ADD COLUMN earlier TEXT;
`;

/**
 * A decision holds codes and facts: the sentences of those that are there already go. A kept request is `whole`, or the
 * `shape` of one that was accepted. What was live when a request was judged (`generations`: names and hashes of files)
 * stays as long as a decision names it, each content once (`generation_files`: base64 of deflated bytes).
 */
const VERSION_9 = `
UPDATE decisions SET decision = json_set(
  json_remove(decision, '$.note', '$.detail', '$.transformNotes', '$.refusal.text'), '$.isOlder', json('true'));
UPDATE decisions SET decision = json_set(decision, '$.missed', (SELECT json_group_array(json_remove(value, '$.how', '$.instead'))
  FROM json_each(decision, '$.missed'))) WHERE json_type(decision, '$.missed') = 'array';
UPDATE decisions SET decision = json_set(decision, '$.empty', (SELECT json_group_array(json_remove(value, '$.instead'))
  FROM json_each(decision, '$.empty'))) WHERE json_type(decision, '$.empty') = 'array';
ALTER TABLE decisions ADD COLUMN generation TEXT;
ALTER TABLE kept_requests ADD COLUMN kind TEXT NOT NULL DEFAULT 'whole';
ALTER TABLE kept_requests ADD COLUMN path TEXT NOT NULL DEFAULT '';
CREATE INDEX kept_requests_by_path ON kept_requests (kind, path, seq, bytes);
CREATE INDEX kept_requests_by_age ON kept_requests (received_at);
CREATE INDEX decisions_by_generation ON decisions (generation) WHERE generation IS NOT NULL;
CREATE TABLE generations (id TEXT PRIMARY KEY, kept_at INTEGER NOT NULL, files TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE generation_files (hash TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** One step of the schema: SQL, or what runs it. */
export type Migration = string | ((database: DatabaseSync, owners: KnownOwners) => void);

/** Entry n leads from schema version n to n + 1. Released entries are never edited: a change is a new entry. */
export const MIGRATIONS: readonly Migration[] = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  addOwners,
  VERSION_5,
  VERSION_6,
  VERSION_7,
  VERSION_8,
  VERSION_9,
];
