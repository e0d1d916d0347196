/**
 * The program of the process that reads a mailbox; `mail-process.ts` starts it. All that it needs of the service goes
 * over the channel to it, and it ends when the channel does.
 */
import { defined } from '../../base/json.ts';
import type { MailStorage } from '../../engine/storage/storage.ts';
import type { EndpointAnswer } from './hook-endpoint.ts';
import { type MailService, startMail } from './mail-service.ts';
import { putThisProcessBehind } from '../../base/timers/timers.ts';
import { type FromReader, type ReaderStart, TOO_LARGE, type ToReader } from './reader-messages.ts';

/** Of the whole process with its thread for messages; it takes 120 MB where nothing is wrong. */
const MAX_RESIDENT_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 250;

const STORE_CALLS: readonly (keyof MailStorage)[] = [
  'claimMailbox',
  'reportMailbox',
  'releaseMailbox',
  'passMail',
  'isMailPassed',
  'findPassedMail',
  'listMailboxes',
  'listSetAsideMail',
  'retrySetAsideMail',
  'dropSetAsideMail',
];

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

type Call = Extract<FromReader, { kind: 'call' }>;

const waiting = new Map<number, Waiting>();
let nextId = 1;
let service: MailService | undefined;

function send(message: FromReader): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Asks the service; rejects with what its side said. */
function ask<Answer>(what: Pick<Call, 'ask' | 'args'>): Promise<Answer> {
  const id = nextId;
  nextId += 1;
  return new Promise<Answer>((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ kind: 'call', id, ...what } as Call);
  });
}

function answered({ id, value, error }: Extract<ToReader, { kind: 'answer' }>): void {
  const call = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) call?.resolve(value as never);
  else call?.reject(new Error(error));
}

const store = Object.fromEntries(
  STORE_CALLS.map((name) => [name, (...args: unknown[]) => ask({ ask: name, args })]),
) as object as MailStorage;

function start({ times, open, deaths, ...options }: ReaderStart): MailService {
  const say =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, text: string): void =>
      send({ kind: 'log', level, fields: { ...fields }, text });
  return startMail({
    ...options,
    ...defined({ times, open }),
    store,
    endpoint: (request) => ask<EndpointAnswer>({ ask: 'endpoint', args: [request] }),
    log: {
      debug: say('debug'),
      info: say('info'),
      warn: say('warn'),
      error: say('error'),
      protect: (secret) => send({ kind: 'protect', secret }),
    },
    health: {
      raise: (trouble) => send({ kind: 'raise', trouble }),
      clear: (which) => send({ kind: 'clear', which }),
      replace: () => undefined,
    },
    fetchWatch: {
      onFetch: (mailbox, identity) => send({ kind: 'fetching', mailbox, identity }),
      deathsWith: (mailbox, identity) => deaths.get(`${mailbox}\n${identity}`) ?? 0,
    },
  });
}

// Whatever a message costs, the service goes first.
putThisProcessBehind();
process.on('message', (message: ToReader) => {
  switch (message.kind) {
    case 'start':
      service = start(message.start);
      return;
    case 'answer':
      answered(message);
      return;
    case 'wake':
      service?.wake();
      return;
    case 'look':
      service?.lookAtStore();
      return;
    case 'ping':
      send({ kind: 'statuses', statuses: service?.statuses ?? [] });
      return;
    case 'stop':
      void service?.stop().then(() => process.disconnect());
  }
});
// The service has ended, or wants nothing more: what was under way is offered again by the next reader.
process.on('disconnect', () => process.exit(0));
// The terminal signals a group of processes; the service says when to stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
setInterval(() => {
  if (process.memoryUsage.rss() > MAX_RESIDENT_BYTES) process.exit(TOO_LARGE);
}, LOOK_MS).unref();
