import { afterAll, expect, test } from 'vitest';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { query, sharedPostgres } from '../../support/postgres-server.ts';
import { type History, judge, type Step } from '../../support/run-history.ts';
import { agent, completion, NOW, work } from '../../support/storage-builders.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/**
 * Services on one database do what they do, at once and in any order, and their connections break. Each history is made
 * from a seed; what was asked and answered is judged. `npm run test:endurance` makes more of them, `HISTORIES=5000` as many.
 */

/** Three over connections that hold, and one for each way in which one breaks. */
const SHORT = [1, 2, 3, 5, 6, 8, 13, 15];
const LONG = Array.from({ length: Number(process.env['HISTORIES'] ?? 25) }, (_, index) => index + 1);
const isLong = process.env['TEST_FORM'] === 'long' || process.env['HISTORIES'] !== undefined;
const SEEDS = isLong ? LONG : SHORT;
const STEPS = 14;
const LINES = ['a', 'b'];
const KEYS = ['k1', 'k2', 'k3'];

const server = await sharedPostgres();
const proxy = await startTcpProxy(server.port);
afterAll(async () => {
  await proxy.stop();
});

type Random = (below: number) => number;

/** Small numbers that are the same in every run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Mutable<List> = List extends readonly (infer One)[] ? One[] : never;

/** What was asked and answered, by one clock. */
class Recorder {
  readonly accepts: Mutable<History['accepts']> = [];
  readonly claims: Mutable<History['claims']> = [];
  readonly ends: Mutable<History['ends']> = [];
  #now = 0;

  async step<Answer>(act: () => Promise<Answer>): Promise<readonly [Step, Answer | undefined]> {
    const asked = (this.#now += 1);
    try {
      const answer = await act();
      return [{ asked, answered: (this.#now += 1) }, answer];
    } catch {
      return [{ asked }, undefined];
    }
  }
}

/** One service: several things at once, as the seed says. */
async function serve(
  storage: Storage,
  holder: string,
  { random, told }: { random: Random; told: Recorder },
): Promise<void> {
  const held: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const acts = Array.from({ length: 1 + random(3) }, () => random(6));
    await Promise.all(
      acts.map(async (act) => {
        if (act < 3) await accept(storage, { random, told });
        else if (act < 5) held.push(...(await claim(storage, holder, told)));
        else await end(storage, { holder, told, runId: held.shift() });
      }),
    );
  }
  while (held.length > 0) await end(storage, { holder, told, runId: held.shift() });
}

async function accept(storage: Storage, { random, told }: { random: Random; told: Recorder }): Promise<void> {
  const line = LINES[random(LINES.length)] ?? 'a';
  const key = random(3) === 0 ? KEYS[random(KEYS.length)] : undefined;
  const run = agent({ sessionKey: line });
  const idempotency =
    key === undefined ? {} : { idempotency: { scope: 's', key, bodySha256: '', ttlSeconds: 60 } };
  const [step, answer] = await told.step(() => storage.accept(work([run], idempotency)));
  // A repeat was answered with what the first one became.
  if (answer?.duplicate === true) return;
  told.accepts.push({ ...step, runId: run.id, line, ...(key === undefined ? {} : { key }) });
}

async function claim(storage: Storage, holder: string, told: Recorder): Promise<readonly string[]> {
  const [step, runs = []] = await told.step(() => storage.claimRuns({ nowMs: NOW, limit: 2 }));
  for (const { id } of runs) told.claims.push({ ...step, runId: id, holder });
  return runs.map(({ id }) => id);
}

async function end(
  storage: Storage,
  { holder, told, runId }: { holder: string; told: Recorder; runId: string | undefined },
): Promise<void> {
  if (runId === undefined) return;
  const [step, done = false] = await told.step(() => storage.completeRun(completion(runId)));
  told.ends.push({ ...step, runId, holder, done });
}

/** The work of three services until nothing is left, some of it over connections that break. */
async function makeHistory(url: string, services: readonly Storage[], seed: number): Promise<History> {
  const random = seeded(seed);
  const told = new Recorder();
  const breaks = random(3) === 0;
  const text = ['accept0', 'COMMIT'][random(2)] ?? 'COMMIT';
  const lost = (['question', 'answer', 'connection'] as const)[random(3)] ?? 'answer';
  if (breaks) void proxy.breakAt(text, lost);
  await Promise.all(services.map((storage, index) => serve(storage, `s${index}`, { random, told })));
  // What a lost answer left behind is taken over by who claimed it.
  for (let round = 0; round < 60; round += 1) {
    for (const [index, storage] of services.entries()) {
      const { runs } = await storage.takeOver();
      for (const { id } of runs) await end(storage, { holder: `s${index}`, told, runId: id });
      for (const id of await claim(storage, `s${index}`, told))
        await end(storage, { holder: `s${index}`, told, runId: id });
    }
    const { queuedRuns, activeRuns } = await (services[0] as Storage).backlog();
    if (queuedRuns + activeRuns === 0) break;
  }
  const rows = await query(url, 'SELECT id FROM runs WHERE state = 4');
  return {
    accepts: told.accepts,
    claims: told.claims,
    ends: told.ends,
    stored: new Set(rows.map(({ id }) => String(id))),
  };
}

async function openFleet(): Promise<{
  readonly url: string;
  readonly services: readonly Storage[];
  close(): Promise<void>;
}> {
  const url = await server.freshUrl();
  const through = url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const services = [await openStorage(through), await openStorage(url), await openStorage(url)];
  return {
    url,
    services,
    close: async () => void (await Promise.all(services.map((storage) => storage.close()))),
  };
}

test(
  `${SEEDS.length} histories: nothing is lost, doubled, side by side or out of order`,
  { timeout: 60_000 + SEEDS.length * 2_000 },
  async () => {
    const { url, services, close } = await openFleet();
    for (const seed of SEEDS) {
      const history = await makeHistory(url, services, seed);
      expect([seed, history.accepts.length > 0, judge(history)]).toEqual([seed, true, []]);
      expect([seed, await (services[1] as Storage).verify()]).toEqual([seed, []]);
      await query(url, 'TRUNCATE idempotency');
    }
    await close();
  },
);

/** Each makes the database do what the store must not. */
const PLANTED = [
  ['side by side', 'IF NEW.state = 0 AND OLD.state = 2 THEN NEW.state = 1; END IF; RETURN NEW;', 'UPDATE'],
  ['lost', 'IF ascii(right(NEW.id, 1)) % 4 = 0 THEN RETURN NULL; END IF; RETURN NEW;', 'INSERT'],
] as const;

test.each(PLANTED)('a fault put in on purpose is found: %s', async (kind, body, when) => {
  const { url, services, close } = await openFleet();
  await query(
    url,
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
     CREATE TRIGGER spoilt BEFORE ${when} ON runs FOR EACH ROW EXECUTE FUNCTION spoil()`,
  );
  const faults: string[] = [];
  for (let seed = 1; seed <= 12 && faults.length === 0; seed += 1) {
    faults.push(...judge(await makeHistory(url, services, seed)).filter((fault) => fault.startsWith(kind)));
  }
  expect(faults.length).toBeGreaterThan(0);
  await close();
});
