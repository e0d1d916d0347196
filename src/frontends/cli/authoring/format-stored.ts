import { plural } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { LAST_CHANNEL, type AgentAction, type NotifyAction } from '../../../base/action.ts';
import type { GatewaySettings, RunnerSettings } from '../../../engine/config/config.ts';
import { HOOK_ERRORS, type HookErrorCode } from '../../../base/errors.ts';
import {
  callbackPlace,
  type DecisionRecord,
  type EarlierEnding,
  type EventRecord,
  type OutboxRecord,
  type RunRecord,
} from '../../../engine/storage/storage.ts';
import { isoTime, isSkipped, type StoredRequest, type StoredRun } from '../../../engine/storage/facts.ts';
import { clearLine, formatSpan, showHidden } from '../../../base/telemetry/telemetry.ts';
import { indent, ownerText, runnerNamed } from '../../../authoring/explanation/explanation.ts';
import { awaitedUntil, endOf, reasonsToWait, type Waits } from '../../../service/operations/operations.ts';
import { bodySize, costText, stateOf } from '../operating/listings.ts';

/** Prints what was answered, in short or in full. */
export function answerLines(
  decision: DecisionRecord,
  { all = true }: { readonly all?: boolean } = {},
): readonly string[] {
  const { requestId, receivedAt, path, status, code, outcome, method = 'POST' } = decision;
  const titled =
    code !== undefined && Object.hasOwn(HOOK_ERRORS, code)
      ? `: ${HOOK_ERRORS[code as HookErrorCode].title}`
      : '';
  const what =
    method === '?' ? 'no request could be read' : `${method} …/${path === '' ? '…' : clearLine(path)}`;
  return [
    `request ${requestId}  ${isoTime(receivedAt)}  ${what}`,
    `answered ${status} ${code ?? outcome}${titled}`,
    ...(all ? wholeAnswerLines(decision) : []),
    ...recoveredLines(decision),
    ...(decision.replayOf === undefined ? [] : [`  replay of request ${decision.replayOf}`]),
    ...(decision.replays ?? []).map((again) => `  replayed as request ${again.requestId} (${again.outcome})`),
  ];
}

/** Says of an event that it was asked for, since its sender could not deliver it. */
function recoveredLines({ recovered, receivedAt }: DecisionRecord): readonly string[] {
  if (recovered === undefined) return [];
  const { missedAt, fetchedFrom } = recovered;
  return [
    `  came again, ${formatSpan(receivedAt - missedAt)} late: its sender could not deliver it at ${isoTime(missedAt)}`,
    ...(fetchedFrom === undefined
      ? []
      : [`  fetched from ${clearLine(fetchedFrom)} with the operator's token: it has no proof of its own`]),
  ];
}

function wholeAnswerLines(decision: DecisionRecord): readonly string[] {
  return [
    `  generation ${decision.generation}, body ${bodySize(decision)}, took ${decision.tookMs.toFixed(1)} ms`,
    ...(decision.mappingId === undefined ? [] : [`  mapping ${clearLine(decision.mappingId)}`]),
  ];
}

/** Prints what became of the request: its runs with their deliveries, and its system events. */
export function workLines({ runs, events }: StoredRequest, context: WorkContext): readonly string[] {
  return [
    ...runs.flatMap((run) => runLines(run, context)),
    ...events.flatMap((event) => eventLines(event, context)),
  ];
}

interface WorkContext {
  readonly gateway: GatewaySettings;
  readonly now: number;
  /** Returns a Sluice command as it works where it is pasted. */
  readonly command: (command: string) => string;
  readonly waits: Waits;
  /** What a failed run needs before it is tried again, e.g. `passEnv`. */
  readonly needs?: string | undefined;
  /** The request that is explained; absent where it is no longer known. */
  readonly requestId?: string | undefined;
}

/** Another request made the run, and this one is its repeat. */
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
  const { action, state } = run;
  if (action.kind === 'notify') return notificationLines(action, outbox, context);
  const hasTurn = state !== 'completed' || run.attempts > 0;
  const isUnsent = outbox.every(({ kind }) => kind === 'reaction') && state === 'completed' && hasTurn;
  return [
    `run ${run.id}  ${clearLine(action.name)}  session ${clearLine(action.sessionKey)}${action.oneShot ? '' : `, ${ownerText(action.owner)}`}`,
    `  ${stateText(run)}${timing(run, now)}`,
    ...repeatLines(run, context.requestId),
    ...eventLinesOf(run, now),
    ...conversationLines(action),
    ...approvalLines(run),
    ...waitingOf(run, context),
    ...turnLines(run, action, context),
    ...outbox.flatMap((entry) => outboxLines(entry, context)),
    ...(isUnsent ? [`  delivery none: ${action.deliver ? whyNoDelivery(run) : 'deliver is false'}`] : []),
    ...(run.earlier ?? []).map((end) => earlierLine(end, now)),
    ...(['dead', 'failed'].includes(endOf(run))
      ? [`  ${retryText(context)}: ${command(`queue retry ${run.id}`)}`]
      : []),
  ];
}

/** Says how far a run came. Attempts do not count while it waits for its agent. */
export function stateText(
  run: Pick<RunRecord, 'state' | 'outcome' | 'attempts'> & Partial<Pick<RunRecord, 'lastError'>>,
): string {
  const { outcome, attempts } = run;
  const state = stateOf(run);
  if (attempts === 0) return `${state}, ${state === 'completed' ? 'without a turn' : 'not begun'}`;
  const isSaid =
    outcome === undefined || ((state === 'failed' || state === 'skipped') && outcome === 'error');
  return `${state}${isSaid ? '' : `, ${outcome}`} after ${plural(attempts, 'attempt')}`;
}

function earlierLine({ outcome, attempts, error, endedAt }: EarlierEnding, now: number): string {
  const how = stateText({
    state: outcome === undefined ? 'dead' : 'completed',
    attempts,
    ...defined({ outcome }),
  });
  const why = error === undefined ? '' : `, ${error.code}: ${error.message.split('\n', 1)[0] ?? ''}`;
  return `  before, ${formatSpan(now - endedAt)} ago: ${clearLine(how + why)}`;
}

const retryText = ({ needs }: WorkContext): string =>
  `${needs === undefined ? 'when its cause is mended' : 'after what the hint above says'}, try it again`;

/** By which key a run came to its conversation, and who added it. */
function conversationLines({ conversation }: AgentAction): readonly string[] {
  const { by, taken = [], forgotten = [], markNot } = conversation?.found ?? {};
  const named = (keys: readonly string[]): string => clearLine(keys.join(', '));
  return [
    ...(conversation?.found === undefined
      ? []
      : [
          by === undefined
            ? '  began its conversation'
            : `  came to its conversation by the key ${clearLine(by.key)}, added by ${clearLine(by.addedBy)}, then known until ${isoTime(by.until)}`,
        ]),
    ...(markNot === undefined ? [] : [`  its mark does not count: ${clearLine(markNot)}`]),
    ...(taken.length === 0 ? [] : [`  not known by ${named(taken)}: another conversation has it`]),
    ...(forgotten.length === 0 ? [] : [`  no longer known by ${named(forgotten)}: 50 keys are kept`]),
    ...(conversation?.end === undefined
      ? []
      : [`  ends its conversation${conversation.end === 'now' ? ', without a turn' : ' after its turn'}`]),
  ];
}

function approvalLines({ approval }: StoredRun['run']): readonly string[] {
  const { decision, by, at = 0 } = approval ?? {};
  return decision === undefined ? [] : [`  ${decision} by ${by} at ${isoTime(at)}`];
}

function turnLines(
  { usage, lastError, reply = '', state, attempts }: StoredRun['run'],
  action: AgentAction,
  context: WorkContext,
): readonly string[] {
  // What it waits for says the same.
  const isWaiting = state === 'queued' && isSkipped(lastError);
  return [
    ...(state === 'completed' && attempts === 0
      ? []
      : [`  runner ${clearLine(runnerText(action, context.gateway))}`]),
    ...(action.model === undefined ? [] : [`  model ${clearLine(action.model)}`]),
    ...(usage === undefined
      ? []
      : [
          [
            `  tokens ${usage.inputTokens ?? '?'} in, ${usage.outputTokens ?? '?'} out`,
            ...costText(usage),
          ].join('; '),
        ]),
    ...(lastError === undefined || isWaiting ? [] : errorLines(lastError)),
    ...replyLines(reply, action),
  ];
}

/** The message that echo repeats stands in its request already. */
function replyLines(reply: string, { message }: AgentAction): readonly string[] {
  if (reply === '') return [];
  return reply === message ? ['  reply: the message itself'] : ['  reply', ...indent(reply)];
}

/** The first line is the error; the end of what a command wrote to stderr follows. */
function errorLines({ code, message }: NonNullable<StoredRun['run']['lastError']>): readonly string[] {
  const [error, ...stderr] = message.split('\n');
  return [
    `  error ${clearLine(code)}: ${clearLine(error ?? '')}`,
    ...(stderr.length === 0 ? [] : ['  end of stderr', ...indent(stderr.join('\n').trim())]),
  ];
}

/** A run that waits for an approval shows what it reads. */
function waitingOf(run: StoredRun['run'], { waits, now }: WorkContext): readonly string[] {
  const lines = reasonsToWait(run, waits, now).map(({ text }) => `  waits: ${text}`);
  if (awaitedUntil(run) === undefined) return lines;
  return [...lines, '  it reads', ...indent(showHidden((run.action as AgentAction).prompt))];
}

function eventLinesOf(run: StoredRun['run'], now: number): readonly string[] {
  const { action, eventCount = 1, events = [], state, attempts, dueAt } = run;
  const debounce = action.kind === 'agent' ? action.debounce : undefined;
  if (debounce === undefined) return [];
  const isOpen = state === 'queued' && attempts === 0 && dueAt > now;
  const waits = isOpen ? `; it waits for more of the key ${clearLine(debounce.key)}` : '';
  const read = debounce.keep === 'latest' ? events.slice(-1) : [action, ...events];
  const requests = read.map(({ origin }) => `    request ${origin.requestId}`);
  const which = debounce.keep === 'latest' ? 'the newest of ' : '';
  return [
    `  reads ${eventCount === 1 ? 'one event' : `${which}${eventCount} events`}${waits}`,
    ...(eventCount === 1 ? [] : requests),
  ];
}

function notificationLines(
  { id, name, message }: NotifyAction,
  outbox: StoredRun['outbox'],
  context: WorkContext,
): readonly string[] {
  return [
    `notification ${id}  ${clearLine(name)}`,
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
  const parts = [`accepted ${isoTime(acceptedAt)}`];
  if (startedAt !== undefined && state !== 'queued')
    parts.push(`waited ${formatSpan(startedAt - acceptedAt)}`);
  if (startedAt !== undefined && endedAt !== undefined) parts.push(`ran ${formatSpan(endedAt - startedAt)}`);
  const isFirst = run.attempts === 0;
  if (state === 'queued' && dueAt > now && !isSkipped(run.lastError))
    parts.push(`${isFirst ? 'begins' : 'next try'} in ${formatSpan(dueAt - now)}`);
  return `; ${parts.join(', ')}`;
}

const againLine = (id: string, { command }: WorkContext): string =>
  `when its cause is mended, try it again: ${command(`queue retry ${id}`)}`;

function outboxLines(entry: OutboxRecord, context: WorkContext): readonly string[] {
  const { kind, delivery, callback, state, attempts, chunksSent, lastError } = entry;
  // Without any channel, an undelivered reply is a remark, and no failure.
  if (lastError?.code === 'no_channel' && delivery?.channel === LAST_CHANNEL)
    return [`  ${kind} none: ${clearLine(lastError.message)}`];
  const channel = entry.target?.channel ?? delivery?.channel;
  const to = entry.target?.to ?? delivery?.to;
  const where =
    callback === undefined
      ? `${channel === LAST_CHANNEL ? 'the channel last used' : clearLine(channel ?? '')}${to === undefined ? '' : ` to ${clearLine(to)}`}`
      : clearLine(callbackPlace(callback));
  const emoji = kind === 'reaction' ? `${delivery?.text} on ` : '';
  const next = entry.isBehind
    ? ', waits for an earlier one to the same recipient'
    : state === 'queued' && entry.dueAt > context.now
      ? `, next try in ${formatSpan(entry.dueAt - context.now)}`
      : '';
  return [
    `  ${kind} ${emoji}${where}: ${state} after ${plural(attempts, 'attempt')}${chunksSent > 0 ? `, ${chunksSent} parts sent` : ''}${next}`,
    ...(lastError === undefined ? [] : [`    ${clearLine(lastError.code)}: ${clearLine(lastError.message)}`]),
    ...(state === 'dead' ? [`    ${againLine(entry.id, context)}`] : []),
  ];
}

function eventLines(
  { id, kind, mode, state, turnId, lastError }: EventRecord,
  context: WorkContext,
): readonly string[] {
  return [
    `system event ${id}  ${kind}, mode ${mode}`,
    `  ${state}${turnId === undefined ? '' : `, in the heartbeat turn ${turnId}`}`,
    ...(lastError === undefined ? [] : [`  ${clearLine(lastError.code)}: ${clearLine(lastError.message)}`]),
    ...(state === 'dead' ? [`  ${againLine(id, context)}`] : []),
  ];
}

/** The store's text may hold control characters that a terminal obeys. */
function runnerText({ runner: own }: AgentAction, gateway: GatewaySettings): string {
  const name = own ?? gateway.runner;
  const runner = runnerNamed(gateway, name);
  return runner === undefined
    ? `${name}, which the configuration no longer has`
    : `${name}: ${describeRunner(runner)}`;
}

/** The environment and keys of a runner are not shown. */
function describeRunner(runner: RunnerSettings): string {
  switch (runner.kind) {
    case 'command':
      return `command ${runner.argv.join(' ')}, in ${runner.cwd ?? 'a private folder of the conversation (cwd: private)'}`;
    case 'model':
      return `model, providers ${Object.keys(runner.providers).join(', ')}`;
    case 'forward':
      return `forward to ${new URL(runner.url).origin}`;
    case 'openclaw':
      return `openclaw, command ${runner.command}`;
    case 'agent':
      return `agent ${runner.agent}`;
    case 'worker':
      return 'worker: workers ask for its runs';
    case 'echo':
      return 'echo, which answers with the message itself';
  }
}
