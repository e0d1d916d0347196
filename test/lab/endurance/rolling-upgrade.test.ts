/** Services of the version before the last change of the schema, and of this one, on one PostgreSQL store. */
import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { newestVersion } from '../../../src/engine/storage/statements/migrations.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { untilPerformed } from '../../support/fleet-load.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { type ServiceProcess, startServiceProcess, until } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** Where the versions of the schema stand, and where they stood. */
const SCHEMAS = [
  'src/engine/storage/statements/migrations.ts',
  'src/engine/storage/postgres/postgres-schema.ts',
] as const;
const NEWEST = newestVersion('postgres');
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

/** Commits with their versions of the schema, at each place where that changed: the newest first. */
function findOlder(): readonly Older[] {
  const commits =
    git('log', '--format=%H', '--', ...SCHEMAS)
      ?.trim()
      .split('\n') ?? [];
  return commits
    .flatMap((commit) => [commit, `${commit}^`])
    .map((commit) => ({ commit, version: versionAt(commit) }));
}

function versionAt(commit: string): number {
  const [text, former] = SCHEMAS.map((path) => git('show', `${commit}:${path}`) ?? '');
  const versions = [...(text ?? '').matchAll(/postgres: (\d+),/g)].map(([, version]) => Number(version));
  const listed = /POSTGRES_MIGRATIONS.*= \[([^\]]*)\]/.exec(former ?? '')?.[1];
  return Math.max(...versions, listed?.split(',').filter((name) => name.trim() !== '').length ?? 0);
}

/** The program of a commit, beside the packages of this one; returns its entry. */
function checkOut(commit: string, folder: string): string {
  // The file that looks at the version of Node stood at the root before it stood in `build/`.
  const asked = ['src', 'package.json', 'node-version.cjs', 'build'];
  const there =
    git('ls-tree', '--name-only', commit, ...asked)
      ?.trim()
      .split('\n') ?? [];
  const archive = execFileSync('git', ['archive', commit, ...there], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

const commits = findOlder();
/** The newest whose schema is older than this one's; undefined where the history is not there. */
const older = commits.find(({ version }) => version >= SHARED_SINCE && version < NEWEST);
/** The oldest that has this schema. */
const alike = commits.findLast(({ version }) => version === NEWEST);

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

interface Bench {
  readonly url: string;
  /** Starts a service of the older version, or of this one. */
  start(which: 'older' | 'newer'): Promise<ServiceProcess>;
  schema(): Promise<unknown>;
}

/** A store, with programs of two versions that may serve it. */
async function openBench({ commit }: Older): Promise<Bench> {
  const folder = temporaryFolder();
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
  return {
    url,
    start: async (which) => {
      const options = which === 'older' ? { main } : {};
      const service = await startServiceProcess(folder, { DATABASE_URL: url }, options);
      services.push(service);
      return service;
    },
    schema: async () => (await query(url, 'SELECT version FROM sluice_schema'))[0]?.['version'],
  };
}

/** Nothing that was accepted is lost, doubled or failed. Returns who performed the runs. */
async function judgeRuns(url: string, senders: readonly Sender[]): Promise<readonly (string | undefined)[]> {
  const accepted = senders.flatMap((sender) => sender.accepted);
  expect(accepted.length).toBeGreaterThan(15);
  const judge = await openStorage(url, { mode: 'attached' });
  onTestFinished(() => judge.close());
  await untilPerformed(judge);
  const runs = (await judge.listRuns({ limit: 10_000 })).filter(({ kind }) => kind === 'hook');
  expect(runs.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
  expect(runs.filter(({ state, outcome }) => state !== 'completed' || outcome !== 'ok')).toEqual([]);
  expect(await judge.verify()).toEqual([]);
  const rows = await query(url, "SELECT DISTINCT holder FROM runs WHERE kind = 'hook'");
  return rows.map(({ holder }) => (typeof holder === 'string' ? holder : undefined));
}

test.skipIf(older === undefined)(
  'where a migration stands between, it is refused on both sides until the older services are gone, and nothing is lost',
  { timeout: 120_000 },
  async () => {
    const { version } = older as Older;
    const { url, start, schema } = await openBench(older as Older);
    const first = await start('older');
    const beside = await start('older');
    expect(await schema()).toBe(version);
    const senders = [new Sender(first.port), new Sender(beside.port)] as const;
    await wait(500);
    await expect(start('newer')).rejects.toThrow(/2 services of an older version use this store; stop them/);
    await wait(300);
    await senders[0].stop();
    await first.end('SIGTERM');
    await expect(start('newer')).rejects.toThrow(/a service of an older version uses this store; stop it/);
    expect(await schema()).toBe(version);
    await senders[1].stop();
    // In the middle of its runs: what it held is taken over by the newer one when its lease has ended.
    await beside.end('SIGKILL');
    const begun = performance.now();
    const next = await until('the newer version to start', () => start('newer').catch(() => undefined));
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await schema()).toBe(NEWEST);
    await expect(start('older')).rejects.toThrow(
      /schema version \d+, this Sluice knows up to \d+; run the newer/,
    );
    const last = new Sender(next.port);
    await wait(300);
    await last.stop();
    await judgeRuns(url, [...senders, last]);
    expect((await next.end('SIGTERM')).code).toBe(0);
  },
);

test.skipIf(alike === undefined)(
  'where none does, both versions perform side by side, then the newer one alone, and nothing is lost',
  { timeout: 120_000 },
  async () => {
    const { url, start, schema } = await openBench(alike as Older);
    const [former, killed] = [await start('older'), await start('older')] as const;
    const before = [new Sender(former.port), new Sender(killed.port)] as const;
    await wait(500);
    const next = await start('newer');
    const sender = new Sender(next.port);
    await wait(1_000);
    // All three have work of each other's conversations meanwhile.
    expect(await query(url, 'SELECT id FROM replicas')).toHaveLength(3);
    for (const each of before) await each.stop();
    await killed.end('SIGKILL');
    expect((await former.end('SIGTERM')).code).toBe(0);
    await wait(500);
    await sender.stop();
    expect((await judgeRuns(url, [...before, sender])).length).toBe(3);
    expect(await schema()).toBe(NEWEST);
    expect((await next.end('SIGTERM')).code).toBe(0);
  },
);
