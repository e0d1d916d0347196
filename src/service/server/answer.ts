import type { AcceptResult, RunRecord } from '../../engine/storage/storage.ts';
import type { HttpAnswer, Ending, Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

/**
 * The answer to accepted work, written by hand because its ids are UUIDs and need no escaping: one action answers in
 * its single form however it was made, several list the ids of their events and runs in order.
 */
export function acceptedAnswer(result: AcceptResult): HttpAnswer {
  const accepted = result.accepted.filter(({ without }) => without !== 'none');
  const [first] = accepted;
  if (first === undefined) return { status: 204 };
  const status = accepted.every(({ kind }) => kind === 'wake') ? 200 : 202;
  if (accepted.length === 1) {
    if (first.without === 'waiting' && !result.duplicate)
      return { status, body: `{"ok":true,"waiting":true${tail(result)}}` };
    const body =
      first.kind === 'wake' ? `"mode":"${first.mode}","id":"${first.id}"` : `"runId":"${first.id}"`;
    return { status, body: `{"ok":true,${body}${tail(result)}}` };
  }
  return { status, body: listedIds({ ...result, accepted }) };
}

function listedIds(result: AcceptResult): string {
  const ids: string[] = [];
  // Events that joined the same run have its id.
  const runIds = new Set<string>();
  const duplicates: string[] = [];
  const waiting = result.accepted.flatMap(({ id, without }) => (without === 'waiting' ? [id] : []));
  for (const action of result.accepted) {
    if (action.duplicate && !result.duplicate) duplicates.push(action.id);
    else if (action.kind === 'wake') ids.push(action.id);
    else if (action.without === undefined) runIds.add(action.id);
  }
  const listed = duplicates.length === 0 ? '' : `,"duplicates":${JSON.stringify(duplicates)}`;
  const waits = waiting.length === 0 ? '' : `,"waiting":${JSON.stringify(waiting)}`;
  return `{"ok":true,"ids":${JSON.stringify(ids)},"runIds":${JSON.stringify([...runIds])}${listed}${waits}${tail(result)}}`;
}

/** The answer to a request that waited for its run; `more` has further members, such as those of OpenClaw. */
function endedAnswer(run: RunRecord, result: AcceptResult, more: object = {}): string {
  const outcome = JSON.stringify({ ...more, ...outcomeOf(run) }).slice(1, -1);
  return `{"ok":true,"runId":"${run.id}",${outcome}${tail(result)}}`;
}

/** The answer to `GET {hooks.path}/runs/<id>`. */
export function runAnswer(run: RunRecord): HttpAnswer {
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

function tail({ duplicate: isDuplicate, warnings }: AcceptResult): string {
  const duplicate = isDuplicate ? ',"duplicate":true' : '';
  return warnings.length === 0 ? duplicate : `${duplicate},"warnings":${JSON.stringify(warnings)}`;
}

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i;

/** Seconds asked for by `Prefer: wait=N` (RFC 7240), cut to the longest the server holds; 0 where there is none. */
export function readWaitSeconds(prefer: string | undefined, maxSeconds: number): number {
  if (prefer === undefined) return 0;
  const found = WAIT.exec(prefer);
  return found === null ? 0 : Math.min(Number(found[1]), maxSeconds);
}

/**
 * Delays the answer of a single agent action until its run has ended: the answer with its reply, or undefined where
 * the time passed, the server stops, too many requests wait already, or there is no single run to wait for.
 */
export async function waitForOutcome(
  context: ServerContext,
  { res }: Pick<Exchange, 'res'>,
  { judged: { result } = {}, waitSeconds: seconds = 0, completion = false }: Ending,
): Promise<HttpAnswer | undefined> {
  const [action, ...others] = result?.accepted ?? [];
  if (result === undefined || action?.kind !== 'agent' || others.length > 0) return undefined;
  if (action.without !== undefined) return undefined;
  if (context.waiting >= context.limits.maxWaiting) return undefined;
  const left = new AbortController();
  const leave = (): void => left.abort();
  res.once('close', leave);
  context.waiting += 1;
  try {
    const signal = AbortSignal.any([context.stopping.signal, left.signal]);
    const run = await context.deps.waitForRun(action.id, seconds * 1000, signal);
    if (run === undefined) return undefined;
    if (!completion)
      return {
        status: 200,
        body: endedAnswer(run, result),
        headers: ['preference-applied', `wait=${seconds}`],
      };
    const status = run.outcome === 'ok' || run.outcome === 'forwarded' ? 'ok' : 'error';
    return { status: 200, body: endedAnswer(run, result, { completion: { status } }) };
  } catch {
    // The work is stored: whatever went wrong with waiting, the plain answer is the true one.
    return undefined;
  } finally {
    context.waiting -= 1;
    res.off('close', leave);
  }
}
