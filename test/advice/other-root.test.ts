/** Paths of a mapping that all begin where the body does not: one note says of each place what to write. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { methodNote } from '../../src/advice/requests/method-note.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import { formatEvaluation } from '../../src/explanation/explanation.ts';
import type { JsonValue } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function explain(mapping: object, payload: JsonValue, headers: Record<string, string> = {}): string {
  const settings = settingsWith({ table: JSON.stringify([{ id: 'm', ...mapping }]) });
  const { evaluation } = evaluateHook({ path: 'p', payload, headers }, settings);
  const request = createHookRequest({ path: 'p', payload, headers, receivedAt });
  return formatEvaluation(evaluation, { request, advice: adviceFor(evaluation, request, settings.table) });
}

const reading = (root: string): object => ({
  match: { path: 'p', when: { '===': [{ var: `${root}type` }, 'made'] } },
  sessionKey: `hook:{{${root}user.id}}`,
  dedupe: { key: `{{ ${root}id }}` },
  messageTemplate: `{{#each ${root}lines}}\n{{name}}{{/each}} ${root}id {{${root}nothing}}`,
});
const BODY = { type: 'made', id: 1, user: { id: 'u' }, lines: [{ name: 'a' }] };

test.each([
  ['payload.payload.', BODY, FORM, 'the form field payload is taken out here', 'payload.'],
  ['payload.payload.', BODY, {}, 'the body has no field payload: payload is the body itself', 'payload.'],
  ['body.', BODY, {}, 'the body has no field body: payload is the body itself', ''],
  ['$json.body.', BODY, {}, 'the body has no field $json: payload is the body itself', ''],
  ['payload.', { payload: BODY }, {}, 'this body has a field of that name', 'payload.payload.'],
])('%s of %j', (root, payload, headers, why, meant) => {
  const text = explain(reading(root), payload, headers);
  expect(text).toContain(why);
  expect(text).toContain('in all 4 places of m write\n');
  expect(text).toContain(`    when: {"===":[{"var":"${meant}type"},"made"]}  mappings.yaml:1:`);
  expect(text).toContain(`    sessionKey: 'hook:{{${meant}user.id}}'  mappings.yaml:1:`);
  expect(text).toContain(`    dedupe.key: '{{ ${meant}id }}'  mappings.yaml:1:`);
  expect(text).toContain(
    `    messageTemplate: {{${meant}lines}} in place of {{${root}lines}}  mappings.yaml:1:`,
  );
});

const ASKED = { url: undefined, headers: {} };

test('a body that has such a field, or a lone place, is told no more than that', () => {
  const own = explain(reading('body.'), { body: { kind: 'made', user: { id: 'u' } } });
  expect(own).not.toContain('places of m');
  const { match } = reading('body.') as { match: object };
  const one = explain({ match, messageTemplate: '{{id}}' }, BODY);
  expect(one).toContain('note the body has no field body');
  expect(one).not.toContain('places of m');
});

test('fields are listed as all paths of the mapping are written', () => {
  const match = { path: 'p', when: { '===': [{ var: 'payload.type' }, 'sent'] } };
  expect(explain({ match, messageTemplate: 'x' }, BODY)).toMatch(/ {2}payload\.type +"made" {2}← when/);
  const bare = { path: 'p', when: { '===': [{ var: 'type' }, 'made'] } };
  expect(explain({ match: bare, messageTemplate: '{{payload.id}}' }, BODY)).toMatch(/ {2}type +"made"/);
});

test('another method is told the mapping of the path, and the line to write or to remove', () => {
  const table = (extra: object): ReturnType<typeof settingsWith>['table'] =>
    settingsWith({
      table: JSON.stringify([{ id: 'm', match: { path: 'p' }, messageTemplate: 'x', ...extra }]),
    }).table;
  expect(methodNote('p', { ...ASKED, method: 'GET' }, table({}))).toContain(
    'write the line method: GET in m (mappings.yaml:1:2)',
  );
  const url = '/hooks/p?name=nightly&status=down';
  const headers = { 'content-type': 'application/json', 'user-agent': 'HomeAssistant/2026.11' };
  expect(methodNote('p', { ...ASKED, method: 'GET', headers }, table({}))).toMatch(
    /let the sender send POST: in Home Assistant write method: post in the rest_command$/,
  );
  expect(methodNote('p', { ...ASKED, method: 'GET', url }, table({}))).toMatch(
    /; the query is then the body, so \?name=… is \{\{name\}\}$/,
  );
  expect(
    methodNote(
      'p',
      { ...ASKED, method: 'GET', url },
      table({ messageTemplate: '{{query.name}} {{query.status}}' }),
    ),
  ).toMatch(/; what reads query\.name and query\.status stays as it is$/);
  expect(methodNote('p', { ...ASKED, method: 'PUT' }, table({}))).toContain(
    'let the sender send POST, which m',
  );
  expect(methodNote('p', { ...ASKED, method: 'POST' }, table({ method: 'GET' }))).toMatch(
    /method: GET of m \(.*\) .*remove it/,
  );
  expect(
    methodNote(
      'p',
      { ...ASKED, method: 'GET', url: '/hooks/p?hub.mode=subscribe&hub.challenge=1' },
      table({}),
    ),
  ).toContain(
    "challenge: {kind: meta, token: '${META_VERIFY_TOKEN}'} in m (mappings.yaml:1:2), beside match",
  );
  expect(methodNote('q', { ...ASKED, method: 'GET' }, table({}))).toBeUndefined();
});
