import { randomBytes } from 'node:crypto';
import type { Action, AgentAction } from '../../../base/action.ts';
import { prepareAction, type Reservation } from '../prepared-request.ts';
import type { StartDecision, StartResult } from '../records.ts';
import { insertAction, placeQuestion } from './accept-statements.ts';
import { insertCallback } from './outbox-rows.ts';
import { CHECKING, RUN, type RunHead } from './rows.ts';
import { countState, endRuns, findRunHead } from './run-rows.ts';
import type { Store } from './store.ts';
import { free, insertWithout } from './waiting-events.ts';

/*
 * Work that waits until it is known whether the account that caused it may start it (`startedBy`): a run under a key
 * that no event has, also where it becomes a system event or a notification. Allowed, it leaves its place and is stored
 * as if it had just come; where it has no conversation, and waits for none, it ends as `no_conversation`, since it was
 * accepted. Refused, it ends. Its `dedupe` key is free again where it ends as one of both.
 */

const FIND = `SELECT action FROM run_actions JOIN runs ON runs.seq = run_actions.seq
  WHERE runs.seq = ? AND (state = ${RUN.waiting} AND gather_key = '${CHECKING}' OR error_code = 'not_allowed')`;
const REMOVE = ['DELETE FROM run_actions WHERE seq = ?', 'DELETE FROM runs WHERE seq = ?'];
const WAIT = `UPDATE runs SET due_at = ?, error_code = 'not_asked', error_message = ? WHERE seq = ?`;
/** Questions to people are counted as runs that begin are, under a name that no mapping has, and the account as the line. */
const QUESTIONS = `SELECT count(*) AS "all", coalesce(sum(CASE WHEN line = ? THEN 1 ELSE 0 END), 0) AS same
  FROM run_starts WHERE mapping_id = ? AND started_at > ?`;
const NOTE = `INSERT INTO run_starts (run_seq, mapping_id, line, started_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_seq, started_at) DO NOTHING`;
const HOUR_MS = 3_600_000;
const MAX_QUESTIONS = 5;

/** As it is stored until it is decided: what is no run keeps beside it what it becomes. */
type CheckedAction = AgentAction & { readonly becomes?: Action };

interface CheckedRun {
  readonly run: RunHead;
  readonly action: CheckedAction;
}

function findChecked(store: Store, id: string): readonly CheckedRun[] {
  const run = findRunHead(store, id);
  const text = run && store.sql.find<{ action: string }>(FIND, run.seq)?.action;
  return text === undefined || run === undefined ? [] : [{ run, action: JSON.parse(text) as CheckedAction }];
}

/** Decides about the work of one mapping and one request; nothing where that was done before. */
export function decideStart(
  store: Store,
  runIds: readonly string[],
  decision: StartDecision,
  nowMs: number,
): StartResult {
  const found = runIds.flatMap((id) => findChecked(store, id)).filter(({ run }) => run.state === RUN.waiting);
  const [first] = found;
  if (first === undefined) return 'decided';
  const now = Math.round(nowMs);
  switch (decision.kind) {
    case 'later':
      for (const { run } of found)
        store.sql.post(WAIT, Math.round(decision.retryAt), decision.message, run.seq);
      return 'later';
    case 'allowed':
      begin(store, found, { now, asks: first.action.startedBy?.asksOthers !== true });
      return 'begun';
    case 'refused': {
      const asks = first.action.startedBy?.asksOthers === true;
      if (asks && mayAsk(store, first, decision.account, now)) {
        begin(store, found, { now, asks });
        return 'asked';
      }
      end(store, found, decision, now);
      return asks ? 'full' : 'refused';
    }
  }
}

/** Lets work begin all the same, as an operator wants it; false where nobody asks whether it may. */
export function beginUnasked(store: Store, runId: string, nowMs: number): boolean {
  const found = findChecked(store, runId);
  begin(store, found, { now: Math.round(nowMs), asks: false });
  return found.length > 0;
}

function begin(
  store: Store,
  found: readonly CheckedRun[],
  { now, asks }: { readonly now: number; readonly asks: boolean },
): void {
  const nonce = randomBytes(16).toString('hex');
  const placed = found.flatMap((one) => {
    const { run, action: checked } = one;
    for (const remove of REMOVE) store.sql.post(remove, run.seq);
    countState(store, run, -1);
    const { startedBy: _, dedupe: _key, ...action } = checked.becomes ?? checked;
    if (!asks && 'approve' in action) delete action.approve;
    const prepared = prepareAction(action, now, nonce);
    const taken = takenBy(one);
    const { without } = insertAction(store, prepared, taken);
    if (without === 'none' && prepared.kind === 'agent' && prepared.conversation !== undefined) {
      insertWithout(store, prepared.row, prepared.conversation);
      free(store, taken);
    }
    return without === undefined ? [prepared] : [];
  });
  placeQuestion(store, placed);
}

/** The `dedupe` key that it took when it was accepted; refused, it has none any more. */
function takenBy({ run, action }: CheckedRun): readonly Reservation[] {
  const { dedupe } = prepareAction(action.becomes ?? action, 0, '');
  return dedupe === undefined || run.state !== RUN.waiting ? [] : [dedupe];
}

function mayAsk(store: Store, { run }: CheckedRun, account: string, now: number): boolean {
  const name = `?${run.mappingId}`;
  const line = account.toLowerCase();
  const asked = store.sql.find<{ all: number; same: number }>(QUESTIONS, line, name, now - HOUR_MS);
  if (asked === undefined || asked.same > 0 || asked.all >= MAX_QUESTIONS) return false;
  store.sql.post(NOTE, run.seq, name, line, now);
  return true;
}

function end(
  store: Store,
  found: readonly CheckedRun[],
  { error, callbacks }: Extract<StartDecision, { readonly kind: 'refused' }>,
  nowMs: number,
): void {
  endRuns(
    store,
    found.map(({ run }) => [run, { state: RUN.completed, outcome: 'error', error, nowMs }]),
  );
  for (const [index, one] of found.entries()) {
    const { run } = one;
    free(store, takenBy(one));
    const callback = callbacks[index];
    if (callback !== undefined) insertCallback(store, callback, { ...run, runId: run.id, nowMs });
  }
}
