/** What somebody has to look at, by its cause: one line for what one change mends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changeWork, findCauses, overview } from '../../../src/service/operations/operations.ts';
import { openStorage, type DecisionRecord } from '../../../src/engine/storage/storage.ts';
import { agentOf, work } from '../../support/storage-builders.ts';
import { decisionLine } from '../../../src/authoring/explanation/explanation.ts';

const HOUR_MS = 3_600_000;
const now = Date.now();

const refused = (at: number, change: Partial<DecisionRecord> = {}): DecisionRecord => ({
  requestId: `r-${at}-${JSON.stringify(change).length}`,
  receivedAt: at,
  path: 'github',
  status: 404,
  outcome: 'rejected',
  code: 'no_mapping_matched',
  actionIds: [],
  generation: 'g',
  tookMs: 1,
  bodyBytes: 2,
  ...change,
});

const leaf = (words: string): Pick<DecisionRecord, 'missed'> => ({
  missed: [{ mappingId: 'review', part: 'when', leaf: words, why: 'different' }],
});

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-causes-'));
  const storage = await openStorage(`sqlite:${join(folder, 'sluice.db')}`, { fsync: false });
  onTestFinished(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });
  const causes = () => findCauses(storage, { gateway: { runner: 'default' }, describe: decisionLine });
  const keep = async (...decisions: readonly DecisionRecord[]): Promise<void> => {
    for (const decision of decisions) storage.recordDecision(decision);
    await storage.flush();
  };
  const operator = { storage, who: 'ada', source: 'desk', by: 'command', defaultRunner: 'default' } as const;
  return { storage, causes, keep, operator };
}

const opened = '{"in":[{"var":"payload.action"},["opened","reopened"]]}';

test('requests of one failing condition are one cause, which began when they became many', async () => {
  const { causes, keep } = await open();
  const slow = [30, 28, 26].map((hours) => refused(now - hours * HOUR_MS, leaf(opened)));
  const many = Array.from({ length: 40 }, (_, index) =>
    refused(now - 2 * HOUR_MS + index * 1000, leaf(opened)),
  );
  await keep(...slow, ...many, refused(now - HOUR_MS, leaf('{"==":[1,2]}')));
  const [first, second, ...others] = await causes();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ kind: 'request', count: 43, before: 3, path: 'github' });
  expect(first?.since).toBe(many[0]?.receivedAt);
  expect(first?.lastAt).toBe(many.at(-1)?.receivedAt);
  expect(first?.says).toMatch(/^github, .*payload\.action/);
  expect(first?.example).toBe(many.at(-1)?.requestId);
  expect(second).toMatchObject({ count: 1, before: 0 });
});

test('a cause names its error, also where a finding says only which field it is about', async () => {
  const { causes, keep } = await open();
  const findings = [{ code: 'field', facts: { field: 'text' } }];
  await keep(refused(now, { path: 'wake', status: 400, code: 'missing_text', findings }));
  expect((await causes()).map(({ says }) => says)).toEqual(['wake, missing_text: it is about text']);
});

test('strangers, and what was taken when it was replayed, are nobody to look at', async () => {
  const { causes, keep } = await open();
  await keep(
    refused(now, { status: 401, code: 'unauthorized' }),
    refused(now - 1, { status: 429, code: 'too_many_failures' }),
    refused(now - 2, { replays: [{ requestId: 'x', outcome: 'accepted' }] }),
    refused(now - 3, { outcome: 'accepted', status: 202, code: undefined }),
  );
  expect(await causes()).toEqual([]);
  await keep(refused(now - 4, { replays: [{ requestId: 'x', outcome: 'rejected' }] }));
  expect(await causes()).toHaveLength(1);
});

test('the newest and steepest stands first, and what is put aside last, until as many have come again', async () => {
  const { storage, causes, keep, operator } = await open();
  const old = Array.from({ length: 50 }, (_, index) => refused(now - 40 * HOUR_MS + index, { path: 'old' }));
  const fresh = Array.from({ length: 9 }, (_, index) => refused(now - index * 1000, { path: 'new' }));
  await keep(...old, ...fresh);
  const paths = async () => (await causes()).map(({ path }) => path);
  expect(await paths()).toEqual(['new', 'old']);
  const { id, count } = (await causes())[0]!;
  const cause = { id, count, reason: 'a test of the sender' };
  await changeWork(operator, { change: 'put aside', cause });
  const [, aside] = await causes();
  expect(aside).toMatchObject({ path: 'new', aside: { who: 'ada', reason: 'a test of the sender' } });
  expect(await storage.listAudit(1)).toMatchObject([
    { what: 'put aside', about: `${id} a test of the sender`, changed: 9 },
  ]);
  const later = Date.now() + 1000;
  const more = (many: number) =>
    Array.from({ length: many }, (_, index) => refused(later + many * 100 + index, { path: 'new' }));
  await keep(...more(9));
  expect(await paths()).toEqual(['old', 'new']);
  await keep(...more(1));
  expect(await causes()).toMatchObject([{ path: 'new', count: 19 }, { path: 'old' }]);
  expect((await causes())[0]).not.toHaveProperty('aside');
});

test('what waits is a cause of its own, with what ends it', async () => {
  const { storage, causes, operator } = await open();
  await storage.accept(work([1, 2, 3].map(() => agentOf('review', { runner: 'claude' }))));
  const hold = { runner: 'claude', code: 'login', message: 'needed', retryAt: now + HOUR_MS, tries: 1 };
  await storage.saveHold({ ...hold, since: now - HOUR_MS });
  await changeWork(operator, { change: 'pause', of: { mapping: 'deploy' } });
  const [away, paused, ...others] = await causes();
  expect(others).toEqual([]);
  expect(away).toMatchObject({ kind: 'wait', count: 3, since: now - HOUR_MS });
  expect(away?.says).toBe('3 runs wait: agent claude is away (login: needed)');
  expect(away).not.toHaveProperty('example');
  expect(paused).toMatchObject({ kind: 'wait', count: 1, paused: { mapping: 'deploy' } });
  expect(paused?.says).toBe('mapping deploy is paused: no run begins');
  // What is put aside comes back when it has grown.
  const { id = '', count = 0 } = away ?? {};
  await changeWork(operator, { change: 'put aside', cause: { id, count, reason: 'he sleeps' } });
  expect((await causes()).at(-1)).toMatchObject({ id, aside: { reason: 'he sleeps' } });
  await storage.accept(work([1, 2, 3, 4].map(() => agentOf('review', { runner: 'claude' }))));
  const [grown] = await causes();
  expect(grown).toMatchObject({ id, count: 7 });
  expect(grown).not.toHaveProperty('aside');
});

test('a rate that refuses a sender who proved itself is somebody to look at', async () => {
  const { causes, keep } = await open();
  await keep(refused(now, { status: 429, code: 'rate_limited' }));
  expect(await causes()).toMatchObject([{ path: 'github', count: 1 }]);
});

test('the overview marks when the service started and its files changed', async () => {
  const { storage } = await open();
  const note = { at: now, who: 'the service', source: 'host', about: 'g1', changed: 0 };
  for (const what of ['start', 'drop', 'reload']) await storage.recordAudit({ ...note, what });
  const { marks } = await overview(storage, { gateway: { runner: 'default' }, describe: decisionLine }, []);
  expect(marks.map(({ what }) => what)).toEqual(['reload', 'start']);
});
