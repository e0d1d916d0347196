import {
  copyServer,
  end,
  hasCommand,
  install,
  listening,
  type Peer,
  peerFolder,
  PeerMissing,
  removeFolder,
  run,
  TOKEN,
} from './peer.ts';
import { freePort } from '../../../support/free-port.ts';

/** A Fastify handler that adds a job to BullMQ; Redis syncs its log before it answers, as Sluice does. */
export const bullmq: Peer = {
  name: 'bullmq',
  does: 'Fastify: token, template, a job in Redis (appendfsync always) before the answer; no boundary, no sandbox',
  start: async () => {
    if (!(await hasCommand('redis-server')))
      throw new PeerMissing('the command redis-server is not installed (apt-get install redis-server)');
    const folder = await peerFolder();
    await install(folder, { fastify: '5.12.8', bullmq: '6.7.0', ioredis: '6.0.0' });
    await copyServer('bullmq-server.js', folder);
    const [redisPort, port] = [await freePort(), await freePort()];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    const redis = run('redis-server', ['--port', String(redisPort), '--bind', '127.0.0.1', ...durable], {
      cwd: folder,
    });
    await listening(redisPort, 'redis-server');
    const server = run(process.execPath, ['bullmq-server.js'], {
      cwd: folder,
      env: { PORT: String(port), REDIS_PORT: String(redisPort), TOKEN },
    });
    await listening(port, 'the Fastify server');
    return {
      port,
      path: '/hooks/github',
      stop: async () => {
        await end(server);
        await end(redis);
        await removeFolder(folder);
      },
    };
  },
};
