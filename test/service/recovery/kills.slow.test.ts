/**
 * The service is killed for a random while, and its tunnel loses half of what is delivered, and some of the answers, while
 * it listens. In the end each event has begun its work once: missed 0, doubled 0.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { ENV, openRecovery } from '../../support/recovery-fixture.ts';
import { startServiceProcess, until } from '../../support/service-process.ts';
import { createRandom } from '../../support/torture.ts';

const isLong = process.env['TEST_FORM'] === 'long';
const ROUNDS = isLong ? 20 : 2;

test.each(isLong ? ['sqlite', 'postgres'] : ['sqlite'])(
  'what kills and a bad tunnel kept away comes once (%s)',
  async (kind) => {
    const storage = kind === 'sqlite' ? {} : { storage: await (await sharedPostgres()).freshUrl() };
    const bench = await openRecovery('github', storage);
    const { sender, folder } = bench;
    const random = createRandom(7);
    sender.pageSize = 25;
    const events: string[] = [];
    const happen = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const n = `e${String(events.length)}`;
        events.push(n);
        await sender.happen({ n });
      }
    };
    const start = async (): ReturnType<typeof startServiceProcess> => {
      const service = await startServiceProcess(folder, ENV);
      sender.target = `http://127.0.0.1:${String(service.port)}/hooks/github`;
      return service;
    };
    const first = await start();
    expect(await bench.run('recover')).toMatchObject({ exitCode: 0 });
    await first.end('SIGKILL');
    for (let round = 0; round < ROUNDS; round += 1) {
      await happen(3);
      sender.drops = () => random() < 0.5;
      sender.dropsAnswer = () => random() < 0.2;
      const service = await start();
      await happen(4);
      await wait(random() * 6_000);
      void happen(2);
      await wait(random() * 200);
      await service.end('SIGKILL');
      await wait(random() * 500);
    }
    sender.drops = () => false;
    sender.dropsAnswer = () => false;
    const last = await start();
    await happen(1);
    for (let tries = 0; tries < 10; tries += 1) {
      const { out } = await bench.run('recover', '--json');
      if (out.includes('"toAsk":0')) break;
    }
    const started = await bench.started();
    expect(started.toSorted()).toEqual(events.toSorted());
    expect(sender.askedInVain).toEqual([]);
    expect(sender.sentAgain.length).toBeGreaterThan(ROUNDS);
    await last.end('SIGTERM');
  },
  30 * 60_000,
);

test('of two services one asks, and what comes to the other one is known as recovered', async () => {
  const bench = await openRecovery('github', {
    storage: await (await sharedPostgres()).freshUrl(),
    everySeconds: 600,
  });
  const { sender } = bench;
  const first = await bench.start();
  expect(await bench.run('recover')).toMatchObject({ exitCode: 0 });
  sender.target = undefined;
  for (const n of ['a', 'b', 'c']) await sender.happen({ n });
  // The first leads; the sender reaches the second.
  const second = await bench.start();
  await wait(3_000);
  const { out: report, err } = await bench.run('recover', '--json');
  expect(`${report}${err}`).toMatch(/"asked":3,"came":3,"started":3/);
  expect(sender.sentAgain).toHaveLength(3);
  expect(await bench.started()).toEqual(['a', 'b', 'c']);
  await until('the mark of all three', async () => {
    const { out } = await bench.run('requests', '--recovered', '--json');
    return out.split('"missedAt"').length === 4;
  });
  await Promise.all([first.stop(), second.stop()]);
}, 120_000);
