import { expect, onTestFinished, test } from 'vitest';
import type {
  ChannelAdapter,
  ChannelMessage,
  ChannelModule,
  ChannelSettings,
} from '../../src/service/channels/channel.ts';
import { chunkText } from '../../src/service/channels/chunk.ts';
import {
  findClosedUrl,
  type PlatformReply,
  type PlatformServer,
  type ReceivedRequest,
  startPlatform,
} from './platform-server.ts';

/** A channel and the platform behind it, as its public documentation describes the protocol. */
export interface ChannelFixture {
  readonly module: ChannelModule;
  settings(baseUrl: string): ChannelSettings;
  readonly to: string;
  readonly badRecipients: readonly string[];
  /** Must never appear in a result. */
  readonly secrets: readonly string[];
  /** What a request that sends a message carries; undefined for other requests. */
  sendOf(request: ReceivedRequest): { readonly text: unknown; readonly authorized: boolean } | undefined;
  /** The platform's answer to a request when all is well. */
  accepted(request: ReceivedRequest): PlatformReply;
  readonly messageId: string;
  readonly account: string;
  readonly rateLimited: { readonly reply: PlatformReply; readonly retryAfterMs: number | undefined };
  readonly unauthorized: PlatformReply;
  readonly serverError?: unknown;
  /** A thread, and what a request says of it; only where the platform has threads. */
  readonly thread?: { readonly named: string; threadOf(request: ReceivedRequest): unknown };
  /** A text with formatting, and the platform's refusal of it. */
  readonly refusedFormat?: { readonly text: string; readonly reply: PlatformReply };
}

const NEVER = new AbortController().signal;

/** The promises every adapter keeps; the gateway relies on exactly these. */
export function describeChannel(fixture: ChannelFixture): void {
  const message = (text: string): ChannelMessage => ({ to: fixture.to, text, plain: false, key: 'run-1:0' });

  async function open(
    reply: PlatformReply,
  ): Promise<{ adapter: ChannelAdapter; platform: PlatformServer; sends: () => unknown[] }> {
    const platform = await startPlatform((request) =>
      reply === 'reset' || fixture.sendOf(request) ? reply : fixture.accepted(request),
    );
    return { ...(await openOn(platform)), platform };
  }

  async function openOn(
    platform: PlatformServer,
  ): Promise<{ adapter: ChannelAdapter; sends: () => unknown[] }> {
    const adapter = await fixture.module.open(fixture.settings(platform.url));
    onTestFinished(async () => {
      await adapter.stop?.();
      await platform.stop();
    });
    const sends = (): unknown[] => platform.requests.map(fixture.sendOf).filter((sent) => sent !== undefined);
    return { adapter, sends };
  }

  async function openAccepting(): Promise<{
    adapter: ChannelAdapter;
    platform: PlatformServer;
    sends: () => unknown[];
  }> {
    const platform = await startPlatform(fixture.accepted);
    return { ...(await openOn(platform)), platform };
  }

  const expectNoSecret = (result: unknown): void => {
    for (const secret of [...fixture.secrets, 'http://'])
      expect(JSON.stringify(result)).not.toContain(secret);
  };

  test('sends a message once, with its credentials', async () => {
    const { adapter, sends } = await openAccepting();
    const result = await adapter.send(message('Build 42 is green & done'), NEVER);
    expect(result).toEqual({ kind: 'sent', messageId: fixture.messageId });
    expect(sends()).toEqual([
      { text: expect.stringMatching(/^Build 42 is green (&|&amp;) done$/), authorized: true },
    ]);
  });

  test('stands in the thread that is named, and in none that it cannot be', async () => {
    const { module, thread, sendOf } = fixture;
    expect(module.hasThreads === true).toBe(thread !== undefined);
    if (thread === undefined) return;
    const { adapter, platform } = await openAccepting();
    await adapter.send(message('one'), NEVER);
    await adapter.send({ ...message('two'), thread: thread.named }, NEVER);
    const wrong = await adapter.send({ ...message('three'), thread: 'general' }, NEVER);
    expect(wrong).toMatchObject({ kind: 'failed', code: 'bad_thread' });
    const sent = platform.requests.filter(sendOf).map((request) => thread.threadOf(request));
    expect(sent).toEqual([undefined, thread.named]);
  });

  test('uses no connection twice, so that none is closed for being idle as a message leaves', async () => {
    const { adapter, platform } = await openAccepting();
    await adapter.send(message('one'), NEVER);
    await adapter.check(NEVER);
    expect(new Set(platform.requests.map(({ headers }) => headers['connection']))).toEqual(
      new Set(['close']),
    );
  });

  test('sends each chunk once, and only the rest after a chunk that failed', async () => {
    let sent = 0;
    const platform = await startPlatform((request) => {
      if (fixture.sendOf(request) && (sent += 1) === 2)
        return { status: 503, body: fixture.serverError ?? {} };
      return fixture.accepted(request);
    });
    const { adapter, sends } = await openOn(platform);
    const chunks = chunkText('a sentence that goes on. '.repeat(adapter.maxChars / 10), adapter.maxChars);
    expect(chunks.length).toBeGreaterThan(2);
    const results: string[] = [];
    for (const chunk of [chunks[0], chunks[1], ...chunks.slice(1)]) {
      results.push((await adapter.send(message(chunk ?? ''), NEVER)).kind);
    }
    expect(results).toEqual(['sent', 'retry', ...chunks.slice(1).map(() => 'sent')]);
    expect(sends()).toHaveLength(chunks.length + 1);
  });

  test('reports a rate limit with its delay and does not repeat by itself', async () => {
    const { adapter, sends } = await open(fixture.rateLimited.reply);
    const result = await adapter.send(message('hello'), NEVER);
    const { retryAfterMs } = fixture.rateLimited;
    expect(result).toMatchObject({
      kind: 'retry',
      code: 'rate_limited',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    expectNoSecret(result);
    expect(sends()).toHaveLength(1);
  });

  test('reports a server error, and a message that did not come whole, as something to repeat', async () => {
    for (const status of [500, 503]) {
      const { adapter, sends } = await open({ status, body: fixture.serverError ?? {} });
      const result = await adapter.send(message('hello'), NEVER);
      expect(result).toMatchObject({ kind: 'retry', code: 'unavailable' });
      expectNoSecret(result);
      expect(sends()).toHaveLength(1);
    }
    for (const [status, title] of [
      [502, 'Bad Gateway'],
      [408, 'Request Timeout'],
    ] as const) {
      const headers = { 'content-type': 'text/html' };
      const page = await open({ status, headers, body: `<h1>${title}</h1>` });
      expect(await page.adapter.send(message('hello'), NEVER)).toMatchObject({
        kind: 'retry',
        code: 'unavailable',
      });
    }
  });

  test('takes a page or a redirect in place of the interface for a refusal', async () => {
    for (const reply of [
      { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' },
      { status: 301, headers: { location: 'https://example.org/' } },
    ]) {
      const { adapter, sends } = await open(reply);
      const result = await adapter.send(message('hello'), NEVER);
      expect(result).toMatchObject({ kind: 'failed' });
      expectNoSecret(result);
      expect(sends()).toHaveLength(1);
    }
  });

  test('does not take a gateway timeout for proof that nothing arrived', async () => {
    const { adapter } = await open({ status: 504, body: fixture.serverError ?? {} });
    expect(await adapter.send(message('hello'), NEVER)).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
  });

  test('calls a malformed, a cut and a missing answer ambiguous', async () => {
    for (const reply of [{ status: 200, body: '{"ok":tr' }, { status: 200, body: '[]' }, 'cut'] as const) {
      const { adapter, sends } = await open(reply);
      const result = await adapter.send(message('hello'), NEVER);
      expect(result).toMatchObject({
        kind: 'ambiguous',
        code: expect.stringMatching(/malformed|connection/),
      });
      expectNoSecret(result);
      expect(sends()).toHaveLength(1);
    }
  });

  test('calls a platform that hangs ambiguous once the time is up', async () => {
    const { adapter, sends } = await open('hang');
    const deadline = new AbortController();
    const sending = adapter.send(message('hello'), deadline.signal);
    await expect.poll(() => sends().length).toBe(1);
    deadline.abort(new DOMException('late', 'TimeoutError'));
    const result = await sending;
    expect(result).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
    expectNoSecret(result);
    expect(sends()).toHaveLength(1);
  });

  test('reports a refused connection as something to repeat, in send and check', async () => {
    const adapter = await fixture.module.open(fixture.settings(await findClosedUrl()));
    const result = await adapter.send(message('hello'), NEVER);
    expect(result).toMatchObject({ kind: 'retry', code: 'connection_refused' });
    expectNoSecret(result);
    expect(await adapter.check(NEVER)).toMatchObject({ ok: false, code: 'connection_refused' });
    await adapter.stop?.();
  });

  test('sends nothing once it was told to stop', async () => {
    const { adapter, platform } = await openAccepting();
    const result = await adapter.send(message('hello'), AbortSignal.abort());
    expect(result).toMatchObject({ kind: 'retry', code: 'not_sent' });
    expect(platform.requests).toEqual([]);
  });

  test('gives up on refused credentials, in send and check', async () => {
    const platform = await startPlatform(() => fixture.unauthorized);
    const { adapter } = await openOn(platform);
    const result = await adapter.send(message('hello'), NEVER);
    expect(result).toMatchObject({
      kind: 'failed',
      code: 'unauthorized',
      message: expect.stringContaining('check'),
    });
    expectNoSecret(result);
    const check = await adapter.check(NEVER);
    expect(check).toMatchObject({ ok: false, code: 'unauthorized' });
    expectNoSecret(check);
  });

  test('does not take an answer that cannot be read for a successful check', async () => {
    for (const body of [{}, '[]', '']) {
      const platform = await startPlatform(() => ({ status: 200, body }));
      const { adapter } = await openOn(platform);
      const check = await adapter.check(NEVER);
      expect(check).toMatchObject({ ok: false, code: expect.any(String), message: expect.any(String) });
      expectNoSecret(check);
    }
  });

  test('checks the credentials without sending', async () => {
    const { adapter, sends } = await openAccepting();
    expect(await adapter.check(NEVER)).toEqual({ ok: true, account: fixture.account });
    expect(sends()).toEqual([]);
  });

  test('finds wrong recipients while checking, and fails them without a request', async () => {
    const { adapter, platform } = await openAccepting();
    expect(fixture.module.recipientProblem(fixture.to)).toBeUndefined();
    for (const to of fixture.badRecipients) {
      expect(fixture.module.recipientProblem(to)).toMatch(/^an? .+/);
      expect(await adapter.send({ ...message('hello'), to }, NEVER)).toMatchObject({
        kind: 'failed',
        code: 'bad_recipient',
      });
    }
    expect(platform.requests).toEqual([]);
  });

  test('accepts its settings and names each wrong one', () => {
    const settings = fixture.settings('https://example.org/base/');
    expect(fixture.module.settingsProblems(settings)).toEqual([]);
    expect(fixture.module.settingsProblems({ ...settings, to: fixture.to })).toEqual([]);
    for (const [key, value] of Object.entries({
      baseUrl: 'not a url',
      to: fixture.badRecipients[0],
      colour: 'red',
    })) {
      expect(fixture.module.settingsProblems({ ...settings, [key]: value })).toEqual([
        {
          key,
          message: expect.any(String),
          ...(key === 'colour' ? { known: expect.arrayContaining(['to']) } : {}),
        },
      ]);
    }
  });

  const { refusedFormat } = fixture;
  if (refusedFormat) {
    test('reports refused formatting, and sends the same text plain', async () => {
      const { adapter } = await open(refusedFormat.reply);
      const result = await adapter.send(message(refusedFormat.text), NEVER);
      expect(result).toMatchObject({ kind: 'refused-format' });
      expectNoSecret(result);
      const plain = await openAccepting();
      await plain.adapter.send({ ...message(refusedFormat.text), plain: true }, NEVER);
      expect(plain.sends()).toEqual([{ text: refusedFormat.text, authorized: true }]);
    });
  }
}
