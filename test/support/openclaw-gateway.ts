/**
 * A real OpenClaw gateway, for recording what it answers (`test/lab/endurance/openclaw-expected.ts`): the package of the npm
 * registry in a folder of its own, with a model and a Telegram that stand here. `OPENCLAW_FOLDER` names a folder where
 * the package is installed already.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './free-port.ts';

const OPENCLAW_VERSION = '2026.9.6';
export const HOOK_TOKEN = 'a-hook-token-of-its-own';
/** A start takes 20 s; where the machine is busy, minutes. */
const START_MS = 300_000;

export interface OpenClawFolder {
  readonly folder: string;
  remove(): void;
}

/** Installs the package, 700 MB, unless `OPENCLAW_FOLDER` names one. */
export function installOpenClaw(): OpenClawFolder {
  const given = process.env['OPENCLAW_FOLDER'];
  if (given !== undefined) return { folder: given, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'sluice-real-openclaw-'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const args = ['install', '--ignore-scripts', `openclaw@${OPENCLAW_VERSION}`];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

export interface RealGateway {
  readonly url: string;
  /** Folder of its `openclaw.json`, with its state below `state`. */
  readonly home: string;
  /** What it has printed so far. */
  said(): string;
  /** What the model was asked, in order: the last message of each request. */
  readonly prompts: readonly string[];
  configure(config: object): void;
  /** Output of its command. */
  command(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export type Started =
  | { readonly kind: 'running'; readonly gateway: RealGateway }
  | { readonly kind: 'refused'; readonly said: string };

/** Starts it on a configuration (`hooks` and whatever else of theirs) with files beside it. */
export async function startOpenClaw(
  folder: OpenClawFolder,
  config: object,
  files: Readonly<Record<string, string>> = {},
  attempts = 4,
): Promise<Started> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-openclaw-home-'));
  const prompts: string[] = [];
  const model = await listen((req, res) => void answerAsModel(req, res, prompts));
  const telegram = await listen(telegramOf());
  const port = await freePort();
  for (const [name, text] of Object.entries(files)) put(home, name, text);
  const configure = (own: object): void =>
    put(home, 'openclaw.json', JSON.stringify(wholeConfig(own, { home, port, model, telegram }), null, 2));
  configure(config);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    OPENCLAW_STATE_DIR: join(home, 'state'),
    OPENCLAW_CONFIG_PATH: join(home, 'openclaw.json'),
  };
  const program = join(folder.folder, 'node_modules/openclaw/openclaw.mjs');
  // With a group of its own: it starts helpers that would outlive it.
  const child = spawn(process.execPath, [program, 'gateway'], { cwd: home, env, detached: true });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) endGroup(child.pid);
    await exited;
    for (const server of [model, telegram]) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const url = `http://127.0.0.1:${String(port)}`;
  const isUp = await Promise.race([comesUp(url), exited.then(() => false)]);
  if (!isUp) {
    await stop();
    // Of a start that is slow it refuses its own state; only what it says of the file counts.
    if (/hooks?\./.test(said)) return { kind: 'refused', said };
    if (attempts <= 1) throw new Error(`openclaw did not start:\n${said.slice(-2000)}`);
    return startOpenClaw(folder, config, files, attempts - 1);
  }
  const command = (...args: readonly string[]): Promise<string> => output([program, ...args], env, home);
  return { kind: 'running', gateway: { url, home, said: () => said, prompts, configure, command, stop } };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

function put(home: string, name: string, text: string): void {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
}

interface Surroundings {
  readonly home: string;
  readonly port: number;
  readonly model: Server;
  readonly telegram: Server;
}

/** `hooks` and the rest of a row, in a file that starts: a local gateway with a model that is not in the net. */
function wholeConfig(
  {
    hooks,
    channels,
    agents = {},
  }: { hooks?: object; channels?: { telegram?: object }; agents?: { defaults?: object } },
  { home, port, model, telegram }: Surroundings,
): object {
  const local = {
    baseUrl: `${addressOf(model)}/v1`,
    apiKey: 'none',
    api: 'openai-completions',
    models: [{ id: 'fake-1', name: 'fake-1' }],
  };
  const defaults = { model: { primary: 'local/fake-1' }, skipBootstrap: true, workspace: join(home, 'work') };
  return {
    gateway: {
      port,
      mode: 'local',
      bind: 'loopback',
      auth: { mode: 'token', token: 'a-gateway-secret-of-its-own' },
    },
    models: { providers: { local } },
    agents: { ...agents, defaults: { ...defaults, ...agents.defaults } },
    hooks: { enabled: true, token: HOOK_TOKEN, ...hooks },
    ...(channels === undefined
      ? {}
      : { channels: { telegram: { ...channels.telegram, apiRoot: addressOf(telegram) } } }),
  };
}

const addressOf = (server: Server): string =>
  `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

async function listen(take: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  const server = createServer(take).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function comesUp(url: string): Promise<boolean> {
  for (const end = Date.now() + START_MS; Date.now() < end;) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
    await new Promise((done) => setTimeout(done, 250));
  }
  return false;
}

function output(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env, cwd, timeout: START_MS }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
}

/** Says "pong" to everything, as a stream of OpenAI's. */
async function answerAsModel(req: IncomingMessage, res: ServerResponse, prompts: string[]): Promise<void> {
  const text = await bodyOf(req);
  const asked = JSON.parse(text === '' ? '{}' : text) as { messages?: readonly { content: unknown }[] };
  prompts.push(JSON.stringify(asked.messages?.at(-1)?.content ?? ''));
  res.setHeader('content-type', 'text/event-stream');
  const say = (delta: object, finish_reason: string | null = null): void => {
    const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'fake-1' };
    res.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  say({ role: 'assistant', content: 'pong' });
  say({}, 'stop');
  res.end('data: [DONE]\n\n');
}

/** One person has written to the bot, once. */
function telegramOf(): (req: IncomingMessage, res: ServerResponse) => void {
  const from = { id: 42, is_bot: false, first_name: 'Ann' };
  const chat = { id: 42, type: 'private', first_name: 'Ann' };
  const message = { message_id: 7, date: Math.floor(Date.now() / 1000), from, chat, text: 'hello' };
  let updates: readonly object[] = [{ update_id: 1, message }];
  return (req, res) => {
    const method = /\/bot[^/]+\/(\w+)/.exec(req.url ?? '')?.[1] ?? '';
    const results: Readonly<Record<string, unknown>> = {
      getMe: { id: 123, is_bot: true, first_name: 'Bot', username: 'a_bot' },
      getUpdates: updates,
      sendMessage: { message_id: 8, date: 1, chat, text: 'x' },
    };
    const result = Object.hasOwn(results, method) ? results[method] : true;
    const pauseMs = method === 'getUpdates' && updates.length === 0 ? 2000 : 0;
    if (method === 'getUpdates') updates = [];
    setTimeout(() => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ ok: true, result }));
    }, pauseMs);
  };
}

/** The package's version, as it was installed. */
export function versionOf({ folder }: OpenClawFolder): string {
  const text = readFileSync(join(folder, 'node_modules/openclaw/package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
