import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConversationOwner, LAST_CHANNEL } from '../../base/action.ts';
import { sealAgentAction } from '../../base/boundary/boundary.ts';
import { HookError } from '../../base/errors.ts';
import { requestFindingToJson } from '../../base/finding.ts';
import {
  receiveWritten,
  unreadEvaluation,
  type Evaluation,
  type WrittenRequest,
} from '../../engine/hook/hook.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import { UnwritableBody } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import type { DeliveryRequest, GivenConversation } from './case-file.ts';
import type { AcceptedAs } from './expectation.ts';
import type { Acceptor, GoldenEngine } from './run-cases.ts';
import {
  type AcceptedAction,
  IDEMPOTENCY_TTL_SECONDS,
  openStorage,
  type Storage,
} from '../../engine/storage/storage.ts';

/** Evaluates as the service does: a generation, or anything that has its `evaluate`. */
export interface Evaluator {
  /** Says how paths accept requests. Without it each request is evaluated as it is written. */
  readonly table?: Pick<RoutingTable, 'settingsOf'>;
  evaluate(request: HookRequest, how: { readonly detail: 'full' }): Evaluation | Promise<Evaluation>;
}

/** Makes the service's own evaluator and store for golden cases, so that neither has a second implementation. */
export function createGoldenEngine(
  generation: Evaluator,
  advise?: NonNullable<GoldenEngine['advise']>,
): GoldenEngine {
  return {
    evaluate: (written) => evaluateWritten(generation, written),
    openAcceptor,
    ...(advise === undefined ? {} : { advise }),
  };
}

/** A body that no sender could write for the path is evaluated as it is. */
async function evaluateWritten(
  { table, ...generation }: Evaluator,
  written: WrittenRequest,
): Promise<Evaluation> {
  const { request } = written;
  try {
    const settings = table?.settingsOf(request.path);
    const received = settings === undefined ? request : await receiveWritten(written, settings);
    return await generation.evaluate(received, { detail: 'full' });
  } catch (error) {
    if (error instanceof UnwritableBody) return generation.evaluate(request, { detail: 'full' });
    if (!(error instanceof HookError)) throw error;
    return unreadEvaluation(error);
  }
}

async function openAcceptor(): Promise<Acceptor> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-golden-'));
  const storage = await openStorage(`sqlite:${join(folder, 'case.db')}`, { mode: 'performer', fsync: false });
  return {
    accept: (delivery, evaluation) => acceptInto(storage, delivery, evaluation),
    close: async () => {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function acceptInto(
  storage: Storage,
  delivery: DeliveryRequest,
  { outcome, warnings: found }: Evaluation,
): Promise<AcceptedAs> {
  if (outcome.kind !== 'accepted') return { duplicate: false, duplicates: [] };
  const { id: requestId, receivedAt, path: scope, bodySha256 } = delivery.request;
  const { idempotencyKey: key } = delivery;
  const warnings = found.map(requestFindingToJson);
  const work = {
    requestId,
    receivedAt,
    actions: outcome.actions,
    warnings,
    ...(key !== undefined && {
      idempotency: { scope, key, bodySha256, ttlSeconds: IDEMPOTENCY_TTL_SECONDS },
    }),
  };
  try {
    for (const given of delivery.conversations ?? []) await giveConversation(storage, given, receivedAt);
    const { accepted, duplicate } = await storage.accept(work);
    const duplicates = accepted.flatMap((action, index) => (action.duplicate ? [index] : []));
    const conversations = await Promise.all(accepted.map((action) => conversationOf(storage, action)));
    return { duplicate, duplicates: duplicate ? [] : duplicates, conversations };
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return { duplicate: false, duplicates: [], error: { status: error.status, code: error.code } };
  }
}

/** Which conversation an action came to that there was, or why it came to none. */
async function conversationOf(
  storage: Storage,
  { id, duplicate, without }: AcceptedAction,
): Promise<NonNullable<AcceptedAs['conversations']>[number]> {
  if (without !== undefined) return { without };
  const action = duplicate ? undefined : (await storage.findRun(id))?.action;
  return action?.kind === 'agent' && action.conversation?.found?.by ? action.sessionKey : undefined;
}

/** Lets an event begin the conversation where there is none, and adds its keys. */
async function giveConversation(
  storage: Storage,
  { owner: name, key, keys = [] }: GivenConversation,
  nowMs: number,
): Promise<void> {
  const owner = (name.includes(':') ? name : `owner:${name}`) as ConversationOwner;
  const id = randomUUID();
  const origin = { requestId: id, path: '', mappingId: 'case', trusted: true };
  const rest = {
    name: 'case',
    message: '',
    oneShot: false,
    wakeMode: 'next-heartbeat',
    deliver: false,
  } as const;
  const conversation = { keySeconds: DAY_SECONDS, waitSeconds: 0 };
  const action = sealAgentAction(
    { id, sessionKey: key, owner, channel: LAST_CHANNEL, origin, conversation, ...rest },
    { instructions: undefined, nonce: id },
  );
  await storage.accept({ requestId: id, receivedAt: nowMs, actions: [action], warnings: [] });
  const added = {
    owner,
    conversation: key,
    addedBy: 'case',
    runId: id,
    nowMs,
    until: nowMs + DAY_SECONDS * 1000,
  };
  for (const each of keys) await storage.addConversationKey({ ...added, key: each });
}

const DAY_SECONDS = 86_400;
