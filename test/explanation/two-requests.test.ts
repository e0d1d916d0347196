/** Two requests of one mapping: an event that made work twice, and conversations that are apart or shared. */
import { expect, test } from 'vitest';
import { keyNotes, laterNotes } from '../../src/explanation/key-notes.ts';
import { kindNotes } from '../../src/explanation/kind-notes.ts';
import { fixedDebounceNotes, sessionNotes } from '../../src/explanation/session-notes.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonObject } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

interface Sent {
  readonly payload: JsonObject;
  readonly headers?: Record<string, string>;
}

/** What is said of the second one beside the first, 2 s before. */
function textOf(
  keys: string,
  [first, second]: readonly [Sent, Sent],
  of: 'first' | 'second' = 'second',
): string {
  const settings = settingsWith({ table: `- {id: m, match: {path: p}, messageTemplate: x${keys}}` });
  const [before, now] = [first, second].map(({ payload, headers = {} }, index) => {
    const asked = { path: 'p', payload, headers };
    const at = receivedAt + index * 2_000;
    const request = { ...createHookRequest({ ...asked, receivedAt: at }), id: `r${index}` };
    return { request, evaluation: evaluateHook(asked, settings).evaluation };
  });
  if (before === undefined || now === undefined) return '';
  const found = of === 'first' ? laterNotes(before, now) : keyNotes(now, before);
  return [
    ...found,
    ...(found.length > 0 ? [] : [...fixedDebounceNotes(now, [before]), ...sessionNotes(now, [before])]),
  ]
    .map(({ text }) => text)
    .join();
}

const twice = (payload: JsonObject, ...headers: readonly [Record<string, string>, Record<string, string>]) =>
  [
    { payload, headers: headers[0] },
    { payload, headers: headers[1] },
  ] as const;
const bodies = (first: JsonObject, second: JsonObject): readonly [Sent, Sent] => [
  { payload: first },
  { payload: second },
];

const BY_DELIVERY = ', dedupe: {key: "{{headers.x-github-delivery}}"}';
const EVENT = { 'x-shopify-event-id': 'e', 'x-shopify-webhook-id': 'w' };

test.each<[string, readonly [Sent, Sent], string]>([
  ['', twice({ name: 'a' }, EVENT, EVENT), "write dedupe: {key: '{{headers.x-shopify-event-id}}'}"],
  [
    '',
    twice({ name: 'a' }, {}, {}),
    'the mapping has no dedupe, so each made work of its own. To take such a request once, write dedupe: body',
  ],
  [
    '',
    bodies({ id: 'e1', n: 1, attempt: 1 }, { id: 'e1', n: 1, attempt: 2 }),
    "only in attempt: most likely one event was sent twice, and the mapping has no dedupe, so each made work of its own. To take such a request once, write dedupe: {key: '{{id}}'}",
  ],
  [
    BY_DELIVERY,
    twice({ a: 1 }, { 'x-github-delivery': '1' }, { 'x-github-delivery': '2' }),
    'the key reads headers.x-github-delivery, so it was taken as another one. To take such a request once, write dedupe: body',
  ],
  [
    ', dedupe: {key: "{{id}}", ttlSeconds: 1}',
    bodies({ id: 'e1' }, { id: 'e1' }),
    'has the same key, and ttlSeconds: 1 had passed, so this one was taken as another event. If one event was sent twice, write ttlSeconds: 86400',
  ],
])('an event that was sent twice: %s', (keys, requests, expected) => {
  expect(textOf(keys, requests)).toContain(expected);
});

const comment = (ticket: string, id: string, mail = 'a@x.org'): JsonObject => ({
  ticket: { id: ticket },
  comment: { id, body: id },
  requester: { email: mail },
});

test.each<[string, readonly [Sent, Sent], string]>([
  ['', bodies(comment('7', 'c1'), comment('7', 'c2')), "write sessionKey: 'hook:p:{{ticket.id}}'"],
  [
    ', sessionKey: "hook:tickets"',
    bodies(comment('7', 'c1'), comment('8', 'c2', 'b@x.org')),
    "though ticket.id, requester.email differ. If each is to have a conversation of its own, write sessionKey: 'hook:tickets:{{ticket.id}}'; for one of each person write {{requester.email}} in its place",
  ],
  [
    ', sessionKey: "s:{{email}}", debounce: {key: form, seconds: 5}',
    bodies({ email: 'a@x.example', n: 1 }, { email: 'b@x.example', n: 2 }),
    "the key is the fixed text form, the same for every request, so this one and the request r0, 2.0 s before, are in one run, though email differs. If each is to have a run of its own, write key: '{{email}}'",
  ],
])('conversations: %s', (keys, requests, expected) => {
  expect(textOf(keys, requests)).toContain(expected);
});

test.each<[string, readonly [Sent, Sent]]>([
  ['', bodies({ status: 'on', at: 'kitchen' }, { status: 'off', at: 'kitchen' })],
  ['', bodies({ repository: { id: 1 }, n: 1 }, { repository: { id: 1 }, n: 2 })],
  [', sessionKey: "hook:log"', bodies({ level: 'a' }, { level: 'b' })],
  [', sessionKey: "hook:{{ticket.id}}"', bodies(comment('7', 'c1'), comment('7', 'c2'))],
  [', dedupe: body', bodies({ id: 1, n: 1 }, { id: 2, n: 2 })],
])('what is right is not spoken of: %s', (keys, requests) => {
  expect(textOf(keys, requests)).toBe('');
});

test.each<[string, string]>([
  [
    '{{repo.name}}:{{tag}}',
    "tag is another in each of the two. If both belong into one run, leave that out: write key: '{{repo.name}}'",
  ],
  ['{{tag}}/{{repo.name}}', "write key: '{{repo.name}}'"],
  [
    'push-{{lower tag}}',
    "use a field that they share: write key: '{{repo.name}}' (the same in both: repo.name)",
  ],
])('a debounce key that is new for each event: %s', (key, expected) => {
  const requests = bodies({ repo: { name: 'r' }, tag: '1' }, { repo: { name: 'r' }, tag: '2' });
  const keys = `, debounce: {key: "${key}", seconds: 3, maxSeconds: 60}`;
  expect(textOf(keys, requests)).toContain(expected);
  expect(textOf(keys, requests, 'first')).toContain('the request r1, 2.0 s later, has another key');
  expect(textOf(keys, requests, 'first')).toContain(expected);
});

/** What is said of several requests that one mapping took, of the kinds that it does not tell apart. */
function kindsOf(
  keys: string,
  payloads: readonly JsonObject[],
  headers: readonly Record<string, string>[] = [],
): string {
  const settings = settingsWith({ table: `- {id: m, match: {path: p${keys}}, messageTemplate: "{{mail}}"}` });
  const [now, ...others] = payloads.map((payload, index) => {
    const asked = { path: 'p', payload, headers: headers[index] ?? {} };
    const request = { ...createHookRequest({ ...asked, receivedAt: receivedAt + index }), id: `r${index}` };
    return { request, evaluation: evaluateHook(asked, settings).evaluation };
  });
  return now === undefined
    ? ''
    : kindNotes(now, others)
        .map(({ text }) => text)
        .join();
}

const bounce = (severity: string, mail: string): JsonObject => ({
  'event-data': { event: 'failed', severity, id: mail },
  mail,
});

test.each<[string, readonly JsonObject[], string]>([
  [
    ', when: {"===": [{var: event-data.event}, failed]}',
    [bounce('temporary', 'a'), bounce('temporary', 'b'), bounce('permanent', 'c')],
    'write when: {"and":[{"===":[{"var":"event-data.event"},"failed"]},{"===":[{"var":"event-data.severity"},"permanent"]}]}',
  ],
  [
    '',
    [
      { mail: 'a', type: 'a.created' },
      { mail: 'a', type: 'a.deleted' },
    ],
    'write when: {"===":[{"var":"type"},"a.created"]} in match',
  ],
  [
    '',
    [
      { mail: 'a', flavour: 'sweet', host: 'a' },
      { mail: 'a', flavour: 'sweet', host: 'b' },
      { mail: 'a', flavour: 'sour', host: 'c' },
    ],
    'nothing in the mapping reads flavour',
  ],
])('kinds that a mapping does not tell apart: %s', (keys, payloads, expected) => {
  expect(kindsOf(keys, payloads)).toContain(expected);
});

test.each<readonly JsonObject[]>([
  [{ login: 'ada' }, { login: 'ada' }, { login: 'bob' }],
  [{ flavour: 'sweet' }, { flavour: 'sour' }],
  [{ reason: 'it is too late' }, { reason: 'nobody came' }],
  [{ rows: [{ type: 'a' }] }, { rows: [{ type: 'b' }] }],
  [{ mail: 'created' }, { mail: 'deleted' }],
])('names, texts and what is read are no kinds: %j', (...payloads) => {
  const sent = payloads.map((payload) => ({ mail: 'a', ...payload }));
  expect(kindsOf('', sent)).toBe('');
});

const order = { mail: 'a', id: 7, updated_at: '19:02' };
const topic = (value: string): Record<string, string> => ({
  'x-shopify-topic': value,
  'x-shopify-event-id': value,
  'x-event-type': `of ${value}`,
});

test('kinds that only a header tells apart', () => {
  const sent = [order, { ...order, updated_at: '19:03', status: 'open' }];
  const headers = [topic('orders/updated'), topic('orders/create')];
  expect(kindsOf('', sent, headers)).toBe(
    'nothing in the mapping reads headers.x-shopify-topic, so requests of several kinds were taken: "orders/updated", "orders/create". If only one kind is meant, such as "orders/create", write when: {"===":[{"var":"headers.x-shopify-topic"},"orders/create"]} in match',
  );
  // The sender may leave it out, or send the same one.
  expect(kindsOf('', sent, headers.slice(1))).toBe('');
  expect(kindsOf('', sent, [topic('a'), topic('a')])).toBe('');
});

test.each<[string, readonly JsonObject[]]>([
  [', when: {"!!": [{var: headers.x-shopify-topic}]}', [order, order]],
  [
    ', when: {in: [{var: action}, [a, b]]}',
    [
      { ...order, action: 'a' },
      { ...order, action: 'b' },
    ],
  ],
  [', when: {"!!": [{var: headers.x-event-type}]}', [order, order]],
])('a header that is read, or that says what a field that is read says: %s', (keys, sent) => {
  expect(kindsOf(keys, sent, [topic('orders/create'), topic('orders/updated')])).toBe('');
});

test.each<[string, readonly [JsonObject, JsonObject], string]>([
  [
    'another event has a key of what both requests have',
    [{ state: 'building' }, { state: 'ready', updated_at: '2026-03-01' }],
    "But state differs. If it was a new event, write key: '{{payload.id}}-{{state}}'",
  ],
  [
    'the same event is told as such, without a key to write',
    [{ state: 'ready' }, { state: 'ready' }],
    'all fields of the body are the same in the request r0, 0.0 s before: one event that was sent again',
  ],
])('of a repeat: %s', (_what, bodiesSent, told) => {
  const settings = settingsWith({
    table: '- {id: m, match: {path: p}, dedupe: {key: "{{payload.id}}"}, messageTemplate: x}',
  });
  const [before, now] = bodiesSent.map((more, index) => {
    const payload = { id: 'd1', ...more };
    const request = { ...createHookRequest({ path: 'p', payload, receivedAt }), id: `r${index}` };
    return { request, evaluation: evaluateHook({ path: 'p', payload }, settings).evaluation };
  });
  expect(before && now && keyNotes(now, before, 'r0')[0]?.text).toContain(told);
});
