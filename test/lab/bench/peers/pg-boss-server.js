/** Runs in a folder of its own, beside its packages: the handler that people write where they have PostgreSQL. */
import { timingSafeEqual } from 'node:crypto';
import fastify from 'fastify';
import { PgBoss } from 'pg-boss';

const { PORT, DATABASE_URL, TOKEN } = process.env;
const expected = Buffer.from(`Bearer ${TOKEN}`);
const boss = new PgBoss(DATABASE_URL);
boss.on('error', () => undefined);
await boss.start();
await boss.createQueue('hooks');
const server = fastify();

server.post('/hooks/github', async (request, reply) => {
  const sent = Buffer.from(request.headers.authorization ?? '');
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return reply.code(401).send();
  const { pusher, commits, repository } = request.body;
  const text = `${pusher.name} pushed ${commits.length} commit(s) to ${repository.full_name}`;
  const id = await boss.send('hooks', { text });
  return reply.code(202).send({ ok: true, id });
});
await server.listen({ host: '127.0.0.1', port: Number(PORT) });
