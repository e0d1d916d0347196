import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage, type RunRecord } from '../../../src/engine/storage/storage.ts';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { runAndKill } from '../../support/storage-crash.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const isLong = process.env['TEST_FORM'] === 'long';
const server = await sharedPostgres();

const stores = {
  sqlite: () => {
    const folder = temporaryFolder();
    return Promise.resolve(`sqlite:${join(folder, 'store.db')}`);
  },
  postgres: () => server.freshUrl(),
};

/** The names that were said behind a word. */
const namesOf = (said: readonly string[], word: string): readonly string[] =>
  said.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

/** A service, and some that share a store, which in the short form stand for one, too. */
const FORMS = [
  ['sqlite', 1, isLong ? 20 : 2],
  ['postgres', 1, isLong ? 20 : 0],
  ['postgres', isLong ? 3 : 2, isLong ? 20 : 2],
] as const;

test.each(FORMS.filter(([, , rounds]) => rounds > 0))(
  '%s, services: %i: an event that waits for its key comes to its conversation once and in order, whatever is killed',
  async (kind, services, rounds) => {
    const url = await stores[kind]();
    const said: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const names = Array.from({ length: services }, (_, index) => `r${round}s${index}`);
      const all = names.map((name, index) =>
        runAndKill(
          url,
          name,
          20 + Math.round((133 * round) / (rounds - 1)) + 5 * index,
          'conversation-writer.ts',
        ),
      );
      said.push(...(await Promise.all(all)).flat());
    }
    const storage = await openStorage(url);
    try {
      const runs = new Map((await storage.listRuns({ limit: 1_000_000 })).map((run) => [run.id, run]));
      const keyOf = (run: RunRecord | undefined): string | undefined => run?.action.sessionKey;
      for (const name of namesOf(said, 'added')) {
        // Nothing is lost: what waited is a run of the conversation.
        expect(keyOf(runs.get(`${name}:late`))).toBe(`${name}:issue`);
        expect(runs.get(`${name}:late`)?.lastError?.code).not.toBe('no_conversation');
      }
      for (const name of namesOf(said, 'marked')) {
        // What an agent opened has no turn, and its mark counts once.
        expect(runs.get(`${name}:own`)).toMatchObject({ state: 'completed', attempts: 0 });
        expect(keyOf(runs.get(`${name}:copy`))).toBe(`${name}:other`);
      }
      for (const name of namesOf(said, 'waits')) {
        const run = runs.get(`${name}:late`);
        const hasCome = keyOf(run) === `${name}:issue`;
        expect(hasCome || run?.lastError?.code === 'no_conversation').toBe(true);
      }
      for (const name of namesOf(said, 'ended')) {
        expect(runs.get(`${name}:end`)).toMatchObject({ state: 'completed', outcome: 'ok' });
        for (const each of ['first', 'late', 'next'])
          expect(['completed', 'active', 'queued']).toContain(runs.get(`${name}:${each}`)?.state);
      }
      expectOrder(namesOf(said, 'begins').map((line) => line.split(' ')));
      expect(namesOf(said, 'added').length).toBeGreaterThan(rounds);
      expect(namesOf(said, 'marked').length).toBeGreaterThan(0);
      expect(await storage.verify()).toEqual([]);
    } finally {
      await storage.close();
    }
  },
  240_000,
);

/** No attempt was begun twice; what came behind another event of its conversation began after it, in any service. */
function expectOrder(begins: readonly (readonly string[])[]): void {
  const attempts = begins.map(([id, attempt]) => `${id} ${attempt}`);
  expect(attempts).toHaveLength(new Set(attempts).size);
  const first = new Map<string, bigint>();
  for (const [id = '', , at = '0'] of begins)
    if (BigInt(at) < (first.get(id) ?? BigInt(at) + 1n)) first.set(id, BigInt(at));
  for (const [id, at] of first) {
    const [name = '', part] = id.split(':');
    // An odd round lets the late event come after the first.
    const isBehind = part === 'next' || (part === 'late' && Number(name.split('-').at(-1)) % 2 === 1);
    const before = first.get(`${name}:first`);
    if (isBehind && before !== undefined) expect(before < at, id).toBe(true);
  }
}
