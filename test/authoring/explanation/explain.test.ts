import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createHookRequest, evaluationToJson } from '../../../src/engine/hook/hook.ts';
import { formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import { evaluateHook, receivedAt, settingsWith, type Answer } from '../../support/hook-fixture.ts';

const settings = settingsWith({
  table: `- id: first
  match: {path: ci, source: gh, when: {"===": [{var: payload.kind}, deploy]}}
  messageTemplate: x
- id: failed
  match:
    path: ci
    when:
      and:
        - {"===": [{var: payload.kind}, build]}
        - {"!==": [{var: payload.status}, ok]}
  name: CI
  instructions: Say why.
  messageTemplate: "{{payload.name}} failed on {{branch}}"
  thinking: "{{level}}"
- id: other
  match: {path: deploys}
  action: wake
  textTemplate: "{{payload.text}}"
`,
});

const explain = (path: string, payload: Parameters<typeof createHookRequest>[0]['payload']) =>
  formatEvaluation(evaluateHook({ path, payload }, settings).evaluation, {
    request: createHookRequest({ path, payload, receivedAt }),
  });

test('an accepted request is explained from its request line to its prompt', () => {
  const request = createHookRequest({
    path: 'ci',
    payload: { kind: 'build', status: 'bad', name: 'api' },
    receivedAt,
  });
  expect(explain('ci', request.payload)).toMatchInlineSnapshot(`
    "POST /hooks/ci  2026-03-01T12:00:00.000Z  request f555b9aa-4b97-8551-a4b1-e76030c20397
    mapping failed  mappings.yaml:4:3
    outcome accepted: agent

      failed: when {"===":[{"var":"payload.kind"},"build"]} is true: found "build"  mappings.yaml:9:11
      failed: when {"!==":[{"var":"payload.status"},"ok"]} is true: found "bad"  mappings.yaml:10:11
    ✗ first: source is missing, expected "gh"  mappings.yaml:2:29
    · messageTemplate has nothing for branch  mappings.yaml:13:48
    · thinking has nothing for level  mappings.yaml:14:14

    action: agent
      id 019ca945-0a00-8a8b-b13c-537a35106944
      name CI
      session hook:019ca945-0a00-8a8b-b13c-537a35106944 (ends with the run)
      wakeMode now
      delivery the channel last used, its last recipient
      prompt
        | Say why.
        from outside, between the markers of the safety boundary (--json has the whole prompt):
        | api failed on
    "
  `);
});

describe('the mapping taken shows the comparisons that made it hold', () => {
  const held = (when: unknown, payload: Parameters<typeof createHookRequest>[0]['payload']) => {
    const table = JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: 'x' }]);
    const { evaluation } = evaluateHook({ path: 'p', payload }, settingsWith({ table }));
    return formatEvaluation(evaluation)
      .split('\n')
      .flatMap(
        (each) => /^ {2}(?:m: )?((?:when|and) .+?)(?: {2}mappings\.yaml:1:\d+)?$/.exec(each)?.[1] ?? [],
      );
  };

  test.each<[unknown, Parameters<typeof held>[1], string[]]>([
    [
      {
        or: [{ '!==': [{ var: 'event' }, 'cancelled'] }, { '!==': [{ var: 'event' }, 'rejected'] }],
      },
      { event: 'cancelled' },
      ['when {"!==":[{"var":"event"},"rejected"]} is true: found "cancelled"'],
    ],
    [
      { and: [{ '>': [{ var: 'total' }, 500] }, { '<': [3, { var: 'n' }] }] },
      { total: 4900, n: 5 },
      ['when {">":[{"var":"total"},500]} is true: found 4900', 'when {"<":[3,{"var":"n"}]} is true: found 5'],
    ],
    [
      { or: [{ '===': [{ var: 'live' }, true] }, { '===': [{ var: 'type' }, 'a'] }] },
      { live: false, type: 'a' },
      ['when {"===":[{"var":"type"},"a"]} is true: found "a"'],
    ],
    [
      { some: [{ var: 'labels' }, { '!==': [{ var: 'title' }, 'skip'] }] },
      { labels: [{ title: 'skip' }, { title: 'backend' }] },
      [
        'when {"some":[{"var":"labels"},{"!==":[{"var":"title"},"skip"]}]} is true: element 1 is {"title":"backend"}',
      ],
    ],
    [
      { some: [{ var: 'tags' }, { in: ['a', { var: '' }] }] },
      { tags: ['b', 'ca'] },
      ['when {"some":[{"var":"tags"},{"in":["a",{"var":""}]}]} is true: element 1 is "ca"'],
    ],
    [
      { '!': { in: [{ var: 'user' }, ['bot']] } },
      { user: 'mira' },
      ['when {"in":[{"var":"user"},["bot"]]} is false: found "mira"'],
    ],
    [
      { in: ['main', { var: 'ref' }] },
      { ref: 'domain' },
      ['when {"in":["main",{"var":"ref"}]} is true: found "domain"'],
    ],
    [
      { in: ['checkout.session.', { var: 'type' }] },
      { type: 'checkout.session.expired' },
      ['when {"in":["checkout.session.",{"var":"type"}]} is true: found "checkout.session.expired"'],
    ],
    [{ '!': { var: 'draft' } }, {}, ['when {"var":"draft"} is false: draft is missing']],
    [true, {}, []],
  ])('says why the condition %j held or not of %j', (when, payload, lines) => {
    expect(held(when, payload)).toEqual(lines);
  });

  test('in at most five lines', () => {
    const rules = Array.from({ length: 8 }, (_, index) => ({ '===': [{ var: `n${index}` }, index] }));
    const payload = Object.fromEntries(rules.map((_, index) => [`n${index}`, index]));
    const lines = held({ and: rules }, payload);
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe('and 4 more comparisons');
  });
});

test('a miss shows the nearest mapping first, with what was found and expected', () => {
  expect(explain('ci', { kind: 'build', status: 'ok' })).toMatchInlineSnapshot(`
    "POST /hooks/ci  2026-03-01T12:00:00.000Z  request d14e2eca-dcbb-8d0a-82f7-2fb5ebb95994
    outcome rejected: 404 no_mapping_matched

    ✗ failed: when {"!==":[{"var":"payload.status"},"ok"]} is false: found "ok", expected anything but "ok"  mappings.yaml:10:11
    ✗ first: source is missing, expected "gh"  mappings.yaml:2:29
    hint: change the condition shown above, if failed should take such requests; only if they are to do nothing, otherwise: skip in failed (mappings.yaml:4:3) answers them 204
    "
  `);
});

test('a hook name that no mapping has is told with those that there are', () => {
  expect(explain('deploy', {})).toMatchInlineSnapshot(`
    "POST /hooks/deploy  2026-03-01T12:00:00.000Z  request a26cc837-97a1-8821-8183-055a41a58f4d
    outcome rejected: 404 no_mapping_matched

    ✗ no mapping has the hook name "deploy"
      hook name ci  mappings.yaml:2:17
      hook name deploys  mappings.yaml:16:17
    hint: send it to one of the hook names, or correct match.path of the mapping that was meant
    "
  `);
});

test('a variable that is missing is named', () => {
  expect(explain('ci', { source: 'gh' })).toContain(
    'when {"===":[{"var":"payload.kind"},"deploy"]} is unknown: payload.kind is missing  mappings.yaml:2:39',
  );
});

test('an error of a batch names its element', () => {
  const each = settingsWith({
    table: '[{id: e, match: {path: h}, forEach: list, sessionKey: "{{item}}", messageTemplate: m}]',
  });
  const { evaluation } = evaluateHook({ payload: { list: ['a', 'main'] } }, each);
  expect(formatEvaluation(evaluation)).toContain(
    'element 1, sessionKey: sessionKey is the key of the main session',
  );
});

describe('a transform', () => {
  const transformed = settingsWith({
    table: '[{id: t, match: {path: h}, transform: t.ts, messageTemplate: m}]',
  });
  const explained = (answer: Answer) =>
    formatEvaluation(evaluateHook({}, transformed, { answer: () => answer }).evaluation);
  const shared = { logs: [{ level: 'log' as const, text: 'seen\nit' }], logsDropped: 2, tookMs: 3.25 };

  test('that failed shows its console, message, position and stack, and the remedy', () => {
    const text = explained({
      ...shared,
      kind: 'failed',
      failure: 'user-error',
      name: 'TypeError',
      message: 'x is undefined',
      stack: 'TypeError: x is undefined\n    at default (t.ts:3:9)',
      position: { file: 'transforms/t.ts', line: 3, column: 9 },
    });
    expect(text).toMatchInlineSnapshot(`
      "mapping t  mappings.yaml:1:2
      outcome rejected: 500 transform_failed

      ✗ transform_failed: the transform of the mapping failed
        2 more console lines were dropped  mappings.yaml:1:39
      hint: correct the transform: it gets one argument, ({ payload, headers, query, path }), and returns { message: … }, a list of such, or null; then run this request through it with sluice replay

      transform t.ts  mappings.yaml:1:39  ran now in 3.3 ms
          | console.log: seen
          | it
          user-error: TypeError: x is undefined  transforms/t.ts:3:9
          |     at default (t.ts:3:9)
      "
    `);
  });

  test('with a wrong result shows which key is wrong', () => {
    const text = explained({ ...shared, kind: 'ok', json: '{"mesage": "x"}' });
    expect(text).toContain(
      '"mesage" in the result is not a known key; expected one of kind, text, mode, message',
    );
    expect(text).not.toContain('returned');
  });
});

test('no escape or control character of a payload reaches the terminal', () => {
  const bad = '\u001b]0;owned\u0007\u001b[31m\u202e\u0000\r\u009b2Jx';
  for (const path of ['ci', 'deploys', 'agent', 'wake', bad]) {
    for (const payload of [
      { kind: 'build', status: bad, name: bad, text: bad, [bad]: bad, message: bad },
      { source: bad },
    ]) {
      const { evaluation } = evaluateHook({ path, payload, url: `/hooks/${bad}` }, settings);
      const request = createHookRequest({ path, payload, receivedAt, url: `/hooks/${bad}` });
      const text = formatEvaluation(evaluation, { request });
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }
  }
});

test('colours change nothing but colours', () => {
  const { evaluation } = evaluateHook({ path: 'ci', payload: { kind: 'build', status: 'bad' } }, settings);
  const colored = formatEvaluation(evaluation, { color: true });
  expect(colored).not.toBe(formatEvaluation(evaluation));
  expect(stripVTControlCharacters(colored)).toBe(formatEvaluation(evaluation));
});

test('an evaluation as JSON has its places as text and survives JSON', () => {
  const { evaluation } = evaluateHook({ path: 'ci', payload: { kind: 'build', status: 'ok' } }, settings);
  const json = evaluationToJson(evaluation);
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  expect(json).toMatchObject({
    outcome: 'rejected',
    error: { status: 404, code: 'no_mapping_matched' },
    actions: [],
    considered: [
      { id: 'first', matched: false, failed: { part: 'source', at: 'mappings.yaml:2:29', expected: 'gh' } },
      { id: 'failed', matched: false, failed: { part: 'when', at: 'mappings.yaml:10:11', found: 'ok' } },
      { id: 'other', matched: false, failed: { part: 'path', found: 'ci', expected: 'deploys' } },
    ],
  });
});

test('a key made of what is called a secret is not shown', () => {
  const of = (key: string): string => {
    const table = JSON.stringify([{ match: { path: 'p' }, messageTemplate: 'x', dedupe: { key } }]);
    const asked = { path: 'p', payload: { form: { token: 'a3a1' }, n: 7 } };
    return formatEvaluation(evaluateHook(asked, settingsWith({ table })).evaluation);
  };
  expect(of('{{form.token}}-{{n}}')).toContain('  dedupe … for 86400 s\n');
  expect(of('{{form.token}}')).not.toContain('a3a1');
  expect(of('{{n}}')).toContain('  dedupe 7 for 86400 s\n');
});
