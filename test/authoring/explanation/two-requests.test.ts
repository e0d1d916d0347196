/** Two requests of one mapping: an event that made work twice. */
import { expect, test } from 'vitest';
import { keyNotes } from '../../../src/authoring/explanation/key-notes.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printed } from '../../support/printed.ts';

interface Sent {
  readonly payload: JsonObject;
  readonly headers?: Record<string, string>;
}

/** What is said of the second one beside the first, 2 s before. */
function textOf(keys: string, [first, second]: readonly [Sent, Sent]): string {
  const settings = settingsWith({ table: `- {id: m, match: {path: p}, messageTemplate: x${keys}}` });
  const [before, now] = [first, second].map(({ payload, headers = {} }, index) => {
    const asked = { path: 'p', payload, headers };
    const at = receivedAt + index * 2_000;
    const request = { ...createHookRequest({ ...asked, receivedAt: at }), id: `r${index}` };
    return { request, evaluation: evaluateHook(asked, settings).evaluation };
  });
  if (before === undefined || now === undefined) return '';
  return keyNotes(now, before)
    .map(({ text }) => printed(text))
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
])('an event that was sent twice: %s', (keys, requests, expected) => {
  expect(printed(textOf(keys, requests))).toContain(expected);
});

test.each<[string, readonly [Sent, Sent]]>([
  ['', bodies({ status: 'on', at: 'kitchen' }, { status: 'off', at: 'kitchen' })],
  ['', bodies({ repository: { id: 1 }, n: 1 }, { repository: { id: 1 }, n: 2 })],
  [', dedupe: body', bodies({ id: 1, n: 1 }, { id: 2, n: 2 })],
  // What was not kept is not the same as what was not kept.
  ['', bodies({ id: '…(2 characters)', n: 1 }, { id: '…(2 characters)', n: 1 })],
  ['', bodies({ list: ['***'] }, { list: ['***'] })],
  ['', bodies({ id: '[removed]' }, { id: '[removed]' })],
  [
    '',
    [
      { payload: { a: 1, attempt: 1 }, headers: { 'x-event-id': '…' } },
      { payload: { a: 1, attempt: 2 }, headers: { 'x-event-id': '…' } },
    ],
  ],
])('what is right is not spoken of: %s', (keys, requests) => {
  expect(printed(textOf(keys, requests))).toBe('');
});
