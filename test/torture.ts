import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStorage, type EventRecord, type RunRecord, type Storage } from '../src/storage/storage.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

/**
 * Runs the real service under load, ends it with SIGKILL at random moments, starts it again, and in the end accounts
 * for every request by what the sender saw and what the store holds.
 */
export interface TortureOptions {
  readonly kills: number;
  /** Milliseconds under load between two kills, at least and at most. */
  readonly minLifeMs: number;
  readonly maxLifeMs: number;
  readonly clients: number;
  readonly seed: number;
  onKill?(done: number): void;
}

export interface TortureReport {
  readonly kills: number;
  readonly sent: number;
  readonly answered: number;
  readonly unanswered: number;
  /** Answered 2xx but not performed, by message id. */
  readonly lost: readonly string[];
  /** Performed to completion more than once: more than one summary, run or event for one action. */
  readonly doubled: readonly string[];
  /** Unanswered batches of which some elements are there and some are not. */
  readonly halved: readonly string[];
  /** Executions of the command runner beyond the attempts the store shows. */
  readonly unseen: readonly string[];
  readonly interruptedRuns: number;
  /** What the store holds of everything named above. */
  readonly details: readonly string[];
}

const TOKEN = 'torture-token-0123456789';
const DRAIN_MS = 120_000;

/** Runs the torture in a folder of its own and reports; it only throws where the service misbehaves outright. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-torture-'));
  const random = createRandom(options.seed);
  const senders = new Senders(options.clients);
  let service: ServiceProcess | undefined;
  try {
    await writeFile(join(folder, 'sluice.yaml'), tortureConfig(folder));
    for (let kill = 1; kill <= options.kills; kill++) {
      service = await startServiceProcess(folder);
      senders.start(service.port);
      await wait(options.minLifeMs + random() * (options.maxLifeMs - options.minLifeMs));
      await service.end('SIGKILL');
      await senders.pause();
      options.onKill?.(kill);
    }
    service = await startServiceProcess(folder);
    await drain(folder);
    await service.end('SIGTERM');
    return await account(folder, senders, options.kills);
  } finally {
    await senders.pause();
    service?.child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** mulberry32: a seed makes a run repeatable as far as timing allows. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function tortureConfig(folder: string): string {
  const script = `printf '%s\\n' "$SLUICE_RUN_ID" >> ${join(folder, 'executions.log')}; cat`;
  return `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: batch, match: {path: batch}, forEach: items, name: Batch, sessionKey: "hook:batch", messageTemplate: "{{item.id}}", deliver: false}
    - {id: command, match: {path: command}, name: Command, runner: sh, sessionKey: "hook:command:{{lane}}", messageTemplate: "{{id}}", deliver: false}
gateway:
  runners: {sh: {kind: command, argv: [sh, -c, ${JSON.stringify(script)}]}}
  heartbeat: {everySeconds: 0}
storage: {url: "sqlite:./store.db"}
`;
}

interface Sent {
  /** Ids written into the messages; several for a batch. */
  readonly ids: readonly string[];
  readonly kind: 'wake' | 'agent' | 'batch' | 'command';
  status: number | undefined;
}

/** Clients that send one request after the other and remember what they sent and what was answered. */
class Senders {
  readonly sent: Sent[] = [];
  readonly #clients: number;
  #running: Promise<unknown> = Promise.resolve();
  #active = false;
  #counter = 0;

  constructor(clients: number) {
    this.#clients = clients;
  }

  start(port: number): void {
    this.#active = true;
    const agent = new Agent({ keepAlive: true, maxSockets: this.#clients });
    const loops = Array.from({ length: this.#clients }, () => this.#loop(port, agent));
    this.#running = Promise.all(loops).finally(() => agent.destroy());
  }

  async pause(): Promise<void> {
    this.#active = false;
    await this.#running;
  }

  async #loop(port: number, agent: Agent): Promise<void> {
    while (this.#active) {
      const number = this.#counter++;
      const id = `m${number}-`;
      const kind = (['wake', 'agent', 'batch', 'command'] as const)[number % 4] ?? 'wake';
      const ids = kind === 'batch' ? [`${id}a`, `${id}b`, `${id}c`] : [id];
      const entry: Sent = { ids, kind, status: undefined };
      this.sent.push(entry);
      entry.status = await post(port, agent, kind, bodyOf(kind, ids, number)).catch(() => undefined);
      if (entry.status === undefined) return;
      await wait(3);
    }
  }
}

function bodyOf(kind: Sent['kind'], ids: readonly string[], number: number): object {
  const [id = ''] = ids;
  switch (kind) {
    case 'wake':
      return { text: id, mode: 'next-heartbeat' };
    case 'agent':
      return { message: id, deliver: false, sessionKey: `hook:lane:${number % 5}` };
    case 'batch':
      return { items: ids.map((item) => ({ id: item })) };
    case 'command':
      return { id, lane: number % 3 };
  }
}

function post(port: number, agent: Agent, path: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: `/hooks/${path}`,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      },
    );
    call.once('error', reject);
    call.setTimeout(10_000, () => call.destroy(new Error('no answer in 10 s')));
    call.end(JSON.stringify(body));
  });
}

async function drain(folder: string): Promise<void> {
  const deadline = performance.now() + DRAIN_MS;
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'beside' });
  try {
    for (;;) {
      const { queuedRuns, activeRuns } = await storage.backlog();
      if (queuedRuns + activeRuns === 0) return;
      if (performance.now() > deadline)
        throw new Error(`not drained: ${queuedRuns} queued, ${activeRuns} active`);
      await wait(50);
    }
  } finally {
    await storage.close();
  }
}

interface Books {
  readonly runs: ReadonlyMap<string, readonly RunRecord[]>;
  readonly wakes: ReadonlyMap<string, readonly EventRecord[]>;
  readonly summaries: ReadonlyMap<string, number>;
}

async function account(folder: string, senders: Senders, kills: number): Promise<TortureReport> {
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'beside' });
  try {
    const books = await readBooks(storage);
    const lost: string[] = [];
    const doubled: string[] = [];
    const halved: string[] = [];
    for (const { ids, kind, status } of senders.sent) {
      const copies = ids.map((id) => copiesOf(books, kind, id));
      const accepted = status !== undefined && status < 300;
      if (accepted) lost.push(...ids.filter((_, index) => copies[index] === 0));
      doubled.push(...ids.filter((_, index) => (copies[index] ?? 0) > 1));
      if (!accepted && new Set(copies).size > 1) halved.push(...ids);
    }
    const all = [...books.runs.values()].flat();
    return {
      kills,
      sent: senders.sent.length,
      answered: senders.sent.filter((entry) => entry.status !== undefined).length,
      unanswered: senders.sent.filter((entry) => entry.status === undefined).length,
      lost,
      doubled,
      halved,
      unseen: findUnseen(folder, all),
      details: [...doubled, ...lost, ...halved].map((id) => describe(books, id)),
      interruptedRuns: all.filter((run) => run.attempts > 1).length,
    };
  } finally {
    await storage.close();
  }
}

async function readBooks(storage: Storage): Promise<Books> {
  const runs = await storage.listRuns({ limit: 1_000_000 });
  const events = await storage.listEvents({ limit: 1_000_000 });
  const summaries = new Map<string, number>();
  for (const event of events) {
    if (event.kind !== 'summary') continue;
    const id = /m\d+-[abc]?/.exec(event.text)?.[0] ?? '';
    summaries.set(id, (summaries.get(id) ?? 0) + 1);
  }
  return {
    runs: Map.groupBy(runs, (run) => run.action.message),
    wakes: Map.groupBy(
      events.filter((event) => event.kind === 'wake'),
      (event) => event.text,
    ),
    summaries,
  };
}

/**
 * How often an action was brought to its end: for a wake stored, for a run ended with its one summary. A run that was
 * interrupted three times is dead, visibly, which is an end too.
 */
function copiesOf(books: Books, kind: Sent['kind'], id: string): number {
  if (kind === 'wake') return books.wakes.get(id)?.length ?? 0;
  const runs = books.runs.get(id) ?? [];
  const completed = runs.filter(
    (run) =>
      (run.state === 'completed' && run.outcome === 'ok') ||
      (run.state === 'dead' && run.lastError?.code === 'interrupted'),
  ).length;
  const summaries = books.summaries.get(id) ?? 0;
  return completed === summaries && runs.length === completed ? completed : Math.max(2, completed, summaries);
}

function describe(books: Books, id: string): string {
  const runs = (books.runs.get(id) ?? []).map(
    (run) =>
      `${run.state}/${run.outcome ?? '-'} attempts ${run.attempts} ${JSON.stringify(run.lastError ?? null)}`,
  );
  return `${id}: runs [${runs.join(', ')}] summaries ${books.summaries.get(id) ?? 0} wakes ${books.wakes.get(id)?.length ?? 0}`;
}

/** Every execution has to be an attempt the store shows: nothing runs twice unseen. */
function findUnseen(folder: string, runs: readonly RunRecord[]): readonly string[] {
  const log = join(folder, 'executions.log');
  if (!existsSync(log)) return [];
  const executions = new Map<string, number>();
  for (const id of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    executions.set(id, (executions.get(id) ?? 0) + 1);
  }
  return runs.filter((run) => (executions.get(run.id) ?? 0) > run.attempts).map((run) => run.id);
}
