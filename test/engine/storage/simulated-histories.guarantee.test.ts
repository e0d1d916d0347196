import { expect, test } from 'vitest';
import type { AcceptedWork } from '../../../src/engine/storage/storage.ts';
import { BatchExecutor } from '../../../src/engine/storage/statements/batch-executor.ts';
import { findBroken } from '../../../src/engine/storage/statements/invariants.ts';
import type { OperationCall, OperationName } from '../../../src/engine/storage/statements/statement-table.ts';
import type { RunRow } from '../../../src/engine/storage/statements/rows.ts';
import type { Statements } from '../../../src/engine/storage/statements/statements.ts';
import { freshResult, prepareRequest } from '../../../src/engine/storage/prepared-request.ts';
import { StorageError } from '../../../src/engine/storage/storage-error.ts';
import { type History, judge, type Step } from '../../support/run-history.ts';
import { DistantStatements, type Loss, SimulatedStore, type Wire } from '../../support/simulated-store.ts';
import {
  agentOf,
  completion,
  conversation,
  failure,
  NOW,
  wake,
  work,
} from '../../support/storage-builders.ts';
import { createRandom } from '../../support/torture.ts';

/**
 * Services on one store do what they do in the order that a seed says, some of it together in one transaction; messages
 * to a distant store are lost, and services end, or live on without their lease. What was asked and answered is judged,
 * and the rows have to fit together. `HISTORIES=50000` makes more of them.
 */

/** Every fault that was put in on purpose showed within the first 20; `npm run test:endurance` makes 2,000. */
const SHORT = 100;
const HISTORIES = Number(process.env['HISTORIES'] ?? (process.env['TEST_FORM'] === 'long' ? 2_000 : SHORT));
/** Of a processor, and on a machine that does much else: then there are fewer histories, each as its seed says. */
const MAX_SECONDS = HISTORIES > SHORT ? Infinity : 5;
const MAX_WALL_MS = HISTORIES > SHORT ? Infinity : 120_000;
const STEPS = 16;
const SERVICES = 3;
const LINES = ['a', 'b'];
const KEYS = ['k1', 'k2', 'k3'];
const NOBODY = { runs: [], outbox: [], isTurnTaken: false };
/** When everything that was put off is due. */
const LATER = NOW + 10_000_000;
const MAX_ROUNDS = 100;
const ignore = () => undefined;

type Random = (below: number) => number;
type Mutable<List> = List extends readonly (infer One)[] ? One[] : never;
type Reply = { readonly isDone: true; readonly value: unknown } | { readonly isDone: false };

/** One process: what it holds, and under which name. */
class Service {
  readonly runs: string[] = [];
  readonly outbox: string[] = [];
  readonly name: string;
  readonly #executor: BatchExecutor;
  #lastId = 0;

  /** In a file all processes claim under one name, one after the other. */
  constructor(sql: Statements, name: string, holder = name) {
    this.name = name;
    const limits = { maxBacklogRuns: 1_000, maxBacklogBytes: 1e9, maxPendingEvents: 1_000 };
    const explain = (error: unknown) => new StorageError('failed', String(error));
    this.#executor = new BatchExecutor(sql, { limits, holder, explain });
  }

  /** All of them in one batch, as they gather while the one before is stored. */
  ask(asked: readonly (readonly [name: OperationName, ...args: unknown[]])[]): readonly Reply[] {
    const calls = asked.map(([name, ...args]): OperationCall => [(this.#lastId += 1), name, args]);
    const replies = this.#executor.run(calls);
    return calls.map(([id]) => {
      const at = replies.findIndex((each, index) => index % 3 === 0 && each === id);
      return replies[at + 1] === 0 ? { isDone: true, value: replies[at + 2] } : { isDone: false };
    });
  }
}

/** Something that a service asks, and what it makes of the answer. */
interface Act {
  readonly asked: readonly [name: OperationName, ...args: unknown[]];
  told(step: Step, value: unknown): void;
}

interface World {
  readonly store: SimulatedStore;
  /** Absent for a store in a file, which one process has for itself. */
  readonly wire?: Wire;
}

class Fleet {
  readonly accepts: Mutable<History['accepts']> = [];
  readonly claims: Mutable<History['claims']> = [];
  readonly ends: Mutable<History['ends']> = [];
  readonly sent = new Map<string, number>();
  /** They stand in no order any more. */
  readonly #dropped = new Set<string>();
  readonly #world: World;
  readonly #random: Random;
  readonly #services: Service[];
  /** Without a lease, and not yet seen as gone. */
  #lapsed: string[] = [];
  #zombies: Service[] = [];
  #names = 0;
  #now = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    world.store.empty();
    this.#services = Array.from({ length: world.wire === undefined ? 1 : SERVICES }, () => this.#open());
  }

  #open(): Service {
    const { store, wire } = this.#world;
    const name = `s${(this.#names += 1)}`;
    if (wire === undefined) return new Service(store.near, name, 'performer');
    store.near.run("INSERT INTO replicas VALUES (?, 'all', 'h', '1', 0, 0)", name);
    return new Service(new DistantStatements(store, wire), name);
  }

  step(): void {
    const slot = this.#random(this.#services.length);
    const service = this.#services[slot] as Service;
    if (this.#random(14) === 0) return this.#lose(slot, service);
    if (this.#random(10) === 0) return this.#takeOver(service);
    const zombie = this.#zombies.pop();
    if (zombie !== undefined) this.#do(zombie, [this.#end(zombie)]);
    this.#do(
      service,
      Array.from({ length: 1 + this.#random(4) }, () => this.#act(service)),
    );
  }

  /** It ends, or it lives on and does not know that its lease is gone. */
  #lose(slot: number, service: Service): void {
    if (this.#world.wire !== undefined) this.#lapsed.push(service.name);
    if (this.#world.wire !== undefined && this.#random(2) === 0) this.#zombies.push(service);
    const next = (this.#services[slot] = this.#open());
    this.#takeOver(next);
  }

  #act(service: Service): Act | undefined {
    const act = this.#random(20);
    if (act < 6) return this.#accept();
    if (act < 11) return this.#claim(service);
    if (act < 15) return this.#end(service);
    if (act === 15) return this.#putBack(service);
    if (act === 16) return this.#random(2) === 0 ? this.#giveUp(service) : this.#pause();
    if (act === 17) return this.#drop();
    return act === 18 ? this.#claimOutbox(service) : this.#sendOutbox(service);
  }

  #do(service: Service, acts: readonly (Act | undefined)[]): void {
    const given = acts.filter((act) => act !== undefined);
    if (given.length === 0) return;
    const asked = (this.#now += 1);
    const replies = service.ask(given.map((act) => act.asked));
    const answered = (this.#now += 1);
    for (const [index, act] of given.entries()) {
      const reply = replies[index] as Reply;
      act.told(reply.isDone ? { asked, answered } : { asked }, reply.isDone ? reply.value : undefined);
    }
  }

  #accept(): Act {
    const random = this.#random;
    const line = LINES[random(LINES.length)] as string;
    const form = random(8);
    const mapping = form === 0 ? { debounce: { key: line, seconds: 5, maxSeconds: 9, nonce: 'n' } } : {};
    const sessionKey = form === 0 ? `gathered ${line}` : line;
    const run = agentOf('m', { ...(form === 1 ? {} : { sessionKey, oneShot: false }), ...mapping });
    const key = random(4) === 0 ? KEYS[random(KEYS.length)] : undefined;
    const request = work(form === 2 ? [run, wake({ mode: 'now' })] : [run], keyed(key));
    const asked = ['acceptRequest', prepareRequest(request, freshResult(request))] as const;
    const told = (step: Step, value: unknown): void => {
      const given =
        typeof value === 'string' ? (JSON.parse(value) as ReturnType<typeof freshResult>) : undefined;
      if (given?.duplicate === true) return;
      const runId = given?.accepted[0]?.id ?? run.id;
      this.accepts.push({ ...step, runId, line: run.sessionKey, ...(key === undefined ? {} : { key }) });
    };
    return { asked, told };
  }

  #claim(service: Service, options = { nowMs: NOW, limit: 1 + this.#random(3) }): Act {
    const limited = this.#random(3) === 0 ? { maxPerMapping: 2 } : {};
    return {
      asked: ['claimRuns', { ...options, ...limited }],
      told: (step, value) => this.#begin(service, step, value),
    };
  }

  #begin(service: Service, step: Step, value: unknown): void {
    for (const { id } of (value ?? []) as readonly RunRow[]) {
      this.claims.push({ ...step, runId: id, holder: service.name });
      service.runs.push(id);
    }
  }

  #end(service: Service): Act | undefined {
    const runId = service.runs.shift();
    if (runId === undefined) return undefined;
    const { line } = this.accepts.find((accept) => accept.runId === runId) ?? { line: '' };
    const turns = [{ role: 'user', text: 'hello', at: NOW }] as const;
    const history = line.startsWith('hook:')
      ? {}
      : { history: { conversation: conversation(line), turns, maxTurns: 4 } };
    const callback = { url: 'http://127.0.0.1/', body: '{}' };
    return {
      asked: ['completeRun', completion(runId, { ...history, callback })],
      told: (step, value) => {
        this.ends.push({ ...step, runId, holder: service.name, done: value === true });
        // A service tries again until it knows.
        if (step.answered === undefined) service.runs.unshift(runId);
      },
    };
  }

  #putBack(service: Service): Act | undefined {
    const runId = service.runs.shift();
    if (runId === undefined) return undefined;
    const retryAt = this.#random(2) === 0 ? NOW : NOW + 1_000;
    return this.#back(service, runId, ['requeueRun', runId, failure(retryAt)]);
  }

  #giveUp(service: Service): Act | undefined {
    const runId = service.runs.shift();
    if (runId === undefined) return undefined;
    return this.#back(service, runId, [
      'deadLetterRun',
      runId,
      { error: { code: 'c', message: 'm' }, nowMs: NOW },
    ]);
  }

  #back(service: Service, runId: string, asked: Act['asked']): Act {
    const { name: holder } = service;
    const told = (step: Step, value: unknown): void =>
      void this.ends.push({ ...step, runId, holder, done: value === true, isBack: true });
    return { asked, told };
  }

  /** Somebody takes a run off its queue. */
  #drop(): Act | undefined {
    const runId = this.accepts[this.#random(this.accepts.length + 1)]?.runId;
    if (runId === undefined) return undefined;
    this.#dropped.add(runId);
    return { asked: ['dropRows', { runs: [[runId, {}]], outbox: [], events: [] }, NOW], told: ignore };
  }

  #pause(): Act {
    const asked = this.#random(2) === 0 ? (['pauseRuns', 'm', NOW] as const) : (['resumeRuns', '*'] as const);
    return { asked, told: ignore };
  }

  #claimOutbox(service: Service): Act {
    return {
      asked: ['claimOutbox', { nowMs: NOW, limit: 3 }],
      told: (_, value) =>
        void service.outbox.push(
          ...((value ?? []) as readonly { readonly id: string }[]).map(({ id }) => id),
        ),
    };
  }

  #sendOutbox(service: Service): Act | undefined {
    const id = service.outbox.shift();
    if (id === undefined) return undefined;
    return {
      asked: ['completeOutbox', id, { state: 'completed', nowMs: NOW }],
      told: (_, value) => void (value === true && this.sent.set(id, (this.sent.get(id) ?? 0) + 1)),
    };
  }

  /** Runs that others left are put back, or ended, by whoever has them now. */
  #takeOver(service: Service): void {
    const held = { ...NOBODY, runs: service.runs, outbox: service.outbox };
    const lapsed = this.#lapsed.map((id) => ({ id, leaseUntil: 0 }));
    const told = (step: Step, value: unknown): void => {
      if (step.answered === undefined) return;
      this.#lapsed = [];
      this.#begin(service, step, (value as { readonly runs: readonly RunRow[] }).runs);
    };
    this.#do(service, [{ asked: ['takeOver', held, lapsed], told }]);
    if (this.#random(2) === 0) this.#do(service, [this.#putBack(service)]);
  }

  /** Until nothing is left, over connections that hold. What is dead is begun anew. */
  settle(): void {
    const { store, wire } = this.#world;
    if (wire !== undefined) wire.isCalm = true;
    const dead = store.near.all<{ id: string }>('SELECT id FROM runs WHERE state = 5').map(({ id }) => id);
    const revive = ['retryRows', { runs: dead, outbox: [], events: [] }, LATER] as const;
    const [first] = this.#services as [Service];
    this.#do(first, [
      { asked: ['resumeRuns', '*'], told: ignore },
      { asked: revive, told: ignore },
    ]);
    for (const service of this.#services) this.#takeOver(service);
    for (let round = 0; round < MAX_ROUNDS && this.#isLeft(); round += 1) {
      for (const service of this.#services) {
        while (service.runs.length > 0) this.#do(service, [this.#end(service)]);
        while (service.outbox.length > 0) this.#do(service, [this.#sendOutbox(service)]);
      }
      this.#do(first, [this.#claim(first, { nowMs: LATER, limit: 20 }), this.#claimOutbox(first)]);
    }
  }

  #isLeft(): boolean {
    const left = this.#world.store.near.find<{ many: number }>(
      'SELECT (SELECT count(*) FROM runs WHERE state <= 3) + (SELECT count(*) FROM outbox WHERE state <= 1) AS many',
    );
    return left?.many !== 0;
  }

  history(): History {
    const { near } = this.#world.store;
    const ended = near.all<{ id: string }>('SELECT id FROM runs WHERE state = 4');
    const { claims, ends } = this;
    const accepts = this.accepts.map((one) =>
      this.#dropped.has(one.runId) ? { ...one, line: one.runId } : one,
    );
    return { accepts, claims, ends, stored: new Set(ended.map(({ id }) => id)) };
  }
}

const keyed = (key: string | undefined): Partial<AcceptedWork> =>
  key === undefined ? {} : { idempotency: { scope: 's', key, bodySha256: '', ttlSeconds: 60 } };

/** Every callback of a run that ended was sent, and once. */
function judgeOutbox({ near }: SimulatedStore, { sent }: Fleet): readonly string[] {
  const wrong = near.all<{ id: string; run_id: string }>(`SELECT id, run_id FROM outbox WHERE state <> 2`);
  const runs = near.find<{ many: number }>(
    'SELECT count(*) AS many FROM (SELECT 1 FROM outbox GROUP BY run_id HAVING count(*) > 1) AS doubled',
  );
  return [
    ...wrong.map((row) => `unsent: the callback of ${row.run_id}`),
    ...[...sent].flatMap(([id, times]) => (times > 1 ? [`doubled: ${id} was sent ${times} times`] : [])),
    ...(runs?.many === 0 ? [] : ['doubled: a run has two callbacks']),
  ];
}

/** The faults of one history. */
function simulate(world: World, seed: number): readonly string[] {
  const { store } = world;
  const random = randomOf(seed);
  const fleet = new Fleet(world, random);
  for (let step = 0; step < STEPS; step += 1) fleet.step();
  const broken = findBroken(store.near);
  fleet.settle();
  return [...broken, ...findBroken(store.near), ...judge(fleet.history()), ...judgeOutbox(store, fleet)];
}

function randomOf(seed: number): Random {
  const next = createRandom(seed);
  return (below) => Math.floor(next() * below);
}

/** One message in forty is lost, in some histories one in eight, in others none. */
function wireOf(seed: number): Wire {
  const random = randomOf(seed + 1_000_000);
  const often = [0, 40, 8][seed % 3] as number;
  const kinds: readonly Loss[] = ['question', 'answer'];
  const wire: Wire = {
    isCalm: false,
    lose: () => (wire.isCalm || often === 0 || random(often) > 0 ? 'none' : (kinds[random(2)] as Loss)),
  };
  return wire;
}

test(`up to ${HISTORIES} histories: nothing is lost, doubled, stolen, side by side or out of order`, () => {
  const store = new SimulatedStore();
  const began = process.cpuUsage();
  const secondsTaken = (): number => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1e6;
  };
  const deadline = performance.now() + MAX_WALL_MS;
  let made = 0;
  while (made < HISTORIES && secondsTaken() < MAX_SECONDS && performance.now() < deadline) {
    const seed = (made += 1);
    const world = seed % 4 === 0 ? { store } : { store, wire: wireOf(seed) };
    expect([seed, simulate(world, seed)]).toEqual([seed, []]);
  }
  process.stderr.write(`${made} histories took ${secondsTaken().toFixed(1)} s of a processor\n`);
  store.close();
});

/** What the store must not do, done on purpose. */
const PLANTED: readonly (readonly [kind: RegExp, what: string, fault: Partial<Wire>])[] = [
  [
    /side by side|more than one ready/,
    'what is due is put into its queue beside an active run',
    { spoil: (text) => text.replaceAll('NOT busy AND', '') },
  ],
  [
    /doubled/,
    'a key is neither found again nor refused when it is taken again',
    {
      spoil: (text) =>
        text
          .replace('FROM idempotency\n  WHERE', 'FROM idempotency WHERE false AND')
          .replace('idempotency.expires_at <= ?', '0 <= ?'),
    },
  ],
  [/lost/, 'a commit is answered and not done', { forgets: everyFiftieth() }],
];

function everyFiftieth(): () => boolean {
  let commits = 0;
  return () => (commits += 1) % 50 === 0;
}

test.each(PLANTED)('a fault put in on purpose is found: %s, %s', (kind, _, fault) => {
  const store = new SimulatedStore();
  const faults: string[] = [];
  for (let seed = 1; seed <= 300 && !faults.some((found) => kind.test(found)); seed += 1) {
    faults.push(...simulate({ store, wire: Object.assign(wireOf(seed), fault) }, seed));
  }
  store.close();
  expect(faults.filter((found) => kind.test(found))).not.toEqual([]);
});
