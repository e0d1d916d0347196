/** Services of the version before the last change of the schema, and of this one, on one PostgreSQL store. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { POSTGRES_MIGRATIONS } from '../../src/storage/postgres/postgres-schema.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { untilPerformed } from '../support/fleet-load.ts';
import { query, startPostgres } from '../support/postgres-server.ts';
import { type ServiceProcess, startServiceProcess, until } from '../support/service-process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCHEMA = 'src/storage/postgres/postgres-schema.ts';
const TOKEN = '0123456789abcdef0123456789abcdef';
const LEASE_SECONDS = 2;
/** The first version whose services share a store. */
const SHARED_SINCE = 2;

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

interface Older {
  readonly commit: string;
  readonly version: number;
}

/** The newest commit whose schema is older than this one's; undefined where the history is not there. */
function findOlder(): Older | undefined {
  const commits = git('log', '--format=%H', '--', SCHEMA)?.trim().split('\n') ?? [];
  for (const commit of commits) {
    const text = git('show', `${commit}^:${SCHEMA}`) ?? '';
    const version = /POSTGRES_MIGRATIONS.*= \[([^\]]*)\]/.exec(text)?.[1]?.split(',').length ?? 0;
    if (version >= SHARED_SINCE && version < POSTGRES_MIGRATIONS.length) {
      return { commit: `${commit}^`, version };
    }
  }
  return undefined;
}

/** The program of a commit, beside the packages of this one; returns its entry. */
function checkOut(commit: string, folder: string): string {
  const archive = execFileSync('git', ['archive', commit, 'src', 'package.json', 'node-version.cjs'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

const older = findOlder();

/** Sends runs of three conversations until it is stopped; keeps the ids of what was answered with 202. */
class Sender {
  readonly accepted: string[] = [];
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(port: number) {
    this.#done = this.#send(port);
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#done;
  }

  async #send(port: number): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const body = JSON.stringify({ message: `m${count}`, sessionKey: `k${count % 3}`, deliver: false });
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const answer = await fetch(`http://127.0.0.1:${port}/hooks/agent`, { method: 'POST', headers, body });
      expect(answer.status).toBe(202);
      this.accepted.push(((await answer.json()) as { readonly runId: string }).runId);
      await wait(15);
    }
  }
}

test.skipIf(older === undefined)(
  'a rolling upgrade is refused on both sides until the older services are gone, and loses nothing',
  { timeout: 120_000 },
  async () => {
    const { commit, version } = older as Older;
    const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const url = await server.freshUrl();
    const script = `{kind: command, argv: [sh, -c, "sleep 0.15; echo done"]}`;
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
hooks: {enabled: true, token: ${TOKEN}}
gateway: {runner: sh, maxRuns: 2, heartbeat: {everySeconds: 0}, runners: {sh: ${script}}}
storage: {url: "\${DATABASE_URL}", leaseSeconds: ${LEASE_SECONDS}}
`,
    );
    const main = checkOut(commit, folder);
    const services: ServiceProcess[] = [];
    onTestFinished(() => services.forEach(({ child }) => child.kill('SIGKILL')));
    const start = async (options: { readonly main?: string } = {}): Promise<ServiceProcess> => {
      const service = await startServiceProcess(folder, { DATABASE_URL: url }, options);
      services.push(service);
      return service;
    };
    const schema = async () => (await query(url, 'SELECT version FROM sluice_schema'))[0]?.['version'];

    const first = await start({ main });
    const beside = await start({ main });
    expect(await schema()).toBe(version);
    const senders = [new Sender(first.port), new Sender(beside.port)] as const;
    await wait(500);
    await expect(start()).rejects.toThrow(/2 services of an older version use this store; stop them/);
    await wait(300);
    await senders[0].stop();
    await first.end('SIGTERM');
    await expect(start()).rejects.toThrow(/a service of an older version uses this store; stop it/);
    expect(await schema()).toBe(version);
    await senders[1].stop();
    // In the middle of its runs: what it held is taken over by the newer one when its lease has ended.
    await beside.end('SIGKILL');
    const begun = performance.now();
    const next = await until('the newer version to start', () => start().catch(() => undefined));
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await schema()).toBe(POSTGRES_MIGRATIONS.length);
    await expect(start({ main })).rejects.toThrow(
      /schema version \d+, this Sluice knows up to \d+; run the newer/,
    );

    const last = new Sender(next.port);
    await wait(300);
    await last.stop();
    const accepted = [...senders, last].flatMap((sender) => sender.accepted);
    expect(accepted.length).toBeGreaterThan(15);
    const judge = await openStorage(url, { mode: 'attached' });
    onTestFinished(() => judge.close());
    await untilPerformed(judge);
    const runs = (await judge.listRuns({ limit: 10_000 })).filter(({ kind }) => kind === 'hook');
    expect(runs.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
    expect(runs.filter(({ state, outcome }) => state !== 'completed' || outcome !== 'ok')).toEqual([]);
    expect(await judge.verify()).toEqual([]);
    expect((await next.end('SIGTERM')).code).toBe(0);
  },
);
