import { describe, expect, test } from 'vitest';
import {
  ADVICE_CODES,
  adviceFor,
  type EvaluationAdvice,
  evaluationFindings,
  withCodes,
} from '../../../src/authoring/advice/requests.ts';
import { createDecisionAdvisor } from '../../../src/authoring/advice/requests/decision-advice.ts';
import { suggestPaths } from '../../../src/authoring/advice/requests/near-paths.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { briefOf, formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printSentence, type Sentence } from '../../../src/base/finding.ts';
import { printed } from '../../support/printed.ts';

const textOf = ({ message }: { readonly message: Sentence }): string => printSentence(message);
const notesOf = ({ findings }: EvaluationAdvice): readonly string[] =>
  withCodes(findings, ...ADVICE_CODES).map(textOf);
const TABLE = `
- {id: push, match: {path: github, when: {"===": [{var: headers.github-event}, push]}}, messageTemplate: "{{payload.repo.nme}}"}
- {id: pull, match: {path: github, when: {and: [{"===": [{var: headers.x-github-event}, pull_request]}, {"===": [{var: action}, opened]}]}}, messageTemplate: x}
- {id: all, match: {path: alerts, when: {"!!": {var: status}}}, messageTemplate: x}
- {id: again, match: {path: alerts, when: {"===": [{var: status}, firing]}}, messageTemplate: x}
- {id: based, match: {path: hooks/stripe}, messageTemplate: x}
- {id: deep, match: {path: grafana/oncall}, messageTemplate: x}
- {id: packed, match: {path: packed, when: {"===": [{var: data.kind}, lead]}}, messageTemplate: x}
- {id: off, enabled: false, match: {path: sentry}, messageTemplate: x}
`;

function advise(path: string, payload: JsonValue, headers: Record<string, string> = {}) {
  const settings = settingsWith({ table: TABLE });
  const request = createHookRequest({ path, payload, headers, receivedAt });
  const { evaluation } = evaluateHook({ path, payload, headers }, settings);
  const advice = adviceFor(evaluation, request, settings.table);
  return { advice, text: formatEvaluation(evaluation, { request, advice }) };
}

test('a condition that asks for a header in capitals is the nearest miss, and the log and the remedy speak of it', () => {
  const table = `
- {id: confirm, match: {path: sns, when: {"===": [{var: Type}, SubscriptionConfirmation]}}, messageTemplate: x}
- {id: alarm, match: {path: sns, when: {"===": [{var: headers.X-Sns-Type}, Notification]}}, messageTemplate: x}
`;
  const settings = settingsWith({ table });
  const sent = { path: 'sns', payload: { Type: 'Notification' } };
  const explain = (type: string): string => {
    const headers = { 'x-sns-type': type };
    const { evaluation } = evaluateHook({ ...sent, headers }, settings);
    const request = createHookRequest({ ...sent, headers, receivedAt });
    return formatEvaluation(evaluation, { request, advice: adviceFor(evaluation, request, settings.table) });
  };
  const text = explain('Notification');
  expect(text).toMatch(/\noutcome .*\n\n✗ alarm/);
  expect(text).toContain('the request has headers.x-sns-type ("Notification"): did you mean that?');
  expect(text).toContain('{"===":[{"var":"headers.x-sns-type"},"Notification"]}');
  expect(text).not.toContain('write {"===":[{"var":"Type"}');
  // With another value it would not have held either.
  expect(explain('Other')).toMatch(/\noutcome .*\n\n✗ confirm/);
});

test('a field of the body below the name of a part of the request is told its path once', () => {
  const table = `- {id: form, match: {path: forms, when: {"===": [{var: headers.x-form-id}, contact]}}, messageTemplate: x}`;
  const settings = settingsWith({ table });
  const sent = { path: 'forms', payload: { headers: { 'x-form-id': 'contact' } } };
  const { evaluation } = evaluateHook(sent, settings);
  const request = createHookRequest({ ...sent, receivedAt });
  const advice = adviceFor(evaluation, request, settings.table);
  const text = formatEvaluation(evaluation, { request, advice });
  expect(text).toContain('{"===":[{"var":"payload.headers.x-form-id"},"contact"]}');
});

/** The first hint on a request that a condition did not take. */
function firstHint(when: object, payload: JsonValue, headers: Record<string, string> = {}): string {
  const table = JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: '{{order.id}}' }]);
  const settings = settingsWith({ table });
  const request = createHookRequest({ path: 'p', payload, headers, receivedAt });
  const { evaluation } = evaluateHook({ path: 'p', payload, headers }, settings);
  const [first] = briefOf(evaluation, adviceFor(evaluation, request, settings.table)).reported;
  return first === undefined ? '' : textOf(first);
}

test.each<[string, string, JsonValue, string]>([
  [
    '{path: p}',
    '{{path}}',
    { path: '/orders' },
    '{{path}} is the hook name, and the body has a field of that name',
  ],
  [
    '{path: p}',
    '{{#if query}}{{query}}{{/if}}',
    { query: 'avg:cpu' },
    '{{query}} is the parameters of the address',
  ],
  // Without match.path the hook name is new in each request.
  ['{}', '{{path}}', { path: '/orders' }, ''],
  ['{path: p}', '{{path}} {{payload.path}}', { path: '/orders' }, ''],
  ['{path: p}', '{{path}}', { path: null }, ''],
  ['{path: p}', '{{query.env}}', { query: 'avg:cpu' }, ''],
])('match %s, %s, body %j: %s', (match, template, payload, text) => {
  const settings = settingsWith({ table: `[{id: m, match: ${match}, messageTemplate: 'x ${template}'}]` });
  const sent = { path: 'p', payload, query: { env: 'live' } };
  const { evaluation } = evaluateHook(sent, settings);
  const request = createHookRequest({ ...sent, receivedAt });
  const [first] = briefOf(evaluation, adviceFor(evaluation, request, settings.table)).reported;
  if (text === '') expect(first).toBeUndefined();
  else expect(first && textOf(first)).toContain(text);
});

test('a name within the text of an SNS message is told, and no header that merely ends in it', () => {
  const sns = { Type: 'Notification', Message: '{"type":"order.created","order":{"id":7}}' };
  const headers = { 'x-amz-sns-message-type': 'Notification' };
  const hint = firstHint({ '===': [{ var: 'type' }, 'order.created'] }, sns, headers);
  expect(hint).toContain('Message is a text that holds JSON');
  expect(hint).toContain('JSON.parse(payload.Message)');
});

test('a field with JSON is read as JavaScript reads it', () => {
  const hint = (body: JsonValue) => firstHint({ '===': [{ var: 'order.id' }, 7] }, body);
  expect(hint({ '': '{"order":{"id":7}}' })).toContain('"" is a text that holds JSON');
  expect(hint({ '': '{"order":{"id":7}}' })).toContain('JSON.parse(payload[""])');
  expect(hint({ 'my-data': '{"order":{"id":7}}' })).toContain('JSON.parse(payload["my-data"])');
  const records = { Records: [{ body: '{"id":7}' }] };
  expect(firstHint({ '===': [{ var: 'Records.0.body.id' }, 7] }, records)).toContain(
    'JSON.parse(payload.Records[0].body)',
  );
});

test('a position is written with a dot in a condition', () => {
  const request = createHookRequest({ path: 'p', payload: { alerts: [{ state: 'on' }] }, receivedAt });
  expect(suggestPaths('alerts[0].state', request)).toEqual([{ path: 'alerts.0.state', value: 'on' }]);
});

test('a hook name that no mapping has is told before what the body is', () => {
  const settings = settingsWith({ table: '[{id: q, match: {path: q}, messageTemplate: "{{title}}"}]' });
  const sent = { path: 'hooks/q', payload: '{"title":"x"}' };
  const { evaluation } = evaluateHook(sent, settings);
  const request = createHookRequest({ ...sent, receivedAt });
  const [first] = briefOf(evaluation, adviceFor(evaluation, request, settings.table)).reported;
  expect(first?.code).toBe('near_name');
});

describe('a hook name that no mapping has', () => {
  test.each([
    [
      'stripe',
      'hooks/stripe',
      'begins with hooks/, and the request came without it: write match.path: stripe',
    ],
    ['GitHub', 'github', 'differs in upper and lower case'],
    ['githb', 'github', 'is spelt nearly so'],
    ['grafana', 'grafana/oncall', 'has another segment behind it'],
    ['alerts/prod', 'alerts', 'is asked for with another segment behind it'],
    ['v1/alerts', 'alerts', 'is asked for with another segment before it'],
    ['sentry', 'sentry', 'is turned off there (enabled: false)'],
  ])('%s gets %s', (path, name, why) => {
    const { advice, text } = advise(path, {});
    expect(printed(withCodes(advice.findings, 'near_name')[0])).toMatchObject({
      facts: { name },
      message: expect.stringContaining(`${name} ${why}`) as string,
    });
    expect(text).toContain(`${name} ${why.split(': ')[0] ?? ''}`);
    expect(text).toMatch(/\n {2}hook name github {2}\S+:\d+:\d+\n {2}hook name alerts {2}\S+:\d+/);
  });
});

test.each<readonly [string, JsonValue, string]>([
  ['Slack', { type: 'url_verification', challenge: 'x' }, 'write challenge: slack in a mapping'],
  ['Zoom', { event: 'endpoint.url_validation', payload: { plainToken: 'x' } }, 'write challenge: zoom in'],
  ['monday.com', { challenge: 'x' }, 'write challenge: {echo: body.challenge} in a mapping'],
  ['Amazon SNS', { Type: 'SubscriptionConfirmation', SubscribeURL: 'https://x' }, 'open the SubscribeURL'],
  ['Azure Event Grid', [{ data: { validationUrl: 'https://x' } }], 'open the validationUrl'],
  ['Notion', { verification_token: 'secret_x' }, 'run "sluice add notion"'],
])('of a check of the address by %s only that is told', (name, payload, words) => {
  const headers = name === 'Azure Event Grid' ? { 'aeg-event-type': 'SubscriptionValidation' } : {};
  const { advice, text } = advise('packed', payload, headers);
  expect(notesOf(advice)).toEqual([expect.stringContaining(words)]);
  expect(text).not.toContain('did you mean');
  expect(advice.suggestions.size).toBe(0);
});

test('a dedupe key that is empty as a whole counts nothing as a repeat', () => {
  const keyed = (key: string): readonly string[] => {
    const settings = settingsWith({
      table: JSON.stringify([{ id: 'm', match: { path: 'p' }, dedupe: { key }, messageTemplate: 'x' }]),
    });
    const { evaluation } = evaluateHook({ path: 'p', payload: {}, headers: {} }, settings);
    return evaluationFindings(evaluation).flatMap(({ code, message }) =>
      code === 'empty_key' ? [printSentence(message)] : [],
    );
  };
  expect(keyed('{{id}}')).toEqual([]);
  expect(keyed('a-{{id}}')).toEqual([expect.stringContaining('count as repeats')]);
});

describe('a missing variable', () => {
  test('in a text that holds JSON is told so, and in a plain text is not', () => {
    expect(advise('packed', { data: '{"kind":"lead"}' }).text).toContain('data is a text that holds JSON');
    expect(notesOf(advise('packed', { data: 'kind: lead' }).advice)).toEqual([]);
  });

  test('gets the header that is there, and the nearest miss fails in the fewest parts', () => {
    const { text } = advise('github', { action: 'closed' }, { 'x-github-event': 'push' });
    expect(text).toContain('the request has headers.x-github-event ("push"): did you mean that?');
    expect(text.indexOf('✗ push')).toBeLessThan(text.indexOf('✗ pull'));
  });

  const request = createHookRequest({
    path: 'x',
    receivedAt,
    headers: {
      'x-gitlab-event': 'Push Hook',
      'x-request-type': 'a',
      date: 'Sun',
      'content-encoding': 'gzip',
    },
    query: { env: 'production' },
    payload: { event: { user: { name: 'a', type: 'b' } }, object_kind: 'push', items: [{ id: 1 }] },
  });

  test.each([
    ['headers.gitlab-event', 'headers.x-gitlab-event'],
    ['headers.x-gitlab-evnt', 'headers.x-gitlab-event'],
    ['payload.user.type', 'payload.event.user.type'],
    ['user.name', 'event.user.name'],
    ['object-kind', 'object_kind'],
    ['event.usr.name', 'event.user.name'],
    ['items.id', 'items.0.id'],
    ['env', 'query.env'],
    ['X-GitLab-Event', 'headers.x-gitlab-event'],
    ['content', undefined],
    ['encoding', undefined],
    ['event.env', undefined],
    ['request_type', undefined],
    ['nothing.like.it', undefined],
  ])('%s: %s', (missing, expected) => {
    expect(suggestPaths(missing, request)[0]?.path).toBe(expected);
  });
});

test('of a request that a mapping took, nothing is said of what to write into the others', () => {
  // Alerts of Grafana as they are now, and as they were before version 9.
  const settings = settingsWith({
    table: `
- {id: now, match: {path: grafana, when: {in: [{var: status}, [firing, resolved]]}}, messageTemplate: x}
- {id: before, match: {path: grafana, when: {in: [{var: state}, [ok, alerting]]}}, messageTemplate: x}
`,
  });
  const explain = (payload: JsonValue): string => {
    const request = createHookRequest({ path: 'grafana', payload, receivedAt });
    const { evaluation } = evaluateHook({ path: 'grafana', payload }, settings);
    const advice = adviceFor(evaluation, request, settings.table);
    expect(briefOf(evaluation, advice)).toEqual({ verdict: [], hints: [], reported: [] });
    return formatEvaluation(evaluation, { request, advice });
  };
  const both = { status: 'firing', state: 'alerting' };
  for (const payload of [{ state: 'ok', ruleName: 'Test rule' }, both])
    expect(explain(payload)).not.toContain('hint: ');
  expect(explain(both)).toContain('before would have taken it, too, but stands later');
});

test('a list of hook names that does not hold all of them does not say that it does', () => {
  const verdictOf = (count: number): string => {
    const table = Array.from(
      { length: count },
      (_, at) => `- {id: m${at}, match: {path: 'n${at}'}, messageTemplate: x}`,
    ).join('\n');
    const { evaluation } = evaluateHook({ path: 'other', payload: {} }, settingsWith({ table }));
    return briefOf(evaluation, undefined).verdict.join(' ').replaceAll(/\s+/g, ' ');
  };
  expect(verdictOf(10)).toContain('; the hook names are: n0, n1,');
  expect(verdictOf(11)).toContain('; some hook names (sluice routes shows all): n0, n1,');
  expect(verdictOf(11)).not.toContain('n10');
});

test('mappings that stand later and would have taken the request are named', () => {
  const { advice, text } = advise('alerts', { status: 'firing' });
  expect(withCodes(advice.findings, 'also_matched')).toMatchObject([
    { subject: { mapping: { id: 'again' } } },
  ]);
  expect(text).toContain(
    'again would have taken it, too, but stands later: only the first that matches acts',
  );
  // Where one lets others act, too, it is the last of those that ends it.
  const settings = settingsWith({
    table: `
- {id: one, match: {path: a}, messageTemplate: x, continue: true}
- {id: two, match: {path: a, when: {"!!": {var: n}}}, messageTemplate: x}
- {id: three, match: {path: a, when: {"===": [{var: n}, 1]}}, messageTemplate: x}
`,
  });
  const { evaluation } = evaluateHook({ path: 'a', payload: { n: 1 } }, settings);
  const request = createHookRequest({ path: 'a', payload: { n: 1 }, receivedAt });
  const several = adviceFor(evaluation, request, settings.table);
  expect(withCodes(several.findings, 'also_matched').map(textOf)).toEqual([
    'three would have taken it, too, but stands later: two, which took it, has no continue',
  ]);
});

describe('what rendered empty', () => {
  const adviseOn = (mapping: string, payload: JsonValue) => {
    const settings = settingsWith({ table: mapping });
    const request = createHookRequest({ path: 'a', payload, receivedAt });
    const { evaluation } = evaluateHook({ path: 'a', payload }, settings);
    const advice = adviceFor(evaluation, request, settings.table);
    return { advice, told: createDecisionAdvisor(settings.table)(evaluation, request) };
  };

  test('a suggestion names only what is there, also inside a helper and of a field called payload', () => {
    const { advice } = adviseOn(
      '- {match: {path: a}, messageTemplate: "{{payload.scheduled_event.name}} {{date payload.scheduled_event.start}}"}',
      {
        event: 'created',
        payload: { event: 'https://a', scheduled_event: { name: 'n', start: '2026-01-01T00:00:00Z' } },
      },
    );
    expect(
      Object.fromEntries([...advice.suggestions].map(([name, { names }]) => [name, names.join()])),
    ).toEqual({
      'payload.scheduled_event.name': 'payload.payload.scheduled_event.name',
      'date payload.scheduled_event.start': 'payload.payload.scheduled_event.start',
    });
  });

  test('a name in a block is looked for in what the block reads', () => {
    const { advice } = adviseOn(
      '- {match: {path: a}, messageTemplate: "{{#each orders}}{{numbr}} {{currency}} {{shop.name}}{{/each}}"}',
      { currency: 'EUR', shop: { name: 'a' }, orders: [{ number: 7, name: 'b' }] },
    );
    expect([...advice.suggestions].map(([name, { names }]) => [name, ...names])).toEqual([
      ['numbr', 'number'],
      ['shop.name', '@root.shop.name'],
    ]);
  });

  test('a field of the sender that stands in the place of today is not told in a decision', () => {
    const { told, advice } = adviseOn('- {match: {path: a}, messageTemplate: "x {{today}}"}', {
      private: { today: '2026-01-01' },
    });
    expect(advice.suggestions.get('today')?.names.join()).toBe('private.today');
    expect(told.instead.size).toBe(0);
  });

  test('a body that is a list is told of only where that explains something', () => {
    const list = [{ id: 1 }];
    const said = (template: string): readonly string[] =>
      notesOf(adviseOn(`- {match: {path: a}, messageTemplate: "${template}"}`, list).advice);
    expect(said('{{id}}')).toEqual([expect.stringContaining('the body is a list')]);
    expect(said('{{length payload}} changes')).toEqual([]);
  });

  test('what rendered empty in several elements of forEach is told once', () => {
    const settings = settingsWith({
      table: '- {match: {path: a}, forEach: list, messageTemplate: "x {{id}} {{item.b}}"}',
    });
    const payload = { list: [{ id: 1, b: 2 }, { id: 2 }, { id: 3 }] };
    const { evaluation } = evaluateHook({ path: 'a', payload }, settings);
    const request = createHookRequest({ path: 'a', payload, receivedAt });
    const notes = evaluationFindings(evaluation, adviceFor(evaluation, request, settings.table));
    expect(notes.filter(({ code }) => code === 'rendered_empty').map(textOf)).toEqual([
      'id (in each of the 3 elements); the request has item.id (1)',
      'item.b (in the elements 1, 2)',
    ]);
  });

  test.each(['payload', 'alerts'])('a field of the elements of forEach: %s is named with item', (list) => {
    const elements = [{ objectId: 7, deal: { name: 'n' } }];
    const { advice } = adviseOn(
      `- {match: {path: a}, forEach: ${list}, messageTemplate: "x {{objectId}} {{deal.name}}"}`,
      list === 'payload' ? elements : { alerts: elements },
    );
    expect(advice.suggestions.get('objectId')?.names.join()).toBe('item.objectId');
    expect(advice.suggestions.get('deal.name')?.names.join()).toBe('item.deal.name');
  });

  test('of a request that is not kept, fields are told only in words of the mapping files', () => {
    const mapping =
      '- {match: {path: a}, sessionKey: "l:{{data.issue.identifier}}", id: l, messageTemplate: "x {{data.identifier}} {{user.mail}}"}';
    const { told, advice } = adviseOn(mapping, {
      data: { identifier: 'E-1' },
      secretive: { user: { mail: 'm' } },
    });
    expect(advice.suggestions.get('user.mail')?.names.join()).toBe('secretive.user.mail');
    expect(Object.fromEntries(told.instead)).toEqual({ 'data.issue.identifier': ['data.identifier'] });
  });

  test.each([
    ['a word that only our own advice has', 'elements'],
    ['a word of other letters', 'секрет'],
    ['a word with a sign in it', 'mail$'],
  ])('of a request that is not kept, %s is told of no key of the sender', (_, key) => {
    const mapping = '- {match: {path: a}, messageTemplate: "x {{user.mail}} {{user.list}}"}';
    const { told, advice } = adviseOn(mapping, { [key]: { user: { mail: 'm' } }, user: { list: 'a' } });
    expect(advice.suggestions.get('user.mail')?.names.join()).toBe(`${key}.user.mail`);
    expect(told.instead.size).toBe(0);
  });
});
