import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStorage, type RunRecord } from '../../../src/engine/storage/storage.ts';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { runAndKill } from '../../support/storage-crash.ts';

const ROUNDS = 20;
const server = await sharedPostgres();

const stores = {
  sqlite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-conversations-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return Promise.resolve(`sqlite:${join(folder, 'store.db')}`);
  },
  postgres: () => server.freshUrl(),
};

/** The names that were said behind a word. */
const namesOf = (said: readonly string[], word: string): readonly string[] =>
  said.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

test.each(['sqlite', 'postgres'] as const)(
  '%s: an event that waits for its key comes to its conversation once, whenever its service is killed',
  async (kind) => {
    const url = await stores[kind]();
    const said: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      said.push(...(await runAndKill(url, `r${round}`, 20 + 7 * round, 'conversation-writer.ts')));
    const storage = await openStorage(url);
    try {
      const runs = new Map((await storage.listRuns({ limit: 1_000_000 })).map((run) => [run.id, run]));
      const keyOf = (run: RunRecord | undefined): string | undefined => run?.action.sessionKey;
      for (const name of namesOf(said, 'added')) {
        // Nothing is lost: what waited is a run of the conversation.
        expect(keyOf(runs.get(`${name}:late`))).toBe(`${name}:issue`);
        expect(runs.get(`${name}:late`)?.lastError?.code).not.toBe('no_conversation');
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
      // Nothing is doubled: no attempt was begun twice.
      const begun = namesOf(said, 'begins');
      expect(begun).toHaveLength(new Set(begun).size);
      expect(namesOf(said, 'added').length).toBeGreaterThan(ROUNDS);
      expect(await storage.verify()).toEqual([]);
    } finally {
      await storage.close();
    }
  },
  240_000,
);
