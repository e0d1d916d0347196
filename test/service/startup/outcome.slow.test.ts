import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPlatform, type PlatformServer } from '../../support/platform-server.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';

const TOKEN = 'outcome-token-0123456789';
const KEY = Buffer.from('0123456789abcdef0123456789abcdef');

let folder: string;
let receiver: PlatformServer;
let service: ServiceProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-outcome-'));
  receiver = await startPlatform((_, index) => ({ status: index === 0 ? 500 : 204 }));
  await configure();
  service = await startServiceProcess(folder);
});

afterAll(async () => {
  await service.end('SIGKILL');
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

const configure = (exposeRuns = true): Promise<void> =>
  writeFile(
    join(folder, 'sluice.yaml'),
    `
hooks:
  enabled: true
  token: ${TOKEN}
  exposeRuns: ${exposeRuns}
  mappings:
    - {id: told, match: {path: told}, messageTemplate: "{{id}}", deliver: false, callbackUrl: "${receiver.url}/outcome"}
    - {id: slow, match: {path: slow}, runner: slow, messageTemplate: "{{id}}", deliver: false}
    - {id: body, match: {path: body}, messageTemplate: "{{id}}", deliver: false, dedupe: body}
    - {id: plain, match: {path: plain}, messageTemplate: "{{id}}", deliver: false}
    - {id: batch, match: {path: batch}, forEach: items, messageTemplate: "{{item}}", deliver: false, dedupe: {key: "{{item}}"}}
server: {stopGraceSeconds: 0.1}
gateway:
  callbackSecret: whsec_${KEY.toString('base64')}
  heartbeat: {everySeconds: 0}
  runners: {slow: {kind: command, argv: [sleep, "60"]}}
storage: {url: "sqlite:./store.db"}
`,
  );

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${service.port}/hooks/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) },
    signal: AbortSignal.timeout(120_000),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  call(path, { method: 'POST', body: JSON.stringify(body), headers });

const restart = async (): Promise<void> => {
  await service.end('SIGKILL');
  service = await startServiceProcess(folder);
};

test('Prefer: wait holds the answer until the run has ended, or for its time and no longer', async () => {
  const done = await post('plain', { id: 'hello' }, { prefer: 'wait=10' });
  expect(done).toMatchObject({ status: 200, body: { ok: true, outcome: 'ok', reply: 'hello' } });
  expect(done.headers.get('preference-applied')).toBe('wait=10');
  const startedAt = performance.now();
  const late = await post('slow', { id: 'x' }, { prefer: 'respond-async, wait=1' });
  expect(late).toMatchObject({ status: 202, body: { ok: true, runId: expect.any(String) as unknown } });
  expect(performance.now() - startedAt).toBeGreaterThan(950);
  const plain = await post('plain', { id: 'x' });
  expect(plain.status).toBe(202);
  expect(plain.body).not.toHaveProperty('reply');
});

test('a repeat gets the first answer, in flight and after a kill: keys, bodies and elements of batches', async () => {
  const key = { 'idempotency-key': 'k1' };
  const inFlight = await Promise.all(Array.from({ length: 8 }, () => post('plain', { id: 'a' }, key)));
  expect(new Set(inFlight.map(({ body }) => body['runId'])).size).toBe(1);
  expect(inFlight.filter(({ body }) => body['duplicate'] === true)).toHaveLength(7);
  const byBody = await post('body', { id: 'b' });
  const batch = await post('batch', { items: ['x', 'y'] }, { 'idempotency-key': 'k2' });
  expect(batch.body['runIds']).toHaveLength(2);

  await restart();
  const runId = inFlight[0]?.body['runId'];
  expect((await post('plain', { id: 'a' }, key)).body).toMatchObject({ runId, duplicate: true });
  expect(await post('plain', { id: 'other' }, key)).toMatchObject({
    status: 422,
    body: { code: 'idempotency_mismatch' },
  });
  expect((await post('body', { id: 'b' })).body).toMatchObject({
    runId: byBody.body['runId'],
    duplicate: true,
  });
  const batchAgain = await post('batch', { items: ['x', 'y'] }, { 'idempotency-key': 'k2' });
  expect(batchAgain.body).toMatchObject({ runIds: batch.body['runIds'], duplicate: true });
  const [x] = batch.body['runIds'] as string[];
  const mixed = await post('batch', { items: ['z', 'x'] });
  expect(mixed.body).toMatchObject({ runIds: [expect.any(String)], duplicates: [x] });

  // Never by the body unless asked, and a blank key is no key.
  const [one, two] = [await post('plain', { id: 'same' }), await post('plain', { id: 'same' })];
  expect(one.body['runId']).not.toBe(two.body['runId']);
  const blank = await post('plain', { id: 'same' }, { 'idempotency-key': ' ' });
  expect(blank.body).toMatchObject({ warnings: [{ code: 'blank_idempotency_key' }] });
  expect(blank.body['runId']).not.toBe(two.body['runId']);
});

// The last one: it hides runs.
test('a callback posts the outcome, signed, again after a failure, and GET runs/<id> tells the same', async () => {
  const { body } = await post('told', { id: 'hello' });
  const runId = String(body['runId']);
  await until('the repeated callback', () => (receiver.requests.length === 2 ? true : undefined));
  const [first, second] = receiver.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  for (const { headers, text } of receiver.requests) {
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], text].join('.');
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`,
    );
  }
  const told = second?.body as { type: string; data: object } | undefined;
  expect(told).toMatchObject({ type: 'run.completed', data: { runId, outcome: 'ok', reply: 'hello' } });
  const asked = await call(`runs/${runId}`);
  expect(asked).toMatchObject({
    status: 200,
    body: { runId, state: 'completed', outcome: 'ok', reply: 'hello', attempts: 1 },
  });
  const stranger = await call(`runs/${runId}`, { headers: { authorization: 'Bearer wrong' } });
  expect(stranger.status).toBe(401);
  await configure(false);
  service.child.kill('SIGHUP');
  await until('runs to be hidden', async () =>
    (await call(`runs/${runId}`)).status === 404 ? true : undefined,
  );
});
