/** Stores of released versions on PostgreSQL, as `pg_dump` wrote them. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openStorage } from '../../src/engine/storage/storage.ts';
import { sharedPostgres } from '../support/postgres-server.ts';
import { expectItsWork, unpack, VERSIONS } from './releases.ts';

const server = await sharedPostgres();

test.each(VERSIONS)(
  'the store of version %s opens, is brought up to date, and goes on with its work',
  async (version) => {
    const url = `postgres://postgres@127.0.0.1:${server.port}/${await server.freshDatabase()}`;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(unpack(version, 'store.postgres.sql.gz').toString('utf8'));
    await client.end();
    const storage = await openStorage(url);
    try {
      await expectItsWork(storage, version);
    } finally {
      await storage.close();
    }
    expect.hasAssertions();
  },
);
