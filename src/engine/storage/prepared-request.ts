import { createHash, randomBytes } from 'node:crypto';
import {
  DEFAULT_HOOK_NAME,
  LAST_CHANNEL,
  type Action,
  type AgentAction,
  type NotifyAction,
  type RunAction,
} from '../../base/action.ts';
import { conversationKeysOf, type EventConversation } from '../../base/conversation.ts';
import type { RequestFindingJson } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import type { AcceptedWork, AcceptResult, Approval, NewDelivery } from './records.ts';

/** An accepted request as an engine stores it: its parts already text, its times and sizes already numbers. */
export interface PreparedRequest {
  readonly receivedAt: number;
  readonly actions: readonly PreparedAction[];
  readonly warnings: readonly RequestFindingJson[];
  /** From the Idempotency-Key header, with the answer to store where nothing is deduped. */
  readonly reservation?: Reservation & { readonly bodySha256: string; readonly result: string };
}

/** A key that one request or action takes for a time. */
export interface Reservation {
  readonly scope: string;
  readonly key: string;
  readonly expiresAt: number;
}

export type PreparedAction = {
  readonly dedupe?: Reservation;
  readonly mode: 'now' | 'next-heartbeat';
  /** Stored in its place until it is known whether the account that caused it may start it. */
  readonly checked?: NewRun;
} & (
  | { readonly kind: 'wake'; readonly row: NewWake }
  | PreparedAgent
  | { readonly kind: 'notify'; readonly row: NewRun; readonly delivery: NewDelivery }
);

export interface PreparedAgent {
  readonly kind: 'agent';
  readonly row: NewRun;
  readonly gather?: Gathering;
  readonly ask?: PreparedQuestion;
  readonly conversation?: PreparedConversation;
  readonly seen?: NewDelivery | undefined;
}

/** By which keys an event is looked for, the first before the others, and what becomes of it. */
export interface PreparedConversation extends EventConversation {
  readonly keys: readonly string[];
  readonly path: string;
  /** Until when it waits where there is none. */
  readonly waitUntil: number;
}

/** Which run an event joins, and when that run begins. Milliseconds since the epoch. */
export interface Gathering {
  readonly key: string;
  readonly dueAt: number;
  readonly until: number;
  /** True where the event takes the place of those that joined before it. */
  readonly isLatest: boolean;
}

/** Who is asked whether a run begins: once for all runs of a request, which share the nonce. */
export interface PreparedQuestion extends Pick<Approval, 'expiresAt' | 'nonce'> {
  readonly delivery: NewDelivery;
}

export interface NewWake {
  readonly id: string;
  readonly text: string;
  readonly mode: string;
  readonly mappingId: string;
  readonly origin: string;
  readonly createdAt: number;
}

/** The action, with its prompt, as JSON text. */
export interface NewRun {
  readonly id: string;
  readonly sessionKey: string;
  readonly owner: string;
  readonly mappingId: string;
  readonly runner: string;
  readonly action: string;
  readonly bytes: number;
  readonly acceptedAt: number;
  /** With which other runs of the mapping it counts; absent where none are counted by a key. */
  readonly maxRunsKey?: string;
}

/** Longer keys are stored as their hash; the first character tells the two apart. */
const MAX_KEY_LENGTH = 128;

/** Scope and key of a header reservation as they are stored. */
export function headerKey(scope: string, key: string): { readonly scope: string; readonly key: string } {
  return { scope: `header:${scope}`, key: storedKey(key) };
}

/** The same of a key of `dedupe`. */
export function actionKey(scope: string, key: string): { readonly scope: string; readonly key: string } {
  return { scope: `action:${scope}`, key: storedKey(key) };
}

function storedKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH) return `=${key}`;
  return `#${createHash('sha256').update(key).digest('hex')}`;
}

/** The answer where nothing is deduped: what nearly every request gets. */
export function freshResult(work: AcceptedWork): AcceptResult {
  return {
    accepted: work.actions.map((action) => ({
      kind: action.kind,
      id: action.id,
      mode: action.kind === 'wake' ? action.mode : action.wakeMode,
      duplicate: false,
    })),
    warnings: work.warnings,
    duplicate: false,
  };
}

export function prepareRequest(work: AcceptedWork, result: AcceptResult): PreparedRequest {
  const receivedAt = Math.round(work.receivedAt);
  const isAsked = work.actions.some((action) => action.kind === 'agent' && action.approve !== undefined);
  const nonce = isAsked ? randomBytes(16).toString('hex') : '';
  const actions = work.actions.map((action) => ({
    ...prepareAction(action, receivedAt, nonce),
    ...(action.startedBy && { checked: checkedRow(action, receivedAt) }),
  }));
  const { idempotency, warnings } = work;
  if (idempotency === undefined) return { receivedAt, actions, warnings };
  const reservation = {
    ...headerKey(idempotency.scope, idempotency.key),
    expiresAt: expiry(receivedAt, idempotency.ttlSeconds),
    bodySha256: idempotency.bodySha256,
    result: JSON.stringify(result),
  };
  return { receivedAt, actions, warnings, reservation };
}

/** An action as the tables have it, without what has to be known before. */
export function prepareAction(action: Action, receivedAt: number, nonce: string): PreparedAction {
  const mappingId = action.origin.mappingId ?? '';
  const dedupe = action.dedupe && {
    ...actionKey(action.dedupe.scope, action.dedupe.key),
    expiresAt: expiry(receivedAt, action.dedupe.ttlSeconds),
  };
  const taken = dedupe && { dedupe };
  if (action.kind === 'wake') {
    const { id, text, mode } = action;
    const row = { id, text, mode, mappingId, origin: JSON.stringify(action.origin), createdAt: receivedAt };
    return { kind: 'wake', mode, row, ...taken };
  }
  const { wakeMode: mode } = action;
  const row = runRow(action, { mappingId, acceptedAt: receivedAt });
  if (action.kind === 'notify') return { kind: 'notify', mode, row, ...taken, delivery: deliveryOf(action) };
  const { debounce, approve, conversation } = action;
  return {
    kind: 'agent',
    mode,
    row,
    ...taken,
    seen: reactionOf(action, 'seen'),
    ...(debounce && { gather: gatheringOf(debounce, receivedAt) }),
    ...(conversation && {
      conversation: {
        ...conversation,
        keys: conversationKeysOf(action),
        path: action.origin.path,
        waitUntil: expiry(receivedAt, conversation.waitSeconds),
      },
    }),
    ...(approve && { ask: askingOf(approve, { runId: action.id, receivedAt, nonce }) }),
  };
}

/** What is no run stands in the queue as one all the same, with what it becomes beside it. */
function checkedRow(action: Action, acceptedAt: number): NewRun {
  const { id, origin, startedBy } = action;
  const waiting =
    action.kind === 'agent'
      ? action
      : {
          kind: 'agent',
          id,
          prompt: '',
          message: action.kind === 'wake' ? action.text : action.message,
          name: action.kind === 'wake' ? DEFAULT_HOOK_NAME : action.name,
          sessionKey: `hook:${id}`,
          owner: 'shared',
          oneShot: true,
          wakeMode: action.kind === 'wake' ? action.mode : action.wakeMode,
          deliver: false,
          channel: LAST_CHANNEL,
          summary: 'never',
          startedBy,
          origin,
          becomes: action,
        };
  return runRow(waiting as RunAction, { mappingId: origin.mappingId ?? '', acceptedAt });
}

type Debounce = NonNullable<AgentAction['debounce']>;

function gatheringOf({ key, seconds, maxSeconds, keep }: Debounce, receivedAt: number): Gathering {
  const dueAt = receivedAt + Math.round(seconds * 1000);
  const until = receivedAt + Math.round(maxSeconds * 1000);
  return { key: storedKey(key), dueAt, until, isLatest: keep === 'latest' };
}

function askingOf(
  { channel, to, withinSeconds }: NonNullable<AgentAction['approve']>,
  {
    runId,
    receivedAt,
    nonce,
  }: { readonly runId: string; readonly receivedAt: number; readonly nonce: string },
): PreparedQuestion {
  const asked = { expiresAt: receivedAt + Math.round(withinSeconds * 1000), nonce };
  const target = { channel, ...defined({ to }) };
  return {
    ...asked,
    delivery: { ...target, text: '', fromMain: false, plain: true, asks: { runId, ...asked } },
  };
}

function runRow(action: RunAction, row: Pick<NewRun, 'mappingId' | 'acceptedAt'>): NewRun {
  const { id, sessionKey, owner } = action;
  const json = JSON.stringify(action);
  const { runner = '', maxRuns } = action.kind === 'agent' ? action : {};
  const maxRunsKey = maxRuns?.key;
  return {
    id,
    sessionKey,
    owner,
    ...row,
    runner,
    action: json,
    bytes: json.length,
    ...(maxRunsKey !== undefined && { maxRunsKey }),
  };
}

function deliveryOf({ channel, to, thread, fallback, message, origin }: NotifyAction): NewDelivery {
  return {
    channel,
    ...defined({ to, fallback, isAutomatic: origin.isAutomatic, traceparent: origin.traceparent }),
    ...(channel === LAST_CHANNEL ? {} : defined({ thread })),
    text: message,
    fromMain: false,
    plain: true,
  };
}

/** The emoji that a mapping wants at a time; undefined where it wants none then. */
export function reactionOf(
  { channel, to, reaction: { message, ...wanted } = {} }: AgentAction,
  when: keyof typeof wanted,
): NewDelivery | undefined {
  const emoji = wanted[when];
  const reaction = emoji && { emoji, ...defined({ message }) };
  return reaction && { channel, ...defined({ to }), text: emoji, fromMain: false, reaction };
}

function expiry(receivedAt: number, ttlSeconds: number): number {
  return Math.min(receivedAt + Math.round(ttlSeconds * 1000), Number.MAX_SAFE_INTEGER);
}

/** About what a request costs while it waits. */
export function preparedBytes({ actions }: PreparedRequest): number {
  let bytes = 200;
  for (const action of actions) {
    bytes += action.kind === 'wake' ? action.row.text.length + 200 : action.row.bytes;
  }
  return bytes;
}
