/** A hint is a promise: each edit on a finding, made in a copy of its case, leaves fewer findings and no new one. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { NO_EDIT } from '../support/no-edit.ts';
import { applyEdits, type Diagnostic } from '../../src/document/document.ts';
import * as configRoom from './config.ts';
import * as documentRoom from './document.ts';
import * as generationRoom from './generation.ts';
import * as goldenRoom from './golden.ts';
import * as mappingRoom from './mapping.ts';
import * as sandboxRoom from './sandbox.ts';

const rooms = {
  config: configRoom,
  document: documentRoom,
  generation: generationRoom,
  golden: goldenRoom,
  mapping: mappingRoom,
  sandbox: sandboxRoom,
};
const base = fileURLToPath(new URL('./', import.meta.url));

/** Findings without their places, which an edit may move. */
const textsOf = (found: readonly Diagnostic[]): string[] => found.map(({ code, message }) => `${code} ${message}`);

const applied = new Set<string>();

describe.each(Object.entries(rooms))('edits of the room %s', (name, room) => {
  test.each(readdirSync(join(base, name)).toSorted())('%s', async (folder) => {
    // Some cases make a large file while they are checked, and another test checks them at the same time.
    const original = copyOf(join(base, name, folder));
    const found = await room.check(original);
    for (const { edit, code } of found) {
      if (edit === undefined) continue;
      applied.add(code);
      const copy = copyOf(original);
      try {
        // Some rooms name files from the working directory, others from the case.
        const named = edit.at.source.file;
        const file = existsSync(join(copy, named)) ? join(copy, named) : join(copy, relative(original, resolve(named)));
        writeFileSync(file, applyEdits(readFileSync(file, 'utf8'), [edit]));
        // oxlint-disable-next-line no-await-in-loop -- one copy at a time
        const left = textsOf(await room.check(copy));
        expect([code, left.length < found.length]).toEqual([code, true]);
        const before = textsOf(found);
        expect([code, left.filter((text) => !before.includes(text))]).toEqual([code, []]);
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    }
    rmSync(original, { recursive: true, force: true });
  });
});

function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

test('of every code an edit was made, or a reason says why its remedy is none', () => {
  const codes = Object.values(rooms).flatMap((room) => [...room.codes]);
  expect(codes.filter((code) => !applied.has(code) && !NO_EDIT.has(code))).toEqual([]);
  // A reason that no longer holds.
  expect([...NO_EDIT.keys()].filter((code) => applied.has(code) || !codes.includes(code))).toEqual([]);
});
