/** Why a due run waits for others that are under way. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { GatewaySettings } from '../../../src/engine/config/config.ts';
import { endsOf, reasonsToWait } from '../../../src/service/operations/operations.ts';
import { openStorage, type RunRecord } from '../../../src/engine/storage/storage.ts';
import { agentOf, notification, NOW, wake, work } from '../../support/storage-builders.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const runOf = (id: string, parts: Parameters<typeof agentOf>[1] = {}, mapping = 'm'): RunRecord => ({
  id,
  kind: 'hook',
  action: agentOf(mapping, { id, sessionKey: id, owner: 'mapping:m', ...parts }),
  state: 'active',
  attempts: 1,
  acceptedAt: NOW,
  dueAt: NOW,
});

const gateway = {
  maxRuns: 4,
  maxRunsPerMapping: 3,
  runner: 'a',
  runners: {
    a: { kind: 'echo', maxRuns: 2 },
    w: { kind: 'worker', tokens: [], leaseSeconds: 60, maxReplyBytes: 1 },
  },
} as const;
const waits = (run: RunRecord, ...active: readonly RunRecord[]): string | undefined =>
  reasonsToWait({ ...run, state: 'queued' }, { active, gateway, pauses: [], limited: [], holds: [] }, NOW)[0]
    ?.text;

test('the conversation, the limits of all, of its mapping and of its runner', () => {
  const run = runOf('r');
  expect(waits(run, runOf('x'))).toBeUndefined();
  expect(waits(run, runOf('x', { sessionKey: 'r' }))).toMatch(
    /^run x of the same conversation \(sessionKey r\)/,
  );
  expect(waits(run, runOf('x', { sessionKey: 'r', owner: 'mapping:other' }))).toBeUndefined();
  const other = (id: string, mapping = 'm'): RunRecord => runOf(id, { runner: 'b' }, mapping);
  expect(waits(run, other('1'), other('2'), other('3'))).toContain(
    'gateway.maxRunsPerMapping lets 3 run at a time',
  );
  const keyed = (id: string, key: string): RunRecord => runOf(id, { runner: 'b', maxRuns: { runs: 1, key } });
  expect(waits(keyed('r', 'x'), keyed('1', 'y'))).toBeUndefined();
  expect(waits(keyed('r', 'x'), keyed('1', 'x'))).toContain(
    'maxRuns of the mapping for the key x lets 1 run',
  );
  const wide = (id: string): RunRecord => runOf(id, { runner: 'b', maxRuns: { runs: 3 } });
  expect(waits(wide('r'), wide('1'))).toBe(
    '1 run is under way in its mapping: maxRuns may be less now than 3, as it was when this one came',
  );
  expect(waits(run, ...['1', '2', '3', '4'].map((id) => other(id, id)))).toContain(
    '4 runs are under way, and gateway.maxRuns lets 4',
  );
  expect(waits(run, runOf('1', {}, 'n'), runOf('2', {}, 'n'))).toContain('maxRuns of the runner a lets 2');
});

test('what workers carry takes no place of the service', () => {
  const others = ['1', '2', '3', '4'].map((id) => runOf(id, { runner: 'b' }, id));
  const carried = { worker: 'mba', attempt: 'attempt-1', until: NOW };
  const last = others.map((run, index) => (index === 3 ? { ...run, carried } : run));
  expect(waits(runOf('r'), ...last)).toBeUndefined();
  // And what waits for a worker waits for no place of the service.
  expect(waits(runOf('r', { runner: 'w' }), ...others)).toBeUndefined();
});

test('a run that a worker has says which one, and when it was heard of', async () => {
  const folder = temporaryFolder();
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`);
  onTestFinished(() => storage.close());
  const [first, second] = [agentOf('m', { runner: 'w' }), agentOf('m', { runner: 'w' })];
  const nowMs = Date.now();
  await storage.accept(work([first, second], { receivedAt: nowMs }));
  const worker = { runner: 'w', worker: 'mba', attempt: 'attempt-1', until: nowMs + 60_000 };
  await storage.claimRuns({ nowMs, limit: 1, worker });
  await storage.noteWorker({ runner: 'w', name: 'mba', seenAt: nowMs - 12_000 });
  // The same machine has a worker of another runner, too.
  await storage.noteWorker({ runner: 'a', name: 'mba', seenAt: nowMs - 3_600_000 });
  const ends = await endsOf(storage, gateway as unknown as GatewaySettings, [first.id, second.id]);
  expect(ends).toMatchObject([
    { id: first.id, end: 'running', why: expect.stringMatching(/^on mba, last seen 1\d s ago$/) as string },
    { id: second.id, end: 'queued' },
  ]);
});

test('what the operator dropped is dropped, be it an event or a delivery, and what a turn read is done', async () => {
  const storage = await openStorage(`sqlite:${join(temporaryFolder(), 'store.db')}`);
  onTestFinished(() => storage.close());
  const [read, left] = [wake(), wake()];
  await storage.accept(work([read]));
  const claim = { turnId: 'turn', nowMs: NOW, maxEvents: 1, maxBytes: 1000 };
  await storage.claimEvents(claim);
  await storage.consumeEvents('turn', { nowMs: NOW });
  await storage.accept(work([left, notification()]));
  const [delivery] = await storage.listOutbox({ limit: 1 });
  const ids = [read.id, left.id, delivery?.id ?? '', 'unknown'];
  await storage.drop({ kind: 'ids', ids: ids.slice(1) }, NOW, () => ({}));
  expect(await endsOf(storage, gateway as unknown as GatewaySettings, ids)).toEqual([
    { id: read.id, end: 'done' },
    { id: left.id, end: 'dropped' },
    { id: delivery?.id, end: 'dropped' },
  ]);
});
