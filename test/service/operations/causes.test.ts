/** What somebody has to look at, by its cause: one line for what one change mends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { changeWork, decidedCounter, overview } from '../../../src/service/operations/operations.ts';
import { openStorage, type DecisionRecord } from '../../../src/engine/storage/storage.ts';
import { agentOf, completion, work } from '../../support/storage-builders.ts';
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
  // Each is counted anew: one counter rests between.
  const looking = (text = true) => ({
    gateway: { runner: 'default' },
    decided: decidedCounter(storage, decisionLine),
    text,
  });
  const causes = async (text?: boolean) => (await overview(storage, looking(text), [])).causes;
  const keep = async (...decisions: readonly DecisionRecord[]): Promise<void> => {
    for (const decision of decisions) storage.recordDecision(decision);
    await storage.flush();
  };
  const keepStrangers = (...decisions: readonly DecisionRecord[]): void => {
    for (const [index, decision] of decisions.entries()) storage.recordStranger(decision, `net ${index}`);
  };
  const operator = { storage, who: 'ada', source: 'desk', by: 'command', defaultRunner: 'default' } as const;
  return { storage, causes, looking, keep, keepStrangers, operator };
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

/** Keeps a request with what its mapping `review` found, as the service does it. */
const keptWith = (requestId: string, failed: object) => ({
  requestId,
  receivedAt: now,
  kind: 'whole' as const,
  path: 'github',
  json: JSON.stringify({
    path: 'github',
    payload: {},
    judged: { considered: [{ id: 'review', matched: false, failed: { part: 'when', ...failed } }] },
  }),
});

test('a cause quotes what the condition found in the last request, but not to whom texts are not shown', async () => {
  const { storage, causes, keep } = await open();
  const [first, last] = [refused(now - 1000, leaf(opened)), refused(now, leaf(opened))];
  storage.keepRequest(keptWith(first.requestId, { expression: opened, found: 'labeled' }));
  storage.keepRequest(keptWith(last.requestId, { expression: opened, found: 'closed' }));
  await keep(first, last);
  const said = async (text?: boolean) => (await causes(text)).map(({ says }) => says);
  expect(await said()).toEqual([
    `github, no_mapping_matched: review: when ${opened} did not hold: found "closed"`,
  ]);
  expect(await said(false)).toEqual([
    `github, no_mapping_matched: review: when ${opened} did not hold: another value was sent`,
  ]);
  expect(JSON.stringify(await causes(false))).not.toContain('closed');
});

test.each([
  ['under the name of a secret', '{"==":[{"var":"payload.api_token"},"a"]}', 'hunter2'],
  ['below the name of a secret', '{"==":[{"var":"payload.credentials.user"},"a"]}', 'hunter2'],
  ['where the leaf was cut before its variable', '{"==":["a long word, a long wo…', 'hunter2'],
  ['of several values', '{"in":[{"var":"payload.labels"},["a"]]}', ['hunter2']],
])('a cause quotes no value %s', async (_name, expression, found) => {
  const { storage, causes, keep } = await open();
  const one = refused(now, leaf(expression));
  storage.keepRequest(keptWith(one.requestId, { expression, found }));
  await keep(one);
  expect((await causes()).map(({ says }) => says)).toEqual([
    `github, no_mapping_matched: review: when ${expression} did not hold: another value was sent`,
  ]);
});

test('a cause names its error, also where a finding says only which field it is about', async () => {
  const { causes, keep } = await open();
  const findings = [{ code: 'field', facts: { field: 'text' } }];
  await keep(refused(now, { path: 'wake', status: 400, code: 'missing_text', findings }));
  expect((await causes()).map(({ says }) => says)).toEqual(['wake, missing_text: it is about text']);
});

test('strangers, and what was taken when it was replayed, are nobody to look at', async () => {
  const { causes, keep, keepStrangers } = await open();
  keepStrangers(
    refused(now, { status: 401, code: 'unauthorized' }),
    refused(now - 1, { status: 429, code: 'too_many_failures' }),
    refused(now - 1, { path: '', status: 404, code: 'not_found' }),
    refused(now - 1, { status: 408, code: 'body_timeout' }),
  );
  await keep(
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

test('all that is kept is counted, also beside a flood of others that are refused', async () => {
  const { causes, keep } = await open();
  const began = now - 20 * HOUR_MS;
  const slow = [60, 50, 40].map((hours) => refused(now - hours * HOUR_MS, leaf(opened)));
  const many = Array.from({ length: 873 }, (_, index) => refused(began + index * 60_000, leaf(opened)));
  const flood = Array.from({ length: 6_000 }, (_, index) =>
    refused(now - 6_000 + index, { path: 'flood', code: 'invalid_json', status: 400 }),
  );
  await keep(...slow, ...many, ...flood);
  const found = await causes();
  expect(found.find(({ path }) => path === 'github')).toMatchObject({
    count: 876,
    before: 3,
    since: many[0]?.receivedAt,
    example: many.at(-1)?.requestId,
  });
  expect(found.find(({ kind, path }) => kind === 'request' && path === 'flood')).toMatchObject({
    count: 6_000,
  });
});

test('a cause is as old as its first request, wherever in an hour of the clock that was', async () => {
  const { causes, keep } = await open();
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - 2 * HOUR_MS - 3 * 60_000;
  const times = Array.from({ length: 120 }, (_, index) => first + index * 60_000);
  await keep(...times.map((at) => refused(at, leaf(opened))));
  expect(await causes()).toMatchObject([{ count: 120, since: first, before: 0 }]);
});

test('a path of which far more comes than before is a cause, also where it is taken, and not one of strangers', async () => {
  const { causes, keep, keepStrangers } = await open();
  const taken = { outcome: 'accepted', status: 202, code: undefined, mappingId: 'sum' } as const;
  const every = (many: number, ms: number, change: Partial<DecisionRecord>) =>
    Array.from({ length: many }, (_, index) => refused(now - index * ms, change));
  await keep(...every(100, 60_000, { ...taken, path: 'metrics' }));
  expect(await causes()).toEqual([]);
  keepStrangers(...every(400, 10, { path: 'metrics', status: 401, code: 'unauthorized' }));
  expect(await causes()).toEqual([]);
  await keep(...every(400, 10, { ...taken, path: 'metrics' }));
  const [flood, ...others] = await causes();
  expect(others).toEqual([]);
  expect(flood).toMatchObject({ kind: 'flood', path: 'metrics', mappingId: 'sum', before: 0 });
  expect(flood?.count).toBeGreaterThanOrEqual(400);
  expect(flood?.says).toMatch(/^metrics: far more in ten minutes than before, when \d+ came in an hour$/);
});

test('what each mapping took within a day is counted, and since when requests are kept', async () => {
  const { looking, keep } = await open();
  const hit = (hours: number, change: Partial<DecisionRecord>) => refused(now - hours * HOUR_MS, change);
  await keep(
    hit(30, { mappingId: 'review', status: 202, outcome: 'accepted' }),
    hit(2, { mappingId: 'review', status: 202, outcome: 'accepted' }),
    hit(1, { mappingId: 'review', status: 400, code: 'invalid_result' }),
    hit(1, {}),
  );
  const decided = await looking().decided();
  expect([...(decided?.hits ?? [])]).toEqual([
    ['review', { hits: 2, refusals: 1, lastHitAt: now - HOUR_MS }],
  ]);
  expect(decided?.since).toBe(now - 30 * HOUR_MS);
});

test('what failed says what the last error said, but not to whom texts are not shown', async () => {
  const { storage, causes } = await open();
  for (const message of ['exit 1: no network', 'exit 1\ninvalid api key']) {
    const [action] = [agentOf('review', { runner: 'claude', sessionKey: message })];
    await storage.accept(work([action]));
    await storage.claimRuns({ nowMs: Date.now(), limit: 1 });
    const error = { code: 'agent_failed', message };
    await storage.completeRun(completion(action.id, { outcome: 'error', error, nowMs: Date.now() }));
  }
  expect(await causes()).toMatchObject([
    {
      kind: 'run',
      count: 2,
      errorCode: 'agent_failed',
      says: 'review, claude: agent_failed: exit 1: invalid api key',
    },
  ]);
  expect((await causes(false)).map(({ says }) => says)).toEqual(['review, claude: agent_failed']);
  const hold = { runner: 'claude', code: 'login', message: 'needed', retryAt: now + HOUR_MS, tries: 1 };
  await storage.saveHold({ ...hold, since: now });
  expect((await causes(false)).map(({ says }) => says).join()).not.toContain('needed');
});

test('counting rests twenty times as long as it took, for all who look', async () => {
  let counted = 0;
  const counter = decidedCounter(
    {
      flush: () => Promise.resolve(),
      countDecided: async () => {
        counted += 1;
        await new Promise((done) => setTimeout(done, 5));
        return { groups: [] };
      },
      findKeptRequest: () => Promise.resolve(undefined),
    },
    decisionLine,
  );
  await Promise.all([counter(), counter()]);
  await counter();
  expect(counted).toBe(1);
  await expect.poll(async () => (await counter(), counted), { interval: 20 }).toBe(2);
});

test('who asks before all is counted gets nothing, and later the last count, also while it is counted anew', async () => {
  const { storage, keep } = await open();
  await keep(refused(now));
  let go = (): void => undefined;
  let begun = 0;
  const counter = decidedCounter(
    {
      flush: () => storage.flush(),
      countDecided: async (after) => {
        begun += 1;
        await new Promise<void>((done) => (go = done));
        return storage.countDecided(after);
      },
      findKeptRequest: (id) => storage.findKeptRequest(id),
    },
    decisionLine,
    1,
  );
  const options = { gateway: { runner: 'default' }, decided: counter, text: true };
  expect(await overview(storage, options, [])).toMatchObject({ causes: [], isCounting: true });
  await expect.poll(async () => (go(), (await overview(storage, options, [])).causes.length)).toBe(1);
  expect(await overview(storage, options, [])).not.toHaveProperty('isCounting');
  const before = begun;
  await expect.poll(async () => (await counter(), begun)).toBeGreaterThan(before);
  expect((await overview(storage, options, [])).causes).toHaveLength(1);
});

test.each([
  ['its rate', 429, 'rate_limited'],
  ['its slow body', 408, 'body_timeout'],
  ['its method', 405, 'method_not_allowed'],
])('a sender who proved itself and is refused for %s is somebody to look at', async (_name, status, code) => {
  const { causes, keep } = await open();
  await keep(refused(now, { status, code }));
  expect(await causes()).toMatchObject([{ path: 'github', errorCode: code, count: 1 }]);
});

test('the overview marks when the service started and its files changed', async () => {
  const { storage, looking } = await open();
  const note = { at: now, who: 'the service', source: 'host', about: 'g1', changed: 0 };
  for (const what of ['start', 'drop', 'reload']) await storage.recordAudit({ ...note, what });
  const { marks } = await overview(storage, looking(), []);
  expect(marks.map(({ what }) => what)).toEqual(['reload', 'start']);
});

test('a change whose line of the audit cannot be stored still wakes the gateway, and its operator hears of it', async () => {
  const { storage, operator } = await open();
  const notify = vi.fn();
  const full = new Error('the disk is full');
  vi.spyOn(storage, 'recordAudit').mockRejectedValue(full);
  const change = changeWork(
    { ...operator, gateway: { notify, cancel: vi.fn() } },
    { change: 'pause', of: { mapping: 'deploy' } },
  );
  await expect(change).rejects.toBe(full);
  expect(await storage.listPauses()).toHaveLength(1);
  expect(notify).toHaveBeenCalledOnce();
});
