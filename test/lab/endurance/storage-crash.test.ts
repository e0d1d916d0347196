import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { accountFor, runAndKill } from '../../support/storage-crash.ts';

test('holds all that was answered through sixty kills of its process', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'));
  const url = `sqlite:${join(folder, 'sluice.db')}`;
  try {
    const said: string[] = [];
    for (let life = 0; life < 60; life += 1) {
      // From the first line after opening to far into the load.
      said.push(...(await runAndKill(url, `life-${life}`, 1 + ((life * 37) % 500))));
    }
    const storage = await openStorage(url);
    await accountFor(storage, said);
    await storage.close();
    expect(said.length).toBeGreaterThan(10_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
