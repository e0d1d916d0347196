import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from './postgres-server.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { createRandom, drain, startSlowPlatform, tortureConfig } from './torture.ts';
import { account, type Account } from './torture-books.ts';
import { Senders } from './torture-senders.ts';

/**
 * Several real services on one PostgreSQL store under load, of which one after the other, picked at random, is ended
 * with SIGKILL and started again. In the end every request is accounted for, as for a single service.
 */
export interface FleetTortureOptions {
  readonly replicas: number;
  readonly kills: number;
  /** Milliseconds between two kills, at least and at most. */
  readonly minLifeMs: number;
  readonly maxLifeMs: number;
  /** Of each service. */
  readonly clients: number;
  readonly leaseSeconds: number;
  readonly seed: number;
  /** How long the services may take at last for all that waits. */
  readonly drainMs: number;
  onKill?(done: number): void;
}

export interface FleetTortureReport extends Account {
  readonly kills: number;
  readonly requests: number;
  readonly answered: number;
}

export async function fleetTorture(options: FleetTortureOptions): Promise<FleetTortureReport> {
  const { replicas, kills, clients, minLifeMs, maxLifeMs, leaseSeconds, seed } = options;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'));
  const random = createRandom(seed);
  const platform = await startSlowPlatform();
  const server = await startPostgres();
  const url = await server.freshUrl();
  const services: ServiceProcess[] = [];
  const senders = Array.from(
    { length: replicas },
    (_, first) => new Senders(clients, { first, step: replicas }),
  );
  const start = async (slot: number): Promise<void> => {
    const service = await startServiceProcess(folder, { DATABASE_URL: url });
    services[slot] = service;
    senders[slot]?.start(service.port);
  };
  try {
    const storage = `{url: "\${DATABASE_URL}", leaseSeconds: ${leaseSeconds}}`;
    await writeFile(join(folder, 'sluice.yaml'), tortureConfig(folder, platform, storage));
    for (let slot = 0; slot < replicas; slot += 1) await start(slot);
    for (let kill = 1; kill <= kills; kill += 1) {
      await wait(minLifeMs + random() * (maxLifeMs - minLifeMs));
      const slot = Math.floor(random() * replicas);
      await services[slot]?.end('SIGKILL');
      await senders[slot]?.pause();
      await start(slot);
      options.onKill?.(kill);
    }
    for (const group of senders) await group.pause();
    // Repeats go to another service than the first time.
    for (const [slot, group] of senders.entries()) await group.finish(services[(slot + 1) % replicas]!.port);
    await drain(url, { withinMs: options.drainMs, services });
    for (const service of services) await service.end('SIGTERM');
    const sent = senders.flatMap((group) => group.sent);
    return {
      kills,
      requests: sent.length,
      answered: sent.filter(({ status = 0 }) => status >= 200 && status < 300).length,
      ...(await account({ folder, url, sent, received: platform.requests })),
    };
  } finally {
    for (const group of senders) await group.pause();
    for (const service of services) service.child.kill('SIGKILL');
    await platform.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
