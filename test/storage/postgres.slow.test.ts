import { afterAll } from 'vitest';
import { openStorage } from '../../src/storage/storage.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { storageContract } from './contract.ts';

const server = await startPostgres();

storageContract(
  'postgres',
  async (options) => {
    const url = await server.freshUrl();
    return { url, storage: await openStorage(url, options) };
  },
  openStorage,
  { isShared: true },
);

afterAll(() => server.stop());
