import { startPostgres } from '../../../support/postgres-server.ts';
import {
  copyServer,
  end,
  install,
  listening,
  type Peer,
  peerFolder,
  removeFolder,
  run,
  TOKEN,
} from './peer.ts';
import { freePort } from '../../../support/free-port.ts';

/** A Fastify handler that adds a job to pg-boss; PostgreSQL commits before it answers. */
export const pgBoss: Peer = {
  name: 'pg-boss',
  does: 'Fastify: token, template, a job in PostgreSQL before the answer; no boundary, no sandbox',
  start: async () => {
    const folder = await peerFolder();
    await install(folder, { fastify: '5.12.8', 'pg-boss': '12.35.0' });
    await copyServer('pg-boss-server.js', folder);
    const postgres = await startPostgres();
    const port = await freePort();
    const server = run(process.execPath, ['pg-boss-server.js'], {
      cwd: folder,
      env: { PORT: String(port), DATABASE_URL: await postgres.freshUrl(), TOKEN },
    });
    await listening(port, 'the Fastify server');
    return {
      port,
      path: '/hooks/github',
      stop: async () => {
        await end(server);
        await postgres.stop();
        await removeFolder(folder);
      },
    };
  },
};
