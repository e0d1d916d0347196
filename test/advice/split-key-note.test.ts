/** A key with a dot in it in a condition: what explain writes does what the condition says. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const resolved = (state: string): JsonValue => ({
  type: 'x',
  fields: { 'System.State': { newValue: state } },
});
const REQUEST = { path: 'p', payload: resolved('Resolved'), headers: {} };
const isResolved = { '===': [{ var: 'fields.System.State.newValue' }, 'Resolved'] };

function adviseOn(mapping: object): ReturnType<typeof adviceFor> {
  const settings = settingsWith({
    table: JSON.stringify([{ id: 'azure', messageTemplate: 'x', ...mapping }]),
  });
  const { evaluation } = evaluateHook(REQUEST, settings);
  return adviceFor(evaluation, createHookRequest({ ...REQUEST, receivedAt }), settings.table);
}

const noteOn = (mapping: object): string =>
  adviseOn(mapping).notes.find(({ code }) => code === 'split_key')?.text ?? '';

test('is told the file, which decides as the condition says, and leaves the message to the mapping', async () => {
  const when = { and: [{ '===': [{ var: 'type' }, 'x'] }, isResolved] };
  const lines = noteOn({ match: { path: 'p', when } }).split('\n');
  const code = lines.slice(1, -1).join('\n');
  const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly default: (input: object) => unknown;
  };
  expect(transform(REQUEST)).toEqual({});
  expect(transform({ payload: resolved('Active') })).toBeNull();
  expect(transform({ payload: { type: 'x' } })).toBeNull();
  expect(lines.at(-1)).toContain('write when: {"===":[{"var":"type"},"x"]}, and beside match the line');
});

test('nothing else is said of that part, nor that a condition reads the key', () => {
  const { leaves, foundAt, fields } = adviseOn({ match: { path: 'p', when: isResolved } });
  expect([...leaves, ...foundAt]).toEqual([]);
  expect(fields.fields.flatMap(({ by }) => by)).toEqual([]);
});

test('with a transform already, the line to begin it with; of a rule that is no comparison only the path', () => {
  const match = { path: 'p', when: isResolved };
  expect(noteOn({ match, transform: 'own.ts' })).toMatch(
    /begin the function of own\.ts with if \(!\(payload/,
  );
  const within = { in: ['Res', { var: 'fields.System.State.newValue' }] };
  expect(noteOn({ match: { path: 'p', when: within } })).toMatch(
    /there it is payload\.fields\?\.\["System\.State"\]\?\.newValue$/,
  );
});
