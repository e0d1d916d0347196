/** What explain says of the leaf of a condition that failed, or that held for another reason than was meant. */
import { describe, expect, test } from 'vitest';
import { adviceFor } from '../../../src/authoring/advice/requests.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printSentence, type Sentence } from '../../../src/base/finding.ts';

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
    sure: [...advice.parts.values()]
      .flat()
      .flatMap(({ code, message }) => (code === 'leaf_advice' ? [printSentence(message)] : [])),
  };
}

const textOf = ({ message }: { readonly message: Sentence }): string => printSentence(message);
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
    [
      { '<': [v('t'), '15'] },
      { t: '9.4' },
      /t is the text "9\.4", and texts are compared letter by letter: write \{"<":\[\{"var":"t"\},15\]\}$/,
    ],
    [
      { '>': [v('a'), v('b')] },
      { a: '10', b: '9' },
      /letter by letter: write \{">":\[\{"var":"a"\},\{"\+":\[\{"var":"b"\}\]\}\]\}$/,
    ],
    [
      { '>': [v('until'), v('now')] },
      { until: 1798675200 },
      'until is the number 1798675200; a number was sent, and a text is asked for: ">" between the two never holds',
    ],
    [
      { '>': [v('size'), 10] },
      { size: 'large' },
      'size is the text "large"; a text was sent, and a number is asked for: ">" between the two never holds',
    ],
    [{ '>': [v('size'), 10] }, { size: '1,200' }, /between the two never holds$/],
    [
      { '>': [v('price'), 10] },
      { price: { amount: 12, currency: 'EUR' } },
      /^price is an object; an object was sent, and a number is asked for: ">" between the two never holds$/,
    ],
    [
      { '>': [v('amount'), '99,50'] },
      { amount: '100' },
      /^amount is the text "100"; two texts are compared letter/,
    ],
    [{ '<': [v('v'), '1.10.0'] }, { v: '1.9.0' }, /letter by letter.*compare them in a transform$/],
    [
      { some: [v('tags'), { '===': [v(''), v('wanted')] }] },
      { wanted: 'vip', tags: ['vip', 'eu'] },
      /and nothing else, so wanted of the whole body .*that is a list of texts; compare with wanted in a transform$/,
    ],
    [
      { some: [v('tags'), { '===': [v('name'), v('wanted')] }] },
      { tags: ['vip', 'eu'] },
      /and none has name: that is a list of texts$/,
    ],
    [
      { in: ['billing', v('labels')] },
      LABELS,
      /labels is a list of objects.*write \{"some":\[\{"var":"labels"\},\{"===":\[\{"var":"title"\},"billing"\]\}\]\}$/,
    ],
    [{ in: ['customer', v('labels')] }, LABELS, 'title of one of them is "Customer"'],
    [{ in: ['x', v('labels')] }, LABELS, 'ask one of the fields of its elements with "some"'],
    [{ '===': [v('tags'), 'vip'] }, { tags: ['vip'] }, 'write {"in":["vip",{"var":"tags"}]}'],
    [
      { '===': [v('order.status'), 'paid'] },
      { order: { status: { '@code': '2', '#text': 'paid' } } },
      'write {"===":[{"var":"order.status.#text"},"paid"]}',
    ],
    [{ '===': [v('level'), 3] }, { level: '3' }, 'write {"===":[{"var":"level"},"3"]}'],
    [{ '===': [v('version'), 1.1] }, { version: '1.10' }, 'write {"===":[{"var":"version"},"1.10"]}'],
    [
      { '===': [v('level'), '3'] },
      { level: 3 },
      'level is the number 3, and the text "3" is never equal to it: write {"===":[{"var":"level"},3]}',
    ],
    [
      { '>=': [v('level'), 3] },
      { level: 'Very high' },
      'level is the text "Very high"; a text was sent, and a number is asked for',
    ],
    [{ '===': [v('draft'), 'false'] }, { draft: false }, 'write {"===":[{"var":"draft"},false]}'],
    [
      { '!': v('muted') },
      { muted: 'false' },
      'every text but the empty one counts as true: ask {"!==":[{"var":"muted"},"false"]} in its place',
    ],
    [{ '!': v('muted') }, { muted: 'False' }, 'ask {"!==":[{"var":"muted"},"False"]}'],
    [{ '!': v('muted') }, { muted: 'NO' }, 'ask {"!==":[{"var":"muted"},"NO"]}'],
    [
      { or: [{ '!': v('muted') }, { '===': [v('b'), 'x'] }] },
      { muted: 'false', b: 'y' },
      'every text but the empty one counts as true',
    ],
    [
      { or: [{ '===': [v('a'), 1] }, { '===': [v('b'), 'x'] }] },
      { a: '1', b: 'y' },
      'write {"===":[{"var":"a"},"1"]}',
    ],
  ])('%j of %j', (when, payload, text) => {
    const { matched, sure, text: printed } = explain(when, payload);
    expect(matched).toBe(false);
    expect(sure).toEqual([
      typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
    ]);
    expect(printed).toContain('\n    hint: ');
  });

  test.each<[unknown, JsonValue]>([
    [{ '===': [v('action'), 'opened'] }, { action: 'closed' }],
    [{ '<': [v('t'), 15] }, { t: '20' }],
    [{ '<': [v('t'), '15'] }, { t: '20' }],
    [{ '<': [v('day'), '2026-01-01'] }, { day: '2026-11-22' }],
    [{ in: [v('a'), ['x', 'y']] }, { a: 'z' }],
    [{ in: ['vip', v('tags')] }, { tags: ['new'] }],
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
      [{ '<': [v('t'), '15'] }, { t: '9.4' }],
      [{ in: ['billing', v('labels')] }, LABELS],
      [{ '===': [v('tags'), 'vip'] }, { tags: ['vip'] }],
    ] as const) {
      const [sure = ''] = explain(when, payload).sure.slice(-1);
      const rule = /(\{.*\})$/.exec(sure)?.[1] ?? 'null';
      expect(explain(JSON.parse(rule), payload).matched, sure).toBe(true);
    }
  });
});

describe('inside a rule over a list', () => {
  const payload = { line_items: [{ sku: 'A', price: { eur: 3 } }], tags: ['a'], customer: { id: 7 } };
  test.each<[unknown, string | undefined]>([
    [
      { some: [v('line_items'), { '===': [v('owner'), v('customer.id')] }] },
      'none has owner: its elements have sku, price',
    ],
    [
      { some: [v('line_items'), { '===': [v('sku'), v('customer.id')] }] },
      'customer.id of the whole body cannot be read there',
    ],
    [{ some: [v('tags'), { '===': [v('tag'), 'a'] }] }, 'and none has tag: that is a list of texts'],
    [
      { some: [v('customer'), { '===': [v('id'), 7] }] },
      '"some" goes through a list, and customer is an object',
    ],
  ])('%j', (when, text) => {
    expect(explain(when, payload).sure).toEqual([expect.stringContaining(text ?? '')]);
  });
});

describe('a missing variable', () => {
  test.each<[unknown, string]>([
    [
      { '===': [v('pr.labels.name'), 'bug'] },
      'write {"some":[{"var":"pr.labels"},{"===":[{"var":"name"},"bug"]}]}',
    ],
    [{ in: ['bug', v('pr.labels.name')] }, '{"===":[{"var":"name"},"bug"]}'],
    [
      { '!==': [v('pr.labels.name'), 'wip'] },
      '{"none":[{"var":"pr.labels"},{"===":[{"var":"name"},"wip"]}]}',
    ],
    [{ '>': [v('pr.labels.size'), 3] }, '{"some":[{"var":"pr.labels"},{">":[{"var":"size"},3]}]}'],
  ])('%j goes on within a list: its elements are asked', (when, rule) => {
    const payload = { pr: { labels: [{ name: 'x' }, { name: 'bug', size: 5 }] } };
    const [said = ''] = explain(when, payload).sure;
    expect(said).toMatch(/^pr\.labels is a list: to ask each of its elements write/);
    expect(said).toContain(rule);
    expect(explain(JSON.parse(said.slice(said.indexOf('{'))), payload).matched).toBe(true);
  });

  const ITEMS = [{ field: 'resolution' }, { field: 'status' }];

  test('parts that go on within two lists are told each its own', () => {
    const when = { and: [{ '===': [v('log.items.field'), 'status'] }, { '===': [v('rows.n'), 1] }] };
    const { text } = explain(when, { log: { items: ITEMS }, rows: [{ n: 2 }, { n: 1 }] });
    expect(text).toContain('{"some":[{"var":"log.items"},{"===":[{"var":"field"},"status"]}]}');
    expect(text).toContain('{"some":[{"var":"rows"},{"===":[{"var":"n"},1]}]}');
    expect(text).toContain('rows.n is missing, too; rows is a list\n');
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
    expect(text).toContain('      {"===":[{"var":"e"},"a"]} is false: found "b", expected "a"');
    expect(text).toContain('      {">":[{"var":"m"},2]} is unknown: m is missing');
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

describe('a condition that held for another reason than was meant', () => {
  test.each<[unknown, JsonValue, string]>([
    [
      { '!==': [v('NumMedia'), 0] },
      { NumMedia: '0' },
      'NumMedia is the text "0", and the number 0 is never equal to it',
    ],
    [{ '!': { in: ['bot', v('labels')] } }, LABELS, 'labels is a list of objects'],
    [{ '!!': v('refunded') }, { refunded: 'false' }, 'every text but the empty one counts as true'],
    [{ and: [{ '>': [v('n'), '10'] }] }, { n: '9' }, 'texts are compared letter by letter'],
    [{ '<': [v('due'), v('now')] }, { due: '12/31/2099' }, 'texts are compared letter by letter'],
    [{ '>=': [v('version'), '1.10.0'] }, { version: '1.9.0' }, 'texts are compared letter by letter'],
    [{ missing: ['name'] }, { name: '' }, 'name is an empty text, which counts as missing there'],
  ])('%j of %j', (when, payload, text) => {
    const { matched, text: printed, advice } = explain(when, payload);
    expect(matched).toBe(true);
    expect(advice.notes.map(textOf)).toEqual([expect.stringContaining(text)]);
    expect(printed).toContain('hint: ');
  });

  test.each<[unknown, JsonValue]>([
    // Cents that were compared as such, a currency without them, an amount of either meaning.
    [{ '>=': [v('amount'), 5000] }, { amount: 9900, currency: 'eur' }],
    [{ '>=': [v('amount'), 500] }, { amount: 1990, currency: 'jpy' }],
    [{ '>=': [v('amount'), 500] }, { amount: 99000, currency: 'eur' }],
    [{ '>=': [v('amount'), 10] }, { amount: 19.9, currency: 'eur' }],
    [{ '!==': [v('action'), 'closed'] }, { action: 'opened' }],
    [{ '!==': [v('n'), 0] }, { n: 4 }],
    [{ '!==': [v('ref'), 'refs/heads/main'] }, { ref: 'refs/heads/main-2' }],
    [{ '!': { in: [v('ref'), ['main']] } }, { ref: 'refs/heads/maintenance' }],
    [{ '!': v('parent.id') }, { id: 7 }],
    [{ '!': v('data.paid') }, { data: { object: { paid: false } } }],
    [{ '!': { in: ['bot', v('labels')] } }, { labels: ['a'] }],
    [{ '!!': v('thread') }, { thread: '17' }],
    [{ '>': [v('n'), '10'] }, { n: 20 }],
    [{ '!': v('draft') }, { draft: false }],
    [{ '>=': [v('version'), '1.9.0'] }, { version: '1.9.5' }],
    [{ '<': [v('at'), v('now')] }, { at: '2020-01-01' }],
    [{ missing: ['name'] }, { nme: '' }],
    [{ in: ['main', v('branch')] }, { branch: 'main' }],
    [{ in: ['refs/heads/', v('ref')] }, { ref: 'refs/heads/main' }],
    [{ in: ['invoice_', v('id')] }, { id: 'invoice_17' }],
    [{ in: ['customer.subscription', v('type')] }, { type: 'customer.subscription.deleted' }],
    [{ in: ['site', v('repo')] }, { repo: 'acme/site' }],
    [{ in: ['docs', v('file')] }, { file: 'src/docs/index.md' }],
    [{ in: ['urgent', v('subject')] }, { subject: 'this is urgent' }],
    [{ in: ['main', v('branches')] }, { branches: ['maintenance', 'main'] }],
    [{ some: [v('labels'), { '!==': [v('title'), 'bot'] }] }, LABELS],
    // A true part of a negated "and" is not what made it hold, nor is one of a branch of an "or" that failed.
    [{ '!': { and: [{ in: ['main', v('branch')] }, v('n')] } }, { branch: 'maintenance', n: 0 }],
    [{ '!': { or: [{ '!': { '===': [v('a'), 'x'] } }, v('n')] } }, { a: 'x', n: 0 }],
    [
      { or: [{ and: [{ in: ['main', v('branch')] }, v('n')] }, v('ok')] },
      { branch: 'maintenance', n: 0, ok: 1 },
    ],
  ])('nothing is said of %j and %j', (when, payload) => {
    expect(explain(when, payload)).toMatchObject({ matched: true, advice: { notes: [] } });
  });
});
