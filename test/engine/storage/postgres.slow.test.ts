import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { agent, wake, work } from '../../support/storage-builders.ts';
import { storageContract } from './contract.ts';

const server = await sharedPostgres();

storageContract(
  'postgres',
  async (options) => {
    const url = await server.freshUrl();
    return { url, storage: await openStorage(url, options) };
  },
  openStorage,
  { isShared: true },
);

test('what the database cannot read is told without its text, and what is asked beside it is done', async () => {
  const storage = await openStorage(await server.freshUrl());
  const part = { from: 0, to: Number.MAX_SAFE_INTEGER, maxBytes: 1_000 };
  const unread = {
    code: 'unreadable',
    message: expect.stringMatching(/cannot read a value \(22\w{3}\): .*leave it out/),
  };
  for (const before of [1e300, 1e19, -1e19])
    await expect(storage.readKept({ ...part, before })).rejects.toMatchObject(unread);
  for (const id of ['a\u0000b', '\ud800'])
    await expect(storage.retry({ kind: 'ids', ids: [id] }, 1)).rejects.toMatchObject(unread);
  const run = agent();
  const [late, good] = await Promise.allSettled([
    storage.accept(work([wake()], { receivedAt: 1e300 })),
    storage.accept(work([run])),
  ]);
  expect(late).toMatchObject({ reason: { code: 'invalid_field', detail: unread.message } });
  expect(good).toMatchObject({ value: { accepted: [{ id: run.id, duplicate: false }] } });
  expect(await storage.findRun(run.id)).toMatchObject({ id: run.id, state: 'queued' });
  expect(await storage.readKept(part)).toEqual({ rows: [] });
  expect(storage.health()).toEqual({ kind: 'ok' });
  await storage.close();
});
