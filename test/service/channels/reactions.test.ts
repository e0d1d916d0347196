/**
 * What a channel asks of its platform for a reaction, beside what the platform's own library asks: Octokit and Gitbeaker
 * are made from the published interfaces, grammy after that of Telegram. For Slack and Discord it is what their reference
 * says (docs.slack.dev/reference/methods/reactions.add; "Create Reaction" of Discord's message resource).
 */
import { createRequire } from 'node:module';
import { Gitlab } from '@gitbeaker/rest';
import { Octokit } from '@octokit/core';
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods';
import { Api } from 'grammy';
import { expect, onTestFinished, test } from 'vitest';
import { REACTION_EMOJI, type Reaction } from '../../../src/base/action.ts';
import { valueAt, type JsonValue } from '../../../src/base/json.ts';
import { textOf } from '../../../src/engine/mapping/template/template-helpers.ts';
import type { ChannelAdapter, ChannelModule, SendResult } from '../../../src/service/channels/channel.ts';
import { findChannelModule, loadChannelCatalog } from '../../../src/service/channels/channels.ts';
import { discord } from '../../../src/service/channels/discord.ts';
import { github } from '../../../src/service/channels/github.ts';
import { gitlab } from '../../../src/service/channels/gitlab.ts';
import { slack } from '../../../src/service/channels/slack.ts';
import { telegram } from '../../../src/service/channels/telegram.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = '12345678:AAE-abcdefghijklmnopqrstuvwxyz012345';
const NEVER = new AbortController().signal;
const SETTINGS: Readonly<Record<string, object>> = {
  github: { token: TOKEN },
  gitlab: { token: TOKEN },
  slack: { botToken: TOKEN },
  discord: { botToken: TOKEN },
  telegram: { botToken: TOKEN },
};

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const askedOf = ({ method, path, body }: ReceivedRequest): Asked => ({ method, path, body });

async function platformOf(reply: PlatformReply) {
  const platform = await startPlatform(() => reply);
  onTestFinished(platform.stop);
  return platform;
}

async function setOn(
  module: ChannelModule,
  to: string,
  { reaction, reply }: { readonly reaction: Reaction; readonly reply: PlatformReply },
): Promise<{ readonly result: SendResult; readonly asked: Asked | undefined }> {
  const platform = await platformOf(reply);
  const adapter: ChannelAdapter = await module.open({ ...SETTINGS[module.id], baseUrl: platform.url });
  const result = await adapter.send({ to, text: reaction.emoji, plain: false, key: 'k', reaction }, NEVER);
  const [first] = platform.requests;
  return { result, asked: first && askedOf(first) };
}

const CREATED = { status: 201, body: { id: 7, content: 'eyes' } };
const DONE = { status: 200, body: { ok: true, result: true } };

interface Example {
  readonly name: string;
  readonly examples: readonly JsonValue[];
}
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
/** The message that GitHub's own example of an event names. */
const namedBy = (event: string): string => {
  const [payload] = examples.find(({ name }) => name === event)!.examples;
  return textOf(valueAt(payload, github.messageField!.split('.')));
};
const idOf = (url: string): number => Number(url.split('/').at(-1));

test.each([
  ['an issue', undefined],
  ['a comment', namedBy('issue_comment')],
  ['a comment on a line', namedBy('pull_request_review_comment')],
])('asks GitHub as Octokit does for %s', async (what, message) => {
  const platform = await platformOf(CREATED);
  const { reactions } = new (Octokit.plugin(restEndpointMethods))({ baseUrl: platform.url, auth: TOKEN })
    .rest;
  const about = { owner: 'octo-org', repo: 'hello', content: 'eyes' as const };
  if (message === undefined) await reactions.createForIssue({ ...about, issue_number: 42 });
  else if (what === 'a comment')
    await reactions.createForIssueComment({ ...about, comment_id: idOf(message) });
  else await reactions.createForPullRequestReviewComment({ ...about, comment_id: idOf(message) });
  const reaction: Reaction = { emoji: 'eyes', ...(message !== undefined && { message }) };
  const { result, asked } = await setOn(github, 'octo-org/hello#42', { reaction, reply: CREATED });
  expect(result).toMatchObject({ kind: 'sent' });
  expect(asked).toEqual(askedOf(platform.requests[0]!));
});

/** `object_attributes.url` of the examples in GitLab's documentation of its events. */
const GITLAB_URLS = {
  issue: 'http://example.com/diaspora/issues/23',
  noteOnMerge: 'http://example.com/gitlab-org/gitlab-test/merge_requests/1#note_1244',
  noteOnIssue: 'http://example.com/gitlab-org/gitlab-test/issues/17#note_1241',
};

test('asks GitLab as Gitbeaker does, for an issue, a merge request and a note', async () => {
  const platform = await platformOf(CREATED);
  const sdk = new Gitlab({ host: platform.url, token: TOKEN });
  await sdk.IssueAwardEmojis.award('group/sub/project', 23, 'eyes');
  await sdk.MergeRequestNoteAwardEmojis.award('group/sub/project', 1, 1244, 'thumbsup');
  await sdk.IssueNoteAwardEmojis.award('group/sub/project', 17, 1241, 'thumbsdown');
  const ours = [
    await setOn(gitlab, 'group/sub/project#23', {
      reaction: { emoji: 'eyes', message: GITLAB_URLS.issue },
      reply: CREATED,
    }),
    await setOn(gitlab, 'group/sub/project!1', {
      reaction: { emoji: '+1', message: GITLAB_URLS.noteOnMerge },
      reply: CREATED,
    }),
    await setOn(gitlab, 'group/sub/project#17', {
      reaction: { emoji: '-1', message: GITLAB_URLS.noteOnIssue },
      reply: CREATED,
    }),
  ];
  // Gitbeaker writes the name into the address, which Grape takes as it does a body.
  const plain = platform.requests.map(({ method, path, body }) => {
    const { pathname, searchParams } = new URL(path, platform.url);
    return { method, path: pathname, body: { ...body, ...Object.fromEntries(searchParams) } };
  });
  expect(ours.map(({ asked }) => asked)).toEqual(plain);
});

test.each(REACTION_EMOJI)('asks Telegram as grammy does for %s', async (name) => {
  const platform = await platformOf(DONE);
  const bot = new Api(TOKEN, { apiRoot: platform.url });
  // The type of the argument is the list of what bots may set.
  const emoji = ({ eyes: '👀', '+1': '👍', '-1': '👎', confused: '🤔' } as const)[name];
  await bot.setMessageReaction(-1001234567890, 42, [{ type: 'emoji', emoji }]);
  const reaction: Reaction = { emoji: name, message: '42' };
  const { result, asked } = await setOn(telegram, '-1001234567890:topic:5', { reaction, reply: DONE });
  expect(result).toEqual({ kind: 'sent' });
  expect(asked).toEqual(askedOf(platform.requests[0]!));
});

test('asks Slack and Discord as their references say', async () => {
  const inSlack = await setOn(slack, 'C0123456', {
    reaction: { emoji: '+1', message: '1503435956.000247' },
    reply: { status: 200, body: { ok: true } },
  });
  expect(inSlack).toEqual({
    result: { kind: 'sent' },
    asked: {
      method: 'POST',
      path: '/reactions.add',
      body: { channel: 'C0123456', timestamp: '1503435956.000247', name: '+1' },
    },
  });
  const inDiscord = await setOn(discord, '123456789012345678', {
    reaction: { emoji: 'eyes', message: '223456789012345678' },
    reply: { status: 204 },
  });
  expect(inDiscord).toEqual({
    result: { kind: 'sent' },
    asked: {
      method: 'PUT',
      path: '/v10/channels/123456789012345678/messages/223456789012345678/reactions/%F0%9F%91%80/@me',
      body: undefined,
    },
  });
});

test.each<[ChannelModule, string, Reaction, PlatformReply]>([
  [
    slack,
    'C0123456',
    { emoji: 'eyes', message: '1.2' },
    { status: 200, body: { ok: false, error: 'already_reacted' } },
  ],
  [
    gitlab,
    'a/b#1',
    { emoji: 'eyes' },
    { status: 404, body: { message: '404 Award Emoji Name has already been taken Not Found' } },
  ],
  // "A response with an HTTP 200 status means that you already added the reaction type".
  [github, 'a/b#1', { emoji: 'eyes' }, { status: 200, body: { id: 7, content: 'eyes' } }],
])('takes an emoji that stands there already for set ($id)', async (module, to, reaction, reply) => {
  expect((await setOn(module, to, { reaction, reply })).result).toMatchObject({ kind: 'sent' });
});

test.each<[ChannelModule, string, string | undefined]>([
  [slack, 'C0123456', undefined],
  [slack, 'C0123456', '../x'],
  [discord, '123456789012345678', '1/../2'],
  [telegram, '42', '{"a":1}'],
  [github, 'a/b#1', 'https://api.github.com/repos/a/b/comments/1'],
  [github, 'a/b#1', 'https://api.github.com/repos/a/b/issues/comments/1/../..'],
  [gitlab, 'a/b#1', 'javascript:#note_1'],
])('asks nothing for a message that is none (%$)', async (module, to, message) => {
  const reaction: Reaction = { emoji: 'eyes', ...(message !== undefined && { message }) };
  const { result, asked } = await setOn(module, to, { reaction, reply: DONE });
  expect(result).toMatchObject({ kind: 'failed', code: 'no_message' });
  expect(asked).toBeUndefined();
});

test('says of a refusal what to do, and waits where it is to', async () => {
  const reaction: Reaction = { emoji: 'eyes', message: '1.2' };
  const lacks = { status: 200, body: { ok: false, error: 'missing_scope' } };
  expect((await setOn(slack, 'C0123456', { reaction, reply: lacks })).result).toMatchObject({
    kind: 'failed',
    code: 'forbidden',
    message: expect.stringContaining('reactions:write'),
  });
  const slow = { status: 429, headers: { 'retry-after': '5' }, body: { message: 'slow' } };
  expect((await setOn(github, 'a/b#1', { reaction: { emoji: 'eyes' }, reply: slow })).result).toMatchObject({
    kind: 'retry',
    retryAfterMs: 5000,
  });
});

test('no other channel is asked for one', async () => {
  const catalog = await loadChannelCatalog([], '.');
  const able = [...catalog.modules.values()].filter(({ messageField }) => messageField !== undefined);
  expect(able.map(({ id }) => id).sort()).toEqual(['discord', 'github', 'gitlab', 'slack', 'telegram']);
  const signal = findChannelModule(catalog, 'signal')!;
  const adapter = await signal.open({ account: '+15550001111', baseUrl: 'http://127.0.0.1:1' });
  const result = await adapter.send(
    { to: '+15550001112', text: 'eyes', plain: false, key: 'k', reaction: { emoji: 'eyes' } },
    NEVER,
  );
  expect(result).toMatchObject({ kind: 'failed', code: 'no_message' });
  await adapter.stop?.();
});
