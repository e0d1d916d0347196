/** Which expression of linked code an error of V8 speaks of, and which field of the argument that is. */
import { expect, test } from 'vitest';
import { findRead, type ReadExpression } from '../../../src/engine/sandbox/host/map-stack.ts';

const READING = "Cannot read properties of undefined (reading 'name')";

/** The last line is read at its last `.name`. */
function read(code: string, message = READING): ReadExpression | undefined {
  const lines = code.split('\n');
  const at = (lines.at(-1) ?? '').lastIndexOf('name');
  return findRead(code, message, { line: lines.length, column: at + 1 });
}

test.each<[string, ReadExpression | undefined]>([
  ['payload.data.user.name', { expression: 'payload.data.user', path: 'payload.data.user' }],
  [
    'const { id, assignee } = payload.data;\nconst owner = assignee.name.split(" ")[0];',
    { expression: 'assignee', path: 'payload.data.assignee' },
  ],
  [
    'const {\n  data: { id },\n  x\n} = payload;\nconst { user: who } = payload.issue;\nwho.name',
    { expression: 'who', path: 'payload.issue.user' },
  ],
  ['const d = payload?.data;\nconst u = d.user;\nf(u.name)', { expression: 'u', path: 'payload.data.user' }],
  [
    'export_default = ({ payload: body }) => {\nbody.user.name',
    { expression: 'body.user', path: 'payload.user' },
  ],
  ['(input) => {\ninput.payload.user.name', { expression: 'input.payload.user', path: 'payload.user' }],
  ['item.user.name', { expression: 'item.user', path: 'item.user' }],
  ['list.map((one) => one.user.name', { expression: 'one.user' }],
  ['find(payload).user.name', undefined],
  ['payload.users[0].name', undefined],
])('%s', (code, found) => {
  expect(read(code)).toEqual(found);
});

test('the words of a destructuring name it themselves', () => {
  const words = "Cannot destructure property 'name' of 'payload.user' as it is undefined.";
  expect(read('const { name } = payload.user;', words)).toEqual({
    expression: 'payload.user',
    path: 'payload.user',
  });
  expect(read('throw payload.name', 'no name')).toBeUndefined();
});
