import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

export const TOKEN = 'bench-token-0123456789abcdef';

/** No peer outlives this, whatever happens to the bench. */
const LIFE_MS = 20 * 60_000;

/** The module that both sides run where a transform is compared: `push-text.mjs` in the folder of transforms. */
export const TRANSFORM = {
  file: 'push-text.mjs',
  source: `export default ({ payload }) => ({
  kind: 'wake',
  mode: 'next-heartbeat',
  text: payload.pusher.name + ' pushed ' + payload.commits.map(({ message }) => message.slice(0, 120)).join(', '),
});
`,
};

/** What a hook can be sent to instead of Sluice. */
export interface Peer {
  readonly name: string;
  /** What it does of the same work, and what it does not. */
  readonly does: string;
  /** @throws PeerMissing where this machine cannot have it */
  start(): Promise<RunningPeer>;
}

export interface RunningPeer {
  readonly port: number;
  readonly path: string;
  /** The same hook with {@link TRANSFORM} in place of the template; only where it can have one. */
  readonly transformPath?: string;
  stop(): Promise<void>;
}

/** It is not installed here, and cannot be: no network, no package. */
export class PeerMissing extends Error {}

export function peerFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'sluice-peer-'));
}

/** Installs packages of exactly these versions into a folder, with the npm that runs the bench. */
export async function install(folder: string, packages: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: packages }));
  try {
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], {
      cwd: folder,
      timeout: 300_000,
    });
  } catch {
    throw new PeerMissing(`npm could not install ${Object.keys(packages).join(', ')}`);
  }
}

/** Copies a server of this folder beside its packages. */
export function copyServer(name: string, folder: string): Promise<void> {
  return cp(new URL(name, import.meta.url), join(folder, name));
}

/** A program of a peer; ended with the bench at the latest. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): ChildProcess {
  const env = { ...process.env, ...options.env };
  const child = spawn(command, args, { cwd: options.cwd, env, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIFE_MS);
  child.once('exit', () => clearTimeout(timer));
  child.once('error', () => clearTimeout(timer));
  return child;
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** @throws PeerMissing where nothing listens on the port in time */
export async function listening(port: number, what: string, withinMs = 60_000): Promise<void> {
  for (const end = Date.now() + withinMs; Date.now() < end; await wait(50)) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
  throw new PeerMissing(`${what} did not start listening within ${String(withinMs / 1000)} s`);
}

export async function hasCommand(command: string): Promise<boolean> {
  const found = promisify(execFile)('sh', ['-c', `command -v ${command}`]);
  return found.then(
    () => true,
    () => false,
  );
}
