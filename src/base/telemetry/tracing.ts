/**
 * Spans for OpenTelemetry. Sluice brings no SDK: where one is registered in this process (`node --import`), its tracer
 * gets what happens to a request; elsewhere nothing of this is loaded. All names of the conventions for HTTP, messaging
 * and GenAI stand in this file alone, as those of the last are still changing. Attributes are names of the operator's
 * files, ids and codes: never a word of a payload, an address or a key.
 */
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanKind } from '@opentelemetry/api';
import { defined } from '../json.ts';
import type { Log } from './log.ts';

type Api = typeof OpenTelemetry;

export interface TracedWork {
  /** The `traceparent` of this work, for whatever it leads to; absent where the SDK gives no valid one. */
  readonly traceparent: string | undefined;
}

/** A part of a request that has ended; times are of `performance.now()`. */
export interface TracedPart {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failure?: string | undefined;
}

export interface TracedCall extends TracedPart {
  readonly module: string;
}

export interface TracedRequest extends TracedWork {
  /** Hears of each call of a transform, before `evaluated`. */
  readonly called: (call: TracedCall) => void;
  evaluated(part: TracedPart & { readonly mappingId: string | undefined }): void;
  stored(part: TracedPart & { readonly ids: readonly string[] }): void;
  end(ended: {
    readonly status: number;
    readonly outcome: string;
    readonly failure: string | undefined;
  }): void;
}

export interface TracedAttempt extends TracedWork {
  end(ended: {
    readonly result: string;
    readonly failure?: string | undefined;
    readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number } | undefined;
  }): void;
}

export interface Tracing {
  /** A request whose sender is proved; `method` absent where this process made it itself. */
  receive(request: {
    readonly id: string;
    /** `hooks.path`, and the name behind it where it stands in the operator's files. */
    readonly route: string;
    readonly path: string;
    readonly method?: string | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly startedAt: number;
  }): TracedRequest;
  /** An attempt at a run, linked to what `traceparent` names. */
  run(run: {
    readonly id: string;
    readonly path: string;
    readonly mappingId?: string;
    readonly attempt: number;
    readonly runner: string;
    readonly model: string | undefined;
    readonly traceparent?: string;
  }): TracedAttempt;
  /** An attempt at a delivery (`channel` given) or a callback, linked to its run. */
  send(entry: {
    readonly runId: string;
    readonly attempt: number;
    readonly channel?: string;
    readonly traceparent?: string;
  }): TracedAttempt;
}

/** Where `@opentelemetry/api` 1.x keeps what is registered, whichever copy of it did that. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Undefined where no SDK is registered in this process. */
export async function openTracing(log: Pick<Log, 'info' | 'warn'>): Promise<Tracing | undefined> {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  if (registered?.trace === undefined) return undefined;
  const api = await import('@opentelemetry/api').catch(() => undefined);
  if (api === undefined) {
    log.warn(
      {},
      'an OpenTelemetry SDK is registered, and gets no spans: install @opentelemetry/api where Sluice is installed (npm install @opentelemetry/api@1)',
    );
    return undefined;
  }
  log.info({}, 'spans go to the OpenTelemetry SDK of this process');
  return createTracing(api);
}

function createTracing(api: Api): Tracing {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, propagation, trace } = api;
  const tracer = trace.getTracer('sluice');

  const traceparentOf = (span: Span): string | undefined => {
    const { traceId, spanId, traceFlags } = span.spanContext();
    const isValid = api.isSpanContextValid({ traceId, spanId, traceFlags });
    return isValid ? `00-${traceId}-${spanId}-0${traceFlags & 1}` : undefined;
  };
  const finish = (
    span: Span,
    failure: string | undefined,
    attributes: Attributes = {},
    at?: number,
  ): void => {
    span.setAttributes({ ...attributes, ...defined({ 'error.type': failure }) });
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(at);
  };
  /** Begins a trace of its own, as what led to it may have been hours ago. */
  const linked = (name: string, kind: SpanKind, traceparent: string | undefined, step: Attributes): Span => {
    const [, traceId = '', spanId = '', flags = ''] = traceparent?.split('-') ?? [];
    const from = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
    const links = api.isSpanContextValid(from) ? [{ context: from }] : [];
    return tracer.startSpan(name, { kind, attributes: step, root: true, links });
  };

  return {
    receive({ id, route, path, method, headers, startedAt }) {
      // The clock of spans; the same distance for all of a request keeps its parts within it.
      const epoch = Date.now() - performance.now();
      // An instrumentation of HTTP has a span already.
      const active = context.active();
      const isWithin = trace.getSpan(active) !== undefined;
      const parent = isWithin ? active : propagation.extract(ROOT_CONTEXT, headers);
      const begin = (name: string, at: number, within: Context, step: Attributes, kind?: SpanKind): Span =>
        tracer.startSpan(name, { startTime: epoch + at, attributes: step, ...defined({ kind }) }, within);
      const isHttp = method !== undefined;
      const http = { 'http.request.method': method, 'http.route': route, 'url.path': route };
      const span = begin(
        isHttp ? `${method} ${route}` : `receive ${path}`,
        startedAt,
        parent,
        { 'sluice.step': 'receive', 'sluice.request.id': id, ...(isHttp && http) },
        isHttp && !isWithin ? SpanKind.SERVER : undefined,
      );
      const within = trace.setSpan(parent, span);
      const calls: TracedCall[] = [];
      return {
        traceparent: traceparentOf(span),
        called: (call) => calls.push(call),
        evaluated({ mappingId, startedAt: at, endedAt, failure }) {
          const step = { 'sluice.step': 'evaluate', ...defined({ 'sluice.mapping': mappingId }) };
          const evaluate = begin('evaluate', at, within, step);
          const inner = trace.setSpan(within, evaluate);
          for (const call of calls) {
            const ofCall = { 'sluice.step': 'transform', 'sluice.transform.module': call.module };
            finish(begin('transform', call.startedAt, inner, ofCall), call.failure, {}, epoch + call.endedAt);
          }
          finish(evaluate, failure, {}, epoch + endedAt);
        },
        stored({ ids, startedAt: at, endedAt, failure }) {
          const [first] = ids;
          const what =
            ids.length > 1
              ? { 'messaging.batch.message_count': ids.length }
              : { 'messaging.message.id': first };
          const step = { 'sluice.step': 'store', ...messaging('store', 'send', path), ...defined(what) };
          finish(begin(`store ${path}`, at, within, step, SpanKind.PRODUCER), failure, {}, epoch + endedAt);
        },
        end({ status, outcome, failure }) {
          const answer = { 'sluice.outcome': outcome, 'http.response.status_code': status };
          // A fault of the sender is no error of the service.
          if (status < 500) span.setAttributes(defined({ 'error.type': failure }));
          finish(span, status < 500 ? undefined : failure, answer, epoch + performance.now());
        },
      };
    },
    run({ id, path, mappingId, attempt, runner, model, traceparent }) {
      const span = linked(`run ${path}`, SpanKind.CONSUMER, traceparent, {
        'sluice.step': 'run',
        ...messaging('run', 'process', path),
        'messaging.message.id': id,
        'sluice.attempt': attempt,
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': runner,
        ...defined({ 'sluice.mapping': mappingId, 'gen_ai.request.model': model }),
      });
      return {
        traceparent: traceparentOf(span),
        end({ result, failure, usage: { inputTokens, outputTokens } = {} }) {
          const used = {
            'gen_ai.usage.input_tokens': inputTokens,
            'gen_ai.usage.output_tokens': outputTokens,
          };
          finish(span, failure, { 'sluice.result': result, ...defined(used) });
        },
      };
    },
    send({ runId, attempt, channel, traceparent }) {
      const ofRun = { 'sluice.run.id': runId, 'sluice.attempt': attempt };
      const http = { 'sluice.step': 'callback', 'http.request.method': 'POST', ...ofRun };
      const span =
        channel === undefined
          ? linked('POST', SpanKind.CLIENT, traceparent, http)
          : linked(`deliver ${channel}`, SpanKind.PRODUCER, traceparent, {
              'sluice.step': 'deliver',
              ...messaging('deliver', 'send', channel),
              ...ofRun,
            });
      return {
        traceparent: traceparentOf(span),
        end: ({ result, failure }) => finish(span, failure, { 'sluice.result': result }),
      };
    },
  };
}

const messaging = (name: string, type: 'send' | 'process', destination: string): Attributes => ({
  'messaging.system': 'sluice',
  'messaging.operation.name': name,
  'messaging.operation.type': type,
  'messaging.destination.name': destination,
});
