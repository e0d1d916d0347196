/**
 * The program of the process that reads a mailbox; `mail-process.ts` starts it. All that it needs of the service goes
 * over the channel to it, and it ends when the channel does.
 */
import type { MailStorage } from '../../engine/storage/storage.ts';
import type { LogLevel } from '../../base/telemetry/telemetry.ts';
import type { EndpointAnswer } from './hook-endpoint.ts';
import { type MailService, startMail } from './mail-service.ts';
import type { FromReader, ReaderCall, ReaderStart, ToReader } from './reader-messages.ts';

const BEAT_MS = 1_000;

const STORE_CALLS = {
  claimMailbox: true,
  reportMailbox: true,
  releaseMailbox: true,
  passMail: true,
  isMailPassed: true,
  listMailboxes: true,
  listSetAsideMail: true,
} satisfies Record<keyof MailStorage, true>;

const waiting = new Map<number, PromiseWithResolvers<unknown>>();
let nextId = 1;
let service: MailService | undefined;

function send(message: FromReader): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

/** Asks the service; rejects with what its side said. */
function ask(call: ReaderCall): Promise<unknown> {
  const id = nextId;
  nextId += 1;
  const answer = Promise.withResolvers<unknown>();
  waiting.set(id, answer);
  void send({ kind: 'call', id, ...call });
  return answer.promise;
}

function answered({ id, value, error }: Extract<ToReader, { kind: 'answer' }>): void {
  const call = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) call?.resolve(value);
  else call?.reject(new Error(error));
}

const store = Object.fromEntries(
  Object.keys(STORE_CALLS).map((name) => [
    name,
    (...args: unknown[]) => ask({ ask: name as keyof MailStorage, args }),
  ]),
) as object as MailStorage;

function sayStatuses(): void {
  const rssBytes = process.memoryUsage.rss();
  void send({ kind: 'statuses', statuses: service?.statuses ?? [], rssBytes });
}

function start({ deaths, ...options }: ReaderStart): MailService {
  const say =
    (level: LogLevel) =>
    (fields: object, text: string): void =>
      void send({ kind: 'log', level, fields: { ...fields }, text });
  return startMail({
    ...options,
    store,
    endpoint: (request) => ask({ ask: 'endpoint', args: [request] }) as Promise<EndpointAnswer>,
    log: {
      debug: say('debug'),
      info: say('info'),
      warn: say('warn'),
      error: say('error'),
      protect: (secret) => void send({ kind: 'protect', secret }),
    },
    onChange: sayStatuses,
    watch: {
      onFetch: (mailbox, identity) => void send({ kind: 'fetching', mailbox, identity }),
      onReading: (mailbox, identity) => send({ kind: 'reading', mailbox, identity }),
      onRead: () => void send({ kind: 'read' }),
      deathsWith: (mailbox, identity) => {
        const last = deaths.get(mailbox);
        return last?.identity === identity ? last.count : 0;
      },
    },
  });
}

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
    case 'stop':
      void service?.stop().then(() => process.disconnect());
  }
});
// The service has ended or closed the channel: the next reader offers again what was under way.
process.on('disconnect', () => process.exit(0));
// A terminal signals the whole group of processes, but the service says when to stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
setInterval(sayStatuses, BEAT_MS);
