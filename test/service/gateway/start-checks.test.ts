/** Who may start something: a fake of GitHub's interface is asked, before anything begins. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentAction, StartCheck, StartQuestion } from '../../../src/base/action.ts';
import { askPermission, shippedSenders } from '../../../src/engine/senders/senders.ts';
import type { RunRecord } from '../../../src/engine/storage/storage.ts';
import {
  agentAction,
  openHouse,
  RecordingChannel,
  wakeAction,
  type HouseOptions,
} from '../../support/gateway-fixture.ts';
import { startPlatform, type PlatformReply } from '../../support/platform-server.ts';

const WAIT = { timeout: 60_000 };
const PARTS = { owner: 'acme', repository: 'shop', account: 'ann' };
const ask = (account = 'ann', parts: Partial<typeof PARTS> = {}): StartQuestion => ({
  account,
  wanted: 'write',
  sender: 'github',
  parts: { ...PARTS, account, ...parts },
});
const asked = (account?: string): { readonly startedBy: StartCheck } => ({
  startedBy: { question: ask(account) },
});

const says = (role_name: string, permission = role_name): PlatformReply => ({
  status: 200,
  body: { permission, role_name, user: {} },
});

const [github] = shippedSenders().filter(({ name }) => name === 'github');
if (github === undefined) throw new Error('there is no sender');
const askGithub = (question: StartQuestion, api: string) =>
  askPermission(github, question, { token: 'secret-token', api });

async function open(
  reply: (account: string, count: number) => PlatformReply,
  options: Omit<HouseOptions, 'options'> = {},
  ask: (question: StartQuestion, api: string, path: string) => ReturnType<typeof askGithub> = askGithub,
) {
  const server = await startPlatform(({ path }, index) => reply(path.split('/')[5] ?? '', index));
  onTestFinished(() => server.stop());
  const house = await openHouse({
    ...options,
    askPermission: (question, path) => ask(question, server.url, path),
    options: {
      retry: { holds: { maxAttempts: Infinity, baseMs: 20, factor: 1, maxMs: 20 } },
    },
  });
  const ended = async ({ id }: Pick<AgentAction, 'id'>): Promise<RunRecord> =>
    vi.waitFor(async () => {
      const run = await house.storage.findRun(id);
      if (run?.endedAt === undefined) throw new Error('it has not ended');
      return run;
    }, WAIT);
  return { ...house, github: server, ended };
}

test('a run begins after the sender has said that its account may, and the token goes to it alone', async () => {
  const { accept, ended, github, events } = await open(() => says('write'));
  const run = agentAction(asked());
  const { origin } = wakeAction('');
  const wake = wakeAction('wake up', { ...asked(), origin: { ...origin, path: run.origin.path } });
  await accept(run, wake);
  expect(await ended(run)).toMatchObject({ outcome: 'ok', reply: expect.stringContaining('hello') });
  await vi.waitFor(async () => expect(await events()).toContain('wake up'), WAIT);
  // One path and one account are one question; its answer is kept.
  expect(github.requests).toMatchObject([
    {
      method: 'GET',
      path: '/repos/acme/shop/collaborators/ann/permission',
      headers: { authorization: 'Bearer secret-token' },
    },
  ]);
});

test.each<[string, PlatformReply, string]>([
  ['less than is wanted', says('read'), 'read'],
  ['triage', says('triage', 'read'), 'triage'],
  ['none', says('none'), 'no permission there'],
  ['404', { status: 404, body: { message: 'Not Found' } }, 'no permission there'],
  ['something else', { status: 200, body: [] }, 'no permission there'],
])('%s is no: the run ends without a word to the main session', async (_what, reply, found) => {
  const { accept, ended, events, logged } = await open(() => reply);
  const run = agentAction(asked());
  const wake = wakeAction('wake up', asked());
  await accept(run, wake);
  const { outcome, lastError } = await ended(run);
  expect(outcome).toBe('error');
  expect(lastError).toEqual({
    code: 'not_allowed',
    message: `startedBy of the mapping: write is wanted, and ann has ${found}; accounts: ['ann'] in startedBy would allow it`,
  });
  await ended(wake);
  expect(await events()).toEqual([]);
  expect(JSON.stringify(logged)).not.toContain('ann');
});

test('an event that may start, and finds no conversation, ends as such: nobody takes a turn', async () => {
  const { accept, ended, github, storage } = await open(() => says('write'));
  const conversation = { start: false, keySeconds: 3_600, waitSeconds: 0 } as const;
  const run = agentAction({ ...asked(), sessionKey: 'hook:pull', oneShot: false, conversation });
  await accept(run);
  const lastError = { code: 'no_conversation', message: 'no conversation has hook:pull' };
  expect(await ended(run)).toMatchObject({ outcome: 'error', attempts: 0, lastError });
  expect(github.requests).toHaveLength(1);
  expect(await storage.listOutbox({ limit: 9 })).toEqual([]);
});

test.each(['write', 'maintain', 'admin'])(
  '%s is enough, and so is a role of one’s own that stands on it',
  async (role) => {
    const { accept, ended } = await open((account) =>
      account === 'ann' ? says(role) : says('Security lead', role),
    );
    const runs = [agentAction(asked()), agentAction(asked('bob'))];
    await accept(...runs);
    for (const run of runs) expect(await ended(run)).toMatchObject({ outcome: 'ok' });
  },
);

test.each<[string, PlatformReply, RegExp]>([
  ['401', { status: 401, body: {} }, /GitHub answered 401: the token is wrong/],
  ['403', { status: 403, body: {} }, /GitHub answered 403/],
  ['429', { status: 429, body: {} }, /GitHub answered 429/],
  ['500', { status: 500 }, /GitHub answered 500/],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /GitHub answered 302/],
  ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Log in</p>' }, /is no JSON/],
  ['no answer', 'reset', /GitHub cannot be asked/],
  ['half an answer', 'cut', /GitHub cannot be asked/],
])(
  '%s is no answer: the run waits with the reason, one message tells it, and it goes on by itself',
  async (_what, first, said) => {
    let isWell = false;
    const ops = new RecordingChannel('ops', 4000);
    const alerts = { channel: 'ops', to: 'me', after: 3, replies: undefined } as never;
    const { accept, ended, storage, github } = await open(() => (isWell ? says('admin') : first), {
      channels: [ops],
      gateway: { alerts },
    });
    const runs = [agentAction(asked()), agentAction(asked('bob'))];
    await accept(...runs);
    await vi.waitFor(async () => {
      expect(github.requests.length).toBeGreaterThan(2);
      const run = await storage.findRun(runs[0]?.id ?? '');
      expect(run).toMatchObject({ state: 'queued', attempts: 0, lastError: { code: 'not_asked' } });
      expect(run?.lastError?.message).toMatch(said);
      expect(run?.lastError?.message).not.toContain('secret-token');
    }, WAIT);
    isWell = true;
    for (const run of runs) expect(await ended(run)).toMatchObject({ outcome: 'ok' });
    await vi.waitFor(() => expect(ops.texts.at(-1)).toBe('Sluice: sender github works again.'), WAIT);
    expect(ops.texts).toEqual([expect.stringMatching(said), 'Sluice: sender github works again.']);
  },
);

test('what is asked for one path says nothing of another one, whose token or server may be another', async () => {
  const own = await startPlatform(() => says('read'));
  onTestFinished(() => own.stop());
  const { accept, ended, storage } = await open(
    () => says('write'),
    {},
    (question, api, path) => askGithub(question, { own: own.url, gone: 'http://127.0.0.1:1' }[path] ?? api),
  );
  const at = (path: string): AgentAction => {
    const run = agentAction(asked());
    return { ...run, origin: { ...run.origin, requestId: path, path } };
  };
  const [gone, first, second] = [at('gone'), at('github'), at('own')];
  await accept(gone);
  const isLeft = async (): Promise<void> =>
    expect(await storage.findRun(gone.id)).toMatchObject({ lastError: { code: 'not_asked' } });
  await vi.waitFor(isLeft, WAIT);
  await accept(first);
  expect(await ended(first)).toMatchObject({ outcome: 'ok' });
  await accept(second);
  expect((await ended(second)).lastError).toMatchObject({
    code: 'not_allowed',
    message: expect.stringContaining('write is wanted, and ann has read;'),
  });
  await isLeft();
});

test('after gateway.holdHours it ends', async () => {
  const { accept, ended } = await open(() => ({ status: 403, body: {} }), { gateway: { holdHours: 0 } });
  const run = agentAction(asked());
  await accept(run);
  expect((await ended(run)).lastError).toMatchObject({
    code: 'not_allowed',
    message: expect.stringContaining('the sender could not be asked about ann: GitHub answered 403'),
  });
});

test('each name is one part of the path, and what cannot be one is not asked about', async () => {
  const { accept, ended, github } = await open(() => ({ status: 404, body: {} }));
  const odd = ask('a/../b%2fc?d#e', { repository: '%2e%2e/x' });
  const runs = [odd, ask('..'), ask('.'), ask(''), ask('ann', { owner: '..' })].map((question) =>
    agentAction({ startedBy: { question } }),
  );
  await accept(...runs);
  for (const run of runs) expect((await ended(run)).lastError).toMatchObject({ code: 'not_allowed' });
  expect(github.requests.map(({ path }) => path)).toEqual([
    '/repos/acme/%252e%252e%2Fx/collaborators/a%2F..%2Fb%252fc%3Fd%23e/permission',
  ]);
});

test('fifty strangers at once start nothing, and somebody is asked five times; who is approved begins', async () => {
  const people = new RecordingChannel('slack', 4000);
  const { accept, ended, storage, github, gateway, logged } = await open(() => says('read'), {
    channels: [people],
    approvalLink: ({ runId }) => `https://hooks.example.org/${runId}`,
  });
  const approve = { channel: 'slack', to: 'C0123456', withinSeconds: 600, account: 'x' };
  const strangers = Array.from({ length: 50 }, (_, index) =>
    agentAction({ approve, startedBy: { question: ask(`stranger-${index}`), asksOthers: true } }),
  );
  const owner = agentAction();
  await Promise.all([...strangers, owner].map((run) => accept(run)));
  expect(await ended(owner)).toMatchObject({ outcome: 'ok' });
  await vi.waitFor(async () => {
    const refused = await storage.listRuns({ state: 'completed', limit: 99 });
    expect(refused.filter(({ lastError }) => lastError?.code === 'not_allowed')).toHaveLength(45);
    expect(people.messages).toHaveLength(5);
  }, WAIT);
  expect(github.requests).toHaveLength(50);
  expect(logged.filter(({ message }) => message.includes('is left out'))).toHaveLength(1);
  const waiting = await storage.listRuns({ state: 'queued', limit: 99 });
  expect(waiting.map(({ approval }) => approval?.decision)).toEqual(Array(5).fill(undefined));
  const [first] = waiting as readonly [RunRecord];
  await storage.decideApproval(first.id, { decision: 'approved', by: 'link', nowMs: Date.now() });
  gateway.notify();
  expect(await ended(first)).toMatchObject({ outcome: 'ok', approval: { decision: 'approved' } });
});

/** GitLab's interface, as https://docs.gitlab.com/api/members/ describes it. */
describe('GitLab', () => {
  const [gitlab] = shippedSenders().filter(({ name }) => name === 'gitlab');
  if (gitlab === undefined) throw new Error('there is no sender');
  const of = (parts: Readonly<Record<string, string>> = { project: '7', user: '42' }): StartQuestion => ({
    account: 'ann',
    wanted: 'write',
    sender: 'gitlab',
    parts,
  });
  const level = (access_level: number): PlatformReply => ({ status: 200, body: { id: 42, access_level } });
  const openGitlab = (reply: () => PlatformReply) =>
    open(reply, {}, (question, api) => askPermission(gitlab, question, { token: 'secret-token', api }));

  test.each<[string, PlatformReply, string | undefined]>([
    ['a developer', level(30), undefined],
    ['a maintainer', level(40), undefined],
    ['an owner', level(50), undefined],
    ['a planner', level(15), 'read'],
    ['a reporter', level(20), 'triage'],
    ['somebody with minimal access', level(5), 'no permission there'],
    ['a level that nobody knows', level(31), 'no permission there'],
    ['nobody', { status: 404, body: { message: '404 Not found' } }, 'no permission there'],
    ['a list', { status: 200, body: [{ access_level: 50 }] }, 'no permission there'],
  ])('of %s the answer decides', async (_who, reply, found) => {
    const { accept, ended, github: server } = await openGitlab(() => reply);
    const run = agentAction({ startedBy: { question: of() } });
    await accept(run);
    const { outcome, lastError } = await ended(run);
    if (found === undefined) expect(outcome).toBe('ok');
    else expect(lastError?.message).toContain(`write is wanted, and ann has ${found};`);
    expect(server.requests).toMatchObject([
      {
        method: 'GET',
        path: '/api/v4/projects/7/members/all/42',
        headers: { 'private-token': 'secret-token' },
      },
    ]);
  });

  test.each<[string, PlatformReply]>([
    ['401', { status: 401, body: {} }],
    ['403', { status: 403, body: {} }],
    ['429', { status: 429, body: {}, headers: { 'retry-after': '0' } }],
    ['500', { status: 500 }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['nothing', 'reset'],
  ])('%s decides nothing: the run waits, and goes on by itself', async (_what, first) => {
    let isWell = false;
    const { accept, ended, storage } = await openGitlab(() => (isWell ? level(30) : first));
    const run = agentAction({ startedBy: { question: of() } });
    await accept(run);
    await vi.waitFor(async () => {
      const found = await storage.findRun(run.id);
      expect(found).toMatchObject({ state: 'queued', attempts: 0, lastError: { code: 'not_asked' } });
      expect(found?.lastError?.message).not.toContain('secret-token');
    }, WAIT);
    isWell = true;
    expect(await ended(run)).toMatchObject({ outcome: 'ok' });
  });

  test('each name is one part of the path', async () => {
    const { accept, ended, github: server } = await openGitlab(() => ({ status: 404, body: {} }));
    const runs = [
      { project: 'a/../b', user: '%2e%2e/x?y#z' },
      { project: '..', user: '42' },
      { project: '7', user: '' },
    ];
    const actions = runs.map((parts) => agentAction({ startedBy: { question: of(parts) } }));
    await accept(...actions);
    for (const action of actions)
      expect((await ended(action)).lastError).toMatchObject({ code: 'not_allowed' });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v4/projects/a%2F..%2Fb/members/all/%252e%252e%2Fx%3Fy%23z',
    ]);
  });
});
