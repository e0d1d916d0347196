import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { defined } from '../../../src/base/json.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { createCommandRunner } from '../../../src/service/runners/runners.ts';
import {
  agentAction,
  answering,
  HeldRunner,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
} from '../../support/gateway-fixture.ts';

const child = fileURLToPath(new URL('../../support/gateway-crash-child.ts', import.meta.url));

/** Pids of processes that have a word among their arguments and have not ended. */
function alive(word: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const isZombie = readFileSync(`/proc/${name}/stat`, 'latin1').includes(') Z ');
      return !isZombie && readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

/** Folders with a turn's files. */
function workspaces(runId: string | undefined): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-run-${runId}-`));
}

test('a killed gateway leaves nothing behind: processes ended, runs and events taken up, chunks not repeated', async () => {
  const file = temporaryFile();
  const seconds = String(3_000_000 + process.pid);
  const killed = spawn(process.execPath, [child, file, seconds], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void killed.kill('SIGKILL'));
  let printed = '';
  killed.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  // One run and one heartbeat with two sleeping processes each, and a delivery in its second chunk.
  await expect.poll(() => alive(seconds).length, { interval: 200 }).toBeGreaterThanOrEqual(4);
  await expect.poll(() => printed.split('\n').length).toBe(3);
  const beside = await openStorage(`sqlite:${file}`, { mode: 'attached' });
  const claimed = await beside.listEvents({ state: 'claimed', limit: 10 });
  await beside.close();
  killed.kill('SIGKILL');
  await new Promise((resolve) => killed.once('exit', resolve));
  expect(alive(seconds).length).toBeGreaterThanOrEqual(4);
  expect(workspaces(claimed[0]?.turnId)).toHaveLength(1);

  const held = new HeldRunner();
  const channel = new RecordingChannel('telegram', 12);
  const house = await openHouse({
    file,
    runners: { default: held, hang: held },
    channels: [channel],
  });
  // The interrupted run comes first in its key again, and the turn keeps its id.
  await expect.poll(() => held.started.length).toBe(2);
  expect(alive(seconds)).toEqual([]);
  const run = held.started.find((turn) => turn.kind === 'hook');
  const heartbeat = held.started.find((turn) => turn.kind === 'heartbeat');
  expect([run, heartbeat].flatMap((turn) => workspaces(turn?.runId))).toEqual([]);
  expect(run).toMatchObject({ name: 'Interrupted', attempt: 2 });
  expect(new Set(claimed.map((event) => event.turnId))).toEqual(new Set([heartbeat?.runId]));
  expect(heartbeat?.message.split('\n').toSorted()).toEqual(claimed.map((event) => event.text).toSorted());
  expect(await house.storage.findRun(run?.runId ?? '')).toMatchObject({ attempts: 2 });

  held.finish(heartbeat?.message ?? '', ok('HEARTBEAT_OK'));
  held.finish('hello');
  await expect.poll(() => held.started.at(-1)?.name).toBe('Behind');
  held.finish('hello');
  await expect.poll(() => house.counted.outbox['sent']).toBe(1);
  expect(channel.texts[0]).toBe(printed.split('\n')[1]?.replace('chunk ', ''));
  expect(printed.split('\n')[0]?.replace('chunk ', '')).toBe('first chunk');
  const summaries = (await house.events()).filter((text) => text !== 'woken');
  expect(summaries.toSorted()).toEqual([
    'Hook Behind: re: hello',
    'Hook Delivered: first chunk second one third one (its reply is sent to telegram: nothing is left to do)',
    'Hook Interrupted: re: hello',
  ]);
});

const AGENT = {
  kind: 'agent',
  agent: 'claude',
  command: 'claude',
  argv: [],
  sessions: '/nowhere',
  env: {},
  passEnv: [],
  maxReplyBytes: 1_000,
} as const;
const MARK = { pgid: 999_999_999, startTicks: '1' };
const WAS_UNDER_WAY = 'the run was under way when the service ended; it may have acted';

/** A store as a killed service leaves it: the first of two runs of a conversation was under way. */
async function afterKill(
  afterCrash: 'again' | 'never' | 'never, as 0.2.0 stored it' | undefined,
  {
    access,
    isOnRecord,
  }: { readonly access: 'read' | 'edit' | 'full' | undefined; readonly isOnRecord: boolean },
) {
  const file = temporaryFile();
  const storage = await openStorage(`sqlite:${file}`);
  const isOld = afterCrash === 'never, as 0.2.0 stored it';
  const written = isOld ? { afterCrash: 'never' as const } : { retry: defined({ afterCrash }) };
  const change = { sessionKey: 'k', ...written };
  const runs = ['first', 'second'].map((message) => agentAction({ ...change, message }));
  await storage.accept({ requestId: 'r', receivedAt: Date.now(), actions: runs, warnings: [] });
  const [claimed] = await storage.claimRuns({ nowMs: Date.now(), limit: 1 });
  if (isOnRecord) await storage.recordProcess(claimed?.id ?? '', MARK);
  await storage.close();
  const [told, performed]: [RecordingChannel, string[]] = [new RecordingChannel('telegram'), []];
  const runner = answering((turn) => {
    performed.push(turn.message);
    return ok('done');
  });
  const house = await openHouse({
    file,
    channels: [told],
    runners: { default: runner },
    gateway: { alerts: { channel: 'telegram', to: '1', after: 5, replies: false } },
    ...(access === undefined ? {} : { runnerSettings: { default: { ...AGENT, access } } }),
  });
  expect(await house.gateway.waitForRun(runs[1]?.id ?? '', 10_000)).toMatchObject({ outcome: 'ok' });
  return { house, performed, told, first: runs[0]?.id ?? '' };
}

test.each([
  [undefined, 'edit', true],
  [undefined, 'full', true],
  ['never', 'read', true],
  ['never', undefined, true],
  ['never', undefined, false],
  ['never, as 0.2.0 stored it', 'read', true],
] as const)(
  'a run is begun once where its agent may change things, or its mapping says so (%s, %s)',
  async (afterCrash, access, isOnRecord) => {
    const { house, performed, told, first } = await afterKill(afterCrash, { access, isOnRecord });
    expect(performed).toEqual(['second']);
    const cost = access === undefined ? '' : '; what it cost is not known';
    expect(await house.storage.findRun(first)).toMatchObject({
      state: 'dead',
      attempts: 1,
      lastError: { code: 'interrupted', message: `${WAS_UNDER_WAY}${cost}` },
    });
    const by = '; sluice queue retry with its runId begins it again';
    expect(house.logged).toContainEqual(expect.objectContaining({ message: `run given up${by}` }));
    expect(await house.events()).toContainEqual(`Hook Test (dead): interrupted: ${WAS_UNDER_WAY}${cost}`);
    await expect.poll(() => told.texts.length).toBeGreaterThan(0);
    const alerts = told.messages.filter(({ text }) => text.includes('interrupted'));
    expect(alerts.map(({ text }) => text.slice(0, 100)).length).toBe(1);
    if (access !== undefined)
      expect(await house.storage.listCosts({ limit: 9 })).toMatchObject([{ turns: 1, costUnknown: 1 }]);
    expect(await house.storage.retry({ kind: 'ids', ids: [first] }, Date.now())).toBe(1);
    house.gateway.notify();
    await expect.poll(() => performed).toEqual(['second', 'first']);
  },
);

test.each([
  [undefined, 'read', true, 2],
  ['again', 'full', true, 2],
  [undefined, undefined, false, 2],
  // Its prompt was not handed over, so it had not begun.
  [undefined, 'edit', false, 1],
] as const)(
  'a run is begun again where that does no harm, or its mapping says so (%s, %s, on record: %s)',
  async (afterCrash, access, isOnRecord, attempts) => {
    const { house, performed, told, first } = await afterKill(afterCrash, { access, isOnRecord });
    expect(performed).toEqual(['first', 'second']);
    expect(await house.storage.findRun(first)).toMatchObject({ outcome: 'ok', attempts });
    expect(told.texts).toEqual([]);
  },
);

test('a stop that cuts off a turn which is begun once ends it, and one whose process cannot be stored does not begin', async () => {
  const file = temporaryFile();
  const held = new HeldRunner();
  const runnerSettings = { default: { ...AGENT, access: 'edit' } as const };
  const house = await openHouse({ file, runners: { default: held }, runnerSettings });
  const [run, next] = ['first', 'second'].map((message) => agentAction({ message, sessionKey: 'k' }));
  await house.accept(run!, next!);
  await expect.poll(() => held.messages).toEqual(['first']);
  await house.gateway.stop(0);
  expect(await house.storage.findRun(run!.id)).toMatchObject({
    state: 'dead',
    lastError: { code: 'interrupted', message: WAS_UNDER_WAY },
  });
  expect(await house.storage.findRun(next!.id)).toMatchObject({ state: 'queued', attempts: 0 });
  const command = createCommandRunner(
    {
      kind: 'command',
      argv: ['sh', '-c', 'cat; echo acted'],
      prompt: 'stdin',
      env: {},
      passEnv: [],
      retryExitCodes: [],
      maxReplyBytes: 99,
    },
    process.env,
  );
  const turn = { ...held.started[0]!, runId: 'unrecorded' };
  const onProcess = () => Promise.reject(new Error('disk full'));
  expect(await command.run(turn, { signal: new AbortController().signal, onProcess })).toMatchObject({
    kind: 'not-started',
    code: 'storage_unavailable',
  });
});

test.each([
  ['looks what is due', 'nextDueAt', 'claimRuns'],
  ['takes over what others left', 'takeOver', 'listEvents'],
] as const)('a service that loses its lease while it %s begins nothing', async (_name, question, next) => {
  const storage = await openStorage(`sqlite:${temporaryFile()}`, { fsync: false });
  onTestFinished(() => storage.close());
  const asked: string[] = [];
  const lost: ((isHeld: boolean) => void)[] = [];
  const lease = {
    id: 'a',
    isHeld: true,
    lookEveryMs: 1000,
    onChange: (listener: (isHeld: boolean) => void) => void lost.push(listener),
    onOtherLeft: () => {},
  };
  const losing = (name: 'nextDueAt' | 'takeOver') => async () => {
    const answer = await storage[name]();
    if (name === question) lease.isHeld = false;
    if (name === question) for (const tell of lost) tell(false);
    return answer as never;
  };
  const noted = (name: 'claimRuns' | 'listEvents') => (options: never) => {
    asked.push(name);
    return storage[name](options) as never;
  };
  const { gateway } = await openHouse({
    start: false,
    options: {
      storage: {
        ...storage,
        lease,
        nextDueAt: losing('nextDueAt'),
        takeOver: losing('takeOver'),
        claimRuns: noted('claimRuns'),
        listEvents: noted('listEvents'),
      },
    },
  });
  const actions = [agentAction()];
  await storage.accept({ requestId: 'r', receivedAt: Date.now(), actions, warnings: [] });
  await gateway.start();
  await expect.poll(() => lease.isHeld).toBe(false);
  await gateway.stop(0);
  expect(asked).not.toContain(next);
});
