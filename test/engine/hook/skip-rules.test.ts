import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/request.ts';
import { evaluationToJson } from '../../../src/engine/hook/hook.ts';
import { conversationMark, findMarks } from '../../../src/base/marks.ts';
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

/** What an agent opened, as GitHub and GitLab tell of it. */
const MARK = conversationMark('run-1', 'secret');
const [found] = findMarks(MARK, 'sluice-mark');
const opened = (author: string, sender = author, body = `Fixed.\n\n${MARK}\n`) => ({
  pull_request: { body, user: { login: author } },
  sender: { login: sender },
});
const conversing = (more: string) =>
  settingsWith({
    table: `- {id: m, match: {path: github}, messageTemplate: hi, conversation: {owner: us}, ${more}}`,
  });
const marksOf = (payload: JsonValue, more = 'startedBy: {accounts: [bot]}') => {
  const { outcome } = evaluateHook({ path: 'github', payload }, conversing(more)).evaluation;
  const [action] = outcome.kind === 'accepted' ? outcome.actions : [];
  return action?.kind === 'agent' ? action.conversation : outcome;
};

test('takes marks of who caused the event and may start it', () => {
  expect(marksOf(opened('bot'))).toMatchObject({ marks: [found] });
  expect(marksOf(opened('bot'))).not.toHaveProperty('isOwn');
  // Nobody says who may: a stranger could have copied it.
  expect(marksOf(opened('bot'), 'name: x')).not.toHaveProperty('marks');
  expect(marksOf(opened('stranger'))).toMatchObject({ kind: 'skipped', by: 'not_allowed' });
  expect(marksOf(opened('stranger', 'bot'))).not.toHaveProperty('marks');
});

test('hears the mark of an account that is not listened to, and nothing else', () => {
  const more = 'ignoreSenders: [bot]';
  expect(marksOf(opened('bot'), more)).toMatchObject({ marks: [found], isOwn: true, start: false });
  expect(marksOf(opened('bot', 'bot', 'no mark'), more)).toMatchObject({ by: 'ignoreSenders' });
});

test('reads the words of the innermost object, and no mark that is quoted or shown', () => {
  const comment = (body: string) => ({ ...opened('bot'), comment: { body, user: { login: 'bot' } } });
  expect(marksOf(comment('thanks'))).not.toHaveProperty('marks');
  expect(marksOf(comment(MARK))).toMatchObject({ marks: [found] });
  for (const body of [`> ${MARK}`, `\`\`\`\n${MARK}\n\`\`\``, `x ${MARK}`, MARK.replace('-mark', '')])
    expect(marksOf(comment(body))).not.toHaveProperty('marks');
  const gitlab = {
    object_attributes: { description: MARK, author_id: 7 },
    user: { id: 7, username: 'bot' },
  };
  const table = `- {id: m, match: {path: gitlab}, messageTemplate: hi, conversation: {}, startedBy: {accounts: [bot]}}`;
  const judged = (payload: JsonValue) =>
    evaluateHook({ path: 'gitlab', payload }, settingsWith({ table })).evaluation.outcome;
  expect(judged(gitlab)).toMatchObject({ actions: [{ conversation: { marks: [found] } }] });
  const other = { ...gitlab, user: { id: 8, username: 'bot' } };
  expect(judged(other)).toMatchObject({
    actions: [{ conversation: expect.not.objectContaining({ marks: [found] }) }],
  });
});
