/** Kills of workers, services and database, and cuts of the network, judged by what workers and receivers wrote. */
import { expect, test } from 'vitest';
import { workerTorture } from '../../support/worker-torture.ts';

const BLOWS = Number(process.env['KILLS'] ?? 45);

test.each(['sqlite', 'postgres'] as const)(
  'blows at three workers, services and their network lose no run, count no end twice and keep every order, on %s',
  { timeout: 15 * 60_000 },
  async (store) => {
    const report = await workerTorture({
      store,
      workers: 3,
      blows: BLOWS,
      longBlows: 4,
      seed: 2026,
      everyMs: 1_500,
      drainMs: 240_000,
    });
    process.stderr.write(`${JSON.stringify({ store, ...report })}\n`);
    expect(report.faults).toEqual([]);
    expect(report.accepted).toBeGreaterThan(BLOWS);
    expect(report.repeated).toBeGreaterThan(0);
  },
);
