/** That a bot wrote a message, which nothing in a mapping reads. */
import { expect, test } from 'vitest';
import { unreadKinds } from '../../../src/authoring/advice/requests/request-advice.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';
import { printed } from '../../support/printed.ts';

function textOf(keys: string, payload: JsonObject): string {
  const settings = settingsWith({ table: `- {id: m, match: {path: p}, ${keys}}` });
  const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
  return unreadKinds(evaluation, createHookRequest({ path: 'p', payload, receivedAt }))
    .map(({ text }) => printed(text))
    .join();
}

test.each<[string, JsonObject, string]>([
  ['messageTemplate: x', { event: { bot_id: 'B' } }, 'write when: {"!":{"var":"event.bot_id"}}'],
  ['messageTemplate: x', { author: { bot: true } }, 'write when: {"!":{"var":"author.bot"}}'],
])('%s', (keys, payload, expected) => {
  expect(printed(textOf(keys, payload))).toContain(expected);
});

test.each<[string, JsonObject]>([
  ['messageTemplate: x, ignoreSenders: [b]', { event: { bot_id: 'B' } }],
  ['messageTemplate: x', { author: { bot: false } }],
])('what is read or the same is not spoken of: %s of %j', (keys, payload) => {
  expect(printed(textOf(keys, payload))).toBe('');
});
