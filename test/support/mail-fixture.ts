import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MailBlock } from '../../src/engine/config/config.ts';
import type { HookEndpoint, EndpointAnswer, EndpointRequest } from '../../src/service/mail/hook-endpoint.ts';
import { startMail, type MailService, type MailServiceOptions } from '../../src/service/mail/mail-service.ts';
import type { MailPayload } from '../../src/service/mail/message-payload.ts';
import { openStorage, type Storage } from '../../src/engine/storage/storage.ts';
import { createLogger } from '../../src/base/telemetry/telemetry.ts';

type ImapBlock = Extract<MailBlock, { kind: 'imap' }>;

/** `hooks.mail` for the server of `mail-server.ts`. */
export function imapBlock(port: number, more: Partial<ImapBlock> = {}): ImapBlock {
  return {
    version: 1,
    kind: 'imap',
    account: 'testuser',
    run: true,
    path: 'mail',
    folders: ['INBOX'],
    from: [],
    subject: [],
    maxBodyChars: 20_000,
    accept: 'any',
    authServers: [],
    host: '127.0.0.1',
    port,
    security: 'none',
    auth: { kind: 'password', password: 'testpass' },
    ...more,
  };
}

/** Short enough for tests, long enough to be told apart. */
export const TEST_TIMES = {
  leaseMs: 2_000,
  renewMs: 100,
  keepAliveMs: 500,
  firstRetryMs: 10,
  maxRetryMs: 100,
  deadRetryMs: 200,
  standbyMs: 50,
  settledMs: 10_000,
} as const;

/** What came through the endpoint, and what it answers. */
export interface TestEndpoint {
  readonly endpoint: HookEndpoint;
  /** Every request, repeats included. */
  readonly requests: EndpointRequest[];
  /** Subjects of the messages that were accepted, in order. */
  readonly subjects: string[];
  /** Texts of the wakes that were accepted. */
  readonly wakes: string[];
  answer: (request: EndpointRequest) => EndpointAnswer;
}

/** A endpoint that knows repeats by their key, as the service does. */
export function testEndpoint(
  answer: (request: EndpointRequest) => EndpointAnswer = () => ({ status: 202 }),
): TestEndpoint {
  const seen = new Set<string>();
  const test: TestEndpoint = {
    requests: [],
    subjects: [],
    wakes: [],
    answer,
    endpoint: async (request) => {
      test.requests.push(request);
      const given = test.answer(request);
      if (given.status >= 300 || seen.has(request.key)) return given;
      seen.add(request.key);
      if (request.path === 'wake') test.wakes.push((request.payload as { text: string }).text);
      else test.subjects.push((request.payload as MailPayload).messages[0].subject);
      return given;
    },
  };
  return test;
}

/** The message of a delivery. */
export function messageOf(request: EndpointRequest | undefined): MailPayload['messages'][0] {
  return (request?.payload as MailPayload | undefined)?.messages[0] as MailPayload['messages'][0];
}

export interface MailFixture {
  readonly storage: Storage;
  readonly url: string;
  /** Lines of the log. */
  readonly lines: string[];
  start(mail: MailBlock, endpoint: HookEndpoint, more?: Partial<MailServiceOptions>): MailService;
  stop(): Promise<void>;
}

/** A store in a temporary folder, and readers that end with the test. */
export async function mailFixture(): Promise<MailFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mail-'));
  const url = `sqlite:${join(folder, 'sluice.db')}`;
  const storage = await openStorage(url, { fsync: false });
  const started: MailService[] = [];
  const lines: string[] = [];
  const log = createLogger({ destination: { write: (line: string) => lines.push(line) } });
  log.adopt({ level: 'debug' });
  return {
    storage,
    url,
    lines,
    start: (mail, endpoint, more = {}) => {
      const service = startMail({ mail, endpoint, store: storage, log, times: TEST_TIMES, ...more });
      started.push(service);
      return service;
    },
    stop: async () => {
      await Promise.all(started.map((service) => service.stop()));
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
