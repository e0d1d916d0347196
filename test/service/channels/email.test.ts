/** A mail server that is no part of this project (smtp-server) and a parser that is none (postal-mime) are the judges. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { email } from '../../../src/service/channels/email.ts';
import { findCommentMark } from '../../../src/base/marks.ts';

const NEVER = new AbortController().signal;
const PASSWORD = 'app-pass-w0rd';
const ANSWERED = '<CAF1234@mail.example.net>';

interface Given {
  readonly raw: Buffer[];
  readonly envelopes: { readonly from: string; readonly to: readonly string[] }[];
  readonly settings: Record<string, unknown>;
}

/** Refuses what it is told to: a recipient, or the mail itself. */
async function startServer(refuse: { readonly rcpt?: number; readonly data?: number } = {}): Promise<Given> {
  const given: Given = {
    raw: [],
    envelopes: [],
    settings: {
      host: '127.0.0.1',
      tls: 'none',
      user: 'agent',
      password: PASSWORD,
      from: 'Agent <agent@example.org>',
    },
  };
  const refusal = (code: number) => Object.assign(new Error(`no, ${PASSWORD}`), { responseCode: code });
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'agent' && password === PASSWORD ? done(null, { user: username }) : done(refusal(535)),
    onRcptTo: (_address, _session, done) => done(refuse.rcpt === undefined ? null : refusal(refuse.rcpt)),
    onData: (stream, { envelope }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        if (refuse.data !== undefined) return done(refusal(refuse.data));
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        given.envelopes.push({ from, to: envelope.rcptTo.map(({ address }) => address) });
        given.raw.push(Buffer.concat(parts));
        done(null, 'queued');
      });
    },
  });
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () =>
      resolve((listening.address() as { port: number }).port),
    );
  });
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  given.settings['port'] = port;
  return given;
}

async function send({ settings }: Given, more: object = {}) {
  const adapter = await email.open(settings);
  const message = {
    to: 'Bob <bob@example.net>',
    text: '# Done\n\nAll **green**, Jürgen.',
    plain: false,
    key: 'd1:0',
  };
  return adapter.send({ ...message, runId: '5f0c0000-0000-4000-8000-000000000000', ...more }, NEVER);
}

const mailsOf = ({ raw }: Given): Promise<Email[]> => Promise.all(raw.map((one) => PostalMime.parse(one)));

const headersOf = (mail: Email | undefined) =>
  Object.fromEntries((mail?.headers ?? []).map(({ key, value }) => [key, value]));

describe('the email adapter', () => {
  test('sends one mail to one address, with a title of its own and the text as it is', async () => {
    const server = await startServer();
    const result = await send(server);
    expect(server.envelopes).toEqual([{ from: 'agent@example.org', to: ['bob@example.net'] }]);
    const [mail] = await mailsOf(server);
    expect(mail).toMatchObject({ subject: 'Done', from: { name: 'Agent', address: 'agent@example.org' } });
    expect(mail?.text?.trim()).toBe('# Done\n\nAll **green**, Jürgen.');
    expect(headersOf(mail)).toMatchObject({ 'auto-submitted': 'auto-generated' });
    expect(headersOf(mail)).not.toHaveProperty('in-reply-to');
    expect(result).toEqual({ kind: 'sent', messageId: mail?.messageId });
  });

  test('stands in the thread of the mail that it answers', async () => {
    const server = await startServer();
    await send(server, { thread: `${ANSWERED} Deploy failed` });
    await send(server, { thread: `${ANSWERED} RE: Deploy failed` });
    const mails = await mailsOf(server);
    expect(mails.map(({ subject }) => subject)).toEqual(['Re: Deploy failed', 'RE: Deploy failed']);
    expect(headersOf(mails[0])).toMatchObject({
      'in-reply-to': ANSWERED,
      references: ANSWERED,
      'auto-submitted': 'auto-replied',
    });
    expect(await send(server, { thread: 'Deploy failed' })).toMatchObject({
      kind: 'failed',
      code: 'bad_thread',
    });
    await send(server, { thread: `${ANSWERED} a\r\nBcc: eve@example.net` });
    expect(server.raw).toHaveLength(2);
  });

  test('makes ids that only its password can, each the same whenever its message is sent', async () => {
    const server = await startServer();
    for (const key of ['d1:0', 'd1:1', 'd1:0']) await send(server, { key });
    const ids = (await mailsOf(server)).map(({ messageId = '' }) => messageId);
    expect(new Set(ids).size).toBe(2);
    expect(ids[2]).toBe(ids[0]);
    for (const id of ids) {
      expect(id).toMatch(/@example\.org>$/);
      expect(findCommentMark(id, ['old', PASSWORD])).toBe('5f0c0000-0000-4000-8000-000000000000');
      expect(findCommentMark(id, ['other'])).toBeUndefined();
    }
  });

  test('tells refusals apart by proof that nothing arrived, without its password', async () => {
    for (const [refuse, expected] of [
      [{ rcpt: 550 }, { kind: 'failed', code: 'not_found' }],
      [{ rcpt: 450 }, { kind: 'retry', code: 'unavailable' }],
      [{ data: 451 }, { kind: 'retry', code: 'unavailable' }],
      [{ data: 554 }, { kind: 'failed', code: 'rejected' }],
    ] as const) {
      const result = await send(await startServer(refuse));
      expect(result).toMatchObject(expected);
      expect(JSON.stringify(result)).not.toContain(PASSWORD);
    }
    const server = await startServer();
    const wrong = { ...server, settings: { ...server.settings, password: 'wrong' } };
    expect(await send(wrong)).toMatchObject({ kind: 'failed', code: 'unauthorized' });
    const { user: _user, password: _password, ...open } = server.settings;
    const refused = await send({ ...server, settings: open });
    // The server asks for a login (RFC 4954), in words that are shown as they are.
    expect(refused).toMatchObject({ code: 'unauthorized', message: expect.stringContaining(': 530 ') });
    const nobody = { ...server, settings: { ...server.settings, port: 1 } };
    expect(await send(nobody)).toMatchObject({ kind: 'retry', code: 'connection_refused' });
  });

  test('tries again where a server does not greet: nothing has been sent', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await startServer();
    const sending = send({ ...server, settings: { ...server.settings, port } });
    const [socket] = (await once(silent, 'connection')) as [Socket];
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(30_000);
    expect(await sending).toMatchObject({ kind: 'retry', message: expect.stringContaining('port and tls') });
    socket.destroy();
  });

  test('checks the account without a mail', async () => {
    const server = await startServer();
    const adapter = await email.open(server.settings);
    expect(await adapter.check(NEVER)).toEqual({ ok: true, account: 'agent at 127.0.0.1' });
    const other = await email.open({ ...server.settings, password: 'wrong' });
    expect(await other.check(NEVER)).toMatchObject({ ok: false, code: 'unauthorized' });
    expect(server.raw).toEqual([]);
  });

  test('takes one address, and no password in the clear over a network', () => {
    for (const to of ['bob', 'a@b, c@d', 'bob@example.org\nBcc: x@y', '<>', '']) {
      expect(email.recipientProblem(to), to).toMatch(/one address/);
    }
    const settings = { host: 'mail.example.org', from: 'agent@example.org', tls: 'none' };
    expect(email.settingsProblems(settings)).toMatchObject([{ key: 'tls' }]);
    expect(email.settingsProblems({ ...settings, tls: 'starttls', form: 1 })).toMatchObject([
      { key: 'form' },
    ]);
  });
});
