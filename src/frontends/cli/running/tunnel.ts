/**
 * Opens a tunnel from the internet to a port of this machine, by a tool of the person: `tailscale funnel` or
 * `cloudflared`. Each prints its address in its own way, and keeps the tunnel open for as long as it runs.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isOnPath } from '../../../engine/config/config.ts';
import { pause } from '../../../base/timers/timers.ts';
import { askAsStranger } from '../operating/doctor-address.ts';
import { TUNNEL_TOOLS } from '../command-line.ts';
import { CliError } from '../terminal.ts';

export type TunnelTool = (typeof TUNNEL_TOOLS)[number];

interface TunnelProgram {
  argv(port: number): readonly string[];
  findUrl(line: string): string | undefined;
  findProblem(line: string): string | undefined;
  readonly install: string;
}

/** Tailscale 1.52 and later and cloudflared 2025 print their addresses so. */
const TOOLS: Readonly<Record<TunnelTool, TunnelProgram>> = {
  tailscale: {
    argv: (port) => ['funnel', String(port)],
    findUrl: (line) => /^\s*(https:\/\/[\w.-]+\.ts\.net(?::\d+)?)\/?\s*$/.exec(line)?.[1],
    findProblem: (line) =>
      /not enabled on your tailnet|not logged in|Logged out|access denied|failed to connect to local|Funnel not available/i.test(
        line,
      )
        ? line
        : undefined,
    install: 'https://tailscale.com/download (a lasting address; turn Funnel on once)',
  },
  cloudflared: {
    argv: (port) => ['tunnel', '--no-autoupdate', '--url', `http://127.0.0.1:${port}`],
    // cloudflared prints a frame of lines: "… INF |  https://four-words-and-more.trycloudflare.com  |".
    findUrl: (line) => /\|\s+(https:\/\/(?!api\.)[a-z\d-]+\.trycloudflare\.com)\s+\|/.exec(line)?.[1],
    findProblem: (line) =>
      /^failed to |\bERR\b.*(?:quick Tunnel|Unauthorized)/i.test(line) ? line : undefined,
    install:
      'https://developers.cloudflare.com/tunnel/downloads (no account needed; the address is new each time, and what comes while it is away is lost)',
  },
};

export interface Tunnel {
  /** The address has no slash at the end. */
  readonly url: string;
  /** Resolves when the tool has ended. */
  readonly ended: Promise<void>;
}

export interface TunnelOptions {
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The tool to use; default the first installed tool that gives an address. */
  readonly tool?: TunnelTool;
  /** Why a tool gives no address; another may then be tried. */
  readonly onProblem: (tool: TunnelTool, problem: string) => void;
  /** Ends the tool. */
  readonly signal: AbortSignal;
  /** Default half a minute. */
  readonly waitMs?: number;
  /** Whether the service is reached by way of an address. */
  readonly reaches?: (url: string) => Promise<boolean>;
  /** How often that is looked at; default half a minute. */
  readonly lookMs?: number;
}

const WAIT_MS = 30_000;
/** The grace period between SIGTERM and SIGKILL. */
const GRACE_MS = 3_000;
const MAX_SHOWN_CHARS = 300;
const LOOK_MS = 30_000;
/** Looks in a row that have to fail. */
const MAX_MISSES = 3;

/** @throws CliError where no tool is installed, or none gives an address; it names the choices */
export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { env, tool, signal } = options;
  const wanted = tool === undefined ? TUNNEL_TOOLS : [tool];
  const found = wanted.filter((name) => isOnPath(name, env['PATH']));
  for (const name of found) {
    const started = await startTool(name, options);
    signal.throwIfAborted();
    if (typeof started !== 'string') return started;
    options.onProblem(name, started);
  }
  const why = found.length > 0 ? 'no tunnel could be opened' : `${wanted.join(', ')}: not installed`;
  const choices = TUNNEL_TOOLS.map((name) => `  ${name}: ${TOOLS[name].install}`);
  throw new CliError([`${why}. --tunnel uses one of these:`, ...choices].join('\n'), 3);
}

/** Resolves to the tunnel, or to what is wrong. */
async function startTool(name: TunnelTool, options: TunnelOptions): Promise<Tunnel | string> {
  const { port, env, signal, waitMs = WAIT_MS } = options;
  const tool = TOOLS[name];
  const child = spawn(name, tool.argv(port), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise: ended, resolve: ends } = Promise.withResolvers<void>();
  const { promise: told, resolve: tell } = Promise.withResolvers<{ url: string } | { problem: string }>();
  const endNow = (): void => void child.kill('SIGKILL');
  const end = (): void => {
    child.kill('SIGTERM');
    setTimeout(endNow, GRACE_MS).unref();
  };
  // Ctrl-C at the terminal ends all processes of the group, and a crash of Sluice must not leave the tunnel open.
  process.once('exit', endNow);
  signal.addEventListener('abort', end);
  let last = '';
  const giveUp = (why: string): void => tell({ problem: `${why}: ${last.slice(0, MAX_SHOWN_CHARS)}` });
  child
    .once('exit', () => ends())
    .once('error', (error) => {
      tell({ problem: error.message });
      ends();
    });
  // Read for as long as the tool prints, because a full pipe would stop it.
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      if (line.trim() !== '') last = line.trim();
      const url = tool.findUrl(line);
      const problem = tool.findProblem(line)?.trim().slice(0, MAX_SHOWN_CHARS);
      if (url !== undefined) tell({ url: url.replace(/(?<!\/)\/+$/, '') });
      else if (problem !== undefined) tell({ problem });
    });
  void ended.then(() => {
    process.off('exit', endNow);
    signal.removeEventListener('abort', end);
    // The last output of the tool is read first.
    setTimeout(() => giveUp('it ended'), 100);
  });
  const timer = setTimeout(() => giveUp(`no address within ${waitMs / 1000} s`), waitMs);
  const found = await told;
  clearTimeout(timer);
  if ('url' in found) {
    void isLost(found.url, ended, options).then((lost) => lost && end());
    return { url: found.url, ended };
  }
  end();
  await ended;
  return found.problem;
}

/** Whether an address leads here no longer while its tool lives on; one that never did from this machine tells nothing. */
async function isLost(
  url: string,
  ended: Promise<void>,
  { reaches = leadsHere, lookMs = LOOK_MS }: TunnelOptions,
): Promise<boolean> {
  const over = new AbortController();
  void ended.then(() => over.abort());
  let misses: number | undefined;
  while (misses !== MAX_MISSES) {
    await pause(lookMs, over.signal);
    if (over.signal.aborted) return false;
    if (await reaches(url)) misses = 0;
    else if (misses !== undefined) misses += 1;
  }
  return true;
}

/** Only Sluice numbers its answers so; what stands before it answers for a tunnel that is gone. */
export async function leadsHere(url: string): Promise<boolean> {
  const answer = await askAsStranger(`${url}/healthz`);
  return 'id' in answer && answer.id !== null;
}
