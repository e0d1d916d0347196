import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { HookError } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import { concludeBytes, type UnreadRequest } from './account.ts';
import { deliver, type OwnAnswer, type OwnHook } from './deliver.ts';
import type { ServerDeps } from './deps.ts';
import type { HttpConnection, Exchange, ServerSide } from './exchange.ts';
import { ConnectionTable } from './connections.ts';
import { createContext, type ServerContext } from './server-context.ts';
import { parseTarget, readHeaders } from './received.ts';
import { HEALTHY } from './readiness.ts';
import { findSenderOf, answerProtocolError, protocolError } from './protocol-error.ts';
import { createServer } from './node-http.ts';
import { boundedMessages, endAfterLatest, endIfFull, ignoreError } from './pipelined.ts';
import { isOperator } from './prove.ts';
import { serveRequest } from './serve-request.ts';
import {
  listen,
  type ListeningAddress,
  listeningAddress,
  type SideListener,
  startSideListener,
} from './side-listener.ts';

export type {
  ProofFacts,
  QuestionFacts,
  RefusedRequest,
  RepeatFacts,
  RequestAdvice,
  RequestAdvisor,
  TokenFacts,
} from './advisor.ts';
export { type KnownTokens, knownTokens } from './mask-secrets.ts';
export type { OwnAnswer, OwnHook } from './deliver.ts';
export { eventIdKey } from './idempotency.ts';
export type { RecoveredEvent, SeenRequest, ServerDeps, ServerGeneration } from './deps.ts';

export { createAddressList } from './addresses.ts';
export { compileTokens } from './authenticate.ts';
export { toHookError } from './problem.ts';
export {
  type ListenerRequest,
  listenForRedirect,
  type ListenerResponse,
  type SideListener,
  startHandlerListener,
  startMetricsListener,
} from './side-listener.ts';

export interface RunningServer extends ListeningAddress {
  /** The address of the separate listener that `server.health` asks for. */
  readonly healthUrl?: string;
  /** The address at which workers ask, where it is not the one of hooks. */
  readonly workersUrl?: string;
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
/** How often the time limits of headers and bodies are checked. */
const CHECK_MS = 500;
/** How long idle connections stay open at a stop: a request already on its way gets a 503 instead of a reset. */
const IDLE_GRACE_MS = 100;

/**
 * Listens on `server.host` and `server.port` and answers hooks, health and readiness.
 * @throws Error naming the setting where the address cannot be listened on
 */
export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  const context = createContext(deps);
  const hooks = await openListener(context, 'hooks', { at: deps.server, setting: 'server' });
  const others: Pick<SideListener, 'url' | 'stop'>[] = [];
  let health: SideListener | undefined;
  try {
    if (deps.workersAt !== undefined) {
      const workers = { at: deps.workersAt, setting: 'gateway.workers.listen' };
      others.push(await openListener(context, 'workers', workers));
      deps.log.info({ workersUrl: others[0]?.url }, 'workers ask for runs at a port of their own');
    }
    health = await startHealthListener(context);
  } catch (error) {
    await Promise.all([hooks, ...others].map((each) => each.stop()));
    throw error;
  }
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([hooks, ...others].map((each) => each.stop()));
    await health?.stop();
  };
  const { host, port, url } = hooks;
  return {
    host,
    port,
    url,
    ...defined({ workersUrl: others[0]?.url }),
    deliver: (hook) => deliver(context, hook),
    ...defined({ healthUrl: health?.url }),
    openRequests: () => context.open,
    stop: () => (stopped ??= stop()),
  };
}

/** Listens for one kind of request; all kinds share limits, failures and the space for bodies. */
async function openListener(
  context: ServerContext,
  side: ServerSide,
  { at, setting }: { readonly at: Pick<ListeningAddress, 'host' | 'port'>; readonly setting: string },
): Promise<SideListener> {
  const connections = openConnections(context);
  const http = makeHttp(context, connections);
  takeConnections(context, http, connections);
  takeRequests(context, http, { connections, side });
  await listen(http, at, setting);
  http.on('error', (error: NodeJS.ErrnoException) => {
    context.deps.log.error({ code: error.code }, 'listener failed');
  });
  return { ...listeningAddress(http), stop: () => stopServer(context, http, connections) };
}

function makeHttp(context: ServerContext, connections: ConnectionTable): Server {
  const { deps, limits } = context;
  const http = createServer({
    IncomingMessage: boundedMessages({
      endIfFull: countFull(context, connections),
      endIfTiny: refuseTiny(connections),
    }),
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.bodyTimeoutMs,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: deps.server.limits.idleSeconds * 1000,
    insecureHTTPParser: false,
    // Node's own refusal has no body.
    requireHostHeader: false,
  });
  // A sender may close its side once its request is written and still wait for the answer.
  return Object.assign(http, { httpAllowHalfOpen: true });
}

/** Whether a request is one too many of its connection; counted once for each connection. */
function countFull(context: ServerContext, connections: ConnectionTable): (socket: Socket) => boolean {
  return (socket) => {
    const connection = connections.find(socket);
    if (connection === undefined) return true;
    const { closing, flooded } = connection;
    const isOver = endIfFull(connection, connections.isStranger(connection));
    if (isOver && !closing && !flooded) context.pipelined.count('stopped');
    return isOver;
  };
}

/**
 * Whether a body in chunks of a few bytes is read no further: not where its sender is proved. Like a connection with
 * too many requests, one of a stranger stays open for a while.
 */
function refuseTiny(connections: ConnectionTable): (socket: Socket) => boolean {
  return (socket) => {
    const connection = connections.find(socket);
    if (connection?.latest?.isProved === true) return false;
    if (connection === undefined) return true;
    connection.flooded = true;
    if (!connections.isStranger(connection)) connection.closing = true;
    const error = new HookError('malformed_request', TINY);
    connection.failure = error;
    connection.latest?.failBody?.(error);
    return true;
  };
}

const TINY =
  'the body came in chunks of a few bytes, and the request has no proof that stands before it: write larger ones';

/** Serves `/healthz` and `/readyz` on a port of their own, which strangers at the hooks cannot block. */
async function startHealthListener(context: ServerContext): Promise<SideListener | undefined> {
  const { deps, probe, stopping } = context;
  if (deps.server.health === undefined) return undefined;
  const listener = await startSideListener({
    ...deps.server.health,
    setting: 'server.health',
    routes: {
      '/healthz': () => HEALTHY,
      '/readyz': (req) => {
        const headers = readHeaders(req.rawHeaders);
        const withDetails = isOperator({ generation: deps.generation(), headers });
        return probe({ stopping: stopping.signal.aborted, withDetails });
      },
    },
  });
  deps.log.info({ healthUrl: `${listener.url}/readyz` }, 'health is served');
  return listener;
}

function openConnections(context: ServerContext): ConnectionTable {
  const { connections, perAddress, strangerSeconds } = context.deps.server.limits;
  return new ConnectionTable({
    limits: { connections, perAddress, strangerMs: strangerSeconds * 1000 },
    proxies: context.proxies,
    onFull: (what) => context.connectionsFull.count(what),
    onGone: (connection) => {
      context.open -= context.later.drop(connection);
    },
  });
}

/** Handles connections as such: which may stay, and bytes that are no request. */
function takeConnections(context: ServerContext, http: Server, connections: ConnectionTable): void {
  http.on('connection', (socket) => {
    context.later.connectionCame();
    connections.add(socket);
  });
  const sweeping = setInterval(() => connections.sweep(), CHECK_MS).unref();
  http.once('close', () => clearInterval(sweeping));
  http.on('clientError', (error, socket) => {
    const connection = connections.find(socket as Socket);
    if (connection === undefined) return;
    // Behind a request that was passed over the parser cannot find its way. Node reads on with each answer.
    if (connection.flooded) return void connection.socket.pause();
    const finding = findSenderOf(error, connection.socket.bytesRead);
    refuseBytes(context, connection, {
      error: protocolError(error, connection.open > 0),
      finding,
      method: '?',
    });
  });
  http.on('connect', (_req, socket) => {
    socket.on('error', ignoreError);
    const connection = connections.find(socket as Socket);
    const error = new HookError('not_found', 'this is not a proxy');
    if (connection !== undefined)
      refuseBytes(context, connection, { error, method: 'CONNECT', finding: { code: 'connect' } });
  });
}

/** Answers bytes that are no request; the log counts them like what strangers send. */
function refuseBytes(
  context: ServerContext,
  connection: HttpConnection,
  refused: Pick<UnreadRequest, 'error' | 'finding' | 'method'>,
): void {
  const requestId = context.ids().id;
  if (answerProtocolError(connection, refused.error, requestId)) {
    concludeBytes(context, { requestId, address: connection.socket.remoteAddress, ...refused });
  } else context.deps.log.debug({ requestId, code: refused.error.code }, 'connection failed');
}

function takeRequests(
  context: ServerContext,
  http: Server,
  { connections, side }: { readonly connections: ConnectionTable; readonly side: ServerSide },
): void {
  const receive = (req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): void => {
    const connection = connections.find(req.socket);
    if (connection === undefined) return;
    receiveRequest(context, connections, { req, res, connection, side, expectsContinue });
  };
  http.on('request', (req, res) => receive(req, res, false));
  http.on('checkContinue', (req, res) => receive(req, res, true));
  // Other expectations are answered as if they were not there (RFC 9110 section 10.1.1 allows it).
  http.on('checkExpectation', (req, res) => receive(req, res, false));
}

type OpenRequest = Pick<Exchange, 'req' | 'res' | 'connection' | 'side' | 'expectsContinue'>;

function receiveRequest(context: ServerContext, connections: ConnectionTable, received: OpenRequest): void {
  const { connection } = received;
  connection.open += 1;
  context.open += 1;
  const exchange = createExchange(context, received);
  connection.latest = exchange;
  if (isTogetherWithAnother(connection) || connection.wasUnproved) {
    context.later.add(connection, () => serveReceived(context, connections, exchange));
  } else serveReceived(context, connections, exchange);
}

/** Whether a request before it is not answered yet, or was read in the same go. */
function isTogetherWithAnother(connection: HttpConnection): boolean {
  const { bytesRead } = connection.socket;
  const sameRead = connection.readBytes === bytesRead;
  connection.readBytes = bytesRead;
  return sameRead || connection.open > 1;
}

function serveReceived(context: ServerContext, connections: ConnectionTable, exchange: Exchange): void {
  const { connection } = exchange;
  if (connection.socket.destroyed) {
    connection.open -= 1;
    context.open -= 1;
    return;
  }
  const serving = serveRequest(context, exchange, {
    onProved: () => {
      connections.proved(connection);
      if (connection.flooded) connection.closing = true;
    },
    onTooManyFailures: () => connections.cutOff(connection),
  });
  void serving.then(({ proof }) => {
    const isProved = proof?.kind === 'proved';
    connection.wasUnproved = !isProved;
    connection.open -= 1;
    context.open -= 1;
    connections.answered(connection, isProved);
    if (connection.closing && !connection.closeSent && connection.open === 0)
      endAfterLatest(connection, context.limits);
  });
}

function createExchange(
  context: ServerContext,
  { req, res, connection, side, expectsContinue }: OpenRequest,
): Exchange {
  const headers = readHeaders(req.rawHeaders);
  const announced = headers.values['content-length'];
  return {
    req,
    res,
    connection,
    side,
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
    isProved: false,
    unprovedBytes: 0,
    failBody: undefined,
  };
}

function stopServer(context: ServerContext, http: Server, connections: ConnectionTable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const graceMs = context.deps.server.stopGraceSeconds * 1000;
  const deadline = setTimeout(() => http.closeAllConnections(), graceMs);
  const idle = setTimeout(() => {
    http.closeIdleConnections();
    connections.closeStrangers();
  }, IDLE_GRACE_MS);
  // http.Server closes idle connections in the same step; net.Server's own close leaves them their grace.
  NetServer.prototype.close.call(http, () => {
    clearTimeout(deadline);
    clearTimeout(idle);
    // Closing http too ends node's periodic check of connections, which net.Server does not know.
    http.close();
    resolve();
  });
  context.stopping.abort();
  return promise;
}
