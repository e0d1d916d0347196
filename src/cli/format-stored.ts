import { LAST_CHANNEL, type AgentAction, type NotifyAction } from '../action.ts';
import type { GatewaySettings } from '../config/config.ts';
import { HOOK_ERRORS, type HookErrorCode } from '../errors.ts';
import {
  type DecisionRecord,
  type EventRecord,
  type MissedMapping,
  type OutboxRecord,
  type StoredRequest,
  type StoredRun,
} from '../storage/storage.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import { emptyConsequences, ownerText, remedyOf, type EvaluationAdvice } from '../hook/hook.ts';
import { type QueueWaits, waitLines, waitsOf } from './queue-waits.ts';
import { runnerText } from './runner-text.ts';
import { formatBytes, formatSpan } from './terminal.ts';

const MAX_MISSED = 10;

/** The decision: what was answered. */
export function answerLines(decision: DecisionRecord): readonly string[] {
  const { requestId, receivedAt, path, status, code, outcome, method = 'POST' } = decision;
  const titled =
    code !== undefined && Object.hasOwn(HOOK_ERRORS, code)
      ? `: ${HOOK_ERRORS[code as HookErrorCode].title}`
      : '';
  const what = method === '?' ? 'no request could be read' : `${method} …/${path === '' ? '…' : line(path)}`;
  return [
    `request ${requestId}  ${new Date(receivedAt).toISOString()}  ${what}`,
    `answered ${status} ${code ?? outcome}${titled}`,
    `  generation ${decision.generation}, body ${formatBytes(decision.bodyBytes)}, took ${decision.tookMs.toFixed(1)} ms`,
    ...(decision.mappingId === undefined ? [] : [`  mapping ${line(decision.mappingId)}`]),
  ];
}

/** What only the operator is told beside the outcome, without what the advice on a kept request says again. */
export function noteLines({ note = '' }: DecisionRecord, advice?: EvaluationAdvice): readonly string[] {
  const left = advice === undefined ? note : withoutAdvice(note, advice);
  return left === '' ? [] : [`  ${line(left)}`];
}

function withoutAdvice(note: string, { notes = [], settings = [] }: EvaluationAdvice): string {
  const isTold = settings.some(({ setting }) => setting === 'ignoreSenders');
  // It stands last, and the advice on a kept request may quote more of it.
  const rest = isTold ? note.replace(/(?:^|; )ignoreSenders: .*$/s, '') : note;
  const untold = notes.reduce((text, told) => text.replace(told, ''), rest);
  return untold.split('; ').filter(Boolean).join('; ');
}

/** Where a note is there, it says what to do. */
const NOTED: ReadonlySet<string> = new Set([
  'malformed_request',
  'no_mapping_matched',
  'mapping_requires_message',
  'mapping_requires_text',
]);

/** Why, in the words of the operator's own files: for a request that was not kept. */
export function reasonLines(decision: DecisionRecord): readonly string[] {
  const { refusal, missed = [], empty = [], warnings = [], transformNotes = [] } = decision;
  const remedy = decisionRemedy(decision);
  // What a stranger is told is the same for every refusal.
  const told = refusal === undefined ? decision.detail?.replace(/; sluice explain shows .*$/, '') : undefined;
  return [
    ...(told === undefined ? [] : [`  why: ${line(told)}`]),
    ...noteLines(decision),
    ...(remedy === undefined ? [] : [`  hint: ${line(remedy)}`]),
    ...(refusal === undefined ? [] : [refusalLine(refusal)]),
    ...missedLines(missed),
    ...emptyLines(empty),
    ...warnings.map(warningLine),
    ...transformNotes.flatMap((note) => indent(note)),
  ];
}

/** The candidates, and where each of them failed. */
function missedLines(missed: readonly MissedMapping[]): readonly string[] {
  if (missed.length === 0) return [];
  const seen = missed.slice(0, MAX_MISSED);
  const more = missed.length > seen.length ? [`  and ${missed.length - seen.length} more`] : [];
  return ['no mapping took it:', ...seen.flatMap(missLines), ...more];
}

/** Expressions of templates that found nothing, and what follows from that. */
function emptyLines(empty: NonNullable<DecisionRecord['empty']>): readonly string[] {
  if (empty.length === 0) return [];
  return [
    'rendered empty:',
    ...empty.map(
      ({ field, expression, place, instead }) =>
        `  ${field}: ${line(expression)}${insteadText(instead)}  ${place}`,
    ),
    ...emptyConsequences(empty.map(({ field }) => field)),
  ];
}

/** What to do about a code, unless what is known of the request says more. */
function decisionRemedy({ code, mappingId, missed, note }: DecisionRecord): string | undefined {
  // Where no mapping has the name, the names there are say more.
  const isName = code === 'no_mapping_matched' && missed === undefined;
  // What is known of the bytes says what to do about them.
  const isKnown = isName || (note !== undefined && NOTED.has(code ?? ''));
  return isKnown ? undefined : remedyOf(code, mappingId !== undefined);
}

function refusalLine({ scheme, code, text }: NonNullable<DecisionRecord['refusal']>): string {
  const what = code === 'challenge' ? 'challenge' : (PROOFS[scheme] ?? `proof of ${scheme}`);
  return `✗ ${what}: ${line(text)}`;
}

const PROOFS: Readonly<Record<string, string>> = { token: 'hook token' };

/** What a warning of a decision means; its own sentence is only in a kept request. */
const WARNINGS: Readonly<Record<string, string>> = {
  blank_dedupe_key: 'the dedupe key was blank, so a repeat of this request is not recognised',
  class_instance: 'the transform returned an instance of a class; return a plain object',
  helper_argument:
    'a helper or block of a template got what is of no use to it; "sluice explain" of a kept request says which',
  invalid_date:
    'the transform wrote "Invalid Date": new Date got what is no time; for a number of seconds write new Date(seconds * 1000)',
  json_text:
    'a field that the template reads into is a text that holds JSON, so what rendered empty was not found in it: let the sender send an object, or read the text in a transform with JSON.parse',
  nan_as_text:
    'the transform wrote "NaN": something that is no number was part of a calculation; a text with a number in it needs Number(…)',
  object_as_text:
    'the transform wrote "[object Object]": an object was put into a text; name one of its fields, or write JSON.stringify(…)',
  promise_as_text:
    'the transform wrote "[object Promise]": write await before the call, and for a list await Promise.all(list.map(…))',
  repeated_list:
    'forEach calls the transform once for each element, and each call returned the same list, so there are too many actions; remove forEach, or return one object for item: ({ item }) => …',
  rounded_number:
    "the transform returned a number of the body with its last digits rounded, so two of them may look the same; write exact(payload, 'id') with the name of that field, and exact from the argument: ({ payload, exact }) => …",
  seconds_as_milliseconds:
    'the transform made a date of January 1970 from a number of seconds; JavaScript counts milliseconds: write new Date(seconds * 1000)',
  undefined_as_text:
    'the transform wrote "undefined": a field that it put into a text is not there; the body is payload of its one argument, ({ payload }) => …',
};

function warningLine(warning: string): string {
  return `warning ${line(warning)}${Object.hasOwn(WARNINGS, warning) ? `: ${WARNINGS[warning]}` : ''}`;
}

const insteadText = (instead: string | undefined): string =>
  instead === undefined ? '' : `; the request has ${line(instead)}`;

function missLines(missed: MissedMapping): readonly string[] {
  const { mappingId, part, place, leaf, why, variable, how, instead } = missed;
  const head = `  ✗ ${line(mappingId)}${place === undefined ? '' : `  ${place}`}`;
  if (leaf === undefined) return [head, `      ${part} did not hold`];
  if (part !== 'when') {
    const found = why === 'missing' ? 'and the request had none' : 'and the request had another';
    return [head, `      ${part} must be ${JSON.stringify(leaf)}, ${found}`];
  }
  return [
    head,
    `      when ${line(leaf)} ${WHY[why ?? 'different']}${why === 'missing' ? `${line(variable ?? '')} was not sent${insteadText(instead)}` : ''}`,
    ...(how === undefined ? [] : [`      ${line(how)}`]),
  ];
}

const WHY = {
  missing: 'did not hold: ',
  unknown: 'could not be judged',
  different: 'did not hold: another value was sent',
} as const;

/** What became of the request: its runs with their deliveries, and its system events. */
export function workLines({ runs, events }: StoredRequest, context: WorkContext): readonly string[] {
  return [...runs.flatMap((run) => runLines(run, context)), ...events.flatMap(eventLines)];
}

interface WorkContext {
  readonly gateway: GatewaySettings;
  readonly now: number;
  /** A command of ours as it works where it is pasted. */
  readonly command: (command: string) => string;
  readonly waits: QueueWaits;
  /** Of the request that is explained; absent where it is no longer known. */
  readonly requestId?: string | undefined;
}

/** Of a run that another request made, of which this one is a repeat. */
function repeatLines(
  { action, events = [] }: StoredRun['run'],
  requestId: string | undefined,
): readonly string[] {
  if (requestId === undefined) return [];
  const isOwn = [action, ...events].some(({ origin }) => origin.requestId === requestId);
  return isOwn ? [] : [`  made by request ${action.origin.requestId}, of which this one is a repeat`];
}

function runLines({ run, outbox }: StoredRun, context: WorkContext): readonly string[] {
  const { now, command } = context;
  const { action, state, outcome, attempts } = run;
  if (action.kind === 'notify') return notificationLines(action, outbox, context);
  const isUnsent = outbox.length === 0 && state === 'completed';
  const isFailed = state === 'dead' || outcome === 'error';
  return [
    `run ${run.id}  ${line(action.name)}  session ${line(action.sessionKey)}${action.oneShot ? '' : `, ${ownerText(action.owner)}`}`,
    `  ${state}${outcome === undefined ? '' : `, ${outcome}`} after ${attempts} attempt${attempts === 1 ? '' : 's'}${timing(run, now)}`,
    ...repeatLines(run, context.requestId),
    ...eventLinesOf(run, now),
    ...waitingOf(run, context),
    ...turnLines(run, action, context),
    ...outbox.flatMap((entry) => outboxLines(entry, context)),
    ...(isUnsent ? [`  delivery none: ${action.deliver ? whyNoDelivery(run) : 'deliver is false'}`] : []),
    ...(isFailed ? [`  try it again: ${command(`queue retry ${run.id}`)}`] : []),
  ];
}

/** Who takes the turn, and what came of it. */
function turnLines(
  { usage, lastError, reply = '' }: StoredRun['run'],
  action: AgentAction,
  context: WorkContext,
): readonly string[] {
  return [
    `  runner ${line(runnerText(action, context.gateway))}`,
    ...(action.model === undefined ? [] : [`  model ${line(action.model)}`]),
    ...(usage === undefined
      ? []
      : [`  tokens ${usage.inputTokens ?? '?'} in, ${usage.outputTokens ?? '?'} out`]),
    ...(lastError === undefined ? [] : errorLines(lastError)),
    ...(reply === '' ? [] : ['  reply', ...indent(reply)]),
  ];
}

/** The first line is the error; what follows is the end of what a command said on stderr. */
function errorLines({ code, message }: NonNullable<StoredRun['run']['lastError']>): readonly string[] {
  const [error, ...stderr] = message.split('\n');
  return [
    `  error ${line(code)}: ${line(error ?? '')}`,
    ...(stderr.length === 0 ? [] : ['  end of stderr', ...indent(stderr.join('\n').trim())]),
  ];
}

/** Of a due run that a pause or a limit of its mapping keeps from beginning. */
function waitingOf(
  { state, dueAt, action }: StoredRun['run'],
  { waits, now }: WorkContext,
): readonly string[] {
  if (state !== 'queued' || dueAt > now) return [];
  return waitLines(waitsOf(waits, action.origin.mappingId), now).map((text) => `  waits: ${text}`);
}

/** Of a run that several events became, or that still waits for more. */
function eventLinesOf(run: StoredRun['run'], now: number): readonly string[] {
  const { action, eventCount = 1, events = [], state, attempts, dueAt } = run;
  const debounce = action.kind === 'agent' ? action.debounce : undefined;
  if (debounce === undefined) return [];
  const isOpen = state === 'queued' && attempts === 0 && dueAt > now;
  const waits = isOpen ? `; it waits for more of the key ${line(debounce.key)}` : '';
  const requests = [action, ...events].map(({ origin }) => `    request ${origin.requestId}`);
  return [
    `  reads ${eventCount === 1 ? 'one event' : `${eventCount} events`}${waits}`,
    ...(eventCount === 1 ? [] : requests),
  ];
}

function notificationLines(
  { id, name, message }: NotifyAction,
  outbox: StoredRun['outbox'],
  context: WorkContext,
): readonly string[] {
  return [
    `notification ${id}  ${line(name)}`,
    '  message',
    ...indent(message),
    ...outbox.flatMap((entry) => outboxLines(entry, context)),
    ...(outbox.length === 0 ? ['  its delivery is no longer kept'] : []),
  ];
}

function whyNoDelivery({ outcome, reply }: StoredRun['run']): string {
  if (outcome !== 'ok') return 'the run did not end well';
  return reply === undefined || reply.trim() === ''
    ? 'the reply was empty'
    : 'the reply was only an acknowledgement, or its delivery is no longer kept';
}

function timing(run: StoredRun['run'], now: number): string {
  const { acceptedAt, startedAt, endedAt, state, dueAt } = run;
  const parts = [`accepted ${new Date(acceptedAt).toISOString()}`];
  if (startedAt !== undefined) parts.push(`waited ${formatSpan(startedAt - acceptedAt)}`);
  if (startedAt !== undefined && endedAt !== undefined) parts.push(`ran ${formatSpan(endedAt - startedAt)}`);
  const isFirst = run.attempts === 0;
  if (state === 'queued' && dueAt > now)
    parts.push(`${isFirst ? 'begins' : 'next try'} in ${formatSpan(dueAt - now)}`);
  return `; ${parts.join(', ')}`;
}

function outboxLines(entry: OutboxRecord, { now, command }: WorkContext): readonly string[] {
  const { kind, delivery, callback, state, attempts, chunksSent, lastError } = entry;
  const channel = entry.target?.channel ?? delivery?.channel;
  const to = entry.target?.to ?? delivery?.to;
  const where =
    callback === undefined
      ? `${channel === LAST_CHANNEL ? 'the channel last used' : line(channel ?? '')}${to === undefined ? '' : ` to ${line(to)}`}`
      : new URL(callback.url).origin;
  const next =
    state === 'queued' && entry.dueAt > now ? `, next try in ${formatSpan(entry.dueAt - now)}` : '';
  return [
    `  ${kind} ${where}: ${state} after ${attempts} attempt${attempts === 1 ? '' : 's'}${chunksSent > 0 ? `, ${chunksSent} parts sent` : ''}${next}`,
    ...(lastError === undefined ? [] : [`    ${line(lastError.code)}: ${line(lastError.message)}`]),
    ...(state === 'dead' ? [`    try it again: ${command(`queue retry ${entry.id}`)}`] : []),
  ];
}

function eventLines({ id, kind, mode, state, turnId, lastError }: EventRecord): readonly string[] {
  return [
    `system event ${id}  ${kind}, mode ${mode}`,
    `  ${state}${turnId === undefined ? '' : `, in the heartbeat turn ${turnId}`}`,
    ...(lastError === undefined ? [] : [`  ${line(lastError.code)}: ${line(lastError.message)}`]),
  ];
}

function indent(text: string): readonly string[] {
  return clearControl(text)
    .split('\n')
    .map((each) => `    | ${each}`.trimEnd());
}

function line(text: string): string {
  return clearControl(text, { oneLine: true });
}
