import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadGeneration } from '../../../src/service/generation/generation.ts';
import type { Asker } from '../../../src/service/recovery/look.ts';
import { newState, recoverPath, type RoundParts } from '../../../src/service/recovery/recover-path.ts';
import { askerOf } from '../../../src/service/recovery/recovery.ts';
import { overview } from '../../../src/service/operations/operations.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';
import { ENV, openRecovery, type RecoveryBench } from '../../support/recovery-fixture.ts';
import { openBench } from '../../support/cli-service.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { ASK_TOKEN, SECRET } from '../../support/sender-log.ts';

interface Report {
  readonly events: number;
  readonly missed: number;
  readonly toAsk: number;
  readonly asked: number;
  readonly came: number;
  readonly started: number;
  readonly trouble?: string;
}

async function loadAsker(folder: string, path: string): Promise<Asker> {
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  onTestFinished(() => sandbox.stop());
  const loaded = await loadGeneration(join(folder, 'sluice.yaml'), { env: ENV, needSecrets: false, sandbox });
  const { generation } = loaded;
  const recovery = generation?.recoveries.get(path);
  if (generation === undefined || recovery === undefined) throw new Error(JSON.stringify(loaded.findings));
  return askerOf(generation, recovery, new AbortController().signal);
}

/** The parts of a round to which nothing comes, and which knows of nothing that came. */
function roundParts(own: Partial<RoundParts> = {}): RoundParts {
  return {
    storage: {
      findIdempotent: () => Promise.resolve(undefined),
      findDeduped: () => Promise.resolve(undefined),
    },
    wish: undefined,
    save: () => Promise.resolve(),
    arrival: () => new Promise(() => undefined),
    deliver: () => Promise.reject(new Error('nothing is fetched')),
    arrivalMs: 1,
    othersKnow: () => Promise.resolve(),
    gaveUp: () => undefined,
    ...own,
  };
}

async function report(bench: RecoveryBench, ...flags: readonly string[]): Promise<Report> {
  const { out, err } = await bench.run('recover', '--json', ...flags);
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { readonly paths: readonly [Report] }).paths[0];
}

test.each(['github', 'gitlab'] as const)(
  'what %s could not deliver comes again, the oldest first, and once',
  async (provider) => {
    const bench = await openRecovery(provider);
    const { sender } = bench;
    sender.skewMs = 7 * 60_000;
    const service = await bench.start();
    await sender.happen({ n: 'live' });
    expect(await bench.run('recover')).toMatchObject({ exitCode: 0 });
    const { target } = sender;
    sender.target = undefined;
    for (const n of ['a', 'b', 'c', 'd', 'e']) await sender.happen({ n });
    await sender.happen({ n: 'f', skip: true });
    sender.target = target;
    sender.dropsAnswer = () => true;
    await sender.happen({ n: 'taken' });
    sender.dropsAnswer = () => false;
    const dry = await bench.run('recover', provider, '--dry-run');
    expect(dry.out).toMatch(/could not deliver 7 of 8 since .*\. 6 can be sent again\./);
    expect(sender.sentAgain).toEqual([]);
    expect(await report(bench, provider)).toMatchObject({
      missed: 7,
      toAsk: 6,
      asked: 6,
      came: 6,
      started: 5,
    });
    expect(sender.sentAgain).toHaveLength(6);
    expect(await bench.started()).toEqual(['live', 'taken', 'a', 'b', 'c', 'd', 'e']);
    expect(await report(bench)).toMatchObject({ asked: 0 });
    const listed = await bench.run('requests', '--recovered', '--json');
    const { requests } = JSON.parse(listed.out) as { readonly requests: readonly { readonly id: string }[] };
    expect(requests).toHaveLength(6);
    expect((await bench.run('explain', requests[0]?.id ?? '')).out).toMatch(
      /came again, .* late: its sender could not deliver it/,
    );
    await service.stop();
    // What the console shows of each path.
    const storage = await openStorage(`sqlite:${join(bench.folder, 'sluice.db')}`, { mode: 'attached' });
    onTestFinished(() => storage.close());
    const { recoveries } = await overview(
      storage,
      {
        gateway: { runner: 'echo' },
        decided: () => Promise.resolve({ found: new Map(), hits: new Map(), since: 0 }),
        text: true,
      },
      [provider, 'never'],
    );
    expect(recoveries).toEqual([
      { path: provider, lookedAt: expect.any(Number) as number, missed: 6, came: 6, gaveUp: 0 },
      { path: 'never', lookedAt: 0, missed: 0, came: 0, gaveUp: 0 },
    ]);
    const all = bench.log.join('') + JSON.stringify(requests);
    for (const secret of [ASK_TOKEN, SECRET]) expect(all).not.toContain(secret);
  },
);

test('Stripe is asked for what its own tries gave up, or --since names, and only for what is taken here', async () => {
  const bench = await openRecovery('stripe');
  const { sender } = bench;
  await bench.start();
  expect(await bench.run('recover')).toMatchObject({ exitCode: 0 });
  const { target } = sender;
  sender.target = undefined;
  for (const n of ['a', 'b', 'c', 'd']) await sender.happen({ n });
  await sender.happen({ n: 'of another endpoint' }, { kind: 'charge.succeeded' });
  await sender.happen({ n: 'skipped', skip: true });
  sender.target = target;
  sender.dropsAnswer = () => true;
  await sender.happen({ n: 'taken' });
  expect(await report(bench)).toMatchObject({ missed: 0, asked: 0 });
  expect(await report(bench, '--since', '1h')).toMatchObject({ missed: 6, toAsk: 5, came: 5, started: 4 });
  expect(await bench.started()).toEqual(['taken', 'a', 'b', 'c', 'd']);
  expect(await report(bench, '--since', '1h')).toMatchObject({ toAsk: 0, asked: 0 });
  const { out } = await bench.run('requests', '--recovered', '--json');
  const { requests } = JSON.parse(out) as { readonly requests: readonly { readonly id: string }[] };
  expect(requests).toHaveLength(4);
  const host = new URL(sender.api).host;
  expect((await bench.run('explain', requests[0]?.id ?? '')).out).toContain(
    `fetched from ${host} with the operator's token`,
  );
  expect(sender.asked.every(({ method }) => method === 'GET')).toBe(true);
});

test('what fails again is asked for three times in all, and then given up', async () => {
  const bench = await openRecovery('github');
  const { sender, folder } = bench;
  const asker = await loadAsker(folder, 'github');
  await sender.happen({ n: 'lost' }, { agoMs: 30_000 });
  const gaveUp: string[] = [];
  const state = { ...newState(), upTo: sender.now() - 60_000 };
  const { upTo } = state;
  for (let round = 1; round <= 5; round += 1) {
    await recoverPath(asker, state, roundParts({ arrivalMs: 20, gaveUp: (event) => gaveUp.push(event) }));
    expect(state.totals).toEqual({
      missed: 1,
      asked: Math.min(round, 3),
      came: 0,
      gaveUp: round > 3 ? 1 : 0,
    });
    // What is not settled keeps the moment where it is.
    expect(state.upTo > upTo + 59_000).toBe(round > 3);
    for (const entry of Object.values(state.asked)) entry.askedAt = 0;
  }
  expect([sender.sentAgain, gaveUp]).toEqual([[gaveUp[0], gaveUp[0], gaveUp[0]], [gaveUp[0]]]);
});

test('what is missed at once comes again however much it is, some after each look', async () => {
  const bench = await openRecovery('github', { recover: ', max: 1', everySeconds: 600 });
  const { sender } = bench;
  await bench.start();
  const { target } = sender;
  sender.target = undefined;
  const events = ['a', 'b', 'c', 'd'];
  for (const n of events) await sender.happen({ n });
  sender.target = target;
  for (const _ of events) await report(bench);
  expect(await bench.started()).toEqual(events);
});

test('what was refused here comes again only where that is asked for', async () => {
  const bench = await openRecovery('gitlab');
  const { sender } = bench;
  await bench.start();
  await bench.run('recover');
  const { target } = sender;
  sender.target = `${target ?? ''}-with-a-slip`;
  await sender.happen({ n: 'refused' });
  sender.target = target;
  expect(await report(bench)).toMatchObject({ missed: 0 });
  expect(await report(bench, '--refused')).toMatchObject({ missed: 1, came: 1, started: 1 });
});

test('what GitLab does not send again is fetched, with what it hides left out; or it is refused', async () => {
  for (const fetched of ['accept', 'refuse']) {
    const bench = await openRecovery('gitlab', { recover: `, fetched: ${fetched}` });
    const { sender } = bench;
    await bench.start();
    await bench.run('recover');
    const { target } = sender;
    sender.target = undefined;
    await sender.happen({ n: 'moved' });
    sender.target = target;
    sender.fault = ({ path }) =>
      path.endsWith('/resend') ? { status: 422, body: { message: 'The hook URL has changed' } } : undefined;
    const came = fetched === 'accept' ? 1 : 0;
    expect(await report(bench)).toMatchObject({ toAsk: 1, came, started: came });
    expect(await bench.started()).toEqual(fetched === 'accept' ? ['moved'] : []);
  }
});

test('a sender that answers wrongly is told, and nothing is settled by it', async () => {
  const bench = await openRecovery('github');
  const { sender } = bench;
  await bench.start();
  await bench.run('recover');
  const { target } = sender;
  sender.target = undefined;
  await sender.happen({ n: 'a' });
  sender.target = target;
  for (const [answer, trouble] of [
    [
      { status: 403, body: { message: 'Must have admin rights' } },
      /answered 403: the token may not do this \(it takes to list \\"Webhooks: read/,
    ],
    [{ status: 500, body: 'oops' }, /GitHub answered 500/],
    [{ status: 200, body: '<html>' }, /answered with no list/],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /GitHub answered 302/],
  ] as const) {
    sender.fault = ({ path }) => (path.includes('/deliveries') ? answer : undefined);
    const { out, err, exitCode } = await bench.run('recover', '--json');
    expect([exitCode, out]).toEqual([3, expect.stringMatching(trouble)]);
    expect(out + err).not.toContain(ASK_TOKEN);
    expect(await bench.started()).toEqual([]);
  }
  sender.fault = undefined;
  expect(await report(bench)).toMatchObject({ missed: 1, came: 1 });
  // Items that are none are passed over.
  const none = { status: 200, body: [null, 1, { id: { a: 1 } }, { id: 1 }, []] };
  sender.fault = ({ path }) => (path.includes('/deliveries') ? none : undefined);
  const { out, err, exitCode } = await bench.run('recover', '--json');
  expect(exitCode).toBe(0);
  expect(out + err).not.toContain(ASK_TOKEN);
  expect(await bench.started()).toEqual(['a']);
});

test('which webhook is meant is found by its address, then by its path, and else it is said', async () => {
  const bench = await openRecovery('github');
  const { sender } = bench;
  const [other, ours] = sender.webhooks;
  const moved = (host: string): Record<string, unknown> => ({
    ...ours,
    config: { url: `https://${host}/hooks/github` },
  });
  sender.webhooks = [other ?? {}, moved('old.example.com')];
  await bench.start();
  expect(await report(bench)).not.toHaveProperty('trouble');
  sender.webhooks = [
    { ...moved('a.example.com'), id: 1 },
    { ...moved('b.example.com'), id: 2 },
  ];
  expect((await bench.run('recover', '--dry-run', '--json')).out).toMatch(
    /several webhooks with the path \/hooks\/github, and none has the address/,
  );
  sender.webhooks = [];
  expect((await bench.run('recover', '--dry-run', '--json')).out).toContain('no webhook with the path');
});

test('a sender that wants to be left alone is, and a list that never ends is left', async () => {
  const bench = await openRecovery('github');
  const { sender } = bench;
  await bench.start();
  await bench.run('recover');
  let limited = 2;
  sender.fault = ({ path }) =>
    path.includes('/deliveries') && limited-- > 0
      ? { status: 403, body: { message: 'rate limit' }, headers: { 'retry-after': '1' } }
      : undefined;
  expect(await report(bench)).toMatchObject({ missed: 0 });
  expect(limited).toBeLessThan(0);
  const page = { id: 7, guid: 'g', delivered_at: new Date().toISOString(), status_code: 200 };
  const link = `<${sender.api}/elsewhere?cursor=x>; rel="next"`;
  sender.fault = ({ path }) =>
    path.includes('/deliveries') ? { status: 200, body: [page], headers: { link } } : undefined;
  expect((await bench.run('recover', '--json')).out).toContain('its list has the same page again');
  expect(sender.asked.every(({ path }) => path.startsWith('/repos/octocat/hello-world/hooks'))).toBe(true);
}, 60_000);

test('a webhook that is switched off is told, and switched on where that is wanted', async () => {
  const told = await openRecovery('github');
  Object.assign(told.sender.webhooks[1] ?? {}, { active: false });
  await told.start();
  await told.run('recover');
  expect(told.log.join('')).toContain('"condition":"webhook_off"');
  const mended = await openRecovery('github', { recover: ', reactivate: true' });
  mended.sender.webhooks.shift();
  Object.assign(mended.sender.webhooks[0] ?? {}, { active: false });
  await mended.start();
  await mended.run('recover');
  expect(mended.sender.asked).toContainEqual({
    method: 'PATCH',
    path: '/repos/octocat/hello-world/hooks/12',
  });
  expect(mended.log.join('')).not.toContain('"condition":"webhook_off"');
});

test('who keeps no log, and a path without the setting, are said', async () => {
  const bench = await openRecovery('github');
  expect(await bench.run('recover', 'linear')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('keeps no log that can be asked') as string,
  });
  expect(await bench.run('recover', 'nobody')).toMatchObject({ exitCode: 2 });
  expect(await bench.run('recover', '--since', '30d')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('maxAgeSeconds') as string,
  });
  expect(await bench.run('recover', '--since', 'soon')).toMatchObject({ exitCode: 2 });
});

const HOUR_MS = 3_600_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const OURS = 'https://hooks.example.com/hooks/';

/** Senders that are data only, as their documentation describes their interfaces; each has three events in two pages. */
const DATA_ONLY = [
  {
    sender: 'paddle',
    id: 'event_id',
    target: '',
    authorization: `Bearer ${ASK_TOKEN}`,
    answers: {
      'GET /notification-settings?per_page=200': {
        data: [
          { id: 'ntfset_1', destination: 'https://other.example.com/', active: true },
          { id: 'ntfset_2', destination: `${OURS}paddle`, active: true },
        ],
      },
      'GET /notifications?status=failed&notification_setting_id=ntfset_2&per_page=200': {
        data: [
          // It was sent again before, which cannot be sent again itself.
          { id: 'ntf_4', origin: 'replay', payload: { event_id: 'evt_1' }, occurred_at: ago(99 * HOUR_MS) },
          { id: 'ntf_3', origin: 'event', payload: { event_id: 'evt_3' }, occurred_at: ago(2 * HOUR_MS) },
          { id: 'ntf_2', origin: 'event', payload: { event_id: 'evt_2' }, occurred_at: ago(98 * HOUR_MS) },
        ],
        meta: { pagination: { has_more: true, next: 'https://evil.example.com/' } },
      },
      'GET /notifications?status=failed&notification_setting_id=ntfset_2&per_page=200&after=ntf_2': {
        data: [
          { id: 'ntf_1', origin: 'event', payload: { event_id: 'evt_1' }, occurred_at: ago(99 * HOUR_MS) },
        ],
        meta: { pagination: { has_more: false } },
      },
    },
    // What Paddle still tries to deliver by itself is left to it.
    again: ['POST /notifications/ntf_1/replay', 'POST /notifications/ntf_2/replay'],
  },
  {
    sender: 'svix',
    id: 'headers.svix-id',
    target: ', target: app_1',
    authorization: `Bearer ${ASK_TOKEN}`,
    answers: {
      'GET /api/v1/app/app_1/endpoint?limit=250': {
        data: [
          { id: 'ep_1', url: `${OURS}svix`, disabled: false },
          { id: 'ep_2', url: 'https://other.example.com/' },
        ],
        done: true,
      },
      'GET /api/v1/app/app_1/attempt/endpoint/ep_1?limit=250&with_content=false': {
        data: [
          { id: 'atmpt_4', msgId: 'msg_2', responseStatusCode: 0, status: 2, timestamp: ago(39 * HOUR_MS) },
          { id: 'atmpt_3', msgId: 'msg_3', responseStatusCode: 200, status: 0, timestamp: ago(40 * HOUR_MS) },
          { id: 'atmpt_2', msgId: 'msg_2', responseStatusCode: 502, status: 2, timestamp: ago(41 * HOUR_MS) },
        ],
        done: false,
        iterator: 'atmpt_2',
      },
      'GET /api/v1/app/app_1/attempt/endpoint/ep_1?limit=250&with_content=false&iterator=atmpt_2': {
        data: [
          { id: 'atmpt_1', msgId: 'msg_1', responseStatusCode: 503, status: 2, timestamp: ago(42 * HOUR_MS) },
        ],
        done: true,
        iterator: 'atmpt_1',
      },
    },
    again: [
      'POST /api/v1/app/app_1/msg/msg_1/endpoint/ep_1/resend',
      'POST /api/v1/app/app_1/msg/msg_2/endpoint/ep_1/resend',
    ],
  },
] as const;

/** What a path asks its sender with, whose interface is at the address. */
function askerAt(
  api: string,
  { sender, id, target }: Pick<(typeof DATA_ONLY)[number], 'sender' | 'id' | 'target'>,
): Promise<Asker> {
  const { folder } = openBench({
    'sluice.yaml': `hooks: {enabled: true, token: '\${SLUICE_HOOK_TOKEN}'}\nserver: {publicUrl: 'https://hooks.example.com'}\n`,
    'mappings/hooks.yaml': `- match: {path: ${sender}}
  id: one
  recover: {token: '\${ASK_TOKEN}', api: '${api}'${target}, maxAgeSeconds: 604800}
  dedupe: {key: '{{${id}}}', ttlSeconds: 604800}
  messageTemplate: hi
`,
  });
  return loadAsker(folder, sender);
}

test.each(DATA_ONLY)('$sender is asked as its documentation says', async (known) => {
  const { answers, again, authorization } = known;
  const server = await startPlatform(({ method, path }) =>
    method === 'POST'
      ? { status: 202, body: {} }
      : { status: 200, body: (answers as Readonly<Record<string, unknown>>)[`${method} ${path}`] },
  );
  onTestFinished(() => server.stop());
  const asker = await askerAt(server.url, known);
  const state = { ...newState(), upTo: Date.now() - 150 * HOUR_MS };
  await recoverPath(asker, state, roundParts());
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    ...Object.keys(answers),
    ...again,
  ]);
  for (const { headers } of server.requests) expect(headers).toMatchObject({ authorization });
  expect(state).toMatchObject({ totals: { missed: 2, asked: 2 } });
  expect(state.unwell).toBeUndefined();
});

test('what Paddle gives up only some hours after its three days is asked for, too', async () => {
  let clock = Date.now();
  const failed: object[] = [];
  const pages = { meta: { pagination: { has_more: false } } };
  const server = await startPlatform(({ method, path }) => {
    const headers = { date: new Date(clock).toUTCString() };
    if (method === 'POST') return { status: 202, headers, body: {} };
    const hook = { id: 'ntfset_1', destination: `${OURS}paddle`, active: true };
    const data = path.startsWith('/notification-settings') ? [hook] : failed;
    return { status: 200, headers, body: { data, ...pages } };
  });
  onTestFinished(() => server.stop());
  const asker = await askerAt(server.url, DATA_ONLY[0]);
  const occurredAt = clock - 70 * HOUR_MS;
  const state = { ...newState(), upTo: clock - 150 * HOUR_MS };
  // Until its last try has failed, nothing of it is listed.
  for (const hours of [70, 72, 74]) {
    clock = occurredAt + hours * HOUR_MS;
    await recoverPath(asker, state, roundParts());
  }
  const event = { origin: 'event', payload: { event_id: 'evt_1' } };
  failed.push({ id: 'ntf_1', ...event, occurred_at: new Date(occurredAt).toISOString() });
  clock = occurredAt + 79 * HOUR_MS;
  await recoverPath(asker, state, roundParts());
  expect(state.totals).toMatchObject({ missed: 1, asked: 1 });
});
