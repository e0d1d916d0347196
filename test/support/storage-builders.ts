import { randomUUID } from 'node:crypto';
import type { ActionOrigin, AgentAction, NotifyAction, SafeText, WakeAction } from '../../src/base/action.ts';
import type {
  AcceptedWork,
  RunPosts,
  RunCompletion,
  RunRecord,
  SummaryEvent,
  Conversation,
} from '../../src/engine/storage/storage.ts';

/** A time of day for everything that needs one; nothing in the store depends on the real clock. */
export const NOW = 1_800_000_000_000;
export const DAY_MS = 86_400_000;

export const origin: ActionOrigin = { requestId: 'request-1', path: 'agent', trusted: false };

export function agent(
  parts: Partial<Omit<AgentAction, 'prompt'>> & { readonly prompt?: string } = {},
): AgentAction {
  const id = parts.id ?? randomUUID();
  return {
    kind: 'agent',
    message: 'look at this',
    name: 'Hook',
    sessionKey: parts.sessionKey ?? `hook:${id}`,
    owner: 'request',
    oneShot: parts.sessionKey === undefined,
    wakeMode: 'next-heartbeat',
    deliver: false,
    channel: 'last',
    origin: parts.origin ?? origin,
    ...parts,
    id,
    prompt: (parts.prompt ?? 'prompt') as SafeText,
  };
}

export function agentOf(mappingId: string, parts: Partial<Omit<AgentAction, 'prompt'>> = {}): AgentAction {
  return agent({ ...parts, origin: { ...origin, mappingId } });
}

export function wake(parts: Partial<WakeAction> = {}): WakeAction {
  return {
    kind: 'wake',
    id: randomUUID(),
    text: 'something happened',
    mode: 'next-heartbeat',
    origin,
    ...parts,
  };
}

export function notification(parts: Partial<NotifyAction> = {}): NotifyAction {
  const id = randomUUID();
  return {
    kind: 'notify',
    id,
    message: 'disk is full',
    name: 'Hook',
    sessionKey: `hook:${id}`,
    owner: 'mapping:alarm',
    wakeMode: 'next-heartbeat',
    summary: 'failures',
    channel: 'slack',
    to: 'C0123456',
    origin: { ...origin, mappingId: 'alarm' },
    ...parts,
  };
}

export function work(actions: AcceptedWork['actions'], parts: Partial<AcceptedWork> = {}): AcceptedWork {
  return { requestId: randomUUID(), receivedAt: NOW, actions, warnings: [], ...parts };
}

export function summary(text = 'Hook Hook: done', requestHeartbeat = false): SummaryEvent {
  return { text, origin, requestHeartbeat };
}

export function completion(runId: string, parts: Partial<RunCompletion> = {}): RunCompletion {
  return { runId, outcome: 'ok', reply: 'done', summary: summary(), nowMs: NOW, ...parts };
}

export function failure(retryAt: number, code = 'connection_refused') {
  return { code, message: 'nobody listens', retryAt, nowMs: NOW };
}

export function dropEnding(run: RunRecord): RunPosts {
  return { summary: summary(`Hook ${run.action.name} (dropped): gone`) };
}

export const MAIN: Conversation = { owner: 'main', key: 'main' };

/** The conversation of runs made by `agent`. */
export function conversation(key: string, owner: Conversation['owner'] = 'request'): Conversation {
  return { owner, key };
}
