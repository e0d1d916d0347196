import type { SqlValue } from '../statements/statements.ts';

/**
 * Every table with what makes a row of it unique, in the order they are copied: the copy goes on behind the last row
 * that it wrote. What says who uses a store is not copied.
 */
export const COPIED_TABLES: Readonly<Record<string, readonly string[]>> = {
  counters: ['one'],
  store_identity: ['one'],
  last_target: ['one'],
  runs: ['seq'],
  run_actions: ['seq'],
  run_events: ['run_seq', 'position'],
  outbox: ['seq'],
  events: ['seq'],
  idempotency: ['scope', 'key'],
  sessions: ['owner', 'key'],
  session_turns: ['seq'],
  decisions: ['seq'],
  kept_requests: ['seq'],
  generations: ['id'],
  generation_files: ['hash'],
  runner_holds: ['runner', 'model'],
  run_starts: ['run_seq', 'started_at'],
  queue_pauses: ['mapping_id'],
  limited_mappings: ['mapping_id'],
  costs: ['day', 'mapping_id', 'runner'],
  recent_costs: ['minute', 'mapping_id'],
  audit: ['seq'],
  mailboxes: ['mailbox'],
  mail_passed: ['mailbox', 'identity'],
  mail_set_aside: ['seq'],
};

export const UNCOPIED_TABLES = [
  'counter_slots',
  'kept_conversations',
  'replicas',
  'leaders',
  'store_copy',
  'sluice_schema',
] as const;

export type CopiedRow = Readonly<Record<string, SqlValue>>;

/** How far a copy has come. */
export interface CopyPosition {
  /** The source as it was when the copy began; another one is copied from the beginning. */
  readonly source: string;
  readonly table: string;
  /** Of the last row that was written; absent before the first. */
  readonly after?: readonly SqlValue[];
}

/** Nobody holds what was under way: whoever starts on the copy takes it over, as after a crash. */
export function withoutHolder({ claim: _claim, ...row }: CopiedRow): CopiedRow {
  return 'holder' in row ? { ...row, holder: null } : row;
}
