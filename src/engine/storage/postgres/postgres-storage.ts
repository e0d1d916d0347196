import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import type { Client } from 'pg';
import { makeStorage } from '../client/make-storage.ts';
import { WorkerClient, type WorkerOptions } from '../client/worker-client.ts';
import type { Storage } from '../port.ts';
import { leftQuestion, outboxQuestions, PLAIN_READS, type PlainRead } from '../statements/plain-reads.ts';
import type { RemoteOperations } from '../statements/statement-table.ts';
import { StorageError } from '../storage-error.ts';
import { failoverPromise } from '../store-status.ts';
import { AcceptConnections } from './accept/accept-connections.ts';
import { entryOf } from './accept/accept-statement.ts';
import { connectClient } from './connection.ts';
import { DatabaseCounter } from './database-use.ts';
import { examineServer, warningsOf } from './postgres-status.ts';
import { KnownStore, type KnownStoreOptions } from './known-store.ts';
import { CHECK_ADDRESS, explainPostgresError, placeOf } from './postgres-errors.ts';
import { ReplicaLease } from './replica-lease.ts';
import { setUpSchema } from './set-up-schema.ts';
import type { PostgresInput } from './worker/postgres-worker.ts';

export interface PostgresOptions extends Pick<PostgresInput, 'url' | 'mode' | 'limits'> {
  readonly role: string;
  readonly version: string;
  readonly leaseMs: number;
  readonly place?: string;
  readonly known?: KnownStoreOptions | undefined;
  /** Hears what the operator should know of the database. */
  onWarning(message: string): void;
  /** Hears what the database does not promise, which may be meant. */
  onNote(message: string): void;
}

/** Operations that may give other processes something to do, or to know. */
const ANNOUNCED: readonly (keyof RemoteOperations)[] = [
  'acceptRequest',
  'completeRun',
  'requeueRun',
  'deadLetterRun',
  'decideApproval',
  'requeueOutbox',
  'freeEvents',
  'wantRecovery',
  'keepRecovery',
  'removeHold',
  'retryRows',
  'dropRows',
];

export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const place = placeOf(options.url);
  const explain = (error: unknown) => explainPostgresError(error, place);
  // The first connection becomes the lease's.
  let first: Client | undefined;
  try {
    first = await connectClient(options.url, () => undefined);
    return await open(options, first, { place, explain });
  } catch (error) {
    await first?.end().catch(() => undefined);
    throw explainPostgresError(error, place, CHECK_ADDRESS);
  }
}

async function open(
  options: PostgresOptions,
  first: Client,
  { place, explain }: Pick<WorkerOptions, 'place' | 'explain'>,
): Promise<Storage> {
  const { url, mode, limits, role, version, leaseMs, place: disk } = options;
  const facts = await examineServer(first);
  const isPerformer = mode === 'performer';
  const known = new KnownStore(options.known, (note) => options.onNote(note));
  if (isPerformer) await known.checkBefore(first);
  await setUpSchema(first, { place, isPerformer });
  const expected = isPerformer ? await known.adopt(first) : undefined;
  const holder = randomUUID();
  const [use, acceptUse] = [new DatabaseCounter(), new DatabaseCounter()];
  const input: PostgresInput = {
    use: use.buffer,
    url,
    mode,
    limits,
    holder,
    isPooled: facts.isPooled,
    place: disk,
    expected,
  };
  const entry = new URL(`worker/postgres-worker${extname(import.meta.url)}`, import.meta.url);
  const client = await WorkerClient.open({ entry, input, place, explain });
  const inspection: Pick<Storage, 'backup' | 'verify'> = {
    backup: () => Promise.reject(new StorageError('failed', `${place}: ${BACKUP_REMEDY}`)),
    verify: () => client.operations.findBrokenRows(),
  };
  try {
    if (expected === undefined) {
      await first.end();
      return makeStorage(client, inspection);
    }
    for (const warning of warningsOf(facts)) options.onWarning(`${place}: ${warning}`);
    if (!facts.hasSynchronousStandby) options.onNote(`${place}: ${failoverPromise(facts)}`);
    const mayListen = !facts.isPooled;
    const lease = await ReplicaLease.open({
      url,
      first,
      id: holder,
      role,
      version,
      leaseMs,
      place: disk,
      known,
      expected,
      mayListen,
    });
    const accepting = new AcceptConnections({
      url,
      limits,
      isPooled: facts.isPooled,
      expected,
      use: acceptUse,
    });
    const operations = {
      ...client.operations,
      ...acceptOperations(client.operations, accepting, { explain, holder }),
    };
    const announcing = { ...operations, ...announcingOperations(operations, lease) };
    const lapsed = () => lease.lapsed();
    // Others that share the store hear of changes, and what they left is taken over.
    const storage = makeStorage(client, inspection, {
      operations: announcing,
      giveUp: () => accepting.giveUp(),
      lapsed,
    });
    return {
      ...storage,
      lease,
      databaseUse: () => DatabaseCounter.sum([use, acceptUse]),
      onOutsideChange: (listener) => lease.onOutsideChange(listener),
      close: async () => {
        await accepting.close();
        await storage.close();
        await lease.stop();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

const BACKUP_REMEDY =
  'a PostgreSQL store is backed up with the tools of the database, for example: pg_dump --format=custom --file=sluice.dump DATABASE';

const TOTALS = 'totals';

/** Accepts go over connections of their own. What depends on stored rows, or meets a key or a bound there, goes through the worker. */
function acceptOperations(
  operations: RemoteOperations,
  accepting: AcceptConnections,
  { explain, holder }: Pick<WorkerOptions, 'explain'> & { readonly holder: string },
): Partial<RemoteOperations> {
  const askBeside = async <Result>(act: () => Promise<Result>, otherwise: () => Promise<Result>) => {
    try {
      return await act();
    } catch (error) {
      const trouble = explain(error);
      // What is wrong with it shows when it goes the usual way.
      if (trouble.code !== 'unreachable') return otherwise();
      // Who writes there sees it, too, and says when it is over.
      void operations.flush().catch(() => undefined);
      throw trouble;
    }
  };
  const read = <Args extends readonly unknown[], Answer>(
    plain: PlainRead<Args, Answer>,
    otherwise: (...args: Args) => Promise<Answer>,
  ) => {
    const ask = async (...args: Args) =>
      plain.answerOf(await accepting.read(plain.questions(TOTALS, ...args)));
    return (...args: Args) =>
      askBeside(
        () => ask(...args),
        () => otherwise(...args),
      );
  };
  return {
    acceptRequest: async (request) => {
      const entry = entryOf(request);
      const store = () => (entry === undefined ? Promise.resolve(false) : accepting.store(entry));
      const isStored = await askBeside(store, () => Promise.resolve(false));
      return isStored ? null : operations.acceptRequest(request);
    },
    findReservation: read(PLAIN_READS.findReservation, operations.findReservation),
    findConversation: read(PLAIN_READS.findConversation, operations.findConversation),
    nextDueAt: read(PLAIN_READS.nextDueAt, operations.nextDueAt),
    findHeartbeatAt: read(PLAIN_READS.findHeartbeatAt, operations.findHeartbeatAt),
    // Nearly always nothing is due, and who claims runs need not wait for that.
    claimOutbox: async (options) => {
      const claim = () => operations.claimOutbox(options);
      const [due] = await askBeside(
        () => accepting.read(outboxQuestions({ ...options, limit: 1 })),
        async () => [[{}]],
      );
      return due?.length === 0 ? [] : claim();
    },
    // The same: a look that takes over holds up all others for several round trips.
    takeOver: async (held, lapsed) => {
      const look = () => accepting.read([leftQuestion(holder, held)]);
      const [[row] = []] = lapsed.length > 0 ? [] : await askBeside(look, async () => []);
      if (row === undefined) return operations.takeOver(held, lapsed);
      return { runs: [], isLeader: (row as { readonly leads: boolean }).leads };
    },
  };
}

/** Operations that tell the others when they have changed something. */
function announcingOperations(operations: RemoteOperations, lease: ReplicaLease): Partial<RemoteOperations> {
  const tell = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      const result = await call(...args);
      lease.tell();
      return result;
    };
  };
  return Object.fromEntries(
    ANNOUNCED.map((name) => [name, tell(operations[name] as (...args: unknown[]) => Promise<unknown>)]),
  );
}
