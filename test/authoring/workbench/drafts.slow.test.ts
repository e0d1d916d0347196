import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAuthorFiles } from '../../../src/authoring/workbench/author-files.ts';
import { Drafts } from '../../../src/authoring/workbench/drafts.ts';
import type { Judge } from '../../../src/authoring/workbench/judge.ts';
import { threadMs } from '../../support/thread-time.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-drafts-'));
  mkdirSync(join(root, 'mappings'));
  writeFileSync(join(root, 'mappings', 'a.yaml'), '- {id: a, match: {path: a}}\n');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Codes of a draft, and the part of the processor time of reading it that was this thread's. */
async function load(text: string): Promise<{ codes: readonly string[]; loads: number; ownPart: number }> {
  const folders = { mappingsDir: join(root, 'mappings'), transformsDir: join(root, 'transforms') };
  const [file] = await findAuthorFiles(folders);
  if (file === undefined) throw new Error('no file');
  let loads = 0;
  const bench = {
    load: () => {
      loads += 1;
      return Promise.resolve({ findings: [], release: () => undefined });
    },
  };
  const drafts = new Drafts({ bench, base: () => Promise.resolve({}) } as object as Judge);
  const began = threadMs();
  const processBegan = process.cpuUsage();
  const { findings } = await drafts.load(folders, {
    file,
    text,
    signal: new AbortController().signal,
  });
  const { user, system } = process.cpuUsage(processBegan);
  const ownPart = (threadMs() - began) / ((user + system) / 1000);
  return { codes: findings.map(({ code }) => code), loads, ownPart };
}

test('a draft that is whole is loaded', async () => {
  expect(await load('- {id: b, match: {path: b}}\n')).toMatchObject({ codes: [], loads: 1 });
});

test.each([
  ['a: [\n', 60_000],
  ['\ta: b\n', 60_000],
  ['{}', 60_000],
  ['- {a: "\n', 1_200_000],
])('a broken draft of many %j is read in a thread', async (unit, bytes) => {
  const { codes, loads, ownPart } = await load(unit.repeat(bytes / unit.length));
  expect(codes.length).toBeGreaterThan(0);
  expect(loads).toBe(0);
  expect(ownPart).toBeLessThan(0.25);
  if (bytes > 1_000_000) expect(codes).toEqual(['TOO_MANY_PARTS']);
});
