/** A field that holds JSON as a text: the transform that explain writes does what the mapping says. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const REQUEST = {
  path: 'p',
  payload: { Type: 'N', Message: '{"Alarm":{"Name":"cpu"},"State":"ALARM","list":[{"id":7}]}' },
  headers: { 'x-topic': 'a' },
};

function noteOn(mapping: object, payload: JsonValue = REQUEST.payload): string {
  const settings = settingsWith({ table: JSON.stringify([{ id: 'sns', ...mapping }]) });
  const sent = { ...REQUEST, payload };
  const { evaluation } = evaluateHook(sent, settings);
  const { notes } = adviceFor(evaluation, createHookRequest({ ...sent, receivedAt }), settings.table);
  return notes.find(({ code }) => code === 'json_text')?.text ?? '';
}

const isAlarm: JsonValue = { '===': [{ var: 'Message.State' }, 'ALARM'] };

test('is told the file, which does what the mapping says, and the lines of the mapping', async () => {
  const note = noteOn({
    match: { path: 'p', when: { and: [{ '===': [{ var: 'Type' }, 'N'] }, isAlarm] } },
    sessionKey: 'hook:{{Message.Alarm.Name}}',
    messageTemplate:
      '`{{Type}}` {{payload.Message.Alarm.Name}} {{Message.list.[0].id}}\n{{headers.x-topic}}\n',
  });
  const lines = note.split('\n');
  const code = lines.slice(1, -1).join('\n');
  const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly default: (input: object) => unknown;
  };
  expect(transform(REQUEST)).toEqual({ message: '`N` cpu 7\na', sessionKey: 'hook:cpu' });
  const other = { ...REQUEST, payload: { Type: 'N', Message: '{"State":"OK"}' } };
  expect(transform(other)).toBeNull();
  expect(lines[0]).toMatch(
    /^Message is a text that holds JSON.* write the file transforms\/sns\.js \(the folder is hooks\.transformsDir\) so:$/,
  );
  expect(lines.at(-1)).toMatch(
    /^and in sns \(mappings\.yaml:1:2\) the line transform: sns\.js in place of messageTemplate and sessionKey, and when: \{"===":\[\{"var":"Type"\},"N"\]\}$/,
  );
});

test.each([
  ['{{Message.State}} {{Type}}', (json: string) => json],
  ['{{State}} {{Type}}', (json: string) => json],
  ['{{payload.Message.State}} {{Type}}', (json: string) => Buffer.from(json).toString('base64')],
  ['{{State}} {{Type}}', (json: string) => Buffer.from(json).toString('base64')],
])(
  'a template %s reads what is in the text, by its path or as if it stood at the root',
  async (text, encode) => {
    const payload = { Type: 'N', Message: encode('{"State":"Störung"}') };
    const note = noteOn({ match: { path: 'p' }, messageTemplate: text }, payload);
    expect(note).not.toContain('as an object');
    const code = note.split('\n').slice(1, -1).join('\n');
    const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      readonly default: (input: object) => unknown;
    };
    expect(transform({ payload })).toEqual({ message: 'Störung N' });
  },
);

test('a text that only looks like base64, and a name that is nowhere, are told nothing', () => {
  expect(
    noteOn({ match: { path: 'p' }, messageTemplate: '{{Message.State}}' }, { Message: 'eyesopen' }),
  ).toBe('');
  expect(noteOn({ match: { path: 'p' }, messageTemplate: '{{Other}}' })).toBe('');
});

test('of a template alone the condition stays, and a condition on the text alone goes', () => {
  expect(noteOn({ match: { path: 'p' }, messageTemplate: '{{Message.State}}' })).toMatch(/messageTemplate$/);
  expect(noteOn({ match: { path: 'p', when: isAlarm }, messageTemplate: 'x' })).toMatch(/, and no when$/);
});

test('a template with a helper is told how, without a file', () => {
  expect(
    noteOn({ match: { path: 'p' }, messageTemplate: '{{upper Message.State}} {{Message.State}}' }),
  ).toMatch(/or read it in a transform, with JSON\.parse\(payload\.Message\)$/);
});
