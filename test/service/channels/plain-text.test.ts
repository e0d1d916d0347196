/** A notification shows as it was written: nothing in it is formatting, and nobody is mentioned. */
import { expect, onTestFinished, test } from 'vitest';
import type { ChannelModule, ChannelSettings } from '../../../src/service/channels/channel.ts';
import { discord } from '../../../src/service/channels/discord.ts';
import { mattermost } from '../../../src/service/channels/mattermost.ts';
import { escapeGithub } from '../../../src/service/channels/plain-text.ts';
import { slack } from '../../../src/service/channels/slack.ts';
import { telegram } from '../../../src/service/channels/telegram.ts';
import { whatsapp } from '../../../src/service/channels/whatsapp.ts';
import { startPlatform, type ReceivedRequest } from '../../support/platform-server.ts';

const HOSTILE = [
  'disk_full on **web-1** `rm` ~~x~~ ||y||',
  '[all is well](https://evil.example/a_b_c) see https://ok.example/a_b*c',
  '# not a heading',
  '- @everyone @here <!channel> <@123456789012345678> @bob mail@example.org',
].join('\n');

async function sendPlain(module: ChannelModule, settings: ChannelSettings, to: string) {
  const platform = await startPlatform((request) => ANSWERS(request));
  onTestFinished(platform.stop);
  const adapter = await module.open({ ...settings, baseUrl: platform.url });
  await adapter.send({ to, text: HOSTILE, plain: true, key: 'k' }, new AbortController().signal);
  await adapter.stop?.();
  return platform.requests.at(-1)?.body;
}

const ANSWERS = ({ path }: ReceivedRequest) => ({
  status: path.includes('/posts') ? 201 : 200,
  body: { ok: true, id: '1', ts: '1.1', result: { message_id: 1 }, messages: [{ id: 'wamid.1' }] },
});

test('on Discord, with mentions off', async () => {
  const body = await sendPlain(discord, { botToken: 'x.y.z' }, '123456789012345678');
  expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  expect(String(body?.['content']).split('\n')).toEqual([
    'disk\\_full on \\*\\*web-1\\*\\* \\`rm\\` \\~\\~x\\~\\~ \\|\\|y\\|\\|',
    '\\[all is well\\](https://evil.example/a_b_c) see https://ok.example/a_b*c',
    '\\# not a heading',
    '\\- @everyone @here \\<!channel\\> \\<@123456789012345678\\> @bob mail@example.org',
  ]);
});

test('on Mattermost, with names that are only text', async () => {
  const body = await sendPlain(mattermost, { botToken: 'x' }, 'a'.repeat(26));
  expect(String(body?.['message']).split('\n')).toEqual([
    'disk\\_full on \\*\\*web-1\\*\\* \\`rm\\` \\~\\~x\\~\\~ \\|\\|y\\|\\|',
    '\\[all is well\\](https://evil.example/a_b_c) see https://ok.example/a_b*c',
    '\\# not a heading',
    '\\- @\u200beveryone @\u200bhere \\<!channel\\> \\<@\u200b123456789012345678\\> @\u200bbob mail@example.org',
  ]);
});

test('on Slack, without notation', async () => {
  const body = await sendPlain(slack, { botToken: 'xoxb-1' }, 'C0123456');
  expect(body).toMatchObject({ mrkdwn: 'false', link_names: 'false', parse: 'none' });
  expect(body?.['text']).toBe(HOSTILE.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
});

test('on Telegram, without a parse mode, and with names that are only text', async () => {
  const body = await sendPlain(telegram, { botToken: '1:x' }, '5');
  expect(body).toEqual({ chat_id: 5, text: expect.stringContaining('@\u200beveryone') });
  expect(String(body?.['text']).replaceAll('\u200b', '')).toBe(HOSTILE);
  expect(body?.['text']).toContain('mail@example.org');
});

test('on WhatsApp, where marks are kept from what they would format', async () => {
  const body = await sendPlain(whatsapp, { accessToken: 'x', phoneNumberId: '12345' }, '+15551234567');
  const text = (body?.['text'] as { body: string } | undefined)?.body ?? '';
  expect(text.replaceAll('\u200b', '')).toBe(HOSTILE);
  expect(text).toContain('disk_full');
  expect(text).not.toMatch(/(?<!\p{L})[*~`](?=[\p{L}\p{N}])/u);
});

test('on GitHub, with neither HTML nor references', () => {
  expect(escapeGithub('<img src=x> <!-- a --> &lt; [a](b) $x$ @octo/team #12 1. one\n2. two\n- x\n===')).toBe(
    '\\<img src=x\\> \\<!-- a --\\> \\&lt; \\[a\\](b) \\$x\\$ @\u200bocto/team #\u200b12 1. one\n2\\. two\n\\- x\n\\===',
  );
});
