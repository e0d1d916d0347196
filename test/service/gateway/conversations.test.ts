import { expect, test, vi } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import type { EventConversation } from '../../../src/base/conversation.ts';
import { agentAction, HeldRunner, openHouse } from '../../support/gateway-fixture.ts';

const KEY = 'hook:github:o/r:7';
const WISH: EventConversation = { keySeconds: 3_600, waitSeconds: 900 };
const event = (
  message: string,
  conversation: Partial<EventConversation> = {},
  change: Partial<AgentAction> = {},
): AgentAction =>
  agentAction({
    message,
    sessionKey: KEY,
    owner: 'owner:github',
    conversation: { ...WISH, ...conversation },
    ...change,
  });
const CALLED = { callbackUrl: 'http://127.0.0.1:9/done' } as const;

test('an event that ends its conversation at once ends the turn under way and what has not begun', async () => {
  const held = new HeldRunner();
  const house = await openHouse({ runners: { default: held } });
  const [first, queued] = [event('opened'), event('comment', { start: false }, CALLED)];
  await house.accept(first);
  await vi.waitFor(() => expect(held.messages).toEqual(['opened']), { timeout: 60_000 });
  await house.accept(queued);
  await house.accept(event('merged', { start: false, end: 'now' }));
  const superseded = { state: 'completed', outcome: 'error', error: { code: 'superseded' } };
  expect(await house.gateway.waitForRun(queued.id, 60_000)).toMatchObject(superseded);
  expect(await house.gateway.waitForRun(first.id, 60_000)).toMatchObject(superseded);
  expect(held.messages).toEqual(['opened']);
  const [callback] = await house.storage.listOutbox({ limit: 9, runId: queued.id });
  expect(JSON.parse(callback?.callback?.body ?? '{}')).toMatchObject({
    data: { outcome: 'error', error: { code: 'superseded' } },
  });
  expect(await house.storage.failedByHour(9)).toEqual([]);
});

test('an event that ends its conversation after its run has its turn, and nothing comes behind it', async () => {
  const held = new HeldRunner();
  const house = await openHouse({ runners: { default: held } });
  const late = event('late comment', { start: false });
  const closed = event('closed', { start: false, end: 'after' });
  await house.accept(event('opened'));
  await vi.waitFor(() => expect(held.messages).toEqual(['opened']), { timeout: 60_000 });
  await house.accept(closed);
  await house.accept(late);
  held.finish('opened');
  await vi.waitFor(() => expect(held.messages).toEqual(['opened', 'closed']), { timeout: 60_000 });
  held.finish('closed');
  expect(await house.gateway.waitForRun(closed.id, 60_000)).toMatchObject({ outcome: 'ok' });
  expect(await house.gateway.waitForRun(late.id, 60_000)).toMatchObject({ error: { code: 'superseded' } });
  expect(held.messages).toEqual(['opened', 'closed']);
});

test('an event that finds no conversation in its time ends without a turn, and without a word to anybody', async () => {
  const held = new HeldRunner();
  const house = await openHouse({ runners: { default: held } });
  const alone = event('comment', { start: false, waitSeconds: 1 }, CALLED);
  await house.accept(alone);
  expect(await house.gateway.waitForRun(alone.id, 60_000)).toMatchObject({
    error: { code: 'no_conversation', message: `no conversation has ${KEY}` },
  });
  expect(held.messages).toEqual([]);
  expect(await house.storage.listOutbox({ limit: 9 })).toEqual([]);
  expect(await house.storage.listEvents({ limit: 9 })).toEqual([]);
});

test('a run that begins before the service listens waits for the address at which its agent adds keys', async () => {
  const held = new HeldRunner();
  const { promise: keysUrl, resolve: listen } = Promise.withResolvers<string | undefined>();
  const house = await openHouse({ runners: { default: held }, options: { keysUrl } });
  await house.accept(
    event('asks', { agentKeys: ['hook:'] }),
    event('other', {}, { sessionKey: 'hook:other' }),
  );
  await vi.waitFor(() => expect(held.messages).toEqual(['other']), { timeout: 60_000 });
  listen('http://127.0.0.1:9/workers/conversation');
  await vi.waitFor(() => expect(held.messages).toEqual(['other', 'asks']), { timeout: 60_000 });
  expect(held.started.map(({ keysAt }) => keysAt?.url)).toEqual([
    undefined,
    'http://127.0.0.1:9/workers/conversation',
  ]);
});
