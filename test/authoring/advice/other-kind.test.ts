/** What is said of events of another kind than the mapping was written for, and of what only looks so. */
import { expect, test } from 'vitest';
import { briefOf } from '../../../src/authoring/explanation/explanation.ts';
import { adviceFor } from '../../../src/authoring/advice/requests.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';

function hintsOf(mapping: object, payload: JsonValue): string {
  const settings = settingsWith({ table: JSON.stringify([{ id: 'm', ...mapping }]) });
  const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
  const request = createHookRequest({ path: 'p', payload, receivedAt });
  return briefOf(evaluation, adviceFor(evaluation, request, settings.table)).hints.join('\n');
}

const prints = (messageTemplate: string): object => ({ match: { path: 'p' }, messageTemplate });
const asks = (when: JsonValue): object => ({ match: { path: 'p', when }, messageTemplate: 'x' });

test.each<[string, JsonValue, string]>([
  ['{{head_commit.id}}', { head_commit: null, after: '0' }, 'when: {"!!":[{"var":"head_commit"}]}'],
  ['{{message.text}}', { edited_message: { text: 'a' } }, 'when: {"!!":[{"var":"message"}]}'],
  [
    '{{entry.[0].value.messages.[0].text}}',
    { entry: [{ value: { statuses: [] } }] },
    'when: {"!!":[{"var":"entry.0.value.messages"}]}',
  ],
])('%s of an event that has nothing of it is left out by a condition', (template, payload, line) => {
  expect(hintsOf(prints(template), payload)).toContain(`    ${line}`);
});

test('a condition that is there is kept beside the new one', () => {
  const mapping = {
    match: { path: 'p', when: { '===': [{ var: 'kind' }, 'push'] } },
    messageTemplate: '{{head_commit.id}}',
  };
  expect(hintsOf(mapping, { kind: 'push', head_commit: null })).toContain(
    '{"and":[{"===":[{"var":"kind"},"push"]},{"!!":[{"var":"head_commit"}]}]}',
  );
});

test.each<[string, JsonValue]>([
  // The path is wrong, and not the event.
  ['{{message.text}}', { event: { text: 'a' } }],
  ['{{data.event.title}}', { event: { title: 'a' } }],
  ['{{issue.title}}', { comment: { body: 'a' } }],
  // Some of it is there.
  ['{{head_commit.id}} {{ref}}', { ref: 'main', head_commit: { id: '' } }],
])('%s says nothing of a condition', (template, payload) => {
  expect(hintsOf(prints(template), payload)).not.toContain('when:');
});

test('a further element with what is asked for is asked, too', () => {
  const payload = { items: [{ field: 'resolution' }, { field: 'status' }] };
  const first = asks({ '===': [{ var: 'items.0.field' }, 'status'] });
  expect(hintsOf(first, payload)).toContain('{"some":[{"var":"items"},{"===":[{"var":"field"},"status"]}]}');
  expect(hintsOf(first, { items: [{ field: 'resolution' }] })).not.toContain('some');
});

test('a field that is true is meant by its name, and a text that only begins so is not', () => {
  const merged = asks({ '===': [{ var: 'action' }, 'merged'] });
  expect(hintsOf(merged, { action: 'closed', pull: { merged: true, head: 'merged-filter' } })).toContain(
    '{"===":[{"var":"pull.merged"},true]}',
  );
  expect(hintsOf(merged, { action: 'closed', pull: { merged: false, head: 'merged-filter' } })).not.toMatch(
    /merged-filter|pull\.merged/,
  );
});

test('the hook name of a preset that is not on says which', () => {
  const settings = settingsWith({ table: '[{id: m, match: {path: p}, messageTemplate: x}]' });
  const [of, other] = ['gmail', 'outlook'].map((path) => {
    const { evaluation } = evaluateHook({ path, payload: {} }, settings);
    const request = createHookRequest({ path, payload: {}, receivedAt });
    return briefOf(evaluation, adviceFor(evaluation, request, settings.table)).hints.join('\n');
  });
  expect(of).toContain('    presets: [gmail]');
  expect(other).not.toContain('presets');
});
