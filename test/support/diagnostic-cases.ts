/**
 * Every diagnostic code has at least one case: `test/diagnostics/<room>/<CODE>[-variant]/` holds the input files and
 * `expected.txt`, the findings as `formatDiagnostics` prints them. Every finding has a hint. `UPDATE_DIAGNOSTICS=1` writes `expected.txt` anew
 * (never where `CI` is set); read what changed before committing it. A hint is a promise: each edit on a finding, made in
 * a copy of its case, leaves fewer findings and no new one.
 *
 * A room joins by a module `test/diagnostics/<room>.ts` that exports `codes` (its registry of codes) and
 * `check(folder)`, which runs the room's own entry function on a case's files and returns the findings. Pass `folder`
 * as the directory that file names are printed relative to. Then add the module to `rooms` in `test/diagnostics/diagnostics.test.ts`, or, where cases start processes, give it a file of its own as the sandbox has. Inputs are not
 * linted or type-checked, so they may be as wrong as the case needs.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { applyEdits, type Finding, formatDiagnostics } from '../../src/document/document.ts';
import { NO_EDIT } from './no-edit.ts';
import { said } from './said.ts';
import { advise } from '../../src/advice/advice.ts';

export interface Room {
  readonly codes: readonly string[];
  check(folder: string): Promise<readonly Finding[]>;
}

/** The folders of cases, one for each room. */
export const CASES = fileURLToPath(new URL('../diagnostics/', import.meta.url));
const isCi = !['', '0', 'false'].includes(process.env['CI'] ?? '');
const isUpdate = process.env['UPDATE_DIAGNOSTICS'] === '1' && !isCi;

/** Checks all cases of a room. */
export function describeRoom(name: string, room: Room): void {
  describe(`the room ${name}`, () => {
    const cases = readdirSync(join(CASES, name)).toSorted();
    /** Codes whose edit was made. */
    const applied = new Set<string>();

    test('has a case for every code and no case for another', () => {
      const covered = new Set(cases.map((folder) => folder.split('-', 1)[0] ?? ''));
      const missing = room.codes.filter((code) => !covered.has(code));
      expect(missing, `make a folder test/diagnostics/${name}/<CODE> for each`).toEqual([]);
      expect([...covered].filter((code) => !room.codes.includes(code))).toEqual([]);
    });

    test.each(cases)(
      '%s prints what expected.txt says, and its edits help',
      async (folder) => {
        const path = join(CASES, name, folder);
        const found = advise(await room.check(path));
        const printed = formatDiagnostics(found);
        expect(found.map(({ code }) => code)).toContain(folder.split('-', 1)[0]);
        const withoutHint = found.filter(({ hint }) => said(hint) === '');
        expect(
          withoutHint.map(({ message }) => said(message)),
          'findings without a hint',
        ).toEqual([]);
        // The name of nothing, printed: a hint that was put together wrongly.
        expect(
          found.filter(({ hint }) => /\bundefined\b/.test(said(hint))).map(({ hint }) => said(hint)),
        ).toEqual([]);
        const file = join(path, 'expected.txt');
        if (isUpdate) writeFileSync(file, printed);
        expect(printed).toBe(
          existsSync(file) ? readFileSync(file, 'utf8') : 'UPDATE_DIAGNOSTICS=1 writes expected.txt',
        );
        for (const code of await makeEdits(room, path, found)) applied.add(code);
      },
      60_000,
    );

    test('of every code an edit was made, or a reason says why its remedy is none', () => {
      expect(room.codes.filter((code) => !applied.has(code) && !NO_EDIT.has(code))).toEqual([]);
      // A reason that no longer holds.
      expect([...NO_EDIT.keys()].filter((code) => applied.has(code))).toEqual([]);
    });
  });
}

/** Makes each edit of `found` in a copy of the case of its own; the codes whose edits were made. */
async function makeEdits(room: Room, path: string, found: readonly Finding[]): Promise<readonly string[]> {
  const made: string[] = [];
  for (const { edit, also = [], code } of found) {
    if (edit === undefined) continue;
    made.push(code);
    const copy = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
    try {
      cpSync(path, copy, { recursive: true });
      // Some rooms name files from the working directory, others from the case.
      const named = edit.at.source.file;
      const file = existsSync(join(copy, named))
        ? join(copy, named)
        : join(copy, relative(path, resolve(named)));
      writeFileSync(file, applyEdits(readFileSync(file, 'utf8'), [edit, ...also]));
      // oxlint-disable-next-line no-await-in-loop -- one copy at a time
      const left = textsOf(advise(await room.check(copy)));
      const before = textsOf(found);
      expect([code, left.length < found.length]).toEqual([code, true]);
      expect([code, left.filter((text) => !before.includes(text))]).toEqual([code, []]);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
  return made;
}

/** Findings without their places, which an edit may move. */
function textsOf(found: readonly Finding[]): string[] {
  return found.map(({ code, message }) => `${code} ${said(message)}`);
}
