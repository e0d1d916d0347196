import type {
  DecisionRecord,
  Approval,
  EarlierEnding,
  EventRecord,
  NewCallback,
  OutboxRecord,
  RunRecord,
} from './records.ts';

/** A time as ISO 8601. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Prints these times, where a row has them, as ISO 8601. */
export function isoTimes<Row extends object, Key extends keyof Row>(
  row: Row,
  ...keys: readonly Key[]
): Omit<Row, Key> & { readonly [Each in keyof Pick<Row, Key>]: string } {
  const times = keys.filter((key) => row[key] !== undefined).map((key) => [key, isoTime(Number(row[key]))]);
  return Object.assign({ ...row }, Object.fromEntries(times) as { [Each in keyof Pick<Row, Key>]: string });
}

const isoTimeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));

/** An error's message can hold what an agent or a platform said: payload-derived, as the texts are. */
export type ErrorJson = { readonly code: string; readonly message?: string } | null;

const errorToJson = (error: { code: string; message: string } | undefined, text: boolean): ErrorJson =>
  error === undefined ? null : text ? error : { code: error.code };

/** What listings call a run: where it came from, or `notify` where it was none of an agent. */
export function kindOf({ kind, action }: RunRecord): RunRecord['kind'] | 'notify' {
  return action.kind === 'notify' ? 'notify' : kind;
}

export type RunJson = ReturnType<typeof runToJson>;

/** One run as `sluice runs --json` prints it; without `text` what comes from payloads is left out. */
export function runToJson(run: RunRecord, text: boolean) {
  const { action } = run;
  return {
    id: run.id,
    kind: kindOf(run),
    mapping: action.origin.mappingId ?? null,
    path: action.origin.path,
    name: action.name,
    sessionKey: action.sessionKey,
    owner: action.owner,
    state: run.state,
    outcome: run.outcome ?? null,
    ...(text && { message: action.message, reply: run.reply ?? null }),
    // How many it reads, of a run that gathered several.
    ...(run.eventCount !== undefined && { events: run.eventCount }),
    attempts: run.attempts,
    channel: action.channel,
    to: action.to ?? null,
    model: (action.kind === 'agent' && action.model) || null,
    runner: (action.kind === 'agent' && action.runner) || null,
    lastError: errorToJson(run.lastError, text),
    usage: run.usage ?? null,
    ...(run.earlier && { earlier: run.earlier.map((end) => earlierToJson(end, text)) }),
    ...(run.approval && { approval: approvalToJson(run.approval) }),
    acceptedAt: isoTime(run.acceptedAt),
    dueAt: isoTime(run.dueAt),
    startedAt: isoTimeOrNull(run.startedAt),
    endedAt: isoTimeOrNull(run.endedAt),
  };
}

function approvalToJson({ expiresAt, decision, by, at }: Approval) {
  const answer = { ...(decision && { decision }), ...(by && { by }) };
  return { expiresAt: isoTime(expiresAt), ...answer, at: isoTimeOrNull(at) };
}

function earlierToJson({ reply, error, endedAt, ...end }: EarlierEnding, text: boolean) {
  return {
    ...end,
    lastError: errorToJson(error, text),
    ...(text && reply !== undefined && { reply }),
    endedAt: isoTime(endedAt),
  };
}

export type EventJson = ReturnType<typeof eventToJson>;

/** One system event as `sluice events --json` prints it. */
export function eventToJson(event: EventRecord, text: boolean) {
  const { source, ...origin } = event.origin;
  return {
    id: event.id,
    kind: event.kind,
    ...(text && { text: event.text }),
    origin: text && source !== undefined ? event.origin : origin,
    mode: event.mode,
    state: event.state,
    attempts: event.attempts,
    turnId: event.turnId ?? null,
    runId: event.runId ?? null,
    lastError: errorToJson(event.lastError, text),
    createdAt: isoTime(event.createdAt),
    consumedAt: isoTimeOrNull(event.consumedAt),
  };
}

/** Where a callback goes, as it may be shown: no path, which may be a secret. */
export function callbackPlace({ url }: NewCallback): string {
  if (typeof url !== 'string') return `{file: ${url.file}}`;
  return URL.canParse(url) ? new URL(url).origin : url;
}

export type OutboxJson = ReturnType<typeof outboxToJson>;

/** One delivery or callback, with the origin of its address; the recipient is shown, the text only with `text`. */
export function outboxToJson(entry: OutboxRecord, text: boolean) {
  return {
    id: entry.id,
    kind: entry.kind,
    runId: entry.runId,
    state: entry.state,
    attempts: entry.attempts,
    channel: entry.delivery?.channel ?? null,
    to: entry.delivery?.to ?? null,
    url: entry.callback === undefined ? null : callbackPlace(entry.callback),
    ...(text && { text: entry.delivery?.text ?? entry.callback?.body ?? null }),
    chunksSent: entry.chunksSent,
    lastError: errorToJson(entry.lastError, text),
    createdAt: isoTime(entry.createdAt),
    dueAt: isoTime(entry.dueAt),
    endedAt: isoTimeOrNull(entry.endedAt),
  };
}

export type DecisionJson = ReturnType<typeof decisionToJson>;

/** One decision as `sluice requests --json` prints it. */
export function decisionToJson({ receivedAt, ...rest }: DecisionRecord) {
  return {
    // The names that runs and events have.
    id: rest.requestId,
    mapping: rest.mappingId ?? null,
    ...rest,
    receivedAt: isoTime(receivedAt),
  };
}
