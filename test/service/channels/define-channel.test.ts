import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ChannelAdapter } from '../../../src/service/channels/channel.ts';
import {
  commonShape,
  type ChannelConnection,
  defineChannel,
} from '../../../src/service/channels/define-channel.ts';
import { prepare, PreparationError, refusal } from '../../../src/service/channels/send-failure.ts';

const NEVER = new AbortController().signal;
const MESSAGE = { to: 'room-1', text: 'hello', plain: false, key: 'run-1:0' };
const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
});
/** The end of a connection that was made: the other side is no longer there. */
const wayLost = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'read' }),
});

function open(connection: Partial<ChannelConnection<string>>): Promise<ChannelAdapter> {
  const channel = defineChannel({
    id: 'house',
    schema: z.strictObject({ ...commonShape }),
    maxChars: 100,
    parseRecipient: (to) => /^room-\d+$/.exec(to)?.[0],
    recipientForms: 'a House recipient is room-<n>',
    connect: async () => ({
      platform: 'House',
      check: async () => 'the house',
      send: async () => ({ kind: 'sent' as const }),
      ...connection,
    }),
  });
  return channel.open({});
}

describe('a channel made by defineChannel', () => {
  test('answers, whatever its connection throws', async () => {
    const thrown = [
      [refused, 'retry', 'connection_refused'],
      [wayLost, 'ambiguous', 'connection_lost'],
      [new DOMException('too late', 'TimeoutError'), 'ambiguous', 'timeout'],
      [new Error('a bug'), 'ambiguous', 'connection_lost'],
      ['a text', 'ambiguous', 'connection_lost'],
      [undefined, 'ambiguous', 'connection_lost'],
    ] as const;
    for (const [error, kind, code] of thrown) {
      const fail = (): never => {
        throw error;
      };
      const adapter = await open({ send: fail, check: fail });
      expect(await adapter.send(MESSAGE, NEVER)).toMatchObject({ kind, code });
      expect(await adapter.check(NEVER)).toMatchObject({ ok: false, code });
    }
  });

  test('asks the connection first what its errors mean, and survives its bugs', async () => {
    const send = (): Promise<never> => Promise.reject(refused);
    const told = await open({ send, failureOf: () => refusal('House', 429, { retryAfterMs: 5 }) });
    expect(await told.send(MESSAGE, NEVER)).toMatchObject({ kind: 'retry', retryAfterMs: 5 });
    const unknown = await open({ send, failureOf: () => undefined });
    expect(await unknown.send(MESSAGE, NEVER)).toMatchObject({ kind: 'retry', code: 'connection_refused' });
    const buggy = await open({
      send,
      failureOf: () => {
        throw new Error('a bug');
      },
    });
    expect(await buggy.send(MESSAGE, NEVER)).toMatchObject({ kind: 'retry', code: 'connection_refused' });
  });

  test('may repeat a message whose preparation failed, however it failed', async () => {
    const lost = (): Promise<never> => Promise.reject(new Error('broken off'));
    const adapter = await open({ send: async () => prepare(lost) });
    expect(await adapter.send(MESSAGE, NEVER)).toMatchObject({ kind: 'retry', code: 'connection_lost' });
    const refusedThere = await open({
      send: async () => {
        throw new PreparationError(refusal('House', 401));
      },
    });
    expect(await refusedThere.send(MESSAGE, NEVER)).toMatchObject({ kind: 'failed', code: 'unauthorized' });
  });

  test('gives the connection a recipient that was read, and nothing else', async () => {
    const seen: unknown[] = [];
    const adapter = await open({
      send: async ({ to }) => {
        seen.push(to);
        return { kind: 'sent' };
      },
    });
    expect(await adapter.send({ ...MESSAGE, to: 'attic' }, NEVER)).toEqual({
      kind: 'failed',
      code: 'bad_recipient',
      message: 'a House recipient is room-<n>',
    });
    expect(await adapter.send(MESSAGE, AbortSignal.abort())).toMatchObject({
      kind: 'retry',
      code: 'not_sent',
    });
    await adapter.send(MESSAGE, NEVER);
    expect(seen).toEqual(['room-1']);
  });

  test('tells an account, a refusal and an answer of something else apart', async () => {
    expect(await (await open({})).check(NEVER)).toEqual({ ok: true, account: 'the house' });
    const refusing = await open({ check: async () => refusal('House', 401) });
    expect(await refusing.check(NEVER)).toMatchObject({ ok: false, code: 'unauthorized' });
    const other = await open({ check: async () => undefined });
    expect(await other.check(NEVER)).toMatchObject({ ok: false, code: 'malformed_answer' });
  });
});
