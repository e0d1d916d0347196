/** A mail on its whole way: SMTP, mailbox, service, run; and what the service says of its mailbox. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { httpEndpoint } from '../../../src/service/mail/mail.ts';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli } from '../../support/cli-terminal.ts';
import { imapBlock, mailFixture } from '../../support/mail-fixture.ts';
import { rawMail, startMailServer, type MailServer } from '../../support/mail-server.ts';

const TOKEN = 'hook-token-0123456789-0123456789';
const GATEWAY_TOKEN = 'gateway-token-0123456789-0123456789';

let server: MailServer;
let folder: string;
let service: Service | undefined;

beforeEach(async () => {
  server = await startMailServer();
  folder = await mkdtemp(join(tmpdir(), 'sluice-mail-service-'));
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function serve(
  more: { readonly mail?: object; readonly hooks?: object; readonly readMail?: boolean } = {},
): Promise<Service> {
  const { mail = imapBlock(server.port), hooks = {}, readMail = true } = more;
  const config = {
    hooks: { enabled: true, token: TOKEN, presets: ['mail'], mail, ...hooks },
    server: { port: 0 },
    metrics: { port: 0 },
    gateway: { token: GATEWAY_TOKEN, runner: 'echo', heartbeat: { everySeconds: 0 } },
    storage: { url: 'sqlite:./sluice.db' },
  };
  await writeFile(join(folder, 'sluice.json'), JSON.stringify(config));
  const lines: string[] = [];
  const log = createLogger({ destination: { write: (line: string) => lines.push(line) } });
  service = await startService({ configFile: join(folder, 'sluice.json'), env: {}, log, readMail });
  const url = lines
    .map((line) => /"metricsUrl":"([^"]+)"/.exec(line)?.[1])
    .find((found) => found !== undefined);
  return Object.assign(service, { metricsUrl: url ?? '' });
}

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 60_000, interval: 20 });

/** For what opens the store each time: that takes more than what is waited for. */
const SLOWLY = { timeout: 60_000, interval: 400 };

async function ready(
  url: string,
): Promise<{ degraded: { code: string; details?: { name: string; message: string }[] }[] }> {
  const answer = await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${GATEWAY_TOKEN}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as never;
}

test('a mail sent by SMTP becomes a run with its text inside the boundary, and the metrics count it', async () => {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      stream.on('end', () => done());
      void readAll(stream).then((raw) => server.deliver(raw));
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  try {
    const { url } = await serve();
    const metricsUrl = (service as unknown as { metricsUrl: string }).metricsUrl;
    await until(async () => expect(await (await fetch(metricsUrl)).text()).toContain('state="connected"} 1'));
    await sendMail((smtp.server.address() as AddressInfo).port, rawMail('sent by SMTP'));
    await vi.waitFor(async () => {
      const runs = await cli(['runs', '--json', '-c', 'sluice.json'], { cwd: folder });
      expect(runs.out).toContain('Subject: sent by SMTP');
    }, SLOWLY);
    const storage = await openStorage(`sqlite:${join(folder, 'sluice.db')}`, { mode: 'attached' });
    const [run] = (await storage.listRuns({ limit: 10 })).filter(({ kind }) => kind === 'hook');
    await storage.close();
    expect(run?.action).toMatchObject({
      name: 'Mail',
      origin: { path: 'mail', source: 'imap', trusted: false },
    });
    expect(run?.action.sessionKey).toMatch(/^hook:mail:[0-9a-f]{24}$/);
    expect(run?.action).not.toMatchObject({ prompt: run?.action.message });
    await until(async () => {
      const text = await (await fetch(metricsUrl)).text();
      expect(text).toContain('sluice_mail_messages_total{mailbox="testuser/INBOX",result="delivered"} 1');
    });
    expect((await ready(url)).degraded).toEqual([]);
  } finally {
    await new Promise<void>((resolve) => smtp.close(resolve));
  }
});

const BY_MAIL = {
  id: 'answered',
  match: { path: 'mail' },
  forEach: 'messages',
  messageTemplate: '{{item.body}}',
  channel: 'email',
  to: '{{item.from}}',
  thread: '{{item.messageId}} {{item.subject}}',
  trust: ['to'],
};
test('two services that mail each other, by last and by email, end at the first automatic mail on each side', async () => {
  const other = await startMailServer();
  const boxes = new Map([
    ['a@example.org', server],
    ['b@example.org', other],
  ]);
  const sent: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      const to = envelope.rcptTo[0]?.address ?? '';
      stream.on('end', () => done());
      void readAll(stream).then((raw) => {
        sent.push(to);
        // As by a relay that names mails anew: the id alone would tell mail of ours only to the one who sent it.
        boxes.get(to)?.deliver(raw.replace(/^Message-ID: .*$/im, 'X-Was: gone'));
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const channel = { host: '127.0.0.1', port: (smtp.server.address() as AddressInfo).port, tls: 'none' };
  const sides = [
    { from: 'a@example.org', to: 'b@example.org', box: server, hooks: { presets: ['mail'] } },
    { from: 'b@example.org', to: 'a@example.org', box: other, hooks: { mappings: [BY_MAIL] } },
  ].map((side) => ({ ...side, home: join(folder, side.from) }));
  const services: Service[] = [];
  try {
    for (const { from, to, box, hooks, home } of sides) {
      const config = {
        hooks: { enabled: true, token: TOKEN, mail: imapBlock(box.port), ...hooks },
        server: { port: 0 },
        channels: { email: { ...channel, from } },
        gateway: { runner: 'echo', heartbeat: { everySeconds: 0 }, main: { channel: 'email', to } },
        storage: { url: 'sqlite:./sluice.db' },
      };
      await mkdir(home);
      await writeFile(join(home, 'sluice.json'), JSON.stringify(config));
      const log = createLogger({ destination: { write: () => true } });
      const configFile = join(home, 'sluice.json');
      services.push(await startService({ configFile, env: {}, log, readMail: true }));
    }
    for (const { home } of sides) {
      const status = () => cli(['webhooks', 'mail', 'status', '-c', 'sluice.json'], { cwd: home });
      await vi.waitFor(async () => expect((await status()).out).toContain('connected'), SLOWLY);
    }
    for (const { box, to, home } of sides) {
      const hearing = sides.find(({ from }) => from === to)?.home ?? '';
      const before = sent.length;
      const heard = await countMails(hearing);
      box.deliver(rawMail(`a person writes to ${home.at(-1)}`, { from: to }));
      await vi.waitFor(() => expect(sent.length).toBeGreaterThan(before), SLOWLY);
      // The other side has read every mail that was sent, and the work of both has ended: nothing more is sent.
      await vi.waitFor(async () => {
        expect(await countMails(hearing)).toBe(heard + sent.length - before);
        for (const one of [home, hearing]) expect(await countWork(one)).toBe(0);
      }, SLOWLY);
      expect(new Set(sent.slice(before))).toEqual(new Set([to]));
      // The run's answer, and what the main session says of it.
      expect(sent.length - before).toBeLessThanOrEqual(2);
    }
  } finally {
    for (const each of services) await each.stop();
    await other.stop();
    await new Promise<void>((resolve) => smtp.close(resolve));
  }
});

/** Mails that became a decision. */
async function countMails(home: string): Promise<number> {
  return withStore(home, async (storage) => (await storage.listDecisions({ limit: 99 })).length);
}

/** Runs, deliveries and turns of the main session that have not ended. */
async function countWork(home: string): Promise<number> {
  return withStore(home, async (storage) => {
    const { queuedRuns, activeRuns, queuedOutbox, pendingEvents } = await storage.backlog();
    const isAsked = await storage.heartbeatRequested();
    return queuedRuns + activeRuns + queuedOutbox + (isAsked ? pendingEvents + 1 : 0);
  });
}

async function withStore<T>(home: string, read: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(`sqlite:${join(home, 'sluice.db')}`, { mode: 'attached' });
  try {
    return await read(storage);
  } finally {
    await storage.close();
  }
}

test('an unreachable server, a refused login and a service that takes nothing are told apart', async () => {
  const away = await serve({ mail: imapBlock(1) });
  await until(async () =>
    expect((await ready(away.url)).degraded.map(({ code }) => code)).toEqual(['mailbox_away']),
  );
  const open = await fetch(`${away.url}/readyz`);
  expect(await open.text()).not.toContain('testuser');
  await away.stop();
  await rm(join(folder, 'sluice.db'));
  const held = await serve({ hooks: { presets: [] } });
  await vi.waitFor(async () => {
    const status = await cli(['webhooks', 'mail', 'status', '-c', 'sluice.json'], { cwd: folder });
    expect(status.out).toContain('connected');
  }, SLOWLY);
  server.deliver(rawMail('nobody takes this'));
  await until(async () => {
    const { degraded } = await ready(held.url);
    expect(degraded.map(({ code }) => code)).toEqual(['mail_refused']);
    expect(degraded[0]?.details?.[0]?.message).toContain('no mapping takes this hook name');
  });
});

test('a reload reads the mailbox of the new block, and none where it says so', async () => {
  const running = await serve({ mail: { ...imapBlock(server.port), run: false } });
  const write = (mail: object): Promise<void> =>
    writeFile(
      join(folder, 'sluice.json'),
      JSON.stringify({
        hooks: { enabled: true, token: TOKEN, presets: ['mail'], mail },
        server: { port: 0 },
        metrics: { port: 0 },
        gateway: { token: GATEWAY_TOKEN, runner: 'echo', heartbeat: { everySeconds: 0 } },
        storage: { url: 'sqlite:./sluice.db' },
      }),
    );
  const status = (): Promise<{ out: string }> =>
    cli(['webhooks', 'mail', 'status', '-c', 'sluice.json'], { cwd: folder });
  expect((await status()).out).toContain('has not been read yet');
  await write(imapBlock(server.port));
  expect((await running.reload()).kind).toBe('live');
  await vi.waitFor(async () => expect((await status()).out).toContain('connected'), SLOWLY);
  await write({ ...imapBlock(server.port), run: false });
  await running.reload();
  await vi.waitFor(async () => expect((await status()).out).toContain('not-running'), SLOWLY);
});

test('serve leaves the mailbox alone where it is not asked to read it, and a reader beside it delivers over HTTP', async () => {
  const { url } = await serve({ readMail: false });
  const fixture = await mailFixture();
  try {
    const endpoint = httpEndpoint({ url: `${url}/hooks`, token: TOKEN });
    const reader = fixture.start(imapBlock(server.port), endpoint);
    await until(() => expect(reader.statuses[0]?.health.state).toBe('connected'));
    server.deliver(rawMail('over HTTP'));
    await until(() => expect(reader.statuses[0]?.figures.delivered).toBe(1));
    const runs = await cli(['runs', '--json', '-c', 'sluice.json'], { cwd: folder });
    expect(runs.out).toContain('Subject: over HTTP');
    const wrong = fixture.start(
      imapBlock(server.port, { account: 'other', user: 'testuser' }),
      httpEndpoint({ url: `${url}/hooks`, token: 'wrong' }),
    );
    await until(() => expect(wrong.statuses[0]?.health.state).toBe('connected'));
    server.deliver(rawMail('with a wrong token'));
    await until(() =>
      expect(wrong.statuses[0]?.health).toMatchObject({ state: 'held', code: 'unauthorized' }),
    );
  } finally {
    await fixture.stop();
  }
});

/** What a sender says to a mail server (RFC 5321). */
async function sendMail(port: number, raw: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const answered = async (code: string): Promise<void> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the server went away');
      if (!value.startsWith(`${code}-`)) {
        expect(value).toMatch(new RegExp(`^${code}`));
        return;
      }
    }
  };
  await answered('220');
  for (const [command, code] of [
    ['EHLO test', '250'],
    ['MAIL FROM:<ann@example.org>', '250'],
    ['RCPT TO:<me@example.org>', '250'],
    ['DATA', '354'],
    [`${raw}\r\n.`, '250'],
    ['QUIT', '221'],
  ] as const) {
    socket.write(`${command}\r\n`);
    await answered(code);
  }
  socket.destroy();
}
