/** A body that is a list, and a condition on a field of its elements: what explain writes takes it, one run for each. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const REQUEST = {
  path: 'p',
  payload: [
    { event: 'bounce', email: 'a@b.example' },
    { event: 'open', email: 'c@d.example' },
  ],
  headers: { 'x-kind': 'list' },
};

function noteOn(mapping: object): string {
  const settings = settingsWith({ table: JSON.stringify([{ id: 'mails', ...mapping }]) });
  const { evaluation } = evaluateHook(REQUEST, settings);
  const { notes } = adviceFor(evaluation, createHookRequest({ ...REQUEST, receivedAt }), settings.table);
  return notes
    .filter(({ code }) => code === 'body_is_list')
    .map(({ text }) => text)
    .join('\n');
}

const lineOf = (note: string, key: string): unknown =>
  JSON.parse(new RegExp(`^ +${key}: (.+)$`, 'm').exec(note)?.[1] ?? 'null');

const when = {
  and: [{ '===': [{ var: 'headers.x-kind' }, 'list'] }, { '===': [{ var: 'event' }, 'bounce'] }],
};

test('is told the lines of the mapping, which take the request, and the file that leaves out the others', async () => {
  const note = noteOn({ match: { path: 'p', when }, messageTemplate: '{{upper email}} {{headers.x-kind}}' });
  const fixed = {
    id: 'mails',
    match: { path: 'p', when: lineOf(note, 'when') },
    forEach: 'payload',
    messageTemplate: lineOf(note, 'messageTemplate'),
  };
  const { evaluation } = evaluateHook(REQUEST, settingsWith({ table: JSON.stringify([fixed]) }));
  expect(evaluation.mapping?.id).toBe('mails');
  expect(fixed.messageTemplate).toBe('{{upper item.email}} {{headers.x-kind}}');
  const code = note.slice(note.indexOf('export default'));
  const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly default: (input: object) => unknown;
  };
  expect(REQUEST.payload.map((item) => transform({ item }))).toEqual([{}, null]);
});

test('with forEach the condition alone; of a condition that goes through the body nothing', () => {
  const own = { path: 'p', when: { '===': [{ var: 'item.event' }, 'bounce'] } };
  const note = noteOn({ match: own, forEach: 'payload', messageTemplate: '{{item.email}}' });
  expect(lineOf(note, 'when')).toEqual({
    some: [{ var: 'payload' }, { '===': [{ var: 'event' }, 'bounce'] }],
  });
  expect(note).not.toContain('messageTemplate');
  const some = { some: [{ var: 'payload' }, { '===': [{ var: 'event' }, 'spam'] }] };
  expect(noteOn({ match: { path: 'p', when: some }, messageTemplate: 'x' })).toBe('');
});
