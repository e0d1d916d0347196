/** Spans, judged by the SDK of OpenTelemetry with an exporter in memory. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { hrTimeToMilliseconds, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { startPlatform, type PlatformServer } from '../../support/platform-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKEN = 'tracing-token-0123456789';
const SENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const SECRET = 'word-of-the-payload';

let exporter: InMemorySpanExporter;
beforeEach(() => {
  exporter = new InMemorySpanExporter();
});
afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

function registerSdk(): void {
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

async function start(): Promise<{ service: Service; platform: PlatformServer; log: readonly string[] }> {
  const folder = temporaryFolder();
  const platform = await startPlatform(({ path }) =>
    path.startsWith('/outcome') ? { status: 204 } : { status: 200, body: { ok: true, ts: '1.1' } },
  );
  onTestFinished(() => platform.stop());
  writeFileSync(
    join(folder, 'shout.js'),
    'export default ({payload}) => ({message: payload.text.toUpperCase()})',
  );
  const mappings = [
    {
      id: 'shouted',
      match: { path: 'shout' },
      transform: { module: 'shout.js' },
      channel: 'slack',
      to: 'C0123456',
      callbackUrl: `${platform.url}/outcome/${SECRET}`,
    },
    { id: 'broken', match: { path: 'broken' }, messageTemplate: '{{text}}', channel: 'nowhere-{{text}}' },
  ];
  const configFile = join(folder, 'sluice.json');
  writeFileSync(
    configFile,
    JSON.stringify({
      hooks: { enabled: true, token: TOKEN, mappings, transformsDir: '.' },
      server: { port: 0, stopGraceSeconds: 0.1 },
      channels: { slack: { botToken: 'xoxb-1', baseUrl: platform.url } },
      gateway: { heartbeat: { everySeconds: 0 } },
      log: { level: 'debug' },
    }),
  );
  const log: string[] = [];
  const logger = createLogger({ destination: { write: (line) => log.push(line) > 0 } });
  const service = await startService({ configFile, env: {}, log: logger });
  onTestFinished(() => service.stop());
  return { service, platform, log };
}

const post = (service: Service, path: string, token = TOKEN): Promise<Response> =>
  fetch(`${service.url}/hooks/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      traceparent: `00-${SENT.trace}-${SENT.span}-01`,
    },
    body: JSON.stringify({ text: SECRET, message: SECRET }),
    signal: AbortSignal.timeout(120_000),
  });

const stepOf = ({ attributes }: ReadableSpan): unknown => attributes['sluice.step'];

/** The span of each step, once all of them have ended. */
async function spans(...steps: readonly string[]): Promise<Readonly<Record<string, ReadableSpan>>> {
  const found = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  await vi.waitFor(() => expect(found().map(stepOf)).toEqual(expect.arrayContaining([...steps])), {
    timeout: 60_000,
  });
  return Object.fromEntries(found().map((span) => [String(stepOf(span)), span]));
}

test('a hook is followed from its sender to its delivery and its callback, and no word of it is in a span', async () => {
  registerSdk();
  const { service, platform } = await start();
  expect((await post(service, 'shout')).status).toBe(202);
  const of = await spans('receive', 'evaluate', 'transform', 'store', 'run', 'deliver', 'callback');
  const { receive, evaluate, transform, store, run, deliver, callback } = of;
  expect(receive).toMatchObject({ name: 'POST /hooks/shout', kind: SpanKind.SERVER });
  expect(receive?.parentSpanContext).toMatchObject({ traceId: SENT.trace, spanId: SENT.span });
  expect(receive?.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/hooks/shout',
    'http.response.status_code': 202,
    'sluice.outcome': 'accepted',
  });
  const parents = [evaluate, transform, store].map((span) => span?.parentSpanContext?.spanId);
  expect(parents).toEqual([receive, evaluate, receive].map((span) => span?.spanContext().spanId));
  expect(transform?.attributes).toMatchObject({ 'sluice.transform.module': 'shout.js' });
  expect(store).toMatchObject({ name: 'store shout', kind: SpanKind.PRODUCER });
  expect(run).toMatchObject({ name: 'run shout', kind: SpanKind.CONSUMER });
  expect(run?.parentSpanContext).toBeUndefined();
  expect(run?.links[0]?.context).toMatchObject({
    spanId: receive?.spanContext().spanId,
    traceId: SENT.trace,
  });
  expect(run?.attributes).toMatchObject({
    'messaging.message.id': store?.attributes['messaging.message.id'],
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'echo',
    'sluice.result': 'ok',
  });
  for (const sent of [deliver, callback])
    expect(sent?.links[0]?.context.spanId).toBe(run?.spanContext().spanId);
  expect(deliver).toMatchObject({ name: 'deliver slack', attributes: { 'sluice.result': 'sent' } });
  const called = platform.requests.find(({ path }) => path.startsWith('/outcome'));
  expect(called?.headers['traceparent']).toContain(callback?.spanContext().spanId);
  // Parts stand within their request, in their order.
  const times = [receive, evaluate, transform].map((span) => hrTimeToMilliseconds(span?.startTime ?? [0, 0]));
  times.push(
    ...[transform, evaluate, store, receive].map((span) => hrTimeToMilliseconds(span?.endTime ?? [0, 0])),
  );
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
  const text = exporter
    .getFinishedSpans()
    .map(({ name, attributes, events, status, links }) =>
      JSON.stringify({ name, attributes, events, status, links }),
    )
    .join('\n');
  expect(text.toLowerCase()).not.toContain(SECRET);
  expect(text).not.toContain(TOKEN);
});

test('what is refused is an error by its code, and a stranger has no span', async () => {
  registerSdk();
  const { service } = await start();
  expect((await post(service, 'broken')).status).toBe(400);
  const { receive, evaluate } = await spans('receive', 'evaluate');
  expect(evaluate).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'unknown_channel', 'sluice.mapping': 'broken' },
  });
  // A fault of the sender is none of the service.
  expect(receive).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'error.type': 'unknown_channel', 'http.response.status_code': 400 },
  });
  exporter.reset();
  expect((await post(service, 'shout', 'wrong')).status).toBe(401);
  expect((await post(service, 'agent')).status).toBe(202);
  await spans('run');
  const received = exporter.getFinishedSpans().filter((span) => stepOf(span) === 'receive');
  expect(received.map(({ name }) => name)).toEqual(['POST /hooks/agent']);
});

test('without an SDK no span is made, and a run keeps the trace of its sender', async () => {
  const { service, platform, log } = await start();
  expect((await post(service, 'shout')).status).toBe(202);
  await vi.waitFor(
    () => expect(platform.requests.some(({ path }) => path.startsWith('/outcome'))).toBe(true),
    {
      timeout: 60_000,
    },
  );
  const called = platform.requests.find(({ path }) => path.startsWith('/outcome'));
  expect(called?.headers['traceparent']).toBe(`00-${SENT.trace}-${SENT.span}-01`);
  expect(log.join('')).not.toContain('OpenTelemetry');
});
