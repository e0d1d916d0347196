/**
 * A transform through the supervised pool against the same function called directly between JSON.parse and
 * JSON.stringify, on a request of 2 KB. Run alone: `node test/lab/bench/sandbox.bench.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Sandbox, type Transforms } from '../../../src/engine/sandbox/sandbox.ts';
import { refTo } from '../../support/sandbox-fixture.ts';
import type { Part, Row } from '../../support/parts.ts';

const CALLS = 20_000;
const WARM_UP = 2_000;

interface Item {
  readonly name: string;
  readonly value: number;
  readonly note: string;
}
interface Argument {
  readonly payload: { readonly id: string; readonly items: readonly Item[] };
}

/** What both sides run; its text is the module. */
function transform({ payload }: Argument): object {
  const lines = payload.items
    .filter((item) => item.value % 3 !== 0)
    .map((item) => `${item.name}: ${item.value}`);
  return { message: lines.join('\n'), name: payload.id, sessionKey: `hook:bench:${payload.id}` };
}

const json = JSON.stringify({
  payload: {
    id: 'order-17',
    items: Array.from({ length: 30 }, (_, n) => ({
      name: `item ${n}`,
      value: n * 7,
      note: 'some words more',
    })),
  },
  headers: { 'content-type': 'application/json', 'user-agent': 'bench' },
  query: {},
  path: 'bench',
  url: '/hooks/bench',
  now: '2026-01-01T00:00:00.000Z',
} satisfies Argument & Record<string, unknown>);

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const sandboxPart: Part = {
  name: 'sandbox',
  async run(progress) {
    const dir = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
    writeFileSync(path.join(dir, 'bench.js'), `export default ${String(transform)};\n`);
    const sandbox = new Sandbox();
    try {
      const ref = refTo('bench.js');
      const transforms = await sandbox.loadTransforms(dir, [ref]);
      const call = (): Promise<void> => callOnce(transforms, ref);
      await measure(call, 16, WARM_UP);
      const direct = await measure(callDirectly, 1, CALLS);
      const rows: Row[] = [row('direct, parse + function + stringify', direct)];
      for (const concurrency of [1, 16, 64]) {
        progress(`${concurrency} at a time`);
        rows.push(withAims(concurrency, await measure(call, concurrency, CALLS)));
      }
      return rows;
    } finally {
      await sandbox.stop();
      rmSync(dir, { recursive: true });
    }
  },
};

async function callOnce(transforms: Transforms, ref: ReturnType<typeof refTo>): Promise<void> {
  const reply = await transforms.call({ ref, json, now: 1e12, seed: 1, budgetMs: 5000 });
  if (reply.kind !== 'ok') throw new Error(`a call failed: ${reply.failure} ${reply.message}`);
}

let sink = 0;
function callDirectly(): void {
  sink += JSON.stringify(transform(JSON.parse(json) as Argument)).length;
}

async function measure(
  call: () => Promise<void> | void,
  concurrency: number,
  calls: number,
): Promise<Measured> {
  const tookMs: number[] = [];
  let left = calls;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (; left > 0; left -= 1) {
        const calledAt = performance.now();
        const answer = call();
        if (answer !== undefined) await answer;
        tookMs.push(performance.now() - calledAt);
      }
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? 0;
  return { perSecond: (tookMs.length / elapsedMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function row(what: string, { perSecond, p50Ms, p99Ms }: Measured): Row {
  const figure = `${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(3)} ms, p99 ${p99Ms.toFixed(3)} ms`;
  return { what, figure };
}

/** The aims are for two cores that do nothing else. */
function withAims(concurrency: number, measured: Measured): Row {
  const base = row(`through the pool, ${concurrency} at a time`, measured);
  if (concurrency === 1) return { ...base, aim: { text: '6000/s', met: measured.perSecond >= 6000 } };
  if (concurrency === 64) return base;
  const met = measured.perSecond >= 20_000 && measured.p99Ms < 2;
  return { ...base, aim: { text: '20000/s and p99 < 2 ms', met } };
}

if (import.meta.main) {
  for (const { what, figure, aim } of await sandboxPart.run(() => undefined)) {
    process.stdout.write(
      `${what}: ${figure}${aim === undefined ? '' : ` (aim ${aim.text}: ${aim.met ? 'met' : 'missed'})`}\n`,
    );
  }
  if (sink === 0) process.stderr.write('nothing ran\n');
}
