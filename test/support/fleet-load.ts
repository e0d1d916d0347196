import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../src/service/gateway/clock.ts';
import type { Runner, TurnResult } from '../../src/service/runners/runners.ts';
import { openStorage, type Storage } from '../../src/engine/storage/storage.ts';
import { agentAction, type House, ok, openHouse } from './gateway-fixture.ts';
import { until } from './service-process.ts';

/** Several gateways on one PostgreSQL store, and senders who repeat what was refused, each request under its key. */
export interface FleetLoad {
  readonly houses: readonly House[];
  /** How often one of the gateways has lost its lease. */
  readonly leasesLost: () => number;
  /** How many requests were refused, each time they were. */
  readonly refused: () => number;
  /** Stops the senders, waits until all has been performed, and asserts that nothing is lost, doubled or out of order. */
  settle(judgeUrl: string): Promise<void>;
}

export interface FleetLoadOptions {
  /** The address of the store for each gateway. */
  readonly urls: readonly string[];
  readonly leaseMs: number;
  readonly clocks?: readonly (Clock | undefined)[];
  /** What becomes of a turn before it is answered; undefined lets it be answered. */
  readonly fail?: (message: string) => TurnResult | undefined;
}

const LANES = 6;
const TURN_MS = 30;
/** Of a sender between two requests: a conversation performs about as many as it gets. */
const PAUSE_MS = 60;

/** What was performed, in the order in which it began. */
class Book {
  readonly begun: string[] = [];
  readonly overlaps: string[] = [];
  /** Others of their conversation pass them until their time has come. */
  readonly putOff = new Set<string>();
  readonly #underWay = new Map<string, string>();

  runner(fail: (message: string) => TurnResult | undefined): Runner {
    return {
      kind: 'booked',
      run: async ({ message }, { signal }) => {
        const failure = fail(message);
        if (failure !== undefined) {
          this.putOff.add(message);
          return failure;
        }
        const lane = laneOf(message);
        const other = this.#underWay.get(lane);
        if (other !== undefined) this.overlaps.push(`${message} beside ${other}`);
        this.#underWay.set(lane, message);
        this.begun.push(message);
        await wait(TURN_MS, undefined, { signal }).catch(() => undefined);
        this.#underWay.delete(lane);
        return signal.aborted ? { kind: 'completed', outcome: 'error', reply: '' } : ok(`re: ${message}`);
      },
    };
  }
}

const laneOf = (message: string): string => message.split('-', 1)[0] ?? '';

export async function startFleetLoad(options: FleetLoadOptions): Promise<FleetLoad> {
  const { urls, leaseMs, clocks = [], fail = () => undefined } = options;
  const book = new Book();
  const houses: House[] = [];
  let leasesLost = 0;
  for (const [index, url] of urls.entries()) {
    const clock = clocks[index];
    const house = await openHouse({
      url,
      leaseMs,
      runners: { default: book.runner(fail) },
      ...(clock === undefined ? {} : { options: { clock } }),
    });
    house.storage.lease?.onChange((isHeld) => (leasesLost += isHeld ? 0 : 1));
    houses.push(house);
  }
  let refused = 0;
  const stopping = new AbortController();
  const accepted = new Map<string, string>();
  const send = async (lane: number): Promise<void> => {
    for (let count = 0; !stopping.signal.aborted; count += 1) {
      const message = `${lane}-${count}`;
      const id = await sendUntilAccepted(houses, message, () => (refused += 1));
      accepted.set(message, id);
      await wait(PAUSE_MS);
    }
  };
  const senders = Array.from({ length: LANES }, (_, lane) => send(lane));
  return {
    houses,
    leasesLost: () => leasesLost,
    refused: () => refused,
    settle: async (judgeUrl) => {
      stopping.abort();
      await Promise.all(senders);
      const judge = await openStorage(judgeUrl, { mode: 'attached' });
      onTestFinished(() => judge.close());
      await untilPerformed(judge);
      await check(judge, { accepted, book });
    },
  };
}

/** Repeats under one key at any of the gateways, as a sender does that gets 503. */
async function sendUntilAccepted(
  houses: readonly House[],
  message: string,
  onRefused: () => void,
): Promise<string> {
  const idempotency = { scope: 'load', key: message, bodySha256: message, ttlSeconds: 3_600 };
  for (let attempt = 0; ; attempt += 1) {
    const house = houses[(attempt + message.length) % houses.length] as House;
    const action = agentAction({ message, sessionKey: `lane-${laneOf(message)}` });
    const work = {
      requestId: action.id,
      receivedAt: Date.now(),
      actions: [action],
      warnings: [],
      idempotency,
    };
    try {
      const result = await house.storage.accept(work);
      house.gateway.notify();
      return result.accepted[0]?.id ?? '';
    } catch (error) {
      expect(error).toMatchObject({ status: 503 });
      onRefused();
      await wait(50);
    }
  }
}

/** Until no run is queued or under way. */
export async function untilPerformed(judge: Storage): Promise<void> {
  await until(
    'all to end',
    async () => {
      const { queuedRuns, activeRuns } = await judge.backlog();
      return queuedRuns + activeRuns === 0;
    },
    90_000,
  );
}

async function check(
  judge: Storage,
  { accepted, book }: { readonly accepted: ReadonlyMap<string, string>; readonly book: Book },
): Promise<void> {
  const runs = (await judge.listRuns({ limit: 100_000 })).filter(({ kind }) => kind === 'hook');
  expect(runs.map(({ id }) => id).toSorted()).toEqual([...accepted.values()].toSorted());
  expect(runs.filter(({ state }) => state !== 'completed' && state !== 'dead')).toEqual([]);
  // A run that was interrupted begins again: what counts is when each began first.
  const first = [...new Set(book.begun)];
  for (let lane = 0; lane < LANES; lane += 1) {
    const numbers = first
      .filter((message) => laneOf(message) === String(lane) && !book.putOff.has(message))
      .map((message) => Number(message.split('-')[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
  expect(book.overlaps).toEqual([]);
  expect(await judge.verify()).toEqual([]);
}
