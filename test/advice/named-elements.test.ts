/** Paths that go on within a list by the name of one of its elements. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const BODY = {
  form: {
    answers: [
      { type: 'text', text: 'Tomas', field: { ref: 'name', id: 'a' } },
      { type: 'choice', choice: { label: 'Team' }, field: { ref: 'plan', id: 'b' } },
    ],
  },
  custom_fields: [
    { id: 'size', value: 7 },
    { id: 'colour', value: 'red' },
  ],
  twice: [
    { key: 'a', n: 1 },
    { key: 'a', n: 2 },
  ],
};

function evaluated(mapping: object, payload: JsonValue = BODY) {
  const settings = settingsWith({
    table: JSON.stringify([{ id: 'm', match: { path: 'p' }, messageTemplate: 'x', ...mapping }]),
  });
  const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
  const request = createHookRequest({ path: 'p', payload, receivedAt });
  return { evaluation, advice: adviceFor(evaluation, request, settings.table) };
}

const printed = (messageTemplate: string): string =>
  JSON.stringify(evaluated({ messageTemplate }).evaluation.outcome);

test.each([
  ['form.answers.plan.choice.label', 'field.ref', 'Team'],
  ['payload.form.answers.name.text', 'field.ref', 'Tomas'],
  ['custom_fields.colour', 'id', 'red'],
  ['custom_fields.size.value', 'id', '7'],
])('a template looks %s up by %s', (path, by, value) => {
  const text = evaluated({ messageTemplate: `got {{${path}}}` }).advice.instead.get(path)?.text ?? '';
  expect(text).toMatch(new RegExp(`^an element of the list \\S+ whose ${by} is "\\w+": write `));
  expect(printed(`got ${text.slice(text.indexOf('{{'))}`)).toContain(`got ${value}`);
});

test('an element of a run has lists of its own', () => {
  const { advice } = evaluated(
    { forEach: 'rows', messageTemplate: 'got {{item.fields.size.value}}' },
    { rows: [{ fields: BODY.custom_fields }] },
  );
  expect(advice.instead.get('item.fields.size.value')?.text).toContain(
    'write {{#each item.fields}}{{#if (eq id "size")}}{{value}}{{/if}}{{/each}}',
  );
});

test.each(['form.answers.plan.text', 'form.answers.mail.text', 'twice.a.n', 'form.answers.0.nothing'])(
  '%s names no element that has it',
  (path) => {
    const text = evaluated({ messageTemplate: `got {{${path}}}` }).advice.instead.get(path)?.text ?? '';
    expect(text).not.toContain('an element of the list');
  },
);

test('a condition asks the element by its name, each part its own', () => {
  const is = (path: string, value: JsonValue) => ({ '===': [{ var: path }, value] });
  const { advice } = evaluated({
    match: {
      path: 'p',
      when: { and: [is('form.answers.plan.choice.label', 'Team'), is('form.answers.name.text', 'Tomas')] },
    },
  });
  const said = [...advice.leaves.values()].flat();
  const rule = (name: string, path: string, value: string): string =>
    `{"some":[{"var":"form.answers"},{"and":[{"===":[{"var":"field.ref"},"${name}"]},{"===":[{"var":"${path}"},"${value}"]}]}]}`;
  expect(said).toEqual([
    `form.answers is a list: to ask each of its elements write ${rule('plan', 'choice.label', 'Team')}`,
    `form.answers is a list: to ask each of its elements write ${rule('name', 'text', 'Tomas')}`,
  ]);
  const whole = said.map((text) => JSON.parse(text.slice(text.indexOf('{'))) as object);
  expect(evaluated({ match: { path: 'p', when: { and: whole } } }).evaluation.mapping?.id).toBe('m');
});
