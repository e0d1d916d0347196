/**
 * Serves the console: a web page on a listener of its own, over other modules. It decides nothing and
 * evaluates nothing by itself. The role of the key says what a visitor may do: `dev` alone writes files.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ZodError } from 'zod';
import {
  startHandlerListener,
  toHookError,
  type ListenerRequest,
  type ListenerResponse,
} from '../../service/server/server.ts';
import { defined } from '../../base/json.ts';
import { hooksAddress, stateFolder } from '../../engine/config/config.ts';
import type { ConsoleParts } from '../../service/startup/startup.ts';
import { withoutSecrets } from '../../base/telemetry/telemetry.ts';
import { decisionLine } from '../../authoring/explanation/explanation.ts';
import { decidedCounter } from '../../service/operations/operations.ts';
import { Drafts, Judge, Workbench } from '../../authoring/workbench/workbench.ts';
import { Access, type Identity, readOrMakeKey, type Role, SESSION_HEADER, type Visitor } from './access.ts';
import { loadAssets, type Assets, contentSecurityPolicy, pageDocument } from './assets.ts';
import type { ConsoleContext, ConsoleDeps, RouteContext } from './route.ts';
import { LISTS } from './lists.ts';
import { OPERATING } from './operate.ts';
import { search } from './search.ts';
import { AUTHORING, READING, TRYING, WRITING } from './routes.ts';

export type { ConsoleContext } from './route.ts';

export interface RunningConsole {
  /** The address without the key. */
  readonly url: string;
  /** The address that signs a browser in; the key stands behind `#`, which browsers never send. */
  readonly link: string;
  readonly keyFile: string;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** A mapping file may have four megabytes. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;
const MIN_COMPRESSED = 2_048;
/** A page is shown before its requests are counted, where that takes longer. */
const COUNT_WAIT_MS = 500;
const compress = promisify(gzip);
const JSON_TYPE = 'application/json; charset=utf-8';
const HEADERS: readonly string[] = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cross-origin-resource-policy',
  'same-origin',
  'cache-control',
  'no-store',
];

/** The default port is one above the service's own. */
const DEFAULT_PORT = 8788;

/**
 * Serves the console.
 * @throws Error naming the setting where the address cannot be listened on
 */
export async function startConsole(started: ConsoleContext, parts: ConsoleParts): Promise<RunningConsole> {
  const { mode, configFile, env } = started;
  const { live, url: serviceUrl } = parts;
  const { settings } = live.generation.config;
  const { publicUrl } = settings.console;
  const deps: ConsoleDeps = {
    ...started,
    ...parts,
    hooksUrl: hooksAddress(serviceUrl, settings),
    goldenDir: join(dirname(configFile), 'test', 'golden'),
  };
  const { file: keyFile, key } = readOrMakeKey(keyFilesOf(configFile, env));
  // A person who starts the service means to run its plugins.
  const openBench = () => new Workbench(configFile, { env, mayLoadPlugins: () => true });
  const judge = new Judge({ ...deps, live: () => live.generation, openBench });
  const decided = decidedCounter(parts.storage, decisionLine, COUNT_WAIT_MS);
  const context: RouteContext = { deps, judge, drafts: new Drafts(judge), decided };
  const host = mode === 'dev' ? '127.0.0.1' : settings.console.host;
  const access = new Access({
    keys: () => [
      { name: '', role: mode === 'dev' ? 'author' : 'inspect', key },
      ...Object.entries(live.generation.config.settings.console.keys).map(([name, named]) => ({
        name,
        ...named,
      })),
    ],
    proxy: () => live.generation.config.settings.console.proxy,
    host,
    ...defined({ publicUrl }),
  });
  const site = new Site(context, access);
  const handle = (req: ListenerRequest, res: ListenerResponse): void => void site.answer(req, res);
  const listener = await listen(settings.console.port, mode, { host, handle });
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await listener.stop();
    await judge.stop();
  };
  return {
    url: publicUrl ?? listener.url,
    keyFile,
    link: `${publicUrl ?? listener.url}/#key=${key}`,
    stop: () => (stopped ??= stop()),
  };
}

function keyFilesOf(configFile: string, env: NodeJS.ProcessEnv): readonly string[] {
  const directory = dirname(configFile);
  const elsewhere = stateFolder('console', { directory, env, name: 'console-key' });
  return [join(directory, '.sluice', 'console-key'), elsewhere];
}

/** A port that `dev` chose by itself is replaced where it is in use. */
async function listen(
  port: number | undefined,
  mode: ConsoleContext['mode'],
  given: Pick<Parameters<typeof startHandlerListener>[0], 'host' | 'handle'>,
): ReturnType<typeof startHandlerListener> {
  const options = { ...given, port: port ?? DEFAULT_PORT, setting: 'console' };
  try {
    return await startHandlerListener(options);
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    if (port !== undefined || mode === 'serve' || cause?.code !== 'EADDRINUSE') throw error;
    return startHandlerListener({ ...options, port: 0 });
  }
}

interface RoleRoutes {
  readonly read: typeof READING;
  readonly change: typeof WRITING;
  readonly unknown: string;
}

const READ = { ...READING, ...LISTS, '/api/search': search };

const ROUTES: Readonly<Record<Role, RoleRoutes>> = {
  author: {
    read: { ...READ, ...AUTHORING },
    change: { ...TRYING, ...WRITING, ...OPERATING },
    unknown: 'there is no such thing',
  },
  operate: {
    read: { ...READ, ...AUTHORING },
    change: { ...TRYING, ...OPERATING },
    unknown: 'there is no such thing here: files are not written in sluice serve',
  },
  inspect: { read: READ, change: {}, unknown: 'this key may look, and change nothing' },
  view: { read: READ, change: {}, unknown: 'this key may look, and change nothing' },
};

class Site {
  readonly #context: RouteContext;
  readonly #access: Access;
  #assets: Promise<Assets> | undefined;

  constructor(context: RouteContext, access: Access) {
    this.#context = context;
    this.#access = access;
  }

  answer(req: ListenerRequest, res: ListenerResponse): Promise<void> {
    return this.#route(req, res).catch((error: unknown) => this.#fail(res, error));
  }

  #fail(res: ListenerResponse, error: unknown): void {
    if (res.headersSent || res.destroyed) {
      res.destroy();
      return;
    }
    if (error instanceof ZodError)
      return sendText(res, 400, `the page asked for something unknown: ${issueOf(error)}`);
    if (error instanceof SyntaxError) return sendText(res, 400, 'the page asked for something unknown');
    if (error instanceof BodyTooLarge) return sendText(res, 413, 'the text is too large');
    const message = error instanceof Error ? error.message : 'the console could not answer';
    const { status, retryAfterSeconds = 1 } = toHookError(error);
    if (status === 503) return sendText(res, status, message, ['retry-after', String(retryAfterSeconds)]);
    if (status === 400) return sendText(res, status, message);
    this.#context.deps.log.error(
      { fault: error instanceof Error ? error.name : typeof error },
      'the console could not answer',
    );
    sendText(res, 500, message);
  }

  async #route(req: ListenerRequest, res: ListenerResponse): Promise<void> {
    const visitor = visitorOf(req);
    const problem = this.#access.problemOf(visitor);
    if (problem !== undefined) return sendText(res, 403, problem);
    const url = new URL(req.url ?? '/', 'http://console');
    const path = url.pathname;
    if (path.startsWith('/assets/')) return this.#sendAsset(req, res, path.slice('/assets/'.length));
    if (path === '/session' && req.method === 'POST') return this.#signIn(req, res);
    if (path.startsWith('/api/') || path === '/session') {
      const who = this.#access.identify(visitor);
      if (who === undefined) return sendText(res, 401, 'sign in with the key of the console');
      if (path === '/session') return send(req, res, { body: JSON.stringify(who) });
      return this.#callApi(req, res, { url, who });
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') return sendText(res, 405, 'only GET is served here');
    const nonce = randomBytes(16).toString('base64');
    const policy = ['content-security-policy', contentSecurityPolicy(nonce)];
    res.writeHead(200, [...HEADERS, 'content-type', 'text/html; charset=utf-8', ...policy]);
    res.end(pageDocument(nonce));
  }

  async #signIn(req: ListenerRequest, res: ListenerResponse): Promise<void> {
    const body = (await readBody(req)) as { readonly key?: unknown } | null;
    const key = body?.key;
    const result = this.#access.exchange(typeof key === 'string' ? key : '', req.socket.remoteAddress ?? '');
    if (result.kind === 'session') {
      const { token, role, name } = result;
      await send(req, res, { body: JSON.stringify({ token, role, name }) });
    } else if (result.kind === 'too-many') {
      sendText(res, 429, 'too many wrong keys; wait a minute');
    } else sendText(res, 401, 'this is not the key of this console');
  }

  async #sendAsset(req: ListenerRequest, res: ListenerResponse, name: string): Promise<void> {
    this.#assets ??= loadAssets();
    const asset = (await this.#assets).get(name);
    if (asset === undefined) return sendText(res, 404, 'there is no such file');
    await send(req, res, asset);
  }

  async #callApi(
    req: ListenerRequest,
    res: ListenerResponse,
    { url, who }: { readonly url: URL; readonly who: Identity },
  ): Promise<void> {
    const path = url.pathname;
    const { role } = who;
    const routes = req.method === 'POST' ? ROUTES[role].change : ROUTES[role].read;
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) return sendText(res, 404, ROUTES[role].unknown);
    const leaving = new AbortController();
    res.once('close', () => leaving.abort());
    const body = req.method === 'POST' ? await readBody(req) : undefined;
    const from = req.socket.remoteAddress ?? '';
    const asked = { query: url.searchParams, body, signal: leaving.signal, who, from };
    const answer = await route(this.#context, asked);
    if (answer === undefined) return sendText(res, 404, 'it is not there, or not any more');
    const text = JSON.stringify(answer);
    // The operator's own file is shown as it is: what would be left out would be saved.
    const shown =
      path === '/api/file'
        ? text
        : withoutSecrets(text, this.#context.deps.live.generation.config.secrets, 'json');
    await send(req, res, { body: shown });
  }
}

/** Names the place and what is expected there; never what came. */
function issueOf({ issues: [first] }: Pick<ZodError, 'issues'>): string {
  // The first of several forms says more than that none fits.
  const issue = first?.code === 'invalid_union' ? (first.errors[0]?.[0] ?? first) : first;
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
}

function visitorOf({ method = 'GET', headers, socket }: ListenerRequest): Visitor {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    method,
    host: headers.host,
    origin: headers.origin,
    fetchSite: header('sec-fetch-site'),
    session: header(SESSION_HEADER),
    address: socket.remoteAddress ?? '',
    header,
  };
}

class BodyTooLarge extends Error {}

async function readBody(req: ListenerRequest): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}

/** What is long is compressed, where the browser accepts that: a list of some thousand rows has more than a megabyte. */
async function send(
  req: ListenerRequest,
  res: ListenerResponse,
  {
    type = JSON_TYPE,
    body,
    packed,
  }: { readonly type?: string; readonly body: string | Buffer; readonly packed?: Buffer },
): Promise<void> {
  const isPacked = body.length > MIN_COMPRESSED && /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
  const encoding = isPacked ? ['content-encoding', 'gzip'] : [];
  const sent = isPacked ? (packed ?? (await compress(body, { level: 1 }))) : body;
  res.writeHead(200, [...HEADERS, 'content-type', type, 'vary', 'accept-encoding', ...encoding]).end(sent);
}

function sendText(
  res: ListenerResponse,
  status: number,
  text: string,
  headers: readonly string[] = [],
): void {
  res
    .writeHead(status, [...HEADERS, ...headers, 'content-type', 'text/plain; charset=utf-8'])
    .end(`${text}\n`);
}
