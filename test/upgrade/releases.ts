/** What each released version left behind, as `test/fixtures/upgrade/<version>/` keeps it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Storage } from '../../src/engine/storage/storage.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/upgrade', import.meta.url));

/** Versions whose files and stores have to be read for ever. */
export const VERSIONS = readdirSync(FIXTURES);

/** After everything in the stores became due. */
const LATER = Date.UTC(2100, 0, 1);

/** A packed file of a version, as it was. */
export const unpack = (version: string, name: string): Buffer =>
  gunzipSync(readFileSync(join(FIXTURES, version, name)));

/** A plain file of a version, as it was. */
export const unpacked = (version: string, name: string): string =>
  readFileSync(join(FIXTURES, version, name), 'utf8');

export interface Left {
  /** A copy of the whole folder, with its store as `store.db`. */
  readonly folder: string;
  remove(): void;
}

export function copyOf(version: string): Left {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
  cpSync(join(FIXTURES, version), folder, { recursive: true });
  writeFileSync(join(folder, 'store.db'), unpack(version, 'store.db.gz'), { mode: 0o600 });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Version 0.1.0 kept sentences of what it decided, and only the requests that failed. */
export const isFirst = (version: string): boolean => version === '0.1.0';

/** The work that the store of every version holds: it came from the same nine requests. */
export async function expectItsWork(storage: Storage, version: string): Promise<void> {
  expect(await storage.verify()).toEqual([]);
  const runs = await storage.listRuns({ limit: 100 });
  expect(runs.map(({ action, state }) => `${action.origin.mappingId ?? '-'} ${state}`).toSorted()).toEqual([
    '- completed',
    '- completed',
    'order completed',
    'trusted-order queued',
  ]);
  const decisions = await storage.listDecisions({ limit: 100 });
  expect(decisions).toHaveLength(9);
  expect(decisions.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200, 202, 202, 202, 202, 204, 400, 404, 500,
  ]);
  // Codes and places are left of what was decided, and no sentence.
  expect(decisions.every(({ isOlder = false }) => isOlder === isFirst(version))).toBe(true);
  expect(JSON.stringify(decisions)).not.toMatch(/"(?:note|detail|text|how|transformNotes)":/);
  expect(decisions.find(({ status }) => status === 404)?.missed).not.toEqual([]);
  expect(await storage.listEvents({ limit: 100 })).toHaveLength(3);
  expect((await storage.listSessions({ limit: 100 })).map(({ key }) => key).toSorted()).toEqual([
    'hook:a',
    'hook:order:7',
    'main',
  ]);
  expect((await storage.listPauses()).map(({ mappingId }) => mappingId)).toEqual(['trusted-order']);
  const kept = new Set((await storage.listKeptRequests(10)).map(({ requestId }) => requestId));
  const ofKept = decisions.filter(({ requestId }) => kept.has(requestId)).map(({ code }) => code);
  expect(ofKept).toHaveLength(isFirst(version) ? 1 : 9);
  expect(ofKept).toContain('transform_failed');
  // What waits is claimed and goes on: nothing that was accepted is lost with a new version.
  await storage.resumeRuns('trusted-order');
  const claimed = await storage.claimRuns({ limit: 10, nowMs: LATER });
  expect(claimed.map(({ action }) => action.message)).toEqual(['Wait']);
}
