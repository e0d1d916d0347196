import type {
  DecisionRecord,
  Approval,
  EarlierEnding,
  EventRecord,
  NewCallback,
  OutboxRecord,
  RunRecord,
  TokenUsage,
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
export function kindOf({ kind, action }: RunRecord): RunJson['kind'] {
  return action.kind === 'notify' ? 'notify' : kind;
}

/** A run; times are ISO 8601, and with `--no-text` what comes from payloads is left out. */
export interface RunJson extends Pick<RunRecord, 'id' | 'state' | 'attempts'> {
  readonly kind: 'hook' | 'heartbeat' | 'notify';
  readonly mapping: string | null;
  readonly path: string;
  readonly name: string;
  readonly sessionKey: string;
  readonly owner: string;
  readonly outcome: RunRecord['outcome'] | null;
  readonly message?: string;
  readonly reply?: string | null;
  /** How many events it reads, of a run that gathered several. */
  readonly events?: number;
  readonly channel: string;
  readonly to: string | null;
  readonly model: string | null;
  readonly runner: string | null;
  readonly lastError: ErrorJson;
  readonly usage: TokenUsage | null;
  /** How it ended each time before it was begun anew, the oldest first. */
  readonly earlier?: readonly EarlierJson[];
  /** Until when it waits for an approval, and what was answered. */
  readonly approval?: ApprovalJson;
  readonly acceptedAt: string;
  readonly dueAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}
interface ApprovalJson extends Omit<Approval, 'expiresAt' | 'nonce' | 'at'> {
  readonly expiresAt: string;
  readonly at: string | null;
}
interface EarlierJson extends Omit<EarlierEnding, 'error' | 'endedAt'> {
  readonly lastError: ErrorJson;
  readonly endedAt: string;
}

/** One run as `sluice runs --json` prints it. */
export function runToJson(run: RunRecord, text: boolean): RunJson {
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
    ...(text ? { message: action.message, reply: run.reply ?? null } : {}),
    ...(run.eventCount === undefined ? {} : { events: run.eventCount }),
    attempts: run.attempts,
    channel: action.channel,
    to: action.to ?? null,
    model: (action.kind === 'agent' && action.model) || null,
    runner: (action.kind === 'agent' && action.runner) || null,
    lastError: errorToJson(run.lastError, text),
    usage: run.usage ?? null,
    ...(run.earlier === undefined ? {} : { earlier: run.earlier.map((end) => earlierToJson(end, text)) }),
    ...(run.approval === undefined ? {} : { approval: approvalToJson(run.approval) }),
    acceptedAt: isoTime(run.acceptedAt),
    dueAt: isoTime(run.dueAt),
    startedAt: isoTimeOrNull(run.startedAt),
    endedAt: isoTimeOrNull(run.endedAt),
  };
}

function approvalToJson({ expiresAt, decision, by, at }: Approval): ApprovalJson {
  const answer = { ...(decision && { decision }), ...(by && { by }) };
  return { expiresAt: isoTime(expiresAt), ...answer, at: isoTimeOrNull(at) };
}

function earlierToJson({ reply, error, endedAt, ...end }: EarlierEnding, text: boolean): EarlierJson {
  return {
    ...end,
    lastError: errorToJson(error, text),
    ...(text && reply !== undefined ? { reply } : {}),
    endedAt: isoTime(endedAt),
  };
}

/** A system event. */
export interface EventJson extends Pick<
  EventRecord,
  'id' | 'kind' | 'origin' | 'mode' | 'state' | 'attempts'
> {
  readonly text?: string;
  readonly turnId: string | null;
  readonly runId: string | null;
  readonly lastError: ErrorJson;
  readonly createdAt: string;
  readonly consumedAt: string | null;
}

/** One system event as `sluice events --json` prints it. */
export function eventToJson(event: EventRecord, text: boolean): EventJson {
  const { source, ...origin } = event.origin;
  return {
    id: event.id,
    kind: event.kind,
    ...(text ? { text: event.text } : {}),
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

/** A delivery, or a callback with the origin of its address. */
export interface OutboxJson extends Pick<
  OutboxRecord,
  'id' | 'kind' | 'runId' | 'state' | 'attempts' | 'chunksSent'
> {
  readonly channel: string | null;
  readonly to: string | null;
  readonly url: string | null;
  readonly text?: string | null;
  readonly lastError: ErrorJson;
  readonly createdAt: string;
  readonly dueAt: string;
  readonly endedAt: string | null;
}

/** One delivery or callback; the recipient is shown, the text only with `text`. */
export function outboxToJson(entry: OutboxRecord, text: boolean): OutboxJson {
  return {
    id: entry.id,
    kind: entry.kind,
    runId: entry.runId,
    state: entry.state,
    attempts: entry.attempts,
    channel: entry.delivery?.channel ?? null,
    to: entry.delivery?.to ?? null,
    url: entry.callback === undefined ? null : callbackPlace(entry.callback),
    ...(text ? { text: entry.delivery?.text ?? entry.callback?.body ?? null } : {}),
    chunksSent: entry.chunksSent,
    lastError: errorToJson(entry.lastError, text),
    createdAt: isoTime(entry.createdAt),
    dueAt: isoTime(entry.dueAt),
    endedAt: isoTimeOrNull(entry.endedAt),
  };
}

/** What became of a request. */
export interface DecisionJson extends Omit<DecisionRecord, 'receivedAt'> {
  readonly id: string;
  readonly mapping: string | null;
  readonly receivedAt: string;
}

/** One decision as `sluice requests --json` prints it. */
export function decisionToJson({ receivedAt, ...rest }: DecisionRecord): DecisionJson {
  return {
    // The names that runs and events have.
    id: rest.requestId,
    mapping: rest.mappingId ?? null,
    ...rest,
    receivedAt: isoTime(receivedAt),
  };
}
