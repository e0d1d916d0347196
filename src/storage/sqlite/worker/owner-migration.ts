import type { DatabaseSync } from 'node:sqlite';

/** What an older store needs to know of the configuration to give its sessions owners. */
export interface KnownOwners {
  /** Owners by mapping id; any other mapping owns its own conversations. */
  readonly mappings: Readonly<Record<string, string>>;
  /** `hooks.sessionKeys.shared`. */
  readonly sharedPrefixes: readonly string[];
}

/**
 * Gives every conversation an owner. A stored session goes to the owner of its last run; one whose runs are gone is
 * nobody's. Runs that wait keep their place, each in the queue of its own conversation: the first of a queue that has
 * no other at its head steps up.
 */
export function addOwners(database: DatabaseSync, { mappings, sharedPrefixes }: KnownOwners): void {
  database.exec('CREATE TEMP TABLE known_owners (mapping_id TEXT PRIMARY KEY, owner TEXT NOT NULL)');
  const know = database.prepare('INSERT INTO known_owners VALUES (?, ?)');
  for (const [id, owner] of Object.entries(mappings)) know.run(id, owner);
  database.exec('CREATE TEMP TABLE shared_prefixes (prefix TEXT PRIMARY KEY)');
  const share = database.prepare('INSERT OR IGNORE INTO shared_prefixes VALUES (?)');
  for (const prefix of sharedPrefixes) share.run(prefix);
  database.exec(RUNS);
  database.exec(SESSIONS);
  database.exec('DROP TABLE temp.known_owners; DROP TABLE temp.shared_prefixes');
}

const RUNS = `
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE runs SET owner = CASE
  WHEN kind = 'heartbeat' THEN 'main'
  WHEN EXISTS (SELECT 1 FROM temp.shared_prefixes WHERE substr(session_key, 1, length(prefix)) = prefix) THEN 'shared'
  WHEN mapping_id = '' THEN 'request'
  ELSE coalesce((SELECT owner FROM temp.known_owners AS known WHERE known.mapping_id = runs.mapping_id),
    'mapping:' || mapping_id) END;
UPDATE runs SET line = owner || char(10) || session_key WHERE line IS NOT NULL;
UPDATE runs SET state = 1 WHERE seq IN (
  SELECT min(seq) FROM runs AS behind WHERE state = 0 AND line IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM runs AS head WHERE head.line = behind.line AND head.state IN (1, 3) AND head.state <= 3)
  GROUP BY line);
`;

const SESSIONS = `
CREATE TEMP TABLE last_runs AS
  SELECT session_key AS key, owner, max(seq) AS seq FROM runs GROUP BY session_key;
CREATE UNIQUE INDEX temp.last_runs_by_key ON last_runs (key);
ALTER TABLE sessions RENAME TO sessions_without_owner;
DROP INDEX sessions_used;
CREATE TABLE sessions (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  turns INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  key_only_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_used ON sessions (last_used_at);
INSERT INTO sessions (owner, key, turns, bytes, created_at, last_used_at, key_only_id)
  SELECT CASE WHEN key = 'main' THEN 'main'
    ELSE coalesce((SELECT owner FROM temp.last_runs AS last WHERE last.key = old.key), 'unknown') END,
    key, turns, bytes, created_at, last_used_at, 1
  FROM sessions_without_owner AS old;
DROP TABLE sessions_without_owner;
DROP TABLE temp.last_runs;
ALTER TABLE session_turns ADD COLUMN owner TEXT NOT NULL DEFAULT '';
CREATE TEMP TABLE owners AS SELECT key, owner FROM sessions;
CREATE UNIQUE INDEX temp.owners_by_key ON owners (key);
UPDATE session_turns SET owner = coalesce((SELECT owner FROM temp.owners AS known WHERE known.key = session_key), 'unknown');
DROP TABLE temp.owners;
DROP INDEX session_turns_of_key;
CREATE INDEX session_turns_of_session ON session_turns (owner, session_key, seq);
`;
