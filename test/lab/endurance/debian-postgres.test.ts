import { afterAll, describe } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { storageContract } from '../../engine/storage/contract.ts';
import { findDebianPostgres } from '../../support/debian-postgres.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';

/** The contract on an older major version than that of the package: its SQL knows less. */

const found = findDebianPostgres();

describe.skipIf('missing' in found)(`Debian${'missing' in found ? `: ${found.missing}` : ''}`, () => {
  let server: PostgresServer | undefined;
  const start = async (): Promise<PostgresServer> =>
    (server ??= await startPostgres('missing' in found ? {} : found));
  afterAll(() => server?.stop());
  storageContract(
    'postgres of Debian',
    async (options) => {
      const url = await (await start()).freshUrl();
      return { url, storage: await openStorage(url, options) };
    },
    openStorage,
    { isShared: true },
  );
});
