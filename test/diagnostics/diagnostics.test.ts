/** The cases of all diagnostics but those of the sandbox, which start processes: see `test/support/diagnostic-cases.ts`. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CASES, describeRoom } from '../support/diagnostic-cases.ts';
import { NO_EDIT } from '../support/no-edit.ts';
import * as config from './config.ts';
import * as document from './document.ts';
import * as generation from './generation.ts';
import * as golden from './golden.ts';
import * as mapping from './mapping.ts';
import * as sandbox from './sandbox.ts';

const rooms = { config, document, generation, golden, mapping };

for (const [name, room] of Object.entries(rooms)) describeRoom(name, room);

test('every folder of cases belongs to a room, and every reason for no edit to a code', () => {
  const all = { ...rooms, sandbox };
  const folders = readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map((entry) => entry.name).toSorted()).toEqual(Object.keys(all).toSorted());
  const codes = Object.values(all).flatMap((room): readonly string[] => room.codes);
  expect([...NO_EDIT.keys()].filter((code) => !codes.includes(code))).toEqual([]);
});
