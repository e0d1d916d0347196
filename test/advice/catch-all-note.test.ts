/** A mapping without a path beside a path with a proof of its own. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createDecisionAdvisor } from '../../src/advice/requests/decision-advice.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import { formatEvaluation } from '../../src/explanation/explanation.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const REST = '- {id: rest, messageTemplate: x}';
const OWN = (more = '') =>
  `- {id: made, match: {path: clerk, when: {"===": [{var: type}, made]}}, verify: {scheme: github, secrets: ["\${A}"]}, messageTemplate: x${more}}`;

function explain(table: string): { readonly text: string; readonly notes: readonly string[] } {
  const settings = settingsWith({ table });
  const sent = { path: 'clerk', payload: { type: 'gone', kind: 'made' } };
  const { evaluation } = evaluateHook(sent, settings);
  const request = createHookRequest({ ...sent, receivedAt });
  const advice = adviceFor(evaluation, request, settings.table);
  const { notes } = createDecisionAdvisor(settings.table)(evaluation, request);
  return { text: formatEvaluation(evaluation, { request, advice }), notes };
}

test('it is told before the nearest miss, which gets no hint', () => {
  const { text, notes } = explain(`${OWN()}\n${REST}`);
  expect(text).toContain(
    'so it takes only requests with the hook token, and none of the path clerk, which has a proof of its own',
  );
  expect(text).toContain(
    'copy it right behind itself, write id: rest-clerk and match: {path: clerk} in the copy',
  );
  expect(text).not.toContain('did you mean');
  expect(text).not.toContain('of other hook names');
  expect(notes).toHaveLength(1);
});

test.each([
  ['the path skips what is left', `${OWN(', otherwise: skip')}\n${REST}`],
  ['the condition reads what is not there', `${OWN().replace('var: type', 'var: typ')}\n${REST}`],
  ['it asks for something else', `${OWN()}\n- {id: rest, match: {source: ci}, messageTemplate: x}`],
  ['it has a path', `${OWN()}\n- {id: rest, match: {path: other}, messageTemplate: x}`],
])('nothing is said where %s', (_, table) => {
  expect(explain(table).text).not.toContain('a proof of its own');
});
