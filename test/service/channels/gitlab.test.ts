/** The interface as GitLab's documentation of its REST API describes it (v4: notes, users). */
import { describe, expect, onTestFinished, test } from 'vitest';
import { gitlab } from '../../../src/service/channels/gitlab.ts';
import { findCommentMark } from '../../../src/base/marks.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'glpat-aBcDeFgHiJkLmNoPqRsT';
const NEVER = new AbortController().signal;
const DISCUSSION = '6a9c1750b37d513a43987b574953fceb50b03ce7';
const NOTES = '/api/v4/projects/acme%2Fweb%2Fshop/merge_requests/34/notes';

function accepted({ method, path, body }: ReceivedRequest): PlatformReply {
  if (method === 'GET' && path === '/api/v4/user')
    return { status: 200, body: { id: 1, username: 'sluice-bot' } };
  if (method === 'POST' && path.endsWith('/notes'))
    return { status: 201, body: { id: 302, body: body?.['body'], system: false, noteable_iid: 34 } };
  return { status: 404, body: { message: '404 Not Found' } };
}

async function send(text: string, more: object = {}, reply = accepted) {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  const adapter = await gitlab.open({ token: TOKEN, baseUrl: platform.url });
  const message = { to: 'acme/web/shop!34', text, plain: false, key: 'k:0', ...more };
  const result = await adapter.send(message, NEVER);
  const [request] = platform.requests;
  return { result, path: request?.path, body: String(request?.body?.['body']) };
}

describe('the gitlab adapter', () => {
  describeChannel({
    module: gitlab,
    settings: (baseUrl) => ({ token: TOKEN, baseUrl }),
    to: 'acme/web/shop!34',
    badRecipients: ['acme', 'acme#1', 'acme/shop', '../shop#1', 'a b/c#1', 'https://gitlab.com/a/b', ''],
    secrets: [TOKEN],
    sendOf: ({ path, body, headers }) =>
      path === NOTES || path === NOTES.replace('/notes', `/discussions/${DISCUSSION}/notes`)
        ? {
            text: String(body?.['body']).split('\n\n<!--')[0],
            authorized: headers['private-token'] === TOKEN,
          }
        : undefined,
    accepted,
    messageId: '302',
    thread: { named: DISCUSSION, threadOf: ({ path }) => /discussions\/(\w+)\/notes$/.exec(path)?.[1] },
    account: 'sluice-bot',
    rateLimited: {
      reply: { status: 429, headers: { 'retry-after': '60' }, body: { message: 'Too Many Requests' } },
      retryAfterMs: 60_000,
    },
    unauthorized: { status: 401, body: { message: `401 Unauthorized ${TOKEN}` } },
  });

  test('reads names and addresses of issues and merge requests, on GitLab and elsewhere', async () => {
    for (const [to, path] of [
      ['gitlab:acme/web/shop!34', NOTES],
      ['https://gitlab.com/acme/web/shop/-/merge_requests/34#note_1', NOTES],
      ['acme/shop#12', '/api/v4/projects/acme%2Fshop/issues/12/notes'],
      ['http://git.example:8080/acme/shop/-/issues/12', '/api/v4/projects/acme%2Fshop/issues/12/notes'],
      ['https://git.example/acme/shop/-/work_items/12', '/api/v4/projects/acme%2Fshop/issues/12/notes'],
    ]) {
      expect((await send('hi', { to })).path).toBe(path);
    }
  });

  test('posts nothing on gitlab.com for an address of another host', async () => {
    const adapter = await gitlab.open({ token: TOKEN });
    const message = { text: 'hi', plain: false, key: 'k:0' };
    const to = 'https://git.example:8080/acme/shop/-/issues/12';
    const refused = { kind: 'failed', code: 'bad_recipient' };
    expect(await adapter.send({ ...message, to }, NEVER)).toMatchObject(refused);
  });

  test('marks each note with its run, and performs nothing that a reply says', async () => {
    const text = 'Done, @root.\n/close\n  /merge now\n> /label ~bug\n```\n/usr/bin/env\n```\nand/or /tmp';
    const { body } = await send(text, { runId: 'run-1' });
    expect(findCommentMark(body, [TOKEN])).toBe('run-1');
    expect(body).toContain('\n\u200b/close\n  \u200b/merge now\n> \u200b/label ~bug\n');
    expect(body).toContain('@\u200broot');
    expect(body).toContain('\n/usr/bin/env\n```\nand/or /tmp');
    const plain = await send('/approve\n# no title', { plain: true });
    expect(plain.body).toMatch(/^\u200b\/approve\n\\# no title/);
  });

  test('tells refusals apart, and names the remedy', async () => {
    for (const [status, body, code, words] of [
      [403, { message: '403 Forbidden' }, 'forbidden', 'scope api'],
      [403, { error: 'insufficient_scope' }, 'forbidden', 'insufficient_scope'],
      [404, { message: '404 Project Not Found' }, 'not_found', 'may not see it'],
      [400, { message: 'body is missing' }, 'rejected', 'body is missing'],
    ] as const) {
      const { result } = await send('hi', {}, () => ({ status, body }));
      expect(result).toMatchObject({ kind: 'failed', code, message: expect.stringContaining(words) });
    }
  });
});
