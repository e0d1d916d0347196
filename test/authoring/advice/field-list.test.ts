/** The list of fields that explain shows: what reads each, and what stands beside it. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../../src/authoring/advice/requests.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';

function listOf(
  mapping: object,
  payload: JsonValue,
  more: { headers?: Record<string, string>; query?: Record<string, string> } = {},
) {
  const settings = settingsWith({ table: JSON.stringify([{ id: 'm', match: { path: 'p' }, ...mapping }]) });
  const { evaluation } = evaluateHook({ path: 'p', payload, ...more }, settings);
  const request = createHookRequest({ path: 'p', payload, ...more, receivedAt });
  const advice = adviceFor(evaluation, request, settings.table);
  const text = formatEvaluation(evaluation, { request, advice });
  const rows = advice.fields.fields.map(({ path, value, by }) => [path, value, by.join(' ')]);
  return { rows, more: advice.fields.more, text };
}

test('every field of a short body, with what reads it: templates, keys and the condition', () => {
  const { rows, text } = listOf(
    {
      match: { path: 'p', when: { '===': [{ var: 'type' }, 'push'] } },
      messageTemplate: '{{payload.user.name}} {{user.mail}} {{headers.x-id}}',
      sessionKey: 'hook:{{id}}',
    },
    { id: 7, type: 'push', user: { name: 'Ada', login: 'ada' }, empty: {}, none: null, list: [] },
    { headers: { 'x-id': 'h-1', 'x-other': 'h-2' } },
  );
  expect(rows).toEqual([
    ['id', '7', 'sessionKey'],
    ['type', '"push"', 'when'],
    ['user.name', '"Ada"', 'messageTemplate'],
    ['user.login', '"ada"', ''],
    ['empty', '{}', ''],
    ['none', 'null', ''],
    ['list', '[]', ''],
    ['headers.x-id', '"h-1"', 'messageTemplate'],
    ['user.mail', undefined, 'messageTemplate'],
  ]);
  expect(text).toContain(
    'fields of the request, and what reads them (←):\n  id            7  ← sessionKey\n',
  );
  expect(text).toMatch(/ {2}user\.mail +missing {2}← messageTemplate\n/);
});

test('a key made of what is called a secret is not shown, either', () => {
  const of = (key: string): string =>
    listOf({ messageTemplate: 'x', dedupe: { key } }, { form: { token: 'a3a1' }, n: 7 }).text;
  expect(of('{{form.token}}-{{n}}')).toContain('  dedupe … for 86400 s\n');
  expect(of('{{form.token}}')).not.toContain('a3a1');
  expect(of('{{n}}')).toContain('  dedupe 7 for 86400 s\n');
});

test('the header that names the kind of event, also where nothing reads it', () => {
  const headers = {
    'content-type': 'application/json',
    'x-shopify-topic': 'orders/create',
    'x-shopify-event-id': 'e-1',
    'x-amz-sns-message-type': 'Notification',
    'ce-type': 'com.example.made',
    'x-event-key': 'repo:push',
  };
  const { rows } = listOf({ messageTemplate: '{{id}} {{headers.x-event-key}}' }, { id: 7 }, { headers });
  expect(rows).toEqual([
    ['id', '7', 'messageTemplate'],
    ['headers.x-event-key', '"repo:push"', 'messageTemplate'],
    ['headers.x-shopify-topic', '"orders/create"', ''],
    ['headers.x-amz-sns-message-type', '"Notification"', ''],
    ['headers.ce-type', '"com.example.made"', ''],
  ]);
});

test.each([
  ['{{#if paid}}a{{/if}}', 'paid'],
  ['{{#if sum}}a{{else if paid}}b{{/if}}', 'sum'],
  ['{{#if nothing}}a{{else if paid}}b{{/if}}', 'paid'],
  ['{{#unless (or nothing paid)}}a{{/unless}}', 'paid'],
  ['{{#if (eq kind state)}}a{{/if}}', 'kind state'],
  ['{{#with user}}{{#if (ne name @root.kind)}}a{{/if}}{{/with}}', 'user user.name kind'],
  ['{{#each lines}}{{#if on}}a{{/if}}{{/each}}', 'lines lines.0.on'],
  ['{{date at tz=user.zone}}', 'at user.zone'],
  ['{{default nothing kind}}', 'kind'],
  ['{{lookup user state}} {{join lines sep "on"}}', 'user state lines sep'],
])('of %s all that it reads is marked: %s', (template, paths) => {
  const payload = {
    paid: 'false',
    sum: 1,
    kind: 'a',
    state: 'b',
    sep: ', ',
    at: 1_795_346_400,
    user: { name: 'Ada', zone: 'UTC' },
    lines: [{ on: true }],
  };
  const { rows } = listOf({ messageTemplate: `x ${template}` }, payload);
  const read = rows.filter(([, value, by]) => by !== '' && value !== undefined).map(([path]) => path);
  expect(new Set(read)).toEqual(new Set(paths.split(' ')));
});

test('a list is shown by its first element, and that of forEach as item', () => {
  const elements = [{ sku: 'a' }, { sku: 'b' }, { sku: 'c' }];
  expect(
    listOf({ forEach: 'lines', messageTemplate: '{{item.sku}} {{item.count}}' }, { lines: elements }).rows,
  ).toEqual([
    ['lines', 'a list of 3', 'forEach'],
    ['item.sku', '"a" (first of 3)', 'messageTemplate'],
    ['item.count', undefined, 'messageTemplate'],
  ]);
  expect(
    listOf({ messageTemplate: '{{#each lines}}{{sku}}{{/each}} {{lines.2.sku}}' }, { lines: elements }).rows,
  ).toEqual([
    ['lines', 'a list of 3', 'messageTemplate'],
    ['lines.0.sku', '"a" (first of 3)', 'messageTemplate'],
  ]);
});

test('what is missing is written with payload where the body has a field of that name', () => {
  const { rows } = listOf(
    { messageTemplate: '{{payload.title}} {{id}}' },
    { payload: { title: 'a' }, id: 1 },
  );
  expect(rows).toEqual([
    ['payload.payload.title', '"a"', ''],
    ['id', '1', 'messageTemplate'],
    ['payload.title', undefined, 'messageTemplate'],
  ]);
});

test('a block that goes through an object reads nothing of its texts', () => {
  const { rows } = listOf(
    { messageTemplate: '{{#each signer}}{{name}}{{/each}}' },
    { signer: { name: 'Eva', mail: 'e@x' } },
  );
  expect(rows).toEqual([
    ['signer', 'an object with 2 fields', 'messageTemplate'],
    ['signer.name', '"Eva"', ''],
    ['signer.mail', '"e@x"', ''],
  ]);
});

test('a name that the query has, too, is written with payload, and only what is read is marked', () => {
  const { rows } = listOf(
    { messageTemplate: '{{query}} {{query.a}}' },
    { query: 'x' },
    { query: { a: '1' } },
  );
  expect(rows).toEqual([
    ['payload.query', '"x"', ''],
    ['query.a', '"1"', 'messageTemplate'],
  ]);
});

test('keys with dots are written as one step', () => {
  const { rows } = listOf(
    { messageTemplate: '{{labels.[app.io/name]}}' },
    { labels: { 'app.io/name': 'web' } },
  );
  expect(rows).toEqual([['labels.[app.io/name]', '"web"', 'messageTemplate']]);
});

test('of a large body what is read, then what stands beside it; the others are counted', () => {
  const far = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, index]));
  const near = { total: 4900, total_formatted: '€49.00' };
  const { rows, more } = listOf({ messageTemplate: '{{order.total}}' }, { a: { far }, order: near });
  expect(rows).toHaveLength(30);
  expect(rows).toContainEqual(['order.total', '4900', 'messageTemplate']);
  expect(rows).toContainEqual(['order.total_formatted', '"€49.00"', '']);
  expect(more).toBe(5002 - 30);
});

test('values are short, without secrets, and on one line', () => {
  const { rows, text } = listOf(
    { messageTemplate: '{{note}}' },
    {
      note: `a\n\u001b[31m${'x'.repeat(500)}`,
      api_key: 'k-123456',
      tokens: ['t-1'],
      credentials: { user: 'ada' },
    },
  );
  expect(rows[0]?.[1]).toHaveLength(100);
  expect(rows.slice(1)).toEqual([
    ['api_key', '…', ''],
    ['tokens.0', '…', ''],
    ['credentials.user', '…', ''],
  ]);
  expect(text.slice(text.indexOf('fields of the request'))).not.toContain('\u001b');
});

test('a body that is too much for its template is listed all the same', () => {
  const { rows } = listOf({ messageTemplate: '{{#if big}}{{big}}{{/if}}' }, { big: 'x'.repeat(5_000_000) });
  expect(rows).toEqual([['big', expect.stringMatching(/^"x+…"$/), '']]);
});
