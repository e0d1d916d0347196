import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../src/storage/storage.ts';
import { HeldRunner, ok, openHouse, RecordingChannel, temporaryFile } from '../support/gateway-fixture.ts';

const child = fileURLToPath(new URL('../support/gateway-crash-child.ts', import.meta.url));

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
  await expect.poll(() => alive(seconds).length, { timeout: 15_000 }).toBeGreaterThanOrEqual(4);
  await expect.poll(() => printed.split('\n').length, { timeout: 15_000 }).toBe(3);
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
  await expect.poll(() => held.started.length, { timeout: 10_000 }).toBe(2);
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
  await expect.poll(() => house.gateway.stats().outbox.sent).toBe(1);
  expect(channel.texts[0]).toBe(printed.split('\n')[1]?.replace('chunk ', ''));
  expect(printed.split('\n')[0]?.replace('chunk ', '')).toBe('first chunk');
  const summaries = (await house.events()).filter((text) => text !== 'woken');
  expect(summaries.toSorted()).toEqual([
    'Hook Behind: re: hello',
    'Hook Delivered: first chunk second one third one (its reply is sent to telegram: nothing is left to do)',
    'Hook Interrupted: re: hello',
  ]);
}, 40_000);
