/** Why a request did not prove itself with the hook token: what it carries instead, and what to write for that. */
import { expect, test } from 'vitest';
import { compileTokens } from '../../src/server/authenticate.ts';
import { diagnoseToken } from '../../src/server/diagnose-token.ts';

const TOKEN = 'hk-0123456789abcdef';
const MAPPING = 'bk (a.yaml:1:1)';

function textOf(rawHeaders: readonly string[], token = TOKEN): string {
  const tokens = compileTokens({ token, previousTokens: [], queryToken: 'reject' });
  const reason = rawHeaders[0] === 'Authorization' ? 'wrong' : 'missing';
  return diagnoseToken({ rawHeaders, query: {}, mapping: MAPPING }, tokens, reason).text;
}

test.each([
  [
    ['X-Gitlab-Token', 'a'],
    "write verify: {scheme: gitlab, secrets: ['${GITLAB_SECRET}']} in bk (a.yaml:1:1), beside match, and set GITLAB_SECRET",
  ],
  [
    ['X-Hub-Signature-256', `sha256=${'a'.repeat(64)}`],
    "{scheme: github, secrets: ['${GITHUB_SECRET}']} (or scheme: meta, as the sender is) in bk",
  ],
  [['X-Acme-Token', 'a'], "{scheme: header, header: x-acme-token, secrets: ['${WEBHOOK_SECRET}']} in bk"],
  [['X-Acme-Signature', 'a'], '{scheme: hmac, header: x-acme-signature,'],
  [['X-Csrf-Token', 'a'], 'no hook token came; send it as'],
  [
    ['X-Api-Key', TOKEN],
    "{scheme: header, header: x-api-key, secrets: ['${NAME}']} in bk (a.yaml:1:1), beside match",
  ],
])('%j', (rawHeaders, text) => {
  expect(textOf(rawHeaders)).toContain(text);
});

test('a path without a mapping of its own takes no verify', () => {
  const tokens = compileTokens({ token: TOKEN, previousTokens: [], queryToken: 'reject' });
  expect(
    diagnoseToken({ rawHeaders: ['X-Acme-Token', 'a'], query: {} }, tokens, 'missing').text,
  ).not.toContain('verify');
});

test.each([
  [`"${TOKEN}"`, 'quotes around it'],
  [`${TOKEN}\r`, 'a carriage return behind it'],
  [`Bearer ${TOKEN}`, 'the word Bearer before it'],
])('hooks.token is %j, and the token alone came', (token, what) => {
  expect(textOf(['Authorization', `Bearer ${TOKEN}`], token)).toContain(
    `the value of hooks.token has ${what}`,
  );
});
