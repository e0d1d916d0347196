/** What explain says of the leaf of a condition that failed, or that held for another reason than was meant. */
import { describe, expect, test } from 'vitest';
import { adviceFor, withCodes } from '../../../src/authoring/advice/requests.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printSentence } from '../../../src/base/finding.ts';

function explain(when: unknown, payload: JsonValue, headers: Record<string, string> = {}) {
  const table = JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: 'x' }]);
  const settings = settingsWith({ table });
  const { evaluation } = evaluateHook({ path: 'p', payload, headers }, settings);
  const request = createHookRequest({ path: 'p', payload, headers, receivedAt });
  const advice = adviceFor(evaluation, request, settings.table);
  const text = formatEvaluation(evaluation, { request, advice });
  return {
    matched: evaluation.mapping !== undefined,
    advice,
    text,
    sure: withCodes(advice.findings, 'leaf_advice').map(({ message }) => printSentence(message)),
  };
}

const v = (name: string, ...more: JsonValue[]): object => ({
  var: more.length === 0 ? name : [name, ...more],
});
const LABELS = {
  labels: [
    { id: 5, title: 'Customer' },
    { id: 6, title: 'billing' },
  ],
};

describe('a comparison of values whose kinds do not fit says so, with the rule to write', () => {
  test.each<[unknown, JsonValue, string | RegExp]>([
    [{ '<': [v('t'), '15'] }, { t: '9.4' }, /letter by letter: take the quotes off the number$/],
    [
      { '>': [v('size'), 10] },
      { size: 'large' },
      'a text was sent, and a number is asked for: ">" between the two never holds',
    ],
    [{ '>': [v('size'), 10] }, { size: '1,200' }, /between the two never holds$/],
    [{ '>': [v('price'), 10] }, { price: { amount: 12 } }, /^an object was sent, and a number is asked for/],
    [{ '===': [v('level'), 3] }, { level: '3' }, 'write {"===":[{"var":"level"},"3"]}'],
    [{ '===': [v('version'), 1.1] }, { version: '1.10' }, 'write {"===":[{"var":"version"},"1.10"]}'],
    [
      { '===': [v('level'), '3'] },
      { level: 3 },
      'a number was sent, and a text is asked for, which is never equal to it: write {"===":[{"var":"level"},3]}',
    ],
    [{ '===': [v('draft'), 'false'] }, { draft: false }, 'write {"===":[{"var":"draft"},false]}'],
    [
      { in: ['billing', v('labels')] },
      LABELS,
      /^an element of labels has it: .*\{"some":\[\{"var":"labels"\},\{"===":\[\{"var":"title"\},"billing"\]\}\]\}/,
    ],
    [
      { '==': [v('kind'), 'paid'] },
      [{ kind: 'new' }, { kind: 'paid' }],
      /^the body is a list: .*\{"some":\[\{"var":"payload"\},\{"==":\[\{"var":"kind"\},"paid"\]\}\]\}/,
    ],
    [
      { '==': [v('events.action'), 'changed'] },
      { events: [{ action: 'added' }, { action: 'changed' }] },
      /^events is a list: .*\{"some":\[\{"var":"events"\},\{"==":\[\{"var":"action"\},"changed"\]\}\]\}/,
    ],
    [
      { '==': [v('alerts[*].labels.severity'), 'high'] },
      { alerts: [{ labels: { severity: 'high' } }] },
      /^alerts is a list: .*\{"some":\[\{"var":"alerts"\},\{"==":\[\{"var":"labels.severity"\},"high"\]\}\]\}/,
    ],
    [
      { or: [{ '===': [v('a'), 1] }, { '===': [v('b'), 'x'] }] },
      { a: '1', b: 'y' },
      'write {"===":[{"var":"a"},"1"]}',
    ],
  ])('says what to compare in the condition %j over %j', (when, payload, text) => {
    const { matched, sure, text: printed } = explain(when, payload);
    expect(matched).toBe(false);
    expect(sure).toEqual([
      typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
    ]);
    expect(printed).toMatch(/^ *hint: /m);
  });

  test.each<[unknown, JsonValue]>([
    [{ '===': [v('action'), 'opened'] }, { action: 'closed' }],
    [{ '<': [v('t'), 15] }, { t: '20' }],
    [{ '<': [v('t'), '15'] }, { t: '20' }],
    [{ '<': [v('day'), '2026-01-01'] }, { day: '2026-11-22' }],
    [{ in: [v('a'), ['x', 'y']] }, { a: 'z' }],
    [{ in: ['vip', v('tags')] }, { tags: ['new'] }],
    [{ in: ['other', v('labels')] }, LABELS],
    [{ some: [v('labels'), { '===': [v('title'), 'other'] }] }, LABELS],
    [{ '!!': v('muted') }, { muted: '' }],
    // Nobody knows what was sent.
    [{ '===': [v('level'), 3] }, { level: '…(1 character)' }],
    [{ in: ['vip', v('tags')] }, { tags: ['…(3 characters)'] }],
    // Unknown means here that it does not match, which is what was meant.
    [{ '!=': [v('pull_request'), null] }, { issue: 1 }],
    [{ '!=': [v('pull_request'), null] }, { pull_request: null }],
    [{ '<': [v('at'), v('now')] }, { at: '2099-01-01T00:00:00Z' }],
    [{ '===': [v('user.login'), v('sender.login')] }, { user: { login: 'a' }, sender: { login: 'b' } }],
  ])('nothing is said of %j where %j merely has another value', (when, payload) => {
    expect(explain(when, payload).sure).toEqual([]);
  });

  test('what was advised holds when it is followed', () => {
    for (const [when, payload] of [
      [{ '===': [v('level'), 3] }, { level: '3' }],
      [{ '===': [v('draft'), 'false'] }, { draft: false }],
      [{ in: ['billing', v('labels')] }, LABELS],
      [{ '===': [v('items.0.field'), 'status'] }, { items: [{ field: 'resolution' }, { field: 'status' }] }],
    ] as const) {
      const [sure = ''] = explain(when, payload).sure.slice(-1);
      const rule = /(\{.*\})/.exec(sure)?.[1] ?? 'null';
      expect(explain(JSON.parse(rule), payload).matched, sure).toBe(true);
    }
  });
});

test('a constant of another kind without a sure rule says what to compare with', () => {
  expect(explain({ '===': [v('status'), 'DOWN'] }, { status: 0 }).text).toContain(': compare with a number');
  expect(explain({ '===': [v('status'), 'DOWN'] }, { status: null }).text).not.toContain('compare with');
});

describe('a missing variable', () => {
  test('whose name is one key with dots is read by a transform, and of another name that is told', () => {
    const labels = { labels: { 'app.kubernetes.io/name': 'api' }, data: { paid: 'True' } };
    const { text } = explain({ '===': [v('labels.app.kubernetes.io/name'), 'api'] }, labels);
    expect(text).toContain('read it in a transform, as a condition reads no key with dots');
    expect(text).not.toContain('{"var":"labels.[');
    expect(explain({ '==': [v('data__paid'), true] }, labels).text).toContain('read data.paid');
  });

  test('of a null on the way no other thing of the same name is told', () => {
    const { sure } = explain(
      { '===': [v('issue.assignee.login'), 'me'] },
      { issue: { assignee: null, user: { login: 'u' } } },
    );
    expect(sure).toEqual([]);
  });

  test('of alternatives each says what it found', () => {
    const { text } = explain({ or: [{ '===': [v('e'), 'a'] }, { '>': [v('m'), 2] }] }, { e: 'b' });
    expect(text).toMatch(/^ *\{"===":\[\{"var":"e"\},"a"\]\} is false: found "b", expected "a"/m);
    expect(text).toMatch(/^ *\{">":\[\{"var":"m"\},2\]\} is unknown: m is missing/m);
  });

  test('an element of another kind leads to the one that has it', () => {
    const answers = { answers: [{ email: 'a' }, { number: 3 }] };
    expect(explain({ '===': [v('answers.0.number'), 3] }, answers).text).toContain(
      'the request has answers.1.number',
    );
    expect(explain({ '===': [v('answers.7.email'), 'a'] }, answers).text).toContain(
      'the request has answers.0.email',
    );
  });
});
