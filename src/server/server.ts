import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { HookError } from '../errors.ts';
import { deliver, type OwnAnswer, type OwnHook } from './deliver.ts';
import type { ServerDeps } from './deps.ts';
import type { Connection, Exchange } from './exchange.ts';
import { createContext, type ServerContext } from './server-context.ts';
import { readHeaders } from './headers.ts';
import { listen, type ListeningAddress, listeningAddress } from './listen.ts';
import { answerProtocolError, protocolError } from './protocol-error.ts';
import { serve } from './serve.ts';
import { parseTarget } from './target.ts';

export type { SeenRequest, ServerDeps, ServerGeneration } from './deps.ts';

export { listenForRedirect } from './redirect-listener.ts';
export {
  type MetricsListener,
  type MetricsListenerOptions,
  startMetricsListener,
} from './metrics-listener.ts';

/** A server that listens. */
export interface RunningServer extends ListeningAddress {
  /** Requests received and not yet answered. */
  openRequests(): number;
  /** Takes a hook that this process made itself; see `deliver`. */
  deliver(hook: OwnHook): Promise<OwnAnswer>;
  /**
   * Takes no further connection, answers what is under way with `Connection: close`, and resolves when all
   * connections are closed, at the latest after `server.stopGraceSeconds`. Idempotent.
   */
  stop(): Promise<void>;
}

const MAX_HEADER_BYTES = 16_384;
/** Longer than the 60 s after which common load balancers drop an idle connection, so that they close it, not we. */
const KEEP_ALIVE_MS = 75_000;
/** How often the time limits of headers and bodies are checked. */
const CHECK_MS = 500;
const DROP_REPORT_MS = 1_000;
/** How long idle connections stay open at a stop: a request already on its way gets a 503 instead of a reset. */
const IDLE_GRACE_MS = 100;

/**
 * Listens on `server.host` and `server.port` and answers hooks, health and readiness.
 * @throws Error naming the setting where the address cannot be listened on
 */
export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  const context = createContext(deps);
  const connections = new WeakMap<Socket, Connection>();
  const http = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: context.limits.headersTimeoutMs,
    requestTimeout: context.limits.bodyTimeoutMs,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    insecureHTTPParser: false,
  });
  http.maxConnections = context.limits.maxConnections;
  // A sender may close its side once its request is written and still wait for the answer.
  Object.assign(http, { httpAllowHalfOpen: true });
  const connectionOf = (socket: Socket): Connection => {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = {
        socket,
        open: 0,
        latest: undefined,
        closing: false,
        closeSent: false,
        refused: undefined,
        failure: undefined,
        failBody: undefined,
      };
      connections.set(socket, connection);
    }
    return connection;
  };
  const receive = (req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): void => {
    receiveRequest(context, { req, res, connection: connectionOf(req.socket), expectsContinue });
  };
  http.on('request', (req, res) => receive(req, res, false));
  http.on('checkContinue', (req, res) => receive(req, res, true));
  // Other expectations are answered as if they were not there (RFC 9110 section 10.1.1 allows it).
  http.on('checkExpectation', (req, res) => receive(req, res, false));
  http.on('clientError', (error, socket) => {
    const connection = connectionOf(socket as Socket);
    const hookError = protocolError(error, connection.open > 0);
    const requestId = context.ids().id;
    deps.log.debug({ requestId, code: hookError.code }, 'connection failed');
    answerProtocolError(connection, hookError, requestId);
  });
  http.on('connect', (_req, socket) => {
    // node lets go of the socket here, and an error without a listener would end the process.
    socket.on('error', () => undefined);
    const error = new HookError('not_found', 'this is no proxy');
    answerProtocolError(connectionOf(socket as Socket), error, context.ids().id);
  });
  http.on('drop', reportDrops(context));
  await listen(http, deps.server, 'server');
  http.on('error', (error: NodeJS.ErrnoException) => {
    deps.log.error({ code: error.code }, 'listener failed');
  });
  return runningServer(context, http);
}

/** One line for all connections dropped within a second: a flood of them must not become a flood of lines. */
function reportDrops(context: ServerContext): () => void {
  let dropped = 0;
  return () => {
    dropped += 1;
    if (dropped > 1) return;
    setTimeout(() => {
      const { maxConnections } = context.limits;
      context.deps.log.warn({ dropped, maxConnections }, 'connections dropped: too many are open');
      dropped = 0;
    }, DROP_REPORT_MS).unref();
  };
}

interface Received {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly connection: Connection;
  readonly expectsContinue: boolean;
}

function receiveRequest(context: ServerContext, received: Received): void {
  const { req, connection } = received;
  if (connection.closing) {
    // The answer before this one said that it is the last.
    req.resume();
    return;
  }
  connection.open += 1;
  context.open += 1;
  const exchange = createExchange(context, received);
  connection.latest = exchange;
  void serve(context, exchange).then(() => {
    connection.open -= 1;
    context.open -= 1;
    if (connection.closing && !connection.closeSent && connection.open === 0) endAfterLatest(connection);
  });
}

/** The last answer was decided before the connection had to end, so it could not say so. */
function endAfterLatest({ socket, latest }: Connection): void {
  if (latest === undefined || latest.res.writableFinished) socket.end();
  else latest.res.once('finish', () => socket.end());
}

function createExchange(
  context: ServerContext,
  { req, res, connection, expectsContinue }: Received,
): Exchange {
  const headers = readHeaders(req.rawHeaders);
  const announced = headers.values['content-length'];
  return {
    req,
    res,
    connection,
    generation: context.deps.generation(),
    ids: context.ids(),
    receivedAt: context.clock(),
    startedAt: performance.now(),
    headers,
    target: parseTarget(req.url ?? ''),
    expectsContinue,
    hasBody:
      (announced !== undefined && Number(announced) > 0) || headers.values['transfer-encoding'] !== undefined,
    bodyBytes: 0,
  };
}

function runningServer(context: ServerContext, http: Server): RunningServer {
  let stopped: Promise<void> | undefined;
  return {
    ...listeningAddress(http),
    deliver: (hook) => deliver(context, hook),
    openRequests: () => context.open,
    stop: () => (stopped ??= stopServer(context, http)),
  };
}

function stopServer(context: ServerContext, http: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(
      () => http.closeAllConnections(),
      context.deps.server.stopGraceSeconds * 1000,
    );
    // http.Server closes idle connections in the same step; net.Server's own close leaves them their grace.
    NetServer.prototype.close.call(http, () => {
      clearTimeout(deadline);
      clearTimeout(idle);
      // Ends node's periodic check of connections, which net.Server knows nothing of.
      http.close();
      resolve();
    });
    context.stopping.abort();
    const idle = setTimeout(() => http.closeIdleConnections(), IDLE_GRACE_MS);
  });
}
