import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChannelAdapter } from '../../../src/service/channels/channel.ts';
import { imessage } from '../../../src/service/channels/imessage.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PASSWORD = 'pass word&1';
const NEVER = new AbortController().signal;

const error = (status: number, type: string, message: string): PlatformReply => ({
  status,
  body: { status, message: 'You did something', error: { type, message } },
});

function accepted(request: ReceivedRequest): PlatformReply {
  return request.path.startsWith('/api/v1/server/info?')
    ? {
        status: 200,
        body: { status: 200, data: { server_version: '1.9.9', detected_imessage: 'me@example.org' } },
      }
    : { status: 200, body: { status: 200, message: 'Message sent!', data: { guid: 'A1B2-C3', text: 'x' } } };
}

describe('the imessage adapter on BlueBubbles', () => {
  describeChannel({
    module: imessage,
    settings: (baseUrl) => ({ password: PASSWORD, baseUrl }),
    to: '+15551234567',
    badRecipients: ['@alice', '', 'chat_id:x', 'someone', 'C0123456'],
    secrets: [PASSWORD, encodeURIComponent(PASSWORD)],
    sendOf: ({ body, path }) =>
      path.startsWith('/api/v1/message/text?')
        ? {
            text: body?.['message'],
            authorized: new URL(path, 'http://x').searchParams.get('password') === PASSWORD,
          }
        : undefined,
    accepted,
    messageId: 'A1B2-C3',
    account: 'me@example.org',
    rateLimited: { reply: { status: 429, headers: { 'retry-after': '1' }, body: {} }, retryAfterMs: 1000 },
    unauthorized: error(401, 'Authentication Error', `Unauthorized ${PASSWORD}`),
    serverError: { status: 500, message: 'Server Error', error: { type: 'Server Error' } },
  });

  test('names chats as the server does, and the same message by the same id', async () => {
    const platform = await startPlatform(accepted);
    onTestFinished(platform.stop);
    const adapter = await imessage.open({ password: PASSWORD, baseUrl: platform.url });
    for (const to of [
      '+1 555 123 4567',
      'bob@example.org',
      'sms:+15551234567',
      'chat_guid:iMessage;+;chat42',
    ]) {
      await adapter.send({ to, text: 'hi', plain: false, key: 'same' }, NEVER);
    }
    expect(platform.requests.map(({ body }) => body?.['chatGuid'])).toEqual([
      'iMessage;-;+15551234567',
      'iMessage;-;bob@example.org',
      'SMS;-;+15551234567',
      'iMessage;+;chat42',
    ]);
    expect(new Set(platform.requests.map(({ body }) => body?.['tempGuid'])).size).toBe(1);
  });

  test('says that a chat_id is no recipient there', async () => {
    const adapter = await imessage.open({ password: PASSWORD });
    const result = await adapter.send({ to: 'chat_id:7', text: 'hi', plain: false, key: 'k' }, NEVER);
    expect(result).toMatchObject({
      kind: 'failed',
      code: 'bad_recipient',
      message: expect.stringContaining('chat_guid'),
    });
  });
});

test('imessage takes either imsg or BlueBubbles, not both and not neither', () => {
  const problems = (settings: object) => imessage.settingsProblems({ ...settings }).map(({ key }) => key);
  expect(problems({ cliPath: '/usr/local/bin/imsg' })).toEqual([]);
  expect(problems({ password: 'x', baseUrl: 'http://mac.local:1234' })).toEqual([]);
  expect(problems({})).toEqual(['cliPath']);
  expect(problems({ cliPath: 'imsg', password: 'x' })).toEqual(['cliPath']);
  expect(problems({ cliPath: 'imsg', baseUrl: 'http://mac.local:1234' })).toEqual(['baseUrl']);
});

/** A stand-in for `imsg rpc` that runs `body` for each request line, with `request`, `reply(result)`, `fail(error)`. */
function fakeImsg(body: string): { adapter: Promise<ChannelAdapter>; log: () => unknown[] } {
  const folder = temporaryFolder();
  const logFile = join(folder, 'log');
  const program = join(folder, 'imsg');
  writeFileSync(
    program,
    `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const log = (value) => appendFileSync(${JSON.stringify(logFile)}, JSON.stringify(value) + '\\n');
log({ pid: process.pid, argv: process.argv.slice(2), secret: process.env.SLUICE_TEST_SECRET ?? null });
const say = (value) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...value }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  log(request);
  const reply = (result) => say({ id: request.id, result });
  const fail = (error) => say({ id: request.id, error });
  ${body}
});
`,
  );
  chmodSync(program, 0o755);
  const log = (): unknown[] =>
    (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  return { adapter: imessage.open({ cliPath: program }), log };
}

describe('the imessage adapter on imsg', () => {
  const message = { to: '+15551234567', text: 'line one\nline two "quoted"', plain: false, key: 'run:0' };

  test('sends one JSON-RPC request to a process that gets none of our environment', async () => {
    process.env['SLUICE_TEST_SECRET'] = 'hidden';
    onTestFinished(() => {
      delete process.env['SLUICE_TEST_SECRET'];
    });
    const { adapter, log } = fakeImsg(
      `process.stdout.write('starting\\n'); say({ method: 'message', params: {} }); reply({ ok: true, guid: 'G-1' });`,
    );
    expect(await (await adapter).send(message, NEVER)).toEqual({ kind: 'sent', messageId: 'G-1' });
    expect(log()).toEqual([
      { pid: expect.any(Number), argv: ['rpc'], secret: null },
      {
        jsonrpc: '2.0',
        id: 'run:0',
        method: 'send',
        params: { to: '+15551234567', service: 'auto', text: message.text },
      },
    ]);
  });

  test('reaches chats by id, guid and identifier', async () => {
    const { adapter, log } = fakeImsg('reply({ ok: true });');
    for (const to of [
      'chat_id:12',
      'chat_guid:iMessage;+;chat42',
      'chat_identifier:chat42',
      'sms:+15551234567',
    ]) {
      expect(await (await adapter).send({ ...message, to }, NEVER)).toEqual({ kind: 'sent' });
    }
    const params = log().flatMap((entry) => (entry as { params?: unknown }).params ?? []);
    expect(params).toMatchObject([
      { chat_id: 12 },
      { chat_guid: 'iMessage;+;chat42' },
      { chat_identifier: 'chat42' },
      { to: '+15551234567', service: 'sms' },
    ]);
  });

  test('calls a program that ends or says nothing readable ambiguous', async () => {
    for (const body of ['process.exit(3);', `process.stdout.write('{"id":'); process.exit(0);`]) {
      const { adapter } = fakeImsg(body);
      expect(await (await adapter).send(message, NEVER)).toMatchObject({
        kind: 'ambiguous',
        code: 'connection_lost',
      });
    }
  });

  test('ends a program that hangs, with everything it started', async () => {
    const { adapter, log } = fakeImsg(
      `const child = require('node:child_process').spawn('sleep', ['60']); log({ child: child.pid });`,
    );
    const deadline = new AbortController();
    const sending = (await adapter).send(message, deadline.signal);
    const pids = (): number[] =>
      log().flatMap((entry) => {
        const { child, pid } = entry as { child?: number; pid?: number };
        return child ?? pid ?? [];
      });
    await expect.poll(() => pids().length).toBe(2);
    deadline.abort();
    expect(await sending).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
    await expect.poll(() => pids().filter(isRunning)).toEqual([]);
  });

  test('refuses what the program refuses, and names a program that is not there', async () => {
    const refused = fakeImsg(`fail({ code: -32602, message: 'Invalid params' });`);
    expect(await (await refused.adapter).send(message, NEVER)).toMatchObject({
      kind: 'failed',
      code: 'rejected',
    });
    const denied = fakeImsg(`fail({ code: -32603, message: 'authorization denied (23)' });`);
    expect(await (await denied.adapter).check(NEVER)).toMatchObject({ ok: false, code: 'unauthorized' });
    const missing = await imessage.open({ cliPath: '/nonexistent/imsg' });
    expect(await missing.send(message, NEVER)).toMatchObject({
      kind: 'failed',
      code: 'spawn_failed',
      message: expect.stringContaining('channels.imessage.cliPath'),
    });
  });

  test('checks by listing a chat', async () => {
    const { adapter, log } = fakeImsg('reply({ chats: [] });');
    expect(await (await adapter).check(NEVER)).toEqual({ ok: true, account: 'imsg' });
    expect(log()[1]).toMatchObject({ method: 'chats.list', params: { limit: 1 } });
  });
});

/** Whether a process is there and no zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
