import { connect, type Socket } from 'node:net';
import { request as httpRequest } from 'node:http';
import { createAdvisor } from '../../src/authoring/advice/requests.ts';
import type { Evaluation } from '../../src/engine/hook/hook.ts';
import type { Outcome } from '../../src/engine/hook/facts.ts';
import type { HookRequest } from '../../src/base/request.ts';
import {
  knownTokens,
  type RunningServer,
  type SeenRequest,
  type ServerDeps,
  type ServerGeneration,
  startServer,
} from '../../src/service/server/server.ts';
import { createHealth } from '../../src/base/telemetry/telemetry.ts';
import {
  type AcceptedWork,
  type AcceptResult,
  type DecisionRecord,
  KEPT_LIMITS,
  type KeptRequest,
} from '../../src/engine/storage/storage.ts';
import { settingsWith } from './hook-fixture.ts';

export const TOKEN = 'test-token-0123456789';
export const BEARER = { authorization: `Bearer ${TOKEN}` };

type HooksSettings = ServerGeneration['hooks'];

/** A store that keeps what it is given, in order, and answers idempotency from it. */
export interface RecordingStore {
  readonly accepted: AcceptedWork[];
  readonly decisions: DecisionRecord[];
  readonly strangers: DecisionRecord[];
  readonly kept: KeptRequest[];
  readonly storage: ServerDeps['storage'];
}

export function recordingStore(overrides: Partial<ServerDeps['storage']> = {}): RecordingStore {
  const accepted: AcceptedWork[] = [];
  const decisions: DecisionRecord[] = [];
  const strangers: DecisionRecord[] = [];
  const kept: KeptRequest[] = [];
  const storage: ServerDeps['storage'] = {
    accept: (work) => {
      accepted.push(work);
      return Promise.resolve(resultOf(work));
    },
    findIdempotent: (scope, key) => {
      const found = accepted.find(
        (work) => work.idempotency?.scope === scope && work.idempotency.key === key,
      );
      return Promise.resolve(
        found?.idempotency && { bodySha256: found.idempotency.bodySha256, result: resultOf(found) },
      );
    },
    findRun: () => Promise.resolve(undefined),
    decideApproval: () => Promise.resolve(null),
    addAgentKey: () => Promise.resolve({ result: 'over' }),
    isAgentToken: () => Promise.resolve(false),
    findAsked: () => Promise.resolve([]),
    backlog: () =>
      Promise.resolve({
        queuedRuns: 0,
        activeRuns: 0,
        deadRuns: 0,
        queuedOutbox: 0,
        activeOutbox: 0,
        deadOutbox: 0,
        pendingEvents: 0,
        deadEvents: 0,
        bytes: 0,
      }),
    recordDecision: (decision) => void decisions.push(decision),
    recordStranger: (decision) => void strangers.push(decision),
    keepRequest: (request) => void kept.push(request),
    ...overrides,
  };
  return { accepted, decisions, strangers, kept, storage };
}

function resultOf(work: AcceptedWork): AcceptResult {
  return {
    accepted: work.actions.map((action) => ({
      kind: action.kind,
      id: action.id,
      mode: action.kind === 'wake' ? action.mode : action.wakeMode,
      duplicate: false,
    })),
    warnings: work.warnings,
    duplicate: false,
  };
}

const HOOKS: HooksSettings = {
  enabled: true,
  token: TOKEN,
  previousTokens: [],
  path: '/hooks',
  presets: [],
  senders: [],
  mappingsDir: '/nowhere',
  transformsDir: '/nowhere',
  maxBodyBytes: 1024,
  maxBodyBytesByName: {},
  limits: { steps: 16_000_000, renderedBytes: 4_194_304, storedBytes: 16_777_216 },
  queryToken: 'warn',
  authFailuresPerMinute: 20,
  lenient: false,
  unmatched: 'reject',
  defaults: { wakeMode: 'now', deliver: true, summary: 'always' },
  behaviours: {},
  exposeRuns: false,
  sessionKeys: { allowFromRequest: true, allowedPrefixes: [], shared: [] },
  agents: { runners: {} },
};

/** An evaluation without warnings and trace. */
export function evaluationOf(outcome: Outcome, more: Partial<Evaluation> = {}): Evaluation {
  return {
    outcome,
    warnings: [],
    trace: { considered: [], templates: [], transforms: [] },
    ...more,
  };
}

export type FakeAction = Extract<Outcome, { kind: 'accepted' }>['actions'][number];

export function wakeAction(request: HookRequest, id = request.id): FakeAction {
  return {
    kind: 'wake',
    id,
    text: 'text',
    mode: 'now',
    origin: { requestId: request.id, path: request.path, trusted: false },
  };
}

export function agentAction(request: HookRequest, id = request.id): FakeAction {
  return {
    kind: 'agent',
    id,
    prompt: 'prompt' as Extract<FakeAction, { kind: 'agent' }>['prompt'],
    message: 'message',
    name: 'Hook',
    sessionKey: `hook:${id}`,
    owner: 'request',
    oneShot: true,
    wakeMode: 'now',
    deliver: true,
    channel: 'last',
    origin: { requestId: request.id, path: request.path, trusted: false },
  };
}

/** Takes every name; `wake` becomes a wake and everything else an agent action. */
/** Of a generation without a mapping. */
export const ADVISOR = createAdvisor(settingsWith({ table: '[]' }).table);

export function generationOf(
  hooks: Partial<HooksSettings> = {},
  more: Partial<Omit<ServerGeneration, 'hooks'>> = {},
): ServerGeneration {
  return {
    id: 'g1',
    hooks: { ...HOOKS, ...hooks },
    tokens: knownTokens([TOKEN]),
    canTake: (path) => path !== 'unknown',
    knowsName: (path) => path !== 'unknown',
    settingsOf: () => ({}),
    keepRequests: {
      which: 'transforms',
      limits: KEPT_LIMITS,
      fieldsOf: () => ({ isRead: false, below: new Map() }),
    },
    evaluate: (request) =>
      evaluationOf({
        kind: 'accepted',
        actions: [request.path === 'wake' ? wakeAction(request) : agentAction(request)],
      }),
    advisor: () => Promise.resolve(ADVISOR),
    ...more,
  };
}

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface TestServer extends RunningServer, RecordingStore {
  readonly log: LogLine[];
  readonly seen: SeenRequest[];
  /** Requests that reached evaluation. */
  readonly evaluated: HookRequest[];
}

export interface TestServerOptions {
  readonly hooks?: Partial<HooksSettings>;
  readonly generation?: Partial<Omit<ServerGeneration, 'hooks'>>;
  readonly storage?: Partial<ServerDeps['storage']>;
  readonly deps?: Partial<Omit<ServerDeps, 'storage' | 'server'>>;
  readonly server?: Partial<ServerDeps['server']>;
}

export const SERVER: ServerDeps['server'] = {
  host: '127.0.0.1',
  port: 0,
  stopGraceSeconds: 5,
  trustedProxies: [],
  limits: { connections: 2_000, perAddress: 500, idleSeconds: 75, strangerSeconds: 10 },
};

const servers: RunningServer[] = [];

/** Starts a server on a free port; `stopServers` ends it after the test. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const store = recordingStore(options.storage);
  const log: LogLine[] = [];
  const seen: SeenRequest[] = [];
  const evaluated: HookRequest[] = [];
  const writeLog =
    (level: LogLine['level']) =>
    (fields: object, message: string): void =>
      void log.push({ level, fields: { ...fields }, message });
  const base = generationOf(options.hooks, options.generation);
  const generation: ServerGeneration = {
    ...base,
    evaluate: (request, how) => {
      evaluated.push(request);
      return base.evaluate(request, how);
    },
  };
  const running = await startServer({
    server: { ...SERVER, ...options.server },
    generation: () => generation,
    storage: store.storage,
    log: {
      debug: writeLog('debug'),
      info: writeLog('info'),
      warn: writeLog('warn'),
      error: writeLog('error'),
      isEnabled: () => true,
    },
    health: createHealth({ log: { warn: writeLog('warn'), info: writeLog('info') } }),
    onAccepted: () => undefined,
    waitForRun: () => Promise.resolve(undefined),
    onDecision: (request) => void seen.push(request),
    ...options.deps,
  });
  servers.push(running);
  return { ...running, ...store, log, seen, evaluated };
}

export async function stopServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** One request on a connection of its own, with the path exactly as given. */
export function send(server: RunningServer, path: string, options: SendOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      {
        host: server.host,
        port: server.port,
        path,
        method: options.method ?? 'POST',
        headers: options.headers ?? BEARER,
        agent: false,
      },
      (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
        res.on('error', reject);
      },
    );
    req.on('error', reject);
    req.end(options.body);
  });
}

export function json(reply: Reply): Record<string, unknown> {
  return JSON.parse(reply.text) as Record<string, unknown>;
}

/** A bare socket: what is written is what is sent, and what arrives is kept. */
export interface RawConnection {
  readonly socket: Socket;
  received(): string;
  /** Resolves once the received text satisfies the test. */
  until(test: (text: string) => boolean): Promise<string>;
  /** Resolves when the connection is closed, with everything that arrived. */
  closed(): Promise<string>;
}

export function openRaw(server: Pick<RunningServer, 'host' | 'port'>): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.host, port: server.port, allowHalfOpen: true });
    let text = '';
    let isClosed = false;
    const waiting = new Set<() => void>();
    const notify = (): void => waiting.forEach((check) => check());
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      notify();
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      isClosed = true;
      notify();
    });
    const when = (test: () => boolean, what: string): Promise<string> =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => fail(new Error(`${what}; got: ${text.slice(0, 2000)}`)), 120_000);
        const check = (): void => {
          if (!test()) return;
          clearTimeout(timer);
          waiting.delete(check);
          done(text);
        };
        waiting.add(check);
        check();
      });
    socket.once('connect', () => {
      socket.on('error', () => undefined);
      resolve({
        socket,
        received: () => text,
        until: (test) => when(() => test(text), 'the expected text did not arrive'),
        closed: () => when(() => isClosed, 'the connection was not closed'),
      });
    });
    socket.once('error', reject);
  });
}

/** The head of a request with token, for bare sockets. */
export function head(path: string, ...lines: string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: test', `Authorization: Bearer ${TOKEN}`, ...lines, '', ''].join(
    '\r\n',
  );
}

/** Splits what arrived on a bare socket into its answers. */
export function answersIn(text: string): { status: number; head: string; body: string }[] {
  const answers: { status: number; head: string; body: string }[] = [];
  let rest = text;
  while (rest.startsWith('HTTP/1.1 ')) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) break;
    const headText = rest.slice(0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(headText)?.[1] ?? 0);
    const start = headEnd + 4;
    answers.push({
      status: Number(headText.slice(9, 12)),
      head: headText,
      body: rest.slice(start, start + length),
    });
    rest = rest.slice(start + length);
  }
  return answers;
}
