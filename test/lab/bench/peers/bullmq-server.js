/** Runs in a folder of its own, beside its packages: the handler that people write where they have Redis. */
import { timingSafeEqual } from 'node:crypto';
import { Queue } from 'bullmq';
import fastify from 'fastify';

const { PORT, REDIS_PORT, TOKEN } = process.env;
const expected = Buffer.from(`Bearer ${TOKEN}`);
const queue = new Queue('hooks', { connection: { host: '127.0.0.1', port: Number(REDIS_PORT) } });
const server = fastify();

server.post('/hooks/github', async (request, reply) => {
  const sent = Buffer.from(request.headers.authorization ?? '');
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return reply.code(401).send();
  const { pusher, commits, repository } = request.body;
  const text = `${pusher.name} pushed ${commits.length} commit(s) to ${repository.full_name}`;
  const job = await queue.add('wake', { text });
  return reply.code(202).send({ ok: true, id: job.id });
});
await server.listen({ host: '127.0.0.1', port: Number(PORT) });
