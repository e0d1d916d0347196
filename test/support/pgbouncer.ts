import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { query } from './postgres-server.ts';
import { until } from './service-process.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Debian's pooler, where it is installed: the judge of what Sluice does behind one. */
export const hasPgbouncer = existsSync(PROGRAM);

/** A pooler of a test, at one address. */
export interface Pgbouncer {
  readonly url: string;
  /** Ends it at once, with all connections through it. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** Starts a pooler that gives every transaction another connection. */
export async function startPgbouncer(port: number, database: string): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'));
  chmodSync(folder, 0o755);
  const listen = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${database} = host=127.0.0.1 port=${port} dbname=${database} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
auth_type = any
pool_mode = transaction
default_pool_size = 4
server_round_robin = 1
unix_socket_dir =
`,
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', 'nobody', folder]);
  const args = isRoot ? ['-u', 'nobody', file] : [file];
  const url = `postgres://postgres@127.0.0.1:${listen}/${database}`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(PROGRAM, args, { stdio: 'ignore' });
    await until('the pooler to answer', () =>
      query(url, 'SELECT 1').then(
        () => true,
        () => undefined,
      ),
    );
  };
  const crash = async () => {
    if (child === undefined) return;
    const exited = new Promise((done) => child?.once('exit', done));
    child.kill('SIGKILL');
    await exited;
    child = undefined;
  };
  await start();
  return {
    url,
    start,
    crash,
    stop: async () => {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
