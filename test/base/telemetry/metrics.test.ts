import { afterEach, expect, test } from 'vitest';
import { type SideListener, startMetricsListener } from '../../../src/service/server/server.ts';
import { openMetrics } from '../../../src/base/telemetry/telemetry.ts';
import type { MetricsSources } from '../../../src/base/telemetry/metrics.ts';
import { send, startTestServer, stopServers } from '../../support/server-fixture.ts';

const listeners: SideListener[] = [];
afterEach(async () => {
  await stopServers();
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
});

const BACKLOG = {
  queuedRuns: 3,
  activeRuns: 1,
  deadRuns: 2,
  queuedOutbox: 4,
  activeOutbox: 9,
  deadOutbox: 1,
  pendingEvents: 5,
  deadEvents: 0,
  bytes: 1_234,
  oldestQueuedAt: 10_000,
  oldestDeadAt: 5_500,
};

async function scrape(
  sources: Partial<MetricsSources> = {},
  use?: (metrics: Awaited<ReturnType<typeof openMetrics>>) => unknown,
) {
  const metrics = await openMetrics({
    backlog: () => Promise.resolve(BACKLOG),
    clock: () => 25_500,
    ...sources,
  });
  await use?.(metrics);
  return (await metrics.render()).text;
}

const REQUEST = {
  status: 202,
  outcome: 'accepted',
  bodyBytes: 2_000,
  proofMs: 0.1,
  evaluateMs: 0.2,
  storeMs: 3,
  tookMs: 4,
};

test('requests are counted by outcome, status and mapping', async () => {
  const text = await scrape({}, async (metrics) => {
    const server = await startTestServer({ deps: { metrics } });
    await send(server, '/hooks/wake', { body: '{}' });
    await send(server, '/hooks/wake', { body: '{}' });
    await send(server, '/hooks/wake', { headers: {}, body: '{}' });
  });
  expect(text).toContain('sluice_requests_total{outcome="accepted",status="200",mapping=""} 2');
  expect(text).toContain('sluice_requests_total{outcome="refused",status="401",mapping=""} 1');
  expect(text).toContain('sluice_request_seconds_count 3');
  expect(text).toContain('sluice_proof_seconds_count 3');
  expect(text).toContain('sluice_evaluate_seconds_count 2');
  expect(text).toContain('sluice_store_seconds_count 2');
  expect(text).toContain('sluice_request_body_bytes_sum 4');
});

test('refusals are counted by reason, and by scheme where a path has one', async () => {
  const text = await scrape({}, (metrics) => {
    const refused = { ...REQUEST, status: 401, outcome: 'refused', mappingId: undefined };
    metrics.observeRequest({ ...refused, refusal: { reason: 'missing' } });
    metrics.observeRequest({ ...refused, refusal: { reason: 'too-old', scheme: 'slack' } });
    metrics.observeRequest({ ...refused, refusal: { reason: 'too-old', scheme: 'slack' } });
  });
  expect(text).toContain('HELP sluice_auth_failures_total Requests without a valid proof, by reason.');
  expect(text).toContain('sluice_auth_failures_total{reason="missing"} 1');
  expect(text).toContain('sluice_auth_failures_total{reason="too-old"} 2');
  expect(text).toContain('sluice_verify_failures_total{scheme="slack",reason="too-old"} 2');
});

test('the series of mappings are bounded', async () => {
  const text = await scrape({}, (metrics) => {
    for (let i = 0; i < 1_000; i += 1) metrics.observeRequest({ ...REQUEST, mappingId: `m${i}` });
  });
  const series = text.split('\n').filter((line) => line.startsWith('sluice_requests_total{'));
  expect(series).toHaveLength(201);
  expect(series).toContain('sluice_requests_total{outcome="accepted",status="202",mapping="other"} 800');
});

test('the backlog, its oldest age and dead work are gauges, and what a database was asked are totals', async () => {
  const database = () => ({ roundTrips: 3, roundTripMs: 30, lockWaits: 1, lockWaitMs: 250 });
  const text = await scrape({ database });
  expect(text).toContain('sluice_store_up 1');
  expect(text).toContain('sluice_database_lock_wait_seconds_total 0.25');
  expect(text).toContain('sluice_work{kind="run",state="queued"} 3');
  expect(text).toContain('sluice_work{kind="run",state="dead"} 2');
  expect(text).toContain('sluice_work{kind="outbox",state="dead"} 1');
  expect(text).toContain('sluice_work{kind="outbox",state="active"} 9');
  expect(text).toContain('sluice_work{kind="event",state="pending"} 5');
  expect(text).toContain('sluice_backlog_bytes 1234');
  expect(text).toContain('sluice_backlog_oldest_seconds 15.5');
  expect(text).toContain('sluice_dead_oldest_seconds 20');
});

test('a store that fails is told, and no old figure stands for a fresh one', async () => {
  let works = true;
  const metrics = await openMetrics({
    backlog: () => (works ? Promise.resolve(BACKLOG) : Promise.reject(new Error('gone'))),
  });
  expect((await metrics.render()).text).toContain('sluice_work{kind="run",state="queued"} 3');
  works = false;
  const { text } = await metrics.render();
  expect(text).toContain('sluice_store_up 0');
  expect(text).not.toMatch(/^sluice_(work\{|backlog_|dead_)/m);
});

test('a store that answers and cannot take requests, as on a full disk, is not up', async () => {
  let isWell = false;
  const metrics = await openMetrics({ backlog: () => Promise.resolve(BACKLOG), isStoreWell: () => isWell });
  const { text } = await metrics.render();
  expect(text).toContain('sluice_store_up 0');
  expect(text).toContain('sluice_work{kind="run",state="queued"} 3');
  isWell = true;
  expect((await metrics.render()).text).toContain('sluice_store_up 1');
});

test('transforms are counted from the sandbox, once however often they are scraped', async () => {
  const figures = {
    calls: { ok: 7, timeout: 1 },
    pools: [
      { ready: 2, waiting: 3, running: 1, spawned: 4 },
      { ready: 1, waiting: 0, running: 0, spawned: 1 },
    ],
    breakers: [{ module: 'x.ts', state: 'open' }],
  };
  const text = await scrape({ transforms: () => figures }, (metrics) => metrics.render());
  expect(text).toContain('sluice_transform_calls_total{result="ok"} 7');
  expect(text).toContain('sluice_transform_calls_total{result="timeout"} 1');
  expect(text).toContain('sluice_transform_pool{state="ready"} 3');
  expect(text).toContain('sluice_transform_pool{state="waiting"} 3');
  expect(text).toContain('sluice_transform_workers_spawned_total 5');
  expect(text).toContain('sluice_transform_breakers_open 1');
});

test('process metrics are among them', async () => {
  expect(await scrape()).toMatch(/^process_resident_memory_bytes \d+/m);
});

test('/metrics is served on a listener of its own, and nothing else there', async () => {
  const metrics = await openMetrics({ backlog: () => Promise.resolve(BACKLOG) });
  const listener = await startMetricsListener({ host: '127.0.0.1', port: 0, render: () => metrics.render() });
  listeners.push(listener);
  const reply = await fetch(`${listener.url}/metrics`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await reply.text()).toContain('sluice_store_up 1');
  expect((await fetch(`${listener.url}/hooks/wake`, { method: 'POST', body: '{}' })).status).toBe(404);
  const server = await startTestServer();
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
});

test('a metrics address in use is an error that names the setting', async () => {
  const server = await startTestServer();
  const render = () => Promise.resolve({ contentType: 'text/plain', text: '' });
  await expect(startMetricsListener({ host: '127.0.0.1', port: server.port, render })).rejects.toThrow(
    'metrics.port',
  );
});
