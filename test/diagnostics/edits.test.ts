/** A hint is a promise: each edit on a finding, made in a copy of its case, leaves fewer findings and no new one. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { applyEdits, type Diagnostic } from '../../src/document/document.ts';
import * as configRoom from './config.ts';
import * as documentRoom from './document.ts';
import * as mappingRoom from './mapping.ts';
import * as sandboxRoom from './sandbox.ts';

const rooms = { config: configRoom, document: documentRoom, mapping: mappingRoom };
const base = fileURLToPath(new URL('./', import.meta.url));

/** Findings without their places, which an edit may move. */
const textsOf = (found: readonly Diagnostic[]): string[] => found.map(({ code, message }) => `${code} ${message}`);

let applied = 0;

describe.each(Object.entries(rooms))('edits of the room %s', (name, room) => {
  test.each(readdirSync(join(base, name)).toSorted())('%s', async (folder) => {
    const original = join(base, name, folder);
    const found = await room.check(original);
    for (const { edit, code } of found) {
      if (edit === undefined) continue;
      applied += 1;
      const copy = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
      try {
        cpSync(original, copy, { recursive: true });
        const file = join(copy, edit.at.source.file);
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
  });
});

test('a transform that was probably meant is an edit, too', async () => {
  for (const folder of ['TRANSFORM_NOT_FOUND-near', 'TRANSFORM_NOT_FOUND-folder']) {
    // oxlint-disable-next-line no-await-in-loop -- one loader at a time
    const found = await sandboxRoom.check(join(base, 'sandbox', folder));
    const edits = found.flatMap(({ edit }) => (edit === undefined ? [] : [edit]));
    expect([folder, edits.length > 0]).toEqual([folder, true]);
  }
});

test('there are edits', () => {
  expect(applied).toBeGreaterThan(15);
});
