/** The interface as GitHub's REST documentation describes it (version 2022-11-28). */
import { describe, expect, onTestFinished, test } from 'vitest';
import { github } from '../../../src/service/channels/github.ts';
import { quietMentions } from '../../../src/service/channels/mentions.ts';
import { findCommentMark } from '../../../src/base/marks.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz';
const NEVER = new AbortController().signal;
const COMMENTS = '/repos/octo-org/hello.world/issues/42/comments';

const refused = (status: number, message: string, headers: Record<string, string> = {}): PlatformReply => ({
  status,
  headers,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
});

function accepted({ method, path, body }: ReceivedRequest): PlatformReply {
  if (method === 'GET' && path === '/user') return { status: 200, body: { login: 'sluice-bot', id: 1 } };
  if (method === 'POST' && path === COMMENTS)
    return { status: 201, body: { id: 1_234_567, body: body?.['body'] } };
  return refused(404, 'Not Found');
}

async function send(reply: (request: ReceivedRequest) => PlatformReply, text: string, more: object = {}) {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  const adapter = await github.open({ token: TOKEN, baseUrl: platform.url });
  const message = { to: 'octo-org/hello.world#42', text, plain: false, key: 'k:0', ...more };
  const result = await adapter.send(message, NEVER);
  return { result, request: platform.requests[0], body: String(platform.requests[0]?.body?.['body']) };
}

describe('the github adapter', () => {
  describeChannel({
    module: github,
    settings: (baseUrl) => ({ token: TOKEN, baseUrl }),
    to: 'octo-org/hello.world#42',
    badRecipients: [
      'octo-org/hello',
      '#42',
      'octo-org/..#1',
      'a b/c#1',
      'octo-org/hello#0x1',
      'https://github.com/a',
      '',
    ],
    secrets: [TOKEN],
    sendOf: ({ path, body, headers }) =>
      path === COMMENTS
        ? {
            text: String(body?.['body']).split('\n\n<!--')[0],
            authorized: headers['authorization'] === `Bearer ${TOKEN}` && headers['user-agent'] === 'sluice',
          }
        : undefined,
    accepted,
    messageId: '1234567',
    account: 'sluice-bot',
    rateLimited: {
      reply: refused(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '45' }),
      retryAfterMs: 45_000,
    },
    unauthorized: refused(401, `Bad credentials ${TOKEN}`),
  });

  test('reads names and addresses of issues and pull requests, on GitHub and elsewhere', async () => {
    for (const to of [
      'github:octo-org/hello.world#42',
      'https://github.com/octo-org/hello.world/pull/42#discussion_r1',
      'https://git.example.com/octo-org/hello.world/issues/42',
    ]) {
      expect((await send(accepted, 'hi', { to })).request?.path).toBe(COMMENTS);
    }
  });

  test('posts nothing on github.com for an address of another host', async () => {
    const adapter = await github.open({ token: TOKEN });
    const message = { text: 'hi', plain: false, key: 'k:0' };
    const to = 'https://git.example.com/octo-org/hello.world/issues/42';
    const refused = { kind: 'failed', code: 'bad_recipient' };
    expect(await adapter.send({ ...message, to }, NEVER)).toMatchObject(refused);
  });

  test('marks each comment with its run, which only the token can do', async () => {
    for (const text of ['Looks good.', '```ts\nlet open = 1;', '```js `x`\n', 'a <!-- b', '> quoted']) {
      const { body } = await send(accepted, text, { runId: '5f0c0000-0000-4000-8000-000000000000' });
      expect(body.startsWith(text)).toBe(true);
      expect(findCommentMark(body, ['old', TOKEN])).toBe('5f0c0000-0000-4000-8000-000000000000');
      expect(findCommentMark(body, ['other'])).toBeUndefined();
    }
    const { body } = await send(accepted, 'test message');
    expect(findCommentMark(body, [TOKEN])).toBe('k:0');
  });

  test('waits as the limits ask: retry-after, then the reset, then a minute', async () => {
    const reset = String(Math.floor(Date.now() / 1000) + 300);
    const limits = [
      [refused(429, 'API rate limit exceeded', { 'retry-after': '7' }), 7000, 7000],
      [refused(403, 'x', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }), 290_000, 300_000],
      [refused(403, 'You have exceeded a secondary rate limit'), 60_000, 60_000],
    ] as const;
    for (const [reply, least, most] of limits) {
      const { result } = await send(() => reply, 'hi');
      expect(result).toMatchObject({ kind: 'retry', code: 'rate_limited' });
      const waitMs = result.kind === 'retry' ? (result.retryAfterMs ?? 0) : 0;
      expect(waitMs).toBeGreaterThanOrEqual(least);
      expect(waitMs).toBeLessThanOrEqual(most);
    }
  });

  test('tells refusals apart, and names the remedy', async () => {
    const cases = [
      [refused(403, 'Resource not accessible by personal access token'), 'forbidden', 'write access'],
      [refused(404, 'Not Found'), 'not_found', 'may not see it'],
      [refused(410, 'Issues are disabled for this repo'), 'not_found', 'turned off'],
      [
        { status: 422, body: { message: 'Validation Failed', errors: [{ message: 'body is too long' }] } },
        'rejected',
        'Validation Failed: body is too long',
      ],
    ] as const;
    for (const [reply, code, words] of cases) {
      const { result } = await send(() => reply, 'hi');
      expect(result).toMatchObject({ kind: 'failed', code, message: expect.stringContaining(words) });
    }
  });

  test("takes the token of an app's installation, which is no user", async () => {
    const platform = await startPlatform(({ path }) =>
      path === '/user'
        ? refused(403, 'Resource not accessible by integration')
        : { status: 200, body: { total_count: 3, repositories: [] } },
    );
    onTestFinished(platform.stop);
    const adapter = await github.open({ token: TOKEN, baseUrl: platform.url });
    expect(await adapter.check(NEVER)).toEqual({ ok: true, account: 'an app installed in 3 repositories' });
  });

  test('stays within 65,536 characters, whatever the text is made of', async () => {
    const adapter = await github.open({ token: TOKEN });
    const { body } = await send(accepted, '@a '.repeat(adapter.maxChars / 3));
    const plain = await send(accepted, '@a*'.repeat(adapter.maxChars / 6), { plain: true });
    expect(Math.max(body.length, plain.body.length)).toBeLessThanOrEqual(65_536);
  });

  test('keeps a reply from notifying anybody, but leaves code as it is', () => {
    const z = '\u200b';
    const cases = [
      [
        'thanks @octocat and @octo/team, mail a@b.example',
        `thanks @${z}octocat and @${z}octo/team, mail a@b.example`,
      ],
      ['use `@octokit/rest`, @bob', `use \`@octokit/rest\`, @${z}bob`],
      ['```ts\n@Injectable()\n```\n@bob', `\`\`\`ts\n@Injectable()\n\`\`\`\n@${z}bob`],
      // What looks like code, and is none on GitHub.
      ['\\`@bob\\`', `\\\`@${z}bob\\\``],
      ['a `b\n`@bob` c`', `a \`b\n\`@${z}bob\` c\``],
      ['~~~\n```\n~~~\n@bob', `~~~\n\`\`\`\n~~~\n@${z}bob`],
      ['<div>\n`@bob`\n</div>', `<div>\n\`@${z}bob\`\n</div>`],
      ['&#64;bob &#x40;bob &commat;bob', `&#64;${z}bob &#x40;${z}bob &commat;${z}bob`],
      ['**@bob** _@bob_', `**@${z}bob** _@${z}bob_`],
    ] as const;
    for (const [text, expected] of cases) expect(quietMentions(text)).toBe(expected);
  });
});

describe('a mark', () => {
  test('counts in the own words of a comment alone', async () => {
    const { body } = await send(accepted, 'Looks good.', { runId: 'run-1' });
    const mark = body.split('\n').at(-1) ?? '';
    const own = [`${mark}\nedited`, `hi\r\n${mark}\r\n`, `> quoted\n${mark}`];
    const foreign = [`> ${mark}`, `see ${mark}`, `\`\`\`\n${mark}\n\`\`\``, `    ${mark}`, `- ${mark}`];
    expect(own.map((text) => findCommentMark(text, [TOKEN]))).toEqual(own.map(() => 'run-1'));
    expect(foreign.map((text) => findCommentMark(text, [TOKEN]))).toEqual(foreign.map(() => undefined));
    expect(findCommentMark(mark.replace('run-1', 'run-2'), [TOKEN])).toBeUndefined();
  });
});
