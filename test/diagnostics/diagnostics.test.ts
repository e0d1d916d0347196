/**
 * Every diagnostic code has at least one case: `test/diagnostics/<room>/<CODE>[-variant]/` holds the input files and
 * `expected.txt`, the findings as `formatDiagnostics` prints them. Every finding has a hint. `UPDATE_DIAGNOSTICS=1` writes `expected.txt` anew
 * (never where `CI` is set); read what changed before committing it.
 *
 * A room joins by a module `test/diagnostics/<room>.ts` that exports `codes` (its registry of codes) and
 * `check(folder)`, which runs the room's own entry function on a case's files and returns the findings. Pass `folder`
 * as the directory that file names are printed relative to. Then add the module to `rooms` below. Inputs are not
 * linted or type-checked, so they may be as wrong as the case needs.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { formatDiagnostics } from '../../src/document/document.ts';
import type { Diagnostic } from '../../src/document/document.ts';
import * as configRoom from './config.ts';
import * as documentRoom from './document.ts';
import * as generationRoom from './generation.ts';
import * as goldenRoom from './golden.ts';
import * as mappingRoom from './mapping.ts';
import * as sandboxRoom from './sandbox.ts';

interface Room {
  readonly codes: readonly string[];
  check(folder: string): Promise<readonly Diagnostic[]>;
}

const rooms: Readonly<Record<string, Room>> = {
  config: configRoom,
  document: documentRoom,
  generation: generationRoom,
  golden: goldenRoom,
  mapping: mappingRoom,
  sandbox: sandboxRoom,
};

const base = fileURLToPath(new URL('./', import.meta.url));
const isCi = !['', '0', 'false'].includes(process.env['CI'] ?? '');
const isUpdate = process.env['UPDATE_DIAGNOSTICS'] === '1' && !isCi;

describe.each(Object.entries(rooms))('the room %s', (name, room) => {
  const cases = readdirSync(join(base, name)).toSorted();

  test('has a case for every code and no case for another', () => {
    const covered = new Set(cases.map((folder) => folder.split('-', 1)[0] ?? ''));
    const missing = room.codes.filter((code) => !covered.has(code));
    expect(missing, `make a folder test/diagnostics/${name}/<CODE> for each`).toEqual([]);
    expect([...covered].filter((code) => !room.codes.includes(code))).toEqual([]);
  });

  test.each(cases)('%s prints what expected.txt says', async (folder) => {
    const path = join(base, name, folder);
    const found = await room.check(path);
    const printed = formatDiagnostics(found);
    expect(found.map(({ code }) => code)).toContain(folder.split('-', 1)[0]);
    const withoutHint = found.filter(({ hint }) => hint === undefined || hint === '');
    expect(withoutHint.map(({ message }) => message), 'findings without a hint').toEqual([]);
    // The name of nothing, printed: a hint that was put together wrongly.
    expect(found.filter(({ hint }) => /\bundefined\b/.test(hint ?? '')).map(({ hint }) => hint)).toEqual([]);
    const file = join(path, 'expected.txt');
    if (isUpdate) writeFileSync(file, printed);
    expect(printed).toBe(existsSync(file) ? readFileSync(file, 'utf8') : 'UPDATE_DIAGNOSTICS=1 writes expected.txt');
  }, 60_000);
});

test('every folder of cases belongs to a room', () => {
  const folders = readdirSync(base, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map((entry) => entry.name).toSorted()).toEqual(Object.keys(rooms).toSorted());
});
