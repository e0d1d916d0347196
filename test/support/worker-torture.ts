/** Workers, services, database and network are ended at random, while senders send and workers take turns. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { builtMain } from './built-program.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { type ServiceProcess, startServiceProcess, until } from './service-process.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { attemptsOf, judgeWorkers, type TurnLine, type WorkerHistory } from './worker-history.ts';

export interface WorkerTortureOptions {
  readonly store: 'sqlite' | 'postgres';
  readonly workers: number;
  /** How many times something is ended. */
  readonly blows: number;
  /** How many of these leave a worker away for longer than its lease. */
  readonly longBlows: number;
  readonly seed: number;
  /** The mean time between two of them. */
  readonly everyMs: number;
  readonly drainMs: number;
}

export interface WorkerTortureReport {
  readonly faults: readonly string[];
  readonly accepted: number;
  readonly turns: number;
  readonly repeated: number;
  readonly givenUp: number;
  readonly blows: Readonly<Record<string, number>>;
  readonly tookSeconds: number;
}

const HOOK_TOKEN = 'hook-token-0123456789abcdef';
const WORKER_TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const LEASE_SECONDS = 10;
const LANES = ['a0', 'a1', 'a2', 'n0', 'n1'];
const isNever = (lane: string): boolean => lane.startsWith('n');
/** Runs of a conversation that may wait: it must be possible to perform them in the end. */
const MOST_OPEN = 4;
/** A turn takes between 0.1 and 0.6 s. One that was cut off before its process was on record gets no prompt. */
const TURN = `[ -n "$(cat)" ] || exit 1
say() { printf '%s %s %s %s %s\\n' "$1" "$SLUICE_RUN_ID" "$WORKER" $$ "$(date +%s%3N)" >> "$LOG"; }
say begin; sleep "0.$(( $$ % 6 + 1 ))"; say end; echo done`;

class Torture {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-worker-torture-'));
  readonly #options: WorkerTortureOptions;
  readonly #names: readonly string[];
  readonly #services: ServiceProcess[] = [];
  readonly #proxies = new Map<string, TcpProxy>();
  readonly #workers = new Map<string, ChildProcess>();
  readonly #ends: WorkerHistory['ends'][number][] = [];
  readonly #accepted: WorkerHistory['accepted'][number][] = [];
  readonly #blows: WorkerHistory['blows'][number][] = [];
  readonly #counts: Record<string, number> = {};
  readonly #said: string[] = [];
  readonly #receiver = createServer();
  #database: PostgresServer | undefined;
  readonly #sending = new AbortController();
  #state: number;

  constructor(options: WorkerTortureOptions) {
    this.#options = options;
    this.#names = Array.from({ length: options.workers }, (_, index) => `w${index}`);
    this.#state = options.seed;
  }

  /** The same numbers for a seed, in [0, 1). */
  #random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }
  #one<Of>(all: readonly Of[]): Of {
    return all[Math.floor(this.#random() * all.length)] as Of;
  }

  async run(): Promise<WorkerTortureReport> {
    const startedAt = performance.now();
    await this.#setUp();
    const senders = LANES.map((lane) => this.#send(lane));
    for (let count = 0; count < this.#options.blows; count += 1) {
      await wait(this.#options.everyMs * (0.5 + this.#random()));
      await this.#strike(count < this.#options.longBlows);
    }
    this.#sending.abort();
    await Promise.all(senders);
    const ended = (): boolean => {
      const ids = new Set(this.#ends.map(({ runId }) => runId));
      return this.#accepted.every(({ runId }) => ids.has(runId));
    };
    // What has no end is what the judge is to name.
    await until('all runs to end', ended, this.#options.drainMs).catch(() => undefined);
    return this.#report(startedAt);
  }

  async #setUp(): Promise<void> {
    const { store } = this.#options;
    this.#receiver.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { type, data } = JSON.parse(body) as {
          type: 'run.completed';
          data: { runId: string; outcome: string };
        };
        this.#ends.push({ id: String(request.headers['webhook-id']), type, ...data });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => this.#receiver.listen(0, '127.0.0.1', done));
    const { port } = this.#receiver.address() as AddressInfo;
    if (store === 'postgres') this.#database = await startPostgres();
    const url = this.#database === undefined ? 'sqlite:./store.db' : await this.#database.freshUrl();
    writeFileSync(join(this.folder, 'token'), WORKER_TOKEN, { mode: 0o600 });
    writeFileSync(join(this.folder, 'turns.log'), '');
    writeFileSync(
      join(this.folder, 'sluice.yaml'),
      JSON.stringify({
        hooks: { enabled: true, token: HOOK_TOKEN },
        gateway: {
          runner: 'laptop',
          heartbeat: { runner: 'echo', everySeconds: 0 },
          runners: { laptop: { kind: 'worker', tokens: [{ file: 'token' }], leaseSeconds: LEASE_SECONDS } },
        },
        storage: { url, leaseSeconds: 4 },
      }),
    );
    mkdirSync(join(this.folder, 'mappings'));
    const mapping = (path: string, afterCrash: string) => ({
      id: path,
      match: { path },
      messageTemplate: '{{message}}',
      sessionKey: 'hook:{{lane}}',
      callbackUrl: `http://127.0.0.1:${port}/ended`,
      summary: 'never',
      deliver: false,
      retry: { afterCrash },
    });
    const mappings = [mapping('again', 'again'), mapping('never', 'never')];
    writeFileSync(join(this.folder, 'mappings/all.json'), JSON.stringify(mappings));
    const replicas = store === 'sqlite' ? 1 : 2;
    for (let index = 0; index < replicas; index += 1) this.#services.push(await this.#startService());
    for (const worker of this.#names) {
      this.#proxies.set(worker, await startTcpProxy(this.#one(this.#services).port));
      this.#startWorker(worker);
    }
  }

  async #startService(): Promise<ServiceProcess> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await startServiceProcess(this.folder);
      } catch (error) {
        // The store of the one that was killed may not be free yet, and the database may be away.
        if (tries > 20) throw error;
        await wait(500);
      }
    }
  }

  #startWorker(worker: string): void {
    const at = `http://127.0.0.1:${this.#proxies.get(worker)?.port}`;
    const flags = ['--token-file', 'token', '--name', worker, '--pass-env', 'WORKER', '--pass-env', 'LOG'];
    const child = spawn(process.execPath, [builtMain(), 'worker', at, ...flags, '--', 'sh', '-c', TURN], {
      cwd: this.folder,
      env: {
        ...process.env,
        WORKER: worker,
        LOG: join(this.folder, 'turns.log'),
        XDG_STATE_HOME: join(this.folder, `state-${worker}`),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => this.#said.push(`${worker} ${chunk.toString()}`));
    const timer = setTimeout(() => child.kill('SIGKILL'), 30 * 60_000);
    child.once('exit', () => clearTimeout(timer));
    this.#workers.set(worker, child);
  }

  /** Sends the messages of one conversation, each until it is accepted, under a key. */
  async #send(lane: string): Promise<void> {
    for (let count = 0; !this.#sending.signal.aborted; count += 1) {
      const message = `${lane}-${count}`;
      const own = new Set(this.#accepted.filter((one) => one.lane === lane).map(({ runId }) => runId));
      for (const { runId } of this.#ends) own.delete(runId);
      if (own.size >= MOST_OPEN) {
        await wait(200);
        count -= 1;
        continue;
      }
      const runId = await this.#sendUntilAccepted(lane, message);
      this.#accepted.push({ message, runId, lane });
      await wait(300);
    }
  }

  async #sendUntilAccepted(lane: string, message: string): Promise<string> {
    for (;;) {
      const { port } = this.#services[Math.floor(Math.random() * this.#services.length)] as ServiceProcess;
      const answer = await fetch(`http://127.0.0.1:${port}/hooks/${isNever(lane) ? 'never' : 'again'}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${HOOK_TOKEN}`, 'idempotency-key': message },
        body: JSON.stringify({ lane, message }),
        signal: AbortSignal.timeout(10_000),
      })
        .then(async (response) =>
          response.ok ? ((await response.json()) as { readonly runId: string }) : undefined,
        )
        .catch(() => undefined);
      if (answer !== undefined) return answer.runId;
      await wait(100);
    }
  }

  async #strike(isLong: boolean): Promise<void> {
    const kinds = [
      'worker',
      'worker',
      'service',
      'network',
      'sleep',
      ...(this.#database ? ['database'] : []),
    ];
    const kind = isLong ? this.#one(['worker', 'sleep']) : this.#one(kinds);
    const worker = this.#one(this.#names);
    const awayMs = isLong
      ? (LEASE_SECONDS + 4) * 1000 + 4_000 * this.#random()
      : 200 + 1_500 * this.#random();
    this.#counts[isLong ? `${kind} for long` : kind] =
      (this.#counts[isLong ? `${kind} for long` : kind] ?? 0) + 1;
    switch (kind) {
      case 'worker': {
        this.#blows.push({ worker, at: Date.now() });
        this.#workers.get(worker)?.kill('SIGKILL');
        await wait(awayMs);
        return this.#startWorker(worker);
      }
      case 'sleep': {
        const child = this.#workers.get(worker);
        child?.kill('SIGSTOP');
        if (isLong) this.#blows.push({ worker, at: Date.now() });
        await wait(awayMs);
        if (isLong) this.#blows.push({ worker, at: Date.now() });
        return void child?.kill('SIGCONT');
      }
      case 'network': {
        const proxy = this.#proxies.get(worker);
        if (this.#random() < 0.5) proxy?.cut();
        else proxy?.refuse();
        await wait(awayMs);
        return proxy?.heal();
      }
      case 'service': {
        const index = Math.floor(this.#random() * this.#services.length);
        await this.#services[index]?.end('SIGKILL');
        this.#services[index] = await this.#startService();
        for (const proxy of this.#proxies.values()) proxy.target = this.#one(this.#services).port;
        return;
      }
      case 'database': {
        await this.#database?.crash();
        await wait(awayMs);
        return this.#database?.start();
      }
    }
  }

  #report(startedAt: number): WorkerTortureReport {
    const turns = readFileSync(join(this.folder, 'turns.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): TurnLine => {
        const [kind, runId = '', worker = '', pid = '', at] = line.split(' ');
        return { kind: kind as TurnLine['kind'], runId, worker, pid, at: Number(at) };
      });
    const never = new Set(LANES.filter(isNever));
    const history = { accepted: this.#accepted, turns, ends: this.#ends, blows: this.#blows, never };
    const attempts = [...attemptsOf(history).values()];
    const faults = judgeWorkers(history);
    if (faults.length > 0)
      writeFileSync(
        join(this.folder, 'history.json'),
        JSON.stringify({ ...history, never: [...never], said: this.#said }),
      );
    return {
      faults: faults.length === 0 ? [] : [...faults, `kept in ${this.folder}`],
      accepted: this.#accepted.length,
      turns: turns.filter(({ kind }) => kind === 'begin').length,
      repeated: attempts.filter((all) => all.length > 1).length,
      givenUp: new Set(this.#ends.filter(({ type }) => type === 'run.dead').map(({ runId }) => runId)).size,
      blows: this.#counts,
      tookSeconds: Math.round((performance.now() - startedAt) / 1000),
    };
  }

  async end(): Promise<void> {
    for (const child of this.#workers.values()) child.kill('SIGKILL');
    await Promise.all(this.#services.map((service) => service.end('SIGKILL')));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.stop()));
    this.#receiver.close();
    await this.#database?.stop();
    if (!existsSync(join(this.folder, 'history.json'))) rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function workerTorture(options: WorkerTortureOptions): Promise<WorkerTortureReport> {
  const torture = new Torture(options);
  try {
    return await torture.run();
  } finally {
    await torture.end();
  }
}
