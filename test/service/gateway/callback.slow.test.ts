import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postCallback } from '../../../src/service/gateway/outbox/callback.ts';
import { dropEnding } from '../../../src/service/gateway/gateway.ts';
import { agentAction, answering, FAST_RETRY, openHouse, type House } from '../../support/gateway-fixture.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on a free port; `answer` gets the number of the request, from 1. */
async function receiver(
  answer: (response: ServerResponse, count: number) => void = (response) => response.end(),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      answer(response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/done?key=hidden` };
}

async function ended(house: House) {
  await expect.poll(async () => (await house.storage.listOutbox({ limit: 1 }))[0]?.endedAt).toBeDefined();
  return (await house.storage.listOutbox({ limit: 1 }))[0];
}

function status(code: number) {
  return (response: ServerResponse): void => void response.writeHead(code, { location: '/elsewhere' }).end();
}

const ONCE = { maxAttempts: 1, baseMs: 1, factor: 1, maxMs: 1 };

describe('a callback', () => {
  test('posts the outcome, signed as Standard Webhooks', async () => {
    const { received, url } = await receiver();
    const key = Buffer.from('0123456789abcdef0123456789abcdef');
    // The clock was set back by an hour after the start: what is scheduled goes on from the later time.
    let aheadMs = 3_600_000;
    const clock = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
    const gateway = { callbackSecret: `whsec_${key.toString('base64')}` };
    const house = await openHouse({ gateway, options: { clock } });
    aheadMs = 0;
    const action = agentAction({ message: 'hi', name: 'GitHub', callbackUrl: url });
    await house.accept(action);
    const entry = await ended(house);
    expect(entry).toMatchObject({ kind: 'callback', state: 'completed', attempts: 1 });
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect(JSON.parse(body)).toMatchObject({
      type: 'run.completed',
      data: { runId: action.id, name: 'GitHub', mappingId: 'test', outcome: 'ok', reply: 'hi' },
    });
    expect(headers['webhook-id']).toBe(entry?.id);
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  });

  test('to an address by reference is stored as it is written, and read when it is sent', async () => {
    const { received, url } = await receiver();
    const addresses = new Map<unknown, string>();
    const house = await openHouse({ options: { retry: { ...FAST_RETRY, outbox: ONCE } } });
    const readReference = (written: unknown): string | undefined => addresses.get(written);
    house.gateway.reconfigure({ ...house.configuration, readReference });
    await house.accept(agentAction({ callbackUrl: '${CALLBACK}' }));
    const entry = await ended(house);
    expect(entry).toMatchObject({
      callback: { url: '${CALLBACK}' },
      state: 'dead',
      lastError: { code: 'no_address', message: expect.stringContaining('${CALLBACK}') },
    });
    addresses.set('${CALLBACK}', url);
    const again = { kind: 'ids', ids: [entry?.id ?? ''] } as const;
    expect(await house.storage.retry(again, Date.now())).toBe(1);
    house.gateway.notify();
    await expect.poll(() => received.length).toBe(1);
    await house.accept(agentAction({ callbackUrl: { file: 'callback.url' } }));
    await expect
      .poll(async () => (await house.storage.listOutbox({ limit: 1 }))[0]?.lastError?.message)
      .toContain('{file: callback.url}');
  });

  test("is signed as the specification's own example", async () => {
    const { received, url } = await receiver();
    const result = await postCallback(
      { url, body: '{"test": 2432232314}' },
      {
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        nowMs: 1_614_265_330_999,
        signal: AbortSignal.timeout(120_000),
      },
    );
    expect(result).toEqual({ kind: 'done' });
    expect(received[0]).toMatchObject({
      body: '{"test": 2432232314}',
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    });
  });

  test('without a secret is not signed', async () => {
    const { received, url } = await receiver();
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: url }));
    await ended(house);
    expect(received[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  test('tells of errors and of dead runs', async () => {
    const { received, url } = await receiver();
    const error = { code: 'exit_1', message: 'no' };
    const runner = answering((turn) =>
      turn.message === 'error'
        ? { kind: 'completed', outcome: 'error', reply: '', error }
        : { kind: 'not-started', code: 'refused', message: 'no', final: true },
    );
    const house = await openHouse({ runners: { default: runner } });
    await house.accept(agentAction({ message: 'error', callbackUrl: url }));
    await house.accept(agentAction({ message: 'dead', callbackUrl: url }));
    await expect.poll(() => received.length).toBe(2);
    const outcomes = received.map(
      ({ body }) => JSON.parse(body) as { type: string; data: { outcome: string; error: object } },
    );
    expect(outcomes.map(({ type, data }) => `${type} ${data.outcome}`).toSorted()).toEqual([
      'run.completed error',
      'run.dead dead',
    ]);
    expect(outcomes.find(({ type }) => type === 'run.completed')?.data.error).toEqual(error);
  });

  test('is repeated with the same id until a 2xx', async () => {
    const { received, url } = await receiver((response, count) => {
      response.writeHead(count < 3 ? 500 : 204).end();
    });
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: url }));
    expect(await ended(house)).toMatchObject({ state: 'completed', attempts: 3 });
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('that a stop cuts off at its last attempt is put back', async () => {
    const { received, url } = await receiver(() => {});
    const house = await openHouse({ options: { retry: { outbox: ONCE } } });
    await house.accept(agentAction({ callbackUrl: url }));
    await expect.poll(() => received.length).toBe(1);
    await house.gateway.stop(10);
    expect((await house.storage.listOutbox({ limit: 1 }))[0]).toMatchObject({
      state: 'queued',
      attempts: 1,
      lastError: { code: 'interrupted' },
    });
  });

  test('is given up after five attempts, with a line that does not show the address', async () => {
    const { received, url } = await receiver(status(500));
    const house = await openHouse();
    await house.accept(agentAction({ message: 'm', callbackUrl: url }));
    expect(await ended(house)).toMatchObject({ state: 'dead', lastError: { code: 'status_500' } });
    expect(received).toHaveLength(5);
    expect(await house.events()).toEqual([
      'Hook Test: m',
      'Hook Test (callback failed): status_500: the receiver answered 500',
    ]);
    expect(JSON.stringify(house.logged)).not.toContain('hidden');
  });

  test('stops at a 410', async () => {
    const { received, url } = await receiver(status(410));
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: url }));
    expect(await ended(house)).toMatchObject({ state: 'dead', attempts: 1, lastError: { code: 'gone' } });
    expect(received).toHaveLength(1);
  });

  test('follows no redirect', async () => {
    const { received, url } = await receiver(status(307));
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: url }));
    expect(await ended(house)).toMatchObject({ state: 'dead', lastError: { code: 'status_307' } });
    expect(received).toHaveLength(5);
  });

  test('waits as long as a Retry-After says', async () => {
    const { url } = await receiver(
      (response) => void response.writeHead(429, { 'retry-after': '120' }).end(),
    );
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: url }));
    await expect
      .poll(async () => (await house.storage.listOutbox({ limit: 1 }))[0]?.lastError?.code)
      .toBe('status_429');
    const [entry] = await house.storage.listOutbox({ limit: 1 });
    expect((entry?.dueAt ?? 0) - Date.now()).toBeGreaterThan(100_000);
  });

  test('nobody listens for is tried again', async () => {
    const house = await openHouse();
    await house.accept(agentAction({ callbackUrl: 'http://127.0.0.1:9/' }));
    expect(await ended(house)).toMatchObject({
      state: 'dead',
      attempts: 5,
      lastError: { code: 'unreachable' },
    });
  });
});

test('a dropped run posts its summary and its callback', () => {
  const action = agentAction({ callbackUrl: 'http://127.0.0.1:9/', name: 'Deploy' });
  const run = {
    id: action.id,
    kind: 'hook',
    action,
    state: 'queued',
    attempts: 0,
    acceptedAt: 0,
    dueAt: 0,
  } as const;
  const ending = dropEnding(run, 0);
  expect(ending.summary?.text).toBe('Hook Deploy (dropped): removed from the queue by the operator');
  expect(JSON.parse(ending.callback?.body ?? '')).toMatchObject({
    data: { outcome: 'error', error: { code: 'dropped' } },
  });
});
