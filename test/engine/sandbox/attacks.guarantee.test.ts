/**
 * Hostile modules by family under `test/attacks/`. Each begins with what may come of it: `// expect:` and the
 * outcomes that count as contained, for `ok` also the exact result, for `load` the finding. The words say what the
 * attack ends in; that it ends in time, disturbs nobody and shows nothing of another call holds for every one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sandbox, type TransformReply, type Transforms } from '../../../src/engine/sandbox/sandbox.ts';
import { callTransform, refTo } from '../../support/sandbox-fixture.ts';
import { said } from '../../support/said.ts';
import { waitedMs } from '../../support/thread-time.ts';
import { longerHere } from '../../support/longer-here.ts';

const dir = fileURLToPath(new URL('../../attacks', import.meta.url));
const TIMEOUT_MS = 100;
/** The limit of those that end by themselves: a busy machine is not to end them, which takes a new process each time. */
const ENOUGH_MS = 1000;
const LATEST_MS = TIMEOUT_MS + 500;
/**
 * A host that waited for an attack would stand still for its timeout and the grace, 350 ms, a hundred times over. Pauses
 * in which this thread waited for a processor are the machine's.
 */
const STALL_MS = 300;
const MOST_STALLS = 20;
const LONGEST_STALL_MS = 1000;
/** One for each core: of more, many hardly get the processor, and are run again, each time by a new process. */
const AT_A_TIME = 2;
/** Where something else takes the processor for a while, a later try has it. */
const TRIES = 10;

interface Expectation {
  readonly module: string;
  readonly outcomes: readonly string[];
  readonly json?: string;
  readonly code?: string;
}

const attacks = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.[jt]s$/.test(file))
  .toSorted()
  // Most of the time goes to those that run until they are ended: in the short form every second one of them.
  .filter(
    (file, index) =>
      process.env['TEST_FORM'] === 'long' || index % 2 === 0 || !/^(?:loops|memory)\//.test(file),
  )
  .flatMap((file) => {
    const line = /^\/\/ expect: (.*)$/m.exec(readFileSync(path.join(dir, file), 'utf8'))?.[1];
    return line === undefined ? [] : [readExpectation(file, line)];
  });

function readExpectation(module: string, line: string): Expectation {
  const exact = /^ok (["[{].*)$/.exec(line)?.[1];
  if (exact !== undefined) return { module, outcomes: ['ok'], json: exact };
  const [first = '', second] = line.split(' ');
  if (first === 'load' && second !== undefined) return { module, outcomes: ['load'], code: second };
  return { module, outcomes: line.split(' ') };
}

/** Outcomes of attacks that run until they are ended. */
const ENDED: ReadonlySet<string> = new Set(['timeout', 'memory', 'crashed']);

interface Run {
  readonly reply: TransformReply;
  readonly tookMs: number;
  readonly canary: string;
  /** A second call, where the first one ended by itself. */
  readonly again: TransformReply | undefined;
  readonly good: TransformReply;
  readonly goodTookMs: number;
  /** How long either may have taken, as busy as the machine was then. */
  readonly mostMs: number;
}

const sandbox = new Sandbox({ workers: AT_A_TIME, spare: 1 });
const runs = new Map<string, Run>();
const good = refTo('good.mjs');
const refs = new Map(
  attacks.map(({ module, outcomes }) => {
    const isEndless = outcomes.some((outcome) => ENDED.has(outcome));
    return [module, refTo(module, { timeoutMs: isEndless ? TIMEOUT_MS : ENOUGH_MS })];
  }),
);
let transforms: Transforms;
const stalls: number[] = [];

beforeAll(async () => {
  transforms = await sandbox.loadTransforms(dir, [good, ...refs.values()]);
  const stopWatching = watchStalls();
  const waiting = attacks.filter(({ code }) => code === undefined).map(({ module }) => module);
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let module = waiting.shift(); module !== undefined; module = waiting.shift()) {
        runs.set(module, await attack(module));
      }
    }),
  );
  stopWatching();
  // A machine busy with other things may have delayed some, and a delay past 100 ms is itself a timeout. Run alone,
  // each has to be in time and end in its own way.
  for (const attacker of attacks.filter(({ code }) => code === undefined)) {
    for (let left = TRIES; left > 0 && !isAsExpected(runOf(attacker.module), attacker);) {
      const { reply } = runOf(attacker.module);
      if (reply.kind === 'failed') await delay(1000 * (reply.retryAfterSeconds ?? 0));
      const run = await attack(attacker.module);
      runs.set(attacker.module, run);
      if (![run.reply, run.again, run.good].some(isTurnedAway)) left -= 1;
    }
  }
}, 20 * 60_000);
afterAll(() => sandbox.stop());

/** Notes every pause of this thread in which it did not wait for a processor; returns how to end it. */
function watchStalls(): () => void {
  let last = performance.now();
  let waitedBefore = waitedMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const waited = waitedMs();
    const stall = now - last - (waited - waitedBefore);
    if (stall > STALL_MS) stalls.push(stall);
    [last, waitedBefore] = [now, waited];
  }, 5);
  return () => clearInterval(timer);
}

async function attack(module: string): Promise<Run> {
  const ref = refs.get(module) ?? refTo(module);
  const canary = `CANARY-${module}-ONE`;
  const startedAt = performance.now();
  const reply = await callTransform(transforms, ref, { canary, draws: 5 });
  const tookMs = performance.now() - startedAt;
  const endedItself = reply.kind === 'ok' || reply.failure === 'user-error';
  const again = endedItself
    ? await callTransform(transforms, ref, { canary: 'SECOND', draws: 5 })
    : undefined;
  const goodAt = performance.now();
  const answer = await callTransform(transforms, good, { word: module });
  const goodTookMs = performance.now() - goodAt;
  return { reply, tookMs, canary, again, good: answer, goodTookMs, mostMs: longerHere(LATEST_MS) };
}

/** The machine had too much else to do: its sender comes again, and nothing is known of it. */
const isTurnedAway = (reply: TransformReply | undefined): boolean =>
  reply?.kind === 'failed' && /^the machine is too busy|^no worker was free in time/.test(reply.message);

function isAsExpected(run: Run, { outcomes }: Expectation): boolean {
  const isInTime = Math.max(run.tookMs, run.goodTookMs) < run.mostMs;
  const inTime = isInTime && run.good.kind === 'ok';
  const repeated = run.again === undefined || run.again.kind === run.reply.kind;
  return inTime && repeated && outcomes.includes(run.reply.kind === 'ok' ? 'ok' : run.reply.failure);
}

function runOf(module: string): Run {
  const run = runs.get(module);
  if (run === undefined) throw new Error(`${module} was not run`);
  return run;
}

describe.each(attacks)('$module', ({ module, outcomes, json, code }) => {
  if (code !== undefined) {
    test('is refused when it is loaded', async () => {
      const found = transforms.findings.filter(
        ({ at, message }) => at?.source.file.endsWith(module) === true || said(message).includes(module),
      );
      // A machine that is too busy has not run it once; the first call ends it then.
      const unchecked = code === 'TRANSFORM_TOP_LEVEL_FAILED' ? ['TRANSFORM_NOT_CHECKED'] : [];
      expect([code, ...unchecked]).toContain(found[0]?.code);
      expect(await callTransform(transforms, refTo(module, { timeoutMs: TIMEOUT_MS }))).toMatchObject({
        kind: 'failed',
        failure: code === 'TRANSFORM_TOP_LEVEL_FAILED' ? expect.any(String) : 'load-error',
      });
    });

    return;
  }
  test('is contained, in time, and leaves no trace', () => {
    const run = runOf(module);
    expect(outcomes, JSON.stringify(run.reply).slice(0, 500)).toContain(
      run.reply.kind === 'ok' ? 'ok' : run.reply.failure,
    );
    if (json !== undefined) expect(run.reply).toMatchObject({ json });
    expect(run.tookMs).toBeLessThan(run.mostMs);
    expect(JSON.stringify(run.reply).length).toBeLessThan(1_200_000);
    if (run.again !== undefined) {
      expect(JSON.stringify(run.again)).not.toContain(run.canary);
      expect(run.again).toMatchObject({ kind: run.reply.kind });
    }
    expect(run.good).toMatchObject({
      kind: 'ok',
      json: JSON.stringify({ message: `good ${module}` }),
      logs: [],
    });
    expect(run.goodTookMs).toBeLessThan(run.mostMs);
  });
});

test('at least sixty modules attack', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(60);
});

test('the host loop never stood still while they did', () => {
  expect(stalls.length).toBeLessThan(MOST_STALLS);
  expect(Math.max(0, ...stalls)).toBeLessThan(longerHere(LONGEST_STALL_MS));
});
