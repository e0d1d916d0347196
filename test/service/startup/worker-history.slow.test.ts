/** What workers and receivers write while workers, services, database and network are ended, and the judge of it. */
import { expect, test } from 'vitest';
import { judgeWorkers, type TurnLine, type WorkerHistory } from '../../support/worker-history.ts';
import { workerTorture } from '../../support/worker-torture.ts';

const accept = (runId: string, lane: string) => ({ message: runId, runId, lane });
const turn = (
  kind: TurnLine['kind'],
  runId: string,
  at: number,
  worker = 'w0',
  pid = `${runId}${worker}`,
) => ({
  kind,
  runId,
  worker,
  pid,
  at,
});
const end = (
  runId: string,
  type: 'run.completed' | 'run.dead' = 'run.completed',
  id = `${runId}${type}`,
) => ({
  id,
  runId,
  type,
  outcome: type === 'run.dead' ? 'dead' : 'ok',
});
const BLOW = { worker: 'w1', at: 20_500 };
/** Three of one conversation, of which the second began again after a blow at its worker; and one that must not. */
const RIGHT: WorkerHistory = {
  accepted: [accept('a', 'k'), accept('b', 'k'), accept('c', 'k'), accept('n', 'never')],
  turns: [
    turn('begin', 'a', 10_000),
    turn('end', 'a', 11_000),
    turn('begin', 'b', 20_000, 'w1'),
    turn('begin', 'n', 20_100, 'w1'),
    turn('begin', 'b', 30_000),
    turn('end', 'b', 31_000),
    turn('begin', 'c', 32_000),
    turn('end', 'c', 33_000),
  ],
  // A callback comes again where its answer was lost.
  ends: [end('a'), end('a'), end('b'), end('c'), end('n', 'run.dead')],
  blows: [BLOW],
  never: new Set(['never']),
};

test('nothing is said of what was right', () => {
  expect(judgeWorkers(RIGHT)).toEqual([]);
  // Its worker slept, and its end came late.
  const late = [...RIGHT.ends, end('n')];
  expect(
    judgeWorkers({ ...RIGHT, turns: [...RIGHT.turns, turn('end', 'n', 40_000, 'w1')], ends: late }),
  ).toEqual([]);
});

const { turns, ends } = RIGHT;
test.each<[string, Partial<WorkerHistory>]>([
  ['lost: c was accepted and has no end', { ends: ends.filter(({ runId }) => runId !== 'c') }],
  ['lost: a ended without a turn', { turns: turns.filter(({ runId }) => runId !== 'a') }],
  ['lost: a failed', { ends: ends.map((one) => (one.runId === 'a' ? { ...one, outcome: 'error' } : one)) }],
  ['lost: n was given up', { blows: [{ worker: 'w1', at: 90_000 }] }],
  ['doubled: a ended 2 times', { ends: [...ends, end('a', 'run.completed', 'another')] }],
  ['doubled: x was performed', { turns: [...turns, turn('begin', 'x', 50_000)] }],
  ['repeated: b, though nothing happened to w1', { blows: [{ worker: 'w0', at: 20_500 }] }],
  ['repeated: n began 2 times', { turns: [...turns, turn('begin', 'n', 40_000)] }],
  ['not repeated: b was given up after 2', { ends: [...ends, end('b', 'run.dead')] }],
  [
    'out of order: b before a',
    { turns: turns.map((line) => (line.runId === 'a' ? { ...line, at: line.at + 30_000 } : line)) },
  ],
  ['side by side: b and a', { turns: turns.filter(({ kind, runId }) => kind === 'begin' || runId !== 'a') }],
])('finds what was put in: %s', (fault, part) => {
  expect(judgeWorkers({ ...RIGHT, ...part }).join('\n')).toContain(fault);
});

// The long form is test/lab/endurance/workers.test.ts, on SQLite, too: workers.slow has its blows one by one.
test('a blow of each kind loses nothing, doubles nothing and keeps every order', async () => {
  const report = await workerTorture({
    store: 'postgres',
    workers: 2,
    blows: 5,
    longBlows: 0,
    seed: 48,
    everyMs: 500,
    drainMs: 120_000,
  });
  expect(report.faults).toEqual([]);
  expect(report.accepted).toBeGreaterThan(5);
  expect(report.blows).toEqual({ worker: 1, service: 1, sleep: 1, network: 1, database: 1 });
});
