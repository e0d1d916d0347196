import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStorage } from '../../src/engine/storage/storage.ts';
import { startDovecot } from './dovecot.ts';
import { rawMail } from './mail-server.ts';
import { query, startPostgres } from './postgres-server.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { conversationUrl, createRandom, drain, startSlowPlatform, tortureConfig } from './torture.ts';
import { account, type Account } from './torture-books.ts';
import { Conversations } from './torture-conversations.ts';
import { Approvers, Senders } from './torture-senders.ts';

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
  /** Conversations of several mappings that are told side by side. */
  readonly lanes: number;
  readonly leaseSeconds: number;
  /** No more runs of a mapping at once, in all services together; default: any number. */
  readonly maxRunsPerMapping?: number;
  /** Whether mails arrive meanwhile, at a real server. */
  readonly hasMail?: boolean;
  readonly seed: number;
  /** How long the services may take at last for all that waits. */
  readonly drainMs: number;
  onKill?(done: number): void;
}

export interface FleetTortureReport extends Account {
  readonly kills: number;
  readonly requests: number;
  readonly answered: number;
  /** Mails that were not there as one run each, or in another order than they came in. */
  readonly misread: readonly string[];
  readonly mails: number;
  /** Tokens of agents that are taken after their turn, or altered. */
  readonly liveTokens: readonly string[];
}

export async function fleetTorture(options: FleetTortureOptions): Promise<FleetTortureReport> {
  const { replicas, kills, clients, minLifeMs, maxLifeMs, leaseSeconds, seed, maxRunsPerMapping } = options;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'));
  const random = createRandom(seed);
  const platform = await startSlowPlatform();
  const server = await startPostgres();
  const dovecot = options.hasMail === true ? await startDovecot() : undefined;
  let mails = 0;
  const url = await server.freshUrl();
  const services: ServiceProcess[] = [];
  const senders = Array.from(
    { length: replicas },
    (_, first) => new Senders(clients, { first, step: replicas }),
  );
  const ports = () => services.map(({ port }) => port);
  const approvers = new Approvers(platform.requests, ports);
  const conversations = new Conversations({
    folder,
    ports,
    env: { DATABASE_URL: url },
    withinMs: options.drainMs,
  });
  const start = async (slot: number): Promise<void> => {
    const service = await startServiceProcess(folder, { DATABASE_URL: url });
    services[slot] = service;
    senders[slot]?.start(service.port);
  };
  try {
    const storage = `{url: "\${DATABASE_URL}", leaseSeconds: ${leaseSeconds}}`;
    const more = maxRunsPerMapping === undefined ? '' : `maxRunsPerMapping: ${maxRunsPerMapping}`;
    const mail = dovecot === undefined ? '' : mailConfig(dovecot.port);
    await writeFile(join(folder, 'sluice.yaml'), tortureConfig(folder, platform, { storage, more, mail }));
    for (let slot = 0; slot < replicas; slot += 1) await start(slot);
    conversations.start(options.lanes);
    for (let kill = 1; kill <= kills; kill += 1) {
      await wait(minLifeMs + random() * (maxLifeMs - minLifeMs));
      if (await isMailboxRead(url)) await dovecot?.append([rawMail(`mail ${mails++}`)]);
      const slot = Math.floor(random() * replicas);
      await services[slot]?.end('SIGKILL');
      await senders[slot]?.pause();
      await start(slot);
      options.onKill?.(kill);
    }
    for (const group of senders) await group.pause();
    // Repeats go to another service than the first time.
    for (const [slot, group] of senders.entries()) await group.finish(services[(slot + 1) % replicas]!.port);
    await conversations.finish();
    const misread = await untilMailsAreRead(url, mails);
    await drain(url, { withinMs: options.drainMs, services });
    await approvers.stop();
    const liveTokens = await conversations.findLiveTokens(conversationUrl(services[0]!));
    for (const service of services) await service.end('SIGTERM');
    const sent = senders.flatMap((group) => group.sent);
    return {
      kills,
      mails,
      misread,
      liveTokens,
      requests: sent.length,
      answered: sent.filter(({ status = 0 }) => status >= 200 && status < 300).length,
      ...(await account({
        folder,
        url,
        sent,
        received: platform.requests,
        answered: approvers.answered,
        told: conversations.told,
      })),
    };
  } finally {
    conversations.stop();
    for (const group of senders) await group.pause();
    for (const service of services) service.child.kill('SIGKILL');
    await platform.stop();
    await dovecot?.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function mailConfig(port: number): string {
  return `  mail:
    version: 1
    kind: imap
    account: testuser
    host: 127.0.0.1
    port: ${port}
    security: none
    auth: {kind: password, password: testpass}
`;
}

/** The first position is the time of the first look: what came before it would rightly start nothing. */
async function isMailboxRead(url: string): Promise<boolean> {
  return (await query(url, 'SELECT 1 FROM mailboxes WHERE position IS NOT NULL')).length > 0;
}

const MAIL_MS = 120_000;

/** Waits until each mail has a run, and says what is wrong with them. */
async function untilMailsAreRead(url: string, mails: number): Promise<readonly string[]> {
  const storage = await openStorage(url, { mode: 'attached' });
  try {
    for (const deadline = performance.now() + MAIL_MS; ;) {
      // Turns of the main session quote the summaries of runs.
      const runs = (await storage.listRuns({ limit: 100_000 })).filter(({ kind }) => kind === 'hook');
      const numbers = runs
        .flatMap(({ action }) => /Subject: mail (\d+)/.exec(action.message)?.[1] ?? [])
        .map(Number);
      const isThere = Array.from({ length: mails }, (_, mail) => numbers.includes(mail)).every(Boolean);
      if (!isThere && performance.now() < deadline) {
        await wait(200);
        continue;
      }
      const inOrder = numbers.toReversed();
      return inOrder.flatMap((mail, index) => (mail === index ? [] : [`mail ${mail} at place ${index}`]));
    }
  } finally {
    await storage.close();
  }
}
