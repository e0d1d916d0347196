/**
 * Whole services are killed while events wait for the key that an agent adds five seconds later, by the command in its turn:
 * each event comes once, to its conversation, and in order.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { type ServiceProcess, startServiceProcess, until } from '../../support/service-process.ts';
import { createRandom, drain, startSlowPlatform, tortureConfig } from '../../support/torture.ts';
import { account } from '../../support/torture-books.ts';
import { Conversations } from '../../support/torture-conversations.ts';

const isLong = process.env['TEST_FORM'] === 'long';
const ROUNDS = isLong ? 20 : 1;
const SIDE_BY_SIDE = isLong ? 3 : 2;
const ADDS_AFTER_MS = 5_000;
/** Only ends what hangs. */
const WITHIN_MS = 240_000;

/** A port of its own for those who add keys, which a service says as it starts. */
const WORKERS = 'workers: {listen: {port: 0}}';
const addressOf = ({ log }: ServiceProcess): string =>
  `${/"workersUrl":"([^"]+)"/.exec(log.join('\n'))?.[1]}/workers/conversation`;

/** In the short form one service on SQLite is left to torture.guarantee. */
const FORMS: readonly (readonly [kind: 'sqlite' | 'postgres', services: number])[] = isLong
  ? [
      ['sqlite', 1],
      ['postgres', 3],
    ]
  : [['postgres', 2]];

test.concurrent.each(FORMS)(
  '%s, services: %i: what waits five seconds for its key comes once and in order, whatever is killed',
  { timeout: 2 * WITHIN_MS + ROUNDS * 60_000 },
  async (kind, replicas) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-conversation-kills-'));
    const url =
      kind === 'sqlite'
        ? `sqlite:${join(folder, 'store.db')}`
        : await sharedPostgres().then((server) => server.freshUrl());
    const env = { DATABASE_URL: url };
    const platform = await startSlowPlatform();
    const storage = '{url: "${DATABASE_URL}", leaseSeconds: 4}';
    writeFileSync(join(folder, 'sluice.yaml'), tortureConfig(folder, platform, { storage, more: WORKERS }));
    const services: ServiceProcess[] = [];
    const start = async (slot: number): Promise<void> => {
      services[slot] = await startServiceProcess(folder, env);
    };
    const random = createRandom(53);
    const ports = (): readonly number[] => services.map(({ port }) => port);
    const conversations = new Conversations({
      folder,
      ports,
      env,
      addsAfterMs: ADDS_AFTER_MS,
      byCommand: true,
      withinMs: WITHIN_MS,
    });
    const kill = async (slot = Math.floor(random() * replicas)): Promise<void> => {
      await services[slot]?.end('SIGKILL');
      await start(slot);
    };
    /** The service of a turn that waits to add its key. */
    const carrier = (): number | undefined => {
      const slot = services.findIndex((service) => conversations.asking().includes(addressOf(service)));
      return slot < 0 ? undefined : slot;
    };
    try {
      for (let slot = 0; slot < replicas; slot += 1) await start(slot);
      for (let round = 0; round < ROUNDS; round += 1) {
        const told = Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => conversations.tell()));
        await Promise.race([told, until('a turn that adds a key', carrier)]);
        const asOthersWait = random() * 0.5 * ADDS_AFTER_MS;
        await wait(asOthersWait);
        await kill(carrier());
        // About when the keys are added.
        await wait(Math.max(0, ADDS_AFTER_MS - asOthersWait) + random() * 1_000);
        await kill();
        await told;
      }
      await conversations.finish();
      await drain(url, { withinMs: WITHIN_MS, services });
      const [first] = services as [ServiceProcess];
      expect(await conversations.findLiveTokens(addressOf(first))).toEqual([]);
      for (const service of services) await service.end('SIGTERM');
      const { told } = conversations;
      const books = await account({ folder, url, sent: [], received: [], answered: [], told });
      process.stderr.write(`${JSON.stringify({ kind, replicas, ...books })}\n`);
      const all = ROUNDS * SIDE_BY_SIDE;
      expect(books).toMatchObject({
        conversationFaults: [],
        faults: [],
        unseen: [],
        overlapped: [],
        conversations: { begun: all, added: all, left: 0, ended: Math.ceil(all / 3) },
      });
      expect(books.interruptedRuns).toBeGreaterThan(0);
    } finally {
      conversations.stop();
      for (const { child } of services) child.kill('SIGKILL');
      await platform.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
