/** What may have been meant by the parts of a condition that failed: each with the rule to write. */
import { expect, test } from 'vitest';
import { adviceFor, evaluationFindings } from '../../../src/authoring/advice/requests.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printSentence } from '../../../src/base/finding.ts';

const HEADERS = { 'x-topic': 'orders/create' };

function hints(when: JsonValue, payload: JsonValue): readonly string[] {
  const table = JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: 'x' }]);
  const settings = settingsWith({ table });
  const { evaluation } = evaluateHook({ path: 'p', payload, headers: HEADERS }, settings);
  const request = createHookRequest({ path: 'p', payload, headers: HEADERS, receivedAt });
  const notes = evaluationFindings(evaluation, adviceFor(evaluation, request, settings.table));
  return notes
    .filter(({ code }) => !['not_held', 'remedy', 'part'].includes(code))
    .map(({ message }) => printSentence(message));
}

const is = (name: string, value: JsonValue): JsonValue => ({ '===': [{ var: name }, value] });

test.each<[JsonValue, JsonValue, readonly RegExp[]]>([
  [
    is('state', 'done'),
    { state: 'Done' },
    [/upper and lower case: write \{"===":\[\{"var":"state"\},"Done"\]\}$/],
  ],
  [is('ref', 'main'), { ref: 'refs/heads/main' }, [/whole text: write .*"refs\/heads\/main"\]\}$/]],
  [
    is('topic', 'orders/create'),
    {},
    [/did you mean that\? write \{"===":\[\{"var":"headers\.x-topic"\},"orders\/create"\]\}$/],
  ],
  [
    is('messages.0.kind', 'incident.trigger'),
    { event: { name: 'incident.triggered' } },
    [/did you mean that\? write \{"===":\[\{"var":"event\.name"\},"incident\.triggered"\]\}$/],
  ],
  // Of an "and" the part that failed first is told.
  [
    { and: [is('type', 'issue'), is('data.state', 'done')] },
    { type: 'Issue', data: { state: 'Done' } },
    [/^what was sent differs only/],
  ],
  // Another event of the sender: nothing is sure.
  [{ and: [is('type', 'issue'), is('action', 'opened')] }, { type: 'push', action: 'closed' }, []],
])('names what fails of the condition %j over %j', (when, payload, expected) => {
  const found = hints(when, payload);
  expect(found).toHaveLength(expected.length);
  for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern);
});
