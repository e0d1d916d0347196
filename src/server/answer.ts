import type { AcceptResult, RunRecord } from '../storage/storage.ts';
import type { Answer } from './exchange.ts';

/** The skipped hook: accepted on purpose, with nothing to do. */
export const NO_CONTENT: Answer = { status: 204 };

/**
 * The answer to accepted work, written by hand because its ids are UUIDs and need no escaping: one action answers in
 * its single form however it was made, several list the ids of their events and runs in order.
 */
export function acceptedAnswer(result: AcceptResult): Answer {
  const { accepted } = result;
  const [first] = accepted;
  if (first === undefined) return NO_CONTENT;
  if (accepted.length === 1) {
    return first.kind === 'wake'
      ? { status: 200, body: `{"ok":true,"mode":"${first.mode}","id":"${first.id}"${tail(result)}}` }
      : { status: 202, body: `{"ok":true,"runId":"${first.id}"${tail(result)}}` };
  }
  const ids: string[] = [];
  const runIds: string[] = [];
  const duplicates: string[] = [];
  for (const action of accepted) {
    if (action.duplicate && !result.duplicate) duplicates.push(action.id);
    else (action.kind === 'wake' ? ids : runIds).push(action.id);
  }
  const listed = duplicates.length === 0 ? '' : `,"duplicates":${JSON.stringify(duplicates)}`;
  return {
    status: accepted.every((action) => action.kind === 'wake') ? 200 : 202,
    body: `{"ok":true,"ids":${JSON.stringify(ids)},"runIds":${JSON.stringify(runIds)}${listed}${tail(result)}}`,
  };
}

/** The answer to an agent request that asked to wait and whose run has ended. */
export function waitedAnswer(run: RunRecord, result: AcceptResult, waitedSeconds: number): Answer {
  const outcome = JSON.stringify(outcomeOf(run)).slice(1, -1);
  return {
    status: 200,
    body: `{"ok":true,"runId":"${run.id}",${outcome}${tail(result)}}`,
    headers: ['preference-applied', `wait=${waitedSeconds}`],
  };
}

/** The answer to `GET {hooks.path}/runs/<id>`. */
export function runAnswer(run: RunRecord): Answer {
  return {
    status: 200,
    body: JSON.stringify({
      ok: true,
      runId: run.id,
      ...outcomeOf(run),
      attempts: run.attempts,
      acceptedAt: timeOf(run.acceptedAt),
      startedAt: timeOf(run.startedAt),
      endedAt: timeOf(run.endedAt),
    }),
  };
}

function outcomeOf({ state, outcome, reply, lastError }: RunRecord): object {
  // The first line is ours; what may follow is the end of a command's stderr and stays in the run's record.
  const error = lastError && { code: lastError.code, message: lastError.message.split('\n', 1)[0] };
  return { state, outcome, reply, error };
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function tail(result: AcceptResult): string {
  const duplicate = result.duplicate ? ',"duplicate":true' : '';
  return result.warnings.length === 0
    ? duplicate
    : `${duplicate},"warnings":${JSON.stringify(result.warnings)}`;
}
