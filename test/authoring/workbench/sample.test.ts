/** What `sluice add --from` finds in requests: who sends, by which proof, of which kinds, and what names the event. */
import { expect, test } from 'vitest';
import {
  sendersOf,
  unknownSignature,
  withoutSignature,
  withStandIn,
} from '../../../src/authoring/advice/proof-headers.ts';
import { idOf, kindOf, type SentSample } from '../../../src/authoring/workbench/sample-facts.ts';
import { fieldInTemplate, messageLines } from '../../../src/authoring/workbench/sample-text.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { listHelpers } from '../../../src/engine/mapping/facts.ts';
import { actionOf, evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const HEX = 'a1'.repeat(32);
const sample = (payload: JsonObject, headers: SentSample['headers'] = {}): SentSample => ({
  headers,
  query: {},
  payload,
});

test.each([
  [`sha256=${HEX}`, 'sha256=[removed: 64 of hex]'],
  [`t=1700000000,v1=${HEX}`, 't=1700000000,v1=[removed: 64 of hex]'],
  [Buffer.alloc(32, 7).toString('base64'), '[removed: 44 of base64]'],
  ['an opaque text that may be a secret', '[removed]'],
  [`${'k'.repeat(80)}.${HEX}`, '[removed]'],
])('of a signature %s stays its form', (text, form) => {
  expect(withoutSignature(text)).toBe(form);
  expect(withoutSignature(form)).toBe(form);
  expect(withoutSignature(withStandIn(form))).toBe(form);
});

test.each([
  ['linear', { 'linear-signature': HEX }],
  ['intercom', { 'x-hub-signature': `sha1=${'0'.repeat(40)}` }],
  ['zendesk', { 'x-zendesk-webhook-signature': Buffer.alloc(32).toString('base64') }],
  ['bitbucket', { 'x-hub-signature': `sha256=${HEX}`, 'x-event-key': 'repo:push' }],
  ['jira', { 'x-hub-signature': `sha256=${HEX}`, 'x-atlassian-webhook-identifier': 'a' }],
  ['github', { 'x-hub-signature-256': `sha256=${HEX}`, 'x-github-event': 'push' }],
  ['telegram', { 'x-telegram-bot-api-secret-token': '[removed]' }],
  ['vercel', { 'x-vercel-signature': '0'.repeat(40) }],
  ['bitbucket jira', { 'x-hub-signature': `sha256=${HEX}` }],
  ['', { 'x-acme-signature': HEX }],
  ['', { 'x-vercel-signature': HEX }],
])('%s is known by its headers', (names, headers) => {
  expect(
    sendersOf(headers as Readonly<Record<string, string>>)
      .map(({ name }) => name)
      .join(' '),
  ).toBe(names);
});

test('a signature of nobody known is written in keys of the general scheme', () => {
  expect(unknownSignature({ 'x-acme-signature': `sha512=${'a1'.repeat(64)}` })).toEqual({
    scheme: 'hmac',
    header: 'x-acme-signature',
    prefix: 'sha512=',
    algorithm: 'sha512',
  });
  for (const [header, text] of Object.entries({
    'x-acme-sig': `sha256=${HEX}`,
    'x-acme-check': HEX,
    'x-acme-checksum': Buffer.alloc(32, 7).toString('base64'),
    'acme-proof': `t=1700000000,v1=${HEX}`,
  }))
    expect(unknownSignature({ 'user-agent': 'a', [header]: text })).toMatchObject({ scheme: 'hmac', header });
  for (const name of [
    'x-request-id',
    'etag',
    'x-acme-commit',
    'content-digest',
    'x-b3-traceid',
    'x-acme-key',
  ])
    expect(unknownSignature({ [name]: HEX })).toBeUndefined();
});

test('several payloads say which field tells the kinds apart', () => {
  const samples = [
    sample({ object: 'event', type: 'a.b', status: 'ok' }),
    sample({ object: 'event', type: 'a.c', status: 'ok' }),
  ];
  expect(kindOf(samples)).toEqual({ path: 'type', values: ['a.b', 'a.c'] });
  expect(kindOf([sample({ x: 1 }, { 'x-acme-event': 'made' })])?.path).toBe('headers.x-acme-event');
  expect(kindOf([sample({ x: 1 })])).toBeUndefined();
});

test.each([
  ['a delivery in a header', [sample({ a: 1 }, { 'x-acme-delivery': '1-2' })], 'headers.x-acme-delivery'],
  ['an event in the body', [sample({ event_id: 'e1', id: 7 })], 'event_id'],
  ['an id that says of what it is', [sample({ id: 'evt_1' })], 'id'],
])('%s names the event', (_what, samples, path) => {
  expect(idOf(samples)).toEqual({ path });
});

test.each([
  ['of a webhook', [sample({ a: 1 }, { 'x-zendesk-webhook-id': '01HW' })]],
  ['of an account', [sample({ account_id: 'a1', subscription_event_id: 's' })]],
  ['of the thing that changed', [sample({ id: 5, status: 'open' })]],
  ['that two payloads share', [sample({ event_id: 'e', n: 1 }), sample({ event_id: 'e', n: 2 })]],
])('an id %s names no event, and why is said', (_what, samples) => {
  expect(idOf(samples)).toEqual({ why: expect.stringMatching(/names no event|no field is sure/) });
});

test('the same payload twice is one event', () => {
  const twice = [sample({ event_id: 'e', n: 1 }), sample({ event_id: 'e', n: 1 })];
  expect(idOf(twice)).toEqual({ path: 'event_id' });
});

test('a field is read whatever its name means to a template', () => {
  const helpers = listHelpers().map(({ name }) => name);
  const words = [
    'this',
    'true',
    'false',
    'null',
    'undefined',
    'else',
    'as',
    'log',
    'helperMissing',
    'constructor',
  ];
  const names = [
    'payload',
    'headers',
    'query',
    'path',
    'now',
    'item',
    'index',
    '_',
    'A1',
    'a-b',
    ...words,
    ...helpers,
  ];
  for (const name of names) {
    const payload = { [name]: 'alone', holder: { [name]: 'inner' }, list: [{ [name]: 'in the list' }] };
    const more = { [name]: { title: 'outer', event_id: '7' }, a: { [name]: { title: 'deep' } } };
    const lists = { [name]: [{ title: 'of the list' }] };
    const rendered = [payload, more, lists].map((each) => {
      const table = JSON.stringify([
        {
          id: 'm',
          match: { path: 'p' },
          messageTemplate: messageLines(each).join('\n'),
          allowUnsafeExternalContent: true,
        },
      ]);
      const { evaluation } = evaluateHook({ path: 'p', payload: each }, settingsWith({ table }));
      const action = actionOf(evaluation);
      return action.kind === 'agent' ? action.message : '';
    });
    expect([name, rendered.join('\n')]).toEqual([
      name,
      expect.stringMatching(/: alone\n[^]*- in the list\n[^]*: outer\n[^]*: deep\n[^]*- of the list/),
    ]);
    expect(fieldInTemplate([name, 'event_id'])).toMatch(/^(?:payload\.)?\[?[\w-]+\]?\.event_id$/);
  }
});
