/**
 * Every diagnostic code has at least one case: `test/diagnostics/<room>/<CODE>[-variant]/` holds the input files and
 * `expected.txt`, the findings as `formatDiagnostics` prints them. Every finding has a hint. `UPDATE_DIAGNOSTICS=1` writes `expected.txt` anew
 * (never where `CI` is set); read what changed before committing it. A hint is a promise: each edit on a finding, made in
 * a copy of its case, leaves fewer findings and no new one.
 *
 * A room joins by a module `test/diagnostics/<room>.ts` that exports `codes` (its registry of codes) and
 * `check(folder)`, which runs the room's own entry function on a case's files and returns the findings. Pass `folder`
 * as the directory that file names are printed relative to. Then add the module to `rooms` below. Inputs are not
 * linted or type-checked, so they may be as wrong as the case needs.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { applyEdits, type Diagnostic, formatDiagnostics } from '../../src/document/document.ts';
import { NO_EDIT } from '../support/no-edit.ts';
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
/** Codes whose edit was made below. */
const applied = new Set<string>();
const isUpdate = process.env['UPDATE_DIAGNOSTICS'] === '1' && !isCi;

describe.each(Object.entries(rooms))('the room %s', (name, room) => {
  const cases = readdirSync(join(base, name)).toSorted();

  test('has a case for every code and no case for another', () => {
    const covered = new Set(cases.map((folder) => folder.split('-', 1)[0] ?? ''));
    const missing = room.codes.filter((code) => !covered.has(code));
    expect(missing, `make a folder test/diagnostics/${name}/<CODE> for each`).toEqual([]);
    expect([...covered].filter((code) => !room.codes.includes(code))).toEqual([]);
  });

  test.each(cases)('%s prints what expected.txt says, and its edits help', async (folder) => {
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
    await makeEdits(room, path, found);
  }, 60_000);
});

/** Each edit of `found` in a copy of the case of its own. */
async function makeEdits(room: Room, path: string, found: readonly Diagnostic[]): Promise<void> {
  for (const { edit, code } of found) {
    if (edit === undefined) continue;
    applied.add(code);
    const copy = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
    try {
      cpSync(path, copy, { recursive: true });
      // Some rooms name files from the working directory, others from the case.
      const named = edit.at.source.file;
      const file = existsSync(join(copy, named)) ? join(copy, named) : join(copy, relative(path, resolve(named)));
      writeFileSync(file, applyEdits(readFileSync(file, 'utf8'), [edit]));
      // oxlint-disable-next-line no-await-in-loop -- one copy at a time
      const left = textsOf(await room.check(copy));
      const before = textsOf(found);
      expect([code, left.length < found.length]).toEqual([code, true]);
      expect([code, left.filter((text) => !before.includes(text))]).toEqual([code, []]);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
}

/** Findings without their places, which an edit may move. */
function textsOf(found: readonly Diagnostic[]): string[] {
  return found.map(({ code, message }) => `${code} ${message}`);
}

test('of every code an edit was made, or a reason says why its remedy is none', () => {
  const codes = Object.values(rooms).flatMap((room) => [...room.codes]);
  expect(codes.filter((code) => !applied.has(code) && !NO_EDIT.has(code))).toEqual([]);
  // A reason that no longer holds.
  expect([...NO_EDIT.keys()].filter((code) => applied.has(code) || !codes.includes(code))).toEqual([]);
});

test('every folder of cases belongs to a room', () => {
  const folders = readdirSync(base, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map((entry) => entry.name).toSorted()).toEqual(Object.keys(rooms).toSorted());
});
