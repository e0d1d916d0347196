import { describe, expect, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import {
  createCommandRunner,
  createRunners,
  type Runner,
  type TurnResult,
} from '../../../src/service/runners/runners.ts';
import { dropEnding } from '../../../src/service/gateway/gateway.ts';
import { boundHistory } from '../../../src/service/gateway/run-turn.ts';
import {
  agentAction,
  answering,
  HeldRunner,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
} from '../../support/gateway-fixture.ts';
import { ALL_MAPPINGS } from '../../../src/engine/storage/facts.ts';
import { gatewaySettings } from '../../support/gateway-settings.ts';

const notStarted = { kind: 'not-started', code: 'refused', message: 'nobody there', final: false } as const;

function failing(outcome: 'error' | 'timeout', code: string): TurnResult {
  return { kind: 'completed', outcome, reply: '', error: { code, message: 'it went wrong' } };
}

describe('a run', () => {
  test('ends once, with its outcome, its reply and exactly one summary', async () => {
    const house = await openHouse();
    const action = agentAction({ message: 'hi', name: 'GitHub' });
    await house.accept(action);
    const ending = await house.gateway.waitForRun(action.id, 5000);
    expect(ending).toEqual({ runId: action.id, state: 'completed', outcome: 'ok', reply: 'hi' });
    expect(await house.storage.findRun(action.id)).toMatchObject({
      state: 'completed',
      reply: 'hi',
      attempts: 1,
    });
    expect(await house.events()).toEqual(['Hook GitHub: hi']);
    expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
  });

  test.each([
    ['error', 'exit_3', 'Hook Test (error): exit_3: it went wrong'],
    ['timeout', 'timeout', 'Hook Test (timeout): timeout: it went wrong'],
  ] as const)('that started is not repeated for its own %s', async (outcome, code, summary) => {
    const turns: number[] = [];
    const runner = answering((turn) => (turns.push(turn.attempt), failing(outcome, code)));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction({ deliver: true });
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome, error: { code } });
    expect(turns).toEqual([1]);
    expect(await house.events()).toEqual([summary]);
    expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
  });

  test('is performed again where its mapping says so, and posts nothing before its last end', async () => {
    const results = [failing('timeout', 'timeout'), failing('error', 'exit_3'), failing('error', 'refused')];
    const turns: number[] = [];
    const runner = answering(({ attempt }) => (turns.push(attempt), results[attempt - 1] ?? ok('done')));
    const house = await openHouse({ runners: { default: runner } });
    const retry = { on: ['timeout', 'exit'], attempts: 5, delaySeconds: 0.01 } as const;
    const action = agentAction({ retry, sessionKey: 'k', oneShot: false });
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ error: { code: 'refused' } });
    expect(turns).toEqual([1, 2, 3]);
    expect(await house.events()).toEqual(['Hook Test (error): refused: it went wrong']);
    expect(await house.storage.findRun(action.id)).toMatchObject({
      attempts: 3,
      earlier: [
        { attempts: 1, outcome: 'timeout' },
        { attempts: 2, outcome: 'error', error: { code: 'exit_3' } },
      ],
    });
  });

  test('begins only when somebody has approved it, who is asked with a link and a command', async () => {
    const turns: string[] = [];
    const runner = answering(({ runId }) => (turns.push(runId), ok('done')));
    const slack = new RecordingChannel('slack', 3_000);
    const house = await openHouse({
      runners: { default: runner },
      channels: [slack],
      approvalLink: ({ runId, expiresAt }) => `https://hooks.example.com/${runId}/${expiresAt}`,
    });
    const approve = { channel: 'slack', to: 'C1', withinSeconds: 60 };
    const message = 'May it begin?'.padEnd(2_000, 'x');
    const [good, also, bad] = [
      agentAction({ approve, message }),
      agentAction({ approve }),
      agentAction({ approve }),
    ];
    const soon = agentAction({ approve: { ...approve, withinSeconds: 0.3 } });
    await house.accept(good, also);
    await house.accept(bad);
    await house.accept(soon);
    await expect.poll(() => slack.texts.filter((text) => text.includes('Answer until')).length).toBe(3);
    expect(slack.messages[0]).toMatchObject({ to: 'C1', plain: true });
    const said = slack.texts.join('\n');
    // One question for the runs of one request, with what is left out before the boundary.
    expect(said.match(/asks whether/g)).toHaveLength(3);
    // Each in one message: a second one would be a sender's words without markers.
    expect(slack.texts).toHaveLength(3);
    expect(Math.max(...slack.texts.map((text) => text.length))).toBeLessThanOrEqual(1_500);
    expect(said).toMatch(/whether 2 runs may begin\.\n\nThis message shows [1-9]\d\d of 20\d\d letters/);
    expect(said).toMatch(
      new RegExp(
        `Read the rest before you answer: the page behind the link shows it.\\s+Answer until .*:\\nhttps://hooks\\.example\\.com/${good.id}/\\d+\\nsluice approve ${good.id}, or with --deny`,
      ),
    );
    expect(JSON.stringify(await house.storage.listOutbox({ limit: 9 }))).not.toContain('hooks.example.com');
    // What will not begin waits for nothing that others wait for.
    await house.storage.pauseRuns(ALL_MAPPINGS, Date.now());
    const answer = { by: 'command', nowMs: Date.now() } as const;
    await house.storage.decideApproval(good.id, { ...answer, decision: 'approved' });
    await house.storage.decideApproval(bad.id, { ...answer, decision: 'denied' });
    house.gateway.notify();
    expect(await house.gateway.waitForRun(bad.id, 5000)).toMatchObject({
      state: 'dead',
      error: { code: 'denied', message: 'the run was denied (by command)' },
    });
    expect(await house.gateway.waitForRun(soon.id, 5000)).toMatchObject({
      state: 'dead',
      error: { code: 'not_approved' },
    });
    expect(turns).toEqual([]);
    await house.storage.resumeRuns(ALL_MAPPINGS);
    expect(await house.gateway.waitForRun(good.id, 5000)).toMatchObject({ outcome: 'ok' });
    expect(await house.gateway.waitForRun(also.id, 5000)).toMatchObject({ outcome: 'ok' });
    expect(turns.toSorted()).toEqual([good.id, also.id].toSorted());
    expect(await house.events()).toContain('Hook Test (dead): not_approved: nobody approved the run in time');
    expect(JSON.stringify(house.logged)).not.toContain('hooks.example.com');
  });

  test('is given up after the attempts that its mapping allows', async () => {
    const turns: number[] = [];
    const runner = answering((turn) => (turns.push(turn.attempt), failing('error', 'exit_3')));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction({ retry: { on: ['exit'], attempts: 2, delaySeconds: 0.01 } });
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome: 'error' });
    expect(turns).toEqual([1, 2]);
  });

  test("shows a command's own last words in its record only", async () => {
    const error = { code: 'exit_1', message: 'the command exited with code 1\nAPI_KEY=secret' };
    const runner = answering(() => ({ kind: 'completed', outcome: 'error', reply: 'half', error }));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction({ callbackUrl: 'http://127.0.0.1:9/' });
    await house.accept(action);
    const shown = { code: 'exit_1', message: 'the command exited with code 1' };
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ error: shown });
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ error: shown });
    expect(await house.storage.findRun(action.id)).toMatchObject({ lastError: error });
    expect(await house.events()).toEqual(['Hook Test (error): exit_1: the command exited with code 1\nhalf']);
    const [callback] = await house.storage.listOutbox({ limit: 1 });
    expect(JSON.stringify([callback, house.logged])).not.toContain('secret');
  });

  test('is not repeated when its runner throws', async () => {
    let turns = 0;
    const runner: Runner = {
      kind: 'broken',
      run: () => {
        turns += 1;
        return Promise.reject(new Error('secret words of a payload'));
      },
    };
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction();
    await house.accept(action);
    const ending = await house.gateway.waitForRun(action.id, 5000);
    expect(ending).toMatchObject({ outcome: 'error', error: { code: 'runner_failed' } });
    expect(turns).toBe(1);
    expect(JSON.stringify(house.logged)).not.toContain('secret words');
  });

  test('that did not start is tried three times, then dead with the last error', async () => {
    const turns: number[] = [];
    const runner = answering((turn) => (turns.push(turn.attempt), notStarted));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ state: 'dead' });
    expect(turns).toEqual([1, 2, 3]);
    expect(await house.storage.findRun(action.id)).toMatchObject({
      state: 'dead',
      lastError: { code: 'refused', message: 'nobody there' },
    });
    expect(await house.events()).toEqual(['Hook Test (dead): refused: nobody there']);
  });

  test('that did not start at first completes with one summary', async () => {
    const runner = answering((turn) => (turn.attempt < 3 ? notStarted : ok('at last')));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({
      outcome: 'ok',
      reply: 'at last',
    });
    expect(await house.events()).toEqual(['Hook Test: at last']);
  });

  test('is dead at once where repeating cannot help', async () => {
    const runner = answering(() => ({ ...notStarted, final: true }));
    const house = await openHouse({ runners: { default: runner } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ state: 'dead' });
    expect(await house.storage.findRun(action.id)).toMatchObject({ attempts: 1 });
  });

  test('fails its attempt while its runner has gone, and goes on when a reload brings it back', async () => {
    const retry = { runs: { maxAttempts: 3, baseMs: 600, factor: 1, maxMs: 600 } };
    const house = await openHouse({ options: { retry } });
    const action = agentAction({ runner: 'gone' });
    await house.accept(action);
    await expect
      .poll(async () => (await house.storage.findRun(action.id))?.lastError?.code)
      .toBe('not_configured');
    const runners = new Map([...house.configuration.runners, ['gone', answering(() => ok('back'))]]);
    house.gateway.reconfigure({ ...house.configuration, runners });
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome: 'ok', reply: 'back' });
  });

  test('takes model and time limit from the defaults where it has none of its own', async () => {
    const held = new HeldRunner();
    const agents = { model: 'local/default', timeoutSeconds: 7 };
    const house = await openHouse({ runners: { default: held }, agents });
    await house.accept(agentAction({ message: 'a' }));
    await house.accept(
      agentAction({ message: 'b', model: 'local/own', thinking: 'low', timeoutSeconds: 1.5 }),
    );
    await expect.poll(() => held.started.length).toBe(2);
    expect(
      held.started.map(({ model, thinking, timeoutSeconds }) => [model, thinking, timeoutSeconds]),
    ).toEqual([
      ['local/default', undefined, 7],
      ['local/own', 'low', 1.5],
    ]);
  });

  test('that the operator drops is no longer waited for', async () => {
    const house = await openHouse({ runners: { default: new HeldRunner() }, gateway: { maxRuns: 1 } });
    const [first, second] = [agentAction({ message: 'a' }), agentAction({ message: 'b' })];
    await house.accept(first);
    await house.accept(second);
    const waiting = house.gateway.waitForRun(second.id, 5_000);
    const nowMs = Date.now();
    const drop = { kind: 'ids', ids: [second.id] } as const;
    expect(await house.storage.drop(drop, nowMs, (run) => dropEnding(run, nowMs))).toBe(1);
    expect(await waiting).toMatchObject({ outcome: 'error', error: { code: 'dropped' } });
  });

  test('keeps a summary of at most 2,000 characters of name and text', async () => {
    const house = await openHouse();
    const action = agentAction({ message: '😀'.repeat(3000), name: 'long' });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5000);
    const [summary = ''] = await house.events();
    expect(summary).toMatch(/^Hook long: 😀/);
    expect(summary.length).toBeLessThanOrEqual(2_100);
    expect(summary.isWellFormed()).toBe(true);
  });

  test('is called by its mapping in the summary where it has no name of its own', async () => {
    const house = await openHouse();
    const origin = { requestId: 'r', path: 'ci', mappingId: 'build-failed', trusted: false };
    const action = agentAction({ message: 'x', name: 'Hook', origin });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5000);
    expect(await house.events()).toEqual([expect.stringMatching(/^Hook build-failed: /)]);
  });

  test('asks for a heartbeat exactly where its wake mode is now', async () => {
    const held = new HeldRunner();
    const gateway = {
      heartbeat: {
        everySeconds: 0,
        instructions: '',
        runner: 'held',
      },
    };
    const house = await openHouse({ runners: { held }, gateway });
    const later = agentAction({ message: 'later', wakeMode: 'next-heartbeat' });
    await house.accept(later);
    await house.gateway.waitForRun(later.id, 5000);
    expect(await house.storage.heartbeatRequested()).toBe(false);
    const now = agentAction({ message: 'now', wakeMode: 'now' });
    await house.accept(now);
    await house.gateway.waitForRun(now.id, 5000);
    await expect.poll(() => held.started.length).toBe(1);
    expect(held.started[0]?.message).toBe('Hook Test: later\nHook Test: now');
  });
});

test('a run takes no longer than the configuration allows, whatever it asks for', async () => {
  const asked: number[] = [];
  const runner = answering((turn) => {
    asked.push(turn.timeoutSeconds);
    return ok('');
  });
  const house = await openHouse({ runners: { default: runner } });
  for (const timeoutSeconds of [1e9, 60]) {
    const action = agentAction({ timeoutSeconds });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5_000);
  }
  expect(asked).toEqual([3600, 60]);
});

test('the configured runners are made by name, each of its kind', () => {
  const common = { prompt: 'stdin', env: {}, passEnv: [], retryExitCodes: [], maxReplyBytes: 1000 } as const;
  const settings = gatewaySettings({
    runners: {
      echo: { kind: 'echo' },
      cat: { kind: 'command', argv: ['cat'], ...common },
      local: { kind: 'model', providers: {} },
      other: { kind: 'forward', forwardSummaries: false, url: 'http://127.0.0.1:9', token: 'secret' },
    },
  });
  const agents = {
    defaults: {
      model: undefined,
      models: undefined,
      aliases: {},
      timeoutSeconds: 1,
      maxTimeoutSeconds: 3600,
    },
  };
  const runners = createRunners({ gateway: settings, agents }, {});
  expect([...runners].map(([name, { kind }]) => [name, kind])).toEqual([
    ['echo', 'echo'],
    ['cat', 'command'],
    ['local', 'model'],
    ['other', 'forward'],
  ]);
});

describe('order and fairness', () => {
  test('one run per session key at a time, in arrival order', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    const messages = ['1', '2', '3', '4'];
    for (const message of messages) await house.accept(agentAction({ message, sessionKey: 'hook:same' }));
    for (const [index, message] of messages.entries()) {
      await expect.poll(() => held.messages).toEqual(messages.slice(0, index + 1));
      held.finish(message);
    }
    await expect.poll(() => house.events()).toHaveLength(4);
  });

  test('a slow key delays nobody else, and no more than maxRuns run at once', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held }, gateway: { maxRuns: 2 } });
    await house.accept(agentAction({ message: 'slow', sessionKey: 'hook:slow' }));
    await house.accept(agentAction({ message: 'behind', sessionKey: 'hook:slow' }));
    for (const message of ['a', 'b', 'c']) await house.accept(agentAction({ message }));
    for (const message of ['a', 'b', 'c']) {
      await expect.poll(() => held.messages.at(-1)).toBe(message);
      expect(await house.storage.listRuns({ state: 'active', limit: 9 })).toHaveLength(2);
      held.finish(message);
    }
    expect(held.messages).toEqual(['slow', 'a', 'b', 'c']);
    held.finish('slow');
    await expect.poll(() => held.messages.at(-1)).toBe('behind');
  });

  test('while a head waits for its retry, later runs of the key overtake', async () => {
    const order: string[] = [];
    const runner = answering((turn) => {
      order.push(`${turn.message}${turn.attempt}`);
      return turn.message === 'head' && turn.attempt === 1 ? notStarted : ok('done');
    });
    const retry = { runs: { maxAttempts: 3, baseMs: 400, factor: 1, maxMs: 400 } };
    const house = await openHouse({ runners: { default: runner }, options: { retry } });
    const head = agentAction({ message: 'head', sessionKey: 'hook:k' });
    await house.accept(head, agentAction({ message: 'later', sessionKey: 'hook:k' }));
    await house.gateway.waitForRun(head.id, 5000);
    expect(order).toEqual(['head1', 'later1', 'head2']);
  });

  test('limits hold per mapping and per runner', async () => {
    const held = new HeldRunner();
    const few = new HeldRunner();
    const house = await openHouse({
      runners: { default: held, few },
      runnerSettings: { few: { kind: 'echo', maxRuns: 1 } },
      gateway: { maxRuns: 8 },
      limits: { default: { maxRuns: { runs: 2, isKeyed: false } }, byMapping: new Map() },
    });
    const origin = (mappingId: string) => ({ requestId: 'r', path: 'p', mappingId, trusted: false });
    for (const message of ['1', '2', '3'])
      await house.accept(agentAction({ message, origin: origin('busy') }));
    for (const message of ['x', 'y'])
      await house.accept(agentAction({ message, runner: 'few', origin: origin(message) }));
    await house.accept(agentAction({ message: 'other', origin: origin('other') }));
    await expect.poll(() => held.messages).toEqual(['1', '2', 'other']);
    await expect.poll(() => few.messages).toEqual(['x']);
    held.finish('1');
    few.finish('x');
    await expect.poll(() => held.messages.at(-1)).toBe('3');
    await expect.poll(() => few.messages).toEqual(['x', 'y']);
  });

  test('runs that name the default runner share its limit with those that name none', async () => {
    const held = new HeldRunner();
    const runnerSettings = { default: { kind: 'echo', maxRuns: 1 } } as const;
    const house = await openHouse({ runners: { default: held }, runnerSettings });
    await house.accept(agentAction({ message: 'a' }), agentAction({ message: 'b', runner: 'default' }));
    await expect.poll(() => held.messages).toEqual(['a']);
    expect(await house.storage.listRuns({ state: 'active', limit: 9 })).toHaveLength(1);
    held.finish('a');
    await expect.poll(() => held.messages).toEqual(['a', 'b']);
  });

  test('a hundred runs over ten keys: each key in order, one summary each', async () => {
    const seen = new Map<string, string[]>();
    const runner = answering((turn) => {
      seen.set(turn.sessionKey, [...(seen.get(turn.sessionKey) ?? []), turn.message]);
      return ok(turn.message);
    });
    const house = await openHouse({ runners: { default: runner }, gateway: { maxRuns: 8 } });
    for (let round = 0; round < 10; round += 1) {
      const keys = Array.from({ length: 10 }, (_, key) => `hook:${key}`);
      await house.accept(...keys.map((sessionKey) => agentAction({ message: `m${round}`, sessionKey })));
    }
    await expect.poll(() => house.events()).toHaveLength(100);
    for (const messages of seen.values()) {
      expect(messages).toEqual(Array.from({ length: 10 }, (_, round) => `m${round}`));
    }
    expect(seen.size).toBe(10);
  });
});

describe('a session', () => {
  test('goes on with the same key: the next turn gets prompt and reply of the earlier ones', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    for (const message of ['one', 'two']) {
      await house.accept(
        agentAction({ message, sessionKey: 'hook:talk', prompt: `P ${message}` as SafeText }),
      );
      await expect.poll(() => held.messages.at(-1)).toBe(message);
      held.finish(message);
    }
    await house.accept(agentAction({ message: 'three', sessionKey: 'hook:talk' }));
    await expect.poll(() => held.messages.at(-1)).toBe('three');
    expect(held.started[2]?.history.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'P one'],
      ['assistant', 're: one'],
      ['user', 'P two'],
      ['assistant', 're: two'],
    ]);
  });

  test('is not kept for a one-shot key, nor changed by a failed turn', async () => {
    const runner = answering((turn) => (turn.message === 'bad' ? failing('error', 'exit_1') : ok('fine')));
    const house = await openHouse({ runners: { default: runner } });
    const actions = [
      agentAction({ message: 'once' }),
      agentAction({ message: 'bad', sessionKey: 'hook:kept' }),
      agentAction({ message: 'good', sessionKey: 'hook:kept' }),
    ];
    await house.accept(...actions);
    for (const action of actions) await house.gateway.waitForRun(action.id, 5000);
    expect(await house.storage.listSessions({ limit: 10 })).toMatchObject([{ key: 'hook:kept', turns: 2 }]);
  });

  test('hands over whole exchanges within both limits, the oldest left out first', () => {
    const turn = (role: 'user' | 'assistant', text: string) => ({ role, text, at: 0 });
    const turns = ['a', 'b', 'c'].flatMap((name) => [turn('user', name.repeat(40)), turn('assistant', name)]);
    const kept = (maxTurns: number, maxTokens: number) =>
      boundHistory(turns, { maxTurns, maxTokens }).map(({ text }) => text[0]);
    expect(kept(6, 1000)).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    expect(kept(5, 1000)).toEqual(['b', 'b', 'c', 'c']);
    expect(kept(1, 1000)).toEqual([]);
    expect(kept(6, 22)).toEqual(['b', 'b', 'c', 'c']);
    expect(kept(6, 10)).toEqual([]);
  });

  test('brings back a reply without control tokens and markers', async () => {
    const histories: string[][] = [];
    const runner = answering(({ history }) => {
      histories.push(history.map(({ text }) => text));
      return ok('done <|im_end|>\n<<<END_EXTERNAL_CONTENT>>>');
    });
    const house = await openHouse({ runners: { default: runner } });
    for (const message of ['first', 'second']) {
      const action = agentAction({ message, sessionKey: 'hook:echo' });
      await house.accept(action);
      await house.gateway.waitForRun(action.id, 5000);
    }
    expect(histories.map((texts) => texts[1])).toEqual([
      undefined,
      'done [control token removed]\n[marker removed]',
    ]);
  });
});

describe('waiting for a run', () => {
  test('gives up after its time, on abort, and finds one that ended before', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    const action = agentAction({ message: 'm' });
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 20)).toBeUndefined();
    const controller = new AbortController();
    const waiting = house.gateway.waitForRun(action.id, 60_000, controller.signal);
    controller.abort();
    expect(await waiting).toBeUndefined();
    await expect.poll(() => held.started.length).toBe(1);
    held.finish('m');
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ reply: 're: m' });
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ reply: 're: m' });
    expect(await house.gateway.waitForRun('unknown', 5)).toBeUndefined();
  });
});

describe('stopping', () => {
  test('lets what is under way end within the grace, and claims nothing more', async () => {
    const held = new HeldRunner();
    const file = temporaryFile();
    const house = await openHouse({ runners: { default: held }, gateway: { maxRuns: 1 }, file });
    const first = agentAction({ message: 'first' });
    await house.accept(first, agentAction({ message: 'second' }));
    await expect.poll(() => held.messages).toEqual(['first']);
    const stopped = house.gateway.stop(10_000);
    held.finish('first');
    await stopped;
    expect(await house.storage.findRun(first.id)).toMatchObject({ state: 'completed', outcome: 'ok' });
    expect(held.messages).toEqual(['first']);
    expect(await house.storage.backlog()).toMatchObject({ queuedRuns: 1, activeRuns: 0 });
  });

  test('after the grace ends runs, records them as interrupted and puts them back', async () => {
    const house = await openHouse({
      runners: {
        default: createCommandRunner(
          {
            kind: 'command',
            argv: ['sleep', '60'],
            prompt: 'stdin',
            env: {},
            passEnv: [],
            retryExitCodes: [],
            maxReplyBytes: 1000,
          },
          process.env,
        ),
      },
    });
    const action = agentAction();
    await house.accept(action);
    await expect.poll(async () => (await house.storage.findRun(action.id))?.process).toBeDefined();
    await house.gateway.stop(50);
    expect(await house.storage.findRun(action.id)).toMatchObject({
      state: 'queued',
      // An orderly stop counts no attempt.
      attempts: 0,
      lastError: { code: 'interrupted' },
    });
    expect(await house.events()).toEqual([]);
  });

  test('a second stop ends the grace of the first', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    await house.accept(agentAction());
    await expect.poll(() => held.started.length).toBe(1);
    const stopped = house.gateway.stop(60_000);
    await house.gateway.stop(0);
    await stopped;
  });
});

describe('time', () => {
  test('a clock that is set back, or forward and back, stalls nothing', async () => {
    let offsetMs = 0;
    const clock = { wallMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() };
    const runner = answering((turn) => {
      offsetMs += turn.attempt === 1 ? -3_600_000 : 7_200_000;
      return turn.attempt < 3 ? notStarted : ok('done');
    });
    const house = await openHouse({ runners: { default: runner }, options: { clock } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome: 'ok' });
    offsetMs -= 10_000_000;
    const later = agentAction();
    await house.accept(later);
    expect(await house.gateway.waitForRun(later.id, 5000)).toMatchObject({ outcome: 'ok' });
  });

  test('work stored by a clock that ran ahead before a restart is not parked', async () => {
    const file = temporaryFile();
    const aheadMs = 86_400_000;
    const clock = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
    const before = await openHouse({
      file,
      runners: { default: answering(() => notStarted) },
      options: { clock, retry: {} },
    });
    const action = agentAction();
    await before.accept(action);
    await expect.poll(async () => (await before.storage.findRun(action.id))?.lastError?.code).toBe('refused');
    await before.gateway.stop(0);
    await before.storage.close();
    const after = await openHouse({ file });
    expect(await after.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome: 'ok' });
  });
});

describe('a debounce', () => {
  test('of more than an hour is waited for', async () => {
    const house = await openHouse({ runners: { default: answering(() => ok('done')) } });
    const debounce = { key: 'k', seconds: 7200, maxSeconds: 72_000, nonce: '0123456789abcdef' };
    const origin = { requestId: 'r', path: 'p', mappingId: 'm', trusted: false };
    const gathering = agentAction({ debounce, origin });
    await house.accept(gathering);
    expect(await house.gateway.waitForRun(gathering.id, 1200)).toBeUndefined();
    const other = agentAction();
    await house.accept(other);
    expect(await house.gateway.waitForRun(other.id, 5000)).toMatchObject({ outcome: 'ok' });
    expect(await house.storage.findRun(gathering.id)).toMatchObject({ state: 'queued', attempts: 0 });
  });
});

describe('the summary of a run', () => {
  const failing: TurnResult = {
    kind: 'completed',
    outcome: 'error',
    reply: '',
    error: { code: 'exit_1', message: 'the command exited with code 1' },
  };

  test('says that a reply is sent, so that the main session leaves it', async () => {
    const house = await openHouse({ channels: [{ channel: new RecordingChannel('telegram'), to: '1' }] });
    const action = agentAction({ deliver: true, channel: 'telegram', name: 'Deploy' });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5_000);
    expect(await house.events()).toEqual([
      'Hook Deploy: hello (its reply is sent to telegram: nothing is left to do)',
    ]);
  });

  test('is left out where only failures are wanted, or none, and nothing wakes the main session', async () => {
    const turns: string[] = [];
    const runner = answering((turn) => {
      turns.push(turn.kind);
      return turn.message === 'bad' ? failing : ok('fine');
    });
    const house = await openHouse({ runners: { default: runner } });
    const actions = [
      agentAction({ summary: 'failures', wakeMode: 'now' }),
      agentAction({ summary: 'never', message: 'bad', wakeMode: 'now' }),
      agentAction({ summary: 'never', wakeMode: 'now' }),
    ];
    await house.accept(...actions);
    for (const { id } of actions) await house.gateway.waitForRun(id, 5_000);
    expect(await house.storage.heartbeatRequested()).toBe(false);
    expect(await house.events()).toEqual([]);
    const bad = agentAction({ summary: 'failures', message: 'bad' });
    await house.accept(bad);
    await house.gateway.waitForRun(bad.id, 5_000);
    expect(await house.events()).toEqual(['Hook Test (error): exit_1: the command exited with code 1']);
    expect(turns.filter((kind) => kind === 'heartbeat')).toEqual([]);
  });
});
