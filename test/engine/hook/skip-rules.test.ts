import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/request.ts';
import { evaluationToJson } from '../../../src/engine/hook/hook.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const settings = (more: string) =>
  settingsWith({
    table: `- {id: m, match: {path: h}, messageTemplate: hi, ${more}}`,
    findOwnComment: (words) => (words === 'ours' ? 'run-1' : undefined),
  });

const judge = (payload: JsonValue, more = 'ignoreSenders: [Bot]') =>
  evaluateHook({ payload }, settings(more)).evaluation.outcome;

test.each<[string, JsonValue]>([
  ['GitHub', { sender: { login: 'bot' } }],
  ['GitLab', { user: { username: 'bot' } }],
  ['GitLab push', { user_username: 'bot' }],
  ['Bitbucket', { actor: { nickname: 'BOT' } }],
  ['Linear', { actor: { name: 'bot' } }],
  ['Slack', { event: { bot_id: 'bot' } }],
])('finds the account where %s puts it', (_sender, payload) => {
  expect(judge(payload)).toEqual({ kind: 'skipped', by: 'ignoreSenders', sender: 'Bot' });
});

test.each<[string, JsonValue]>([
  ['another account', { sender: { login: 'robot' } }],
  ['the name in another place', { comment: { user: { login: 'bot' } }, title: 'bot' }],
  ['a value that is no text', { sender: { login: ['bot'] } }],
  ['no account', []],
])('listens to %s', (_what, payload) => {
  expect(judge(payload).kind).toBe('accepted');
});

test('reads the account where the mapping says', () => {
  const where = 'ignoreSenders: {names: [Bot], from: "{{author.handle}}"}';
  expect(judge({ author: { handle: '@bot' } }, where)).toMatchObject({ by: 'ignoreSenders' });
  expect(judge({ sender: { login: 'bot' } }, where).kind).toBe('accepted');
  const each = 'forEach: list, ignoreSenders: {names: [Bot], from: "{{author.handle}}"}';
  expect(judge({ author: { handle: 'bot' }, list: [1] }, each)).toMatchObject({ by: 'ignoreSenders' });
});

test('answers no mail that nobody wrote by mail', () => {
  const payload = { messages: [{ autoSubmitted: 'auto-replied' }] };
  for (const channel of ['email', 'Mail', ' smtp'])
    expect(judge(payload, `channel: "${channel}", to: a@example.org`)).toEqual({
      kind: 'skipped',
      by: 'autoSubmitted',
    });
  expect(judge(payload, 'channel: slack, to: C0123456').kind).toBe('accepted');
  expect(judge({ messages: [{}] }, 'channel: email, to: a@example.org').kind).toBe('accepted');
  const both = { messages: [...payload.messages, {}] };
  // What a person wrote is not left out for what came with it; the other answer is not sent.
  expect(judge(both, 'forEach: messages, channel: email, to: a@example.org')).toMatchObject({
    actions: [
      { origin: { isAutomatic: true } },
      { origin: expect.not.objectContaining({ isAutomatic: true }) },
    ],
  });
});

test('takes only the own words of a comment, before anything else of the mapping', () => {
  expect(judge({ comment: { body: 'ours' } }, 'forEach: nothing')).toEqual({
    kind: 'skipped',
    by: 'ownComment',
    runId: 'run-1',
  });
  expect(judge({ object_attributes: { note: 'ours' } })).toMatchObject({ by: 'ownComment' });
  expect(judge({ messages: [{ messageId: 'ours' }] })).toMatchObject({ by: 'ownComment' });
  for (const payload of [{ issue: { body: 'ours' } }, { comment: 'ours' }, { changes: { body: 'ours' } }])
    expect(judge(payload).kind).toBe('accepted');
  const { evaluation } = evaluateHook({ payload: { comment: { body: 'ours' } } }, settings(''));
  expect(evaluationToJson(evaluation)).toMatchObject({ skippedBy: 'ownComment', ownRun: 'run-1' });
});
