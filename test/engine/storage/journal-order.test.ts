import { HealthMonitor } from '../../../src/engine/storage/statements/health-monitor.ts';
import { StorageError } from '../../../src/engine/storage/storage-error.ts';
import { DatabaseSync } from 'node:sqlite';
import { findUnsent } from '../../../src/engine/storage/statements/activity-reads.ts';
import { planWork, selectDrop, selectRetry } from '../../../src/engine/storage/statements/plan-reads.ts';
import { listOutbox } from '../../../src/engine/storage/statements/read-statements.ts';
import type { Sql } from '../../../src/engine/storage/statements/statements.ts';
import {
  recordDecisions,
  recordStrangers,
} from '../../../src/engine/storage/statements/journal-statements.ts';
import { stepsFrom } from '../../../src/engine/storage/statements/migrations.ts';
import type { Store } from '../../../src/engine/storage/statements/store.ts';
import { SqliteStatements } from '../../../src/engine/storage/sqlite/worker/sqlite-statements.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { JournalBuffer } from '../../../src/engine/storage/client/journal-buffer.ts';
import type { DecisionRow } from '../../../src/engine/storage/request-records.ts';
import type { DecisionRecord, Storage } from '../../../src/engine/storage/storage.ts';
import { findStoredRequest } from '../../../src/engine/storage/facts.ts';

test('a request is handed over before its decision: who finds the decision finds the request', () => {
  const calls: string[] = [];
  const journal = new JournalBuffer({
    keepRequests: async () => void calls.push('request'),
    freeKeptSpace: async () => undefined,
    recordDecisions: async () => void calls.push('decision'),
    recordStrangers: async () => void calls.push('stranger'),
  });
  const decision: DecisionRecord = {
    requestId: 'r',
    receivedAt: 1,
    path: 'p',
    status: 202,
    outcome: 'accepted',
    bodyBytes: 2,
    tookMs: 1,
    actionIds: [],
    generation: 'g',
  };
  journal.recordDecision(decision);
  journal.keepRequest({ requestId: 'r', receivedAt: 1, kind: 'whole', path: 'a', json: '{}' });
  journal.write();
  expect(calls).toEqual(['request', 'decision']);
});

test('a request whose decision is written while it is looked for is found with its decision', async () => {
  const written: DecisionRecord[] = [];
  const storage: Pick<Storage, 'findDecision' | 'findKeptRequest' | 'findRun' | 'listEvents'> = {
    findDecision: async () => written[0],
    findRun: async () => undefined,
    listEvents: async () => [],
    findKeptRequest: async (requestId) => {
      written.push(decisionAt(1, { actionIds: [] }));
      return { requestId, receivedAt: 1, kind: 'whole', path: 'a', json: '{}' };
    },
  };
  const found = await findStoredRequest(storage as Storage, uuid(1));
  expect(found).toMatchObject({ decision: { requestId: uuid(1) }, kept: { requestId: uuid(1) } });
});

/** A buffer whose writes can be read, as the records that they are. */
function journalWithRows(): { readonly journal: JournalBuffer; readonly rows: () => unknown[] } {
  const rows: DecisionRow[] = [];
  const journal = new JournalBuffer({
    keepRequests: async () => undefined,
    freeKeptSpace: async () => undefined,
    recordDecisions: async (written) => void rows.push(...written),
    recordStrangers: async () => undefined,
  });
  return { journal, rows: () => rows.map(({ json }) => JSON.parse(json) as unknown) };
}

const uuid = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

const decisionAt = (at: number, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  requestId: uuid(at),
  receivedAt: 1_700_000_000_000 + at,
  path: `p${at % 3}`,
  status: 202,
  outcome: 'accepted',
  bodyBytes: at,
  tookMs: at / 7,
  actionIds: [uuid(at + 1_000_000)],
  generation: at < 5 ? 'g1' : 'g2',
  mappingId: `m${at % 2}`,
  ...more,
});

test('decisions are written whole and in order', () => {
  const { journal, rows } = journalWithRows();
  const given = [
    decisionAt(1),
    decisionAt(2, { warnings: ['blank_dedupe_key'] }),
    decisionAt(3, { actionIds: [] }),
    decisionAt(4, { actionIds: [uuid(8), uuid(9)] }),
    decisionAt(5, { requestId: 'short' }),
    decisionAt(6, { mappingId: undefined, path: 'wake', status: 200 }),
    decisionAt(7, { findings: [{ code: 'repeat' }] }),
    decisionAt(8),
  ];
  for (const decision of given) journal.recordDecision(decision);
  journal.write();
  expect(rows()).toEqual(JSON.parse(JSON.stringify(given)));
});

test('of more than are kept the latest are written, also where the number changes meanwhile', () => {
  const { journal, rows } = journalWithRows();
  for (let at = 0; at < 2_000; at += 1) journal.recordDecision(decisionAt(at), 40);
  for (let at = 2_000; at < 2_010; at += 1) journal.recordDecision(decisionAt(at), 30);
  journal.write();
  const written = rows();
  expect(written.at(-1)).toEqual(decisionAt(2_009));
  const first = 2_010 - written.length;
  expect(written).toEqual(written.map((_, index) => decisionAt(first + index)));
  expect(written.length).toBeGreaterThanOrEqual(40);
});

test('a store that hangs is sent a few writes and no more, and the latest when it answers again', async () => {
  const written: (readonly DecisionRow[])[] = [];
  const answers: (() => void)[] = [];
  const hang = () => new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)));
  const journal = new JournalBuffer({
    keepRequests: hang,
    freeKeptSpace: hang,
    recordDecisions: (rows) => (written.push(rows), hang()),
    recordStrangers: hang,
  });
  for (let at = 0; at < 500; at += 1) {
    journal.recordDecision(decisionAt(at));
    journal.recordStranger(decisionAt(at), 'n');
    journal.keepRequest({ requestId: uuid(at), receivedAt: 1, kind: 'whole', path: 'a', json: '{}' });
    journal.write();
  }
  expect(answers.length).toBeLessThan(25);
  for (const answer of answers) answer();
  await new Promise((done) => setImmediate(done));
  journal.write();
  const decisions = written.flat().map(({ json }) => JSON.parse(json) as unknown);
  expect(decisions).toEqual(Array.from({ length: 500 }, (_, at) => decisionAt(at)));
});

test('what is forgotten is found without a look at the decisions that stay', () => {
  const database = new DatabaseSync(':memory:');
  for (const step of stepsFrom(0, 'sqlite')) database.exec(step);
  const sql = new SqliteStatements(database);
  const asked: string[] = [];
  const posted = new Proxy(sql, {
    get: (target, name: 'post') => {
      if (name !== 'post') return (target[name] as () => unknown).bind(target);
      return (text: Sql, ...values: never[]) => {
        asked.push(typeof text === 'string' ? text : text.sqlite);
        target.post(text, ...values);
      };
    },
  });
  const store = { sql: posted } as unknown as Store;
  const row = (at: number) => ({
    requestId: `r${at}`,
    mappingId: 'm',
    outcome: 'accepted',
    generation: 'g',
    json: '{}',
  });
  const written = Array.from({ length: 30 }, (_, at) => row(at));
  recordDecisions(store, written, 20);
  recordStrangers(store, written.slice(0, 5), ['r1', 'r2']);
  recordDecisions(store, written, 20);
  const left = database.prepare('SELECT count(*) AS rows, count(number) AS numbered FROM decisions').get();
  expect(left).toEqual({ rows: 20 + 3, numbered: 20 });
  expect(asked.length).toBeGreaterThanOrEqual(4);
  const plans = asked.flatMap((text) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => String(detail)),
  );
  // Strangers are few; their own index has nothing else.
  const scans = plans.filter(
    (step) => /^SCAN (?!CONSTANT|json_each)/.test(step) && !step.includes('decisions_of_strangers'),
  );
  expect(scans).toEqual([]);
  database.close();
});

test('what a run sends is found without a look at what others sent', () => {
  const database = new DatabaseSync(':memory:');
  for (const step of stepsFrom(0, 'sqlite')) database.exec(step);
  const asked: string[] = [];
  const sql = new SqliteStatements(database);
  const all = (text: Sql, ...values: never[]) => {
    asked.push(typeof text === 'string' ? text : text.sqlite);
    return sql.all(text, ...values);
  };
  const store = { sql: { all } } as unknown as Store;
  expect(findUnsent(store, ['r'])).toEqual([]);
  expect(listOutbox(store, { limit: 5, runId: 'r' })).toEqual([]);
  const plans = asked.map((text) => database.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
  for (const plan of plans) expect(JSON.stringify(plan)).toMatch(/SEARCH outbox USING INDEX outbox_of_run/);
  expect(plans).toHaveLength(2);
  database.close();
});

test('what an operator changes is found without a look at what has ended', () => {
  const database = new DatabaseSync(':memory:');
  for (const step of stepsFrom(0, 'sqlite')) database.exec(step);
  const sql = new SqliteStatements(database);
  const asked: string[] = [];
  const ask =
    (name: 'all' | 'find') =>
    (text: Sql, ...values: never[]) => {
      asked.push(typeof text === 'string' ? text : text.sqlite);
      return sql[name](text, ...values);
    };
  const store = { sql: { all: ask('all'), find: ask('find') } } as unknown as Store;
  const selections = [
    { kind: 'all' },
    { kind: 'mapping', mappingId: 'm' },
    { kind: 'ids', ids: ['a'] },
  ] as const;
  for (const selection of selections) {
    for (const change of ['retry', 'drop', 'approve', 'deny', 'cancel'] as const)
      planWork(store, change, { selection, nowMs: 1 });
    selectRetry(store, selection, { nowMs: 1 });
    selectDrop(store, selection);
  }
  const steps = asked.flatMap((text) => database.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
  const walks = steps.filter(({ detail }) => /^SCAN (?:runs|outbox|events)(?! USING)/.test(String(detail)));
  expect(steps.length).toBeGreaterThan(100);
  expect(walks).toEqual([]);
  database.close();
});

test('one outage is told once, however often single writes succeed meanwhile', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const after = (ms: number): undefined => void vi.advanceTimersByTime(ms);
  const said: (string | undefined)[] = [];
  const monitor = new HealthMonitor(() => undefined);
  monitor.onChange((trouble) => void said.push(trouble?.code));
  const trouble = new StorageError('busy', 'no connection is left');
  for (let step = 0; step < 600; step += 1) {
    after(100);
    monitor.note(step % 4 === 0 ? trouble : undefined);
  }
  expect(said).toEqual(['busy']);
  for (let step = 0; step < 21; step += 1) monitor.note(after(100));
  expect(said).toEqual(['busy', undefined]);
  // What comes back again and again is believed later each time.
  for (let outage = 0; outage < 20; outage += 1) {
    monitor.note(trouble);
    for (let step = 0; step < 30; step += 1) monitor.note(after(100));
  }
  expect(said.length).toBeLessThan(8);
});
