/** Why a request did not prove itself with the hook token: what it carries instead, and what to write for that. */
import { expect, test } from 'vitest';
import { compileTokens, findToken } from '../../../src/service/server/authenticate.ts';
import type { TokenFacts } from '../../../src/service/server/server.ts';
import { findTokenFault } from '../../../src/authoring/advice/proofs/token-fault.ts';
import { said } from '../../support/said.ts';
import { sayProof } from '../../../src/authoring/advice/proofs.ts';

const TOKEN = 'hk-0123456789abcdef';
const MAPPING = 'bk (a.yaml:1:1)';

type Asked = Partial<TokenFacts> & { readonly token?: string; readonly near?: string };

function textFor({ token = TOKEN, near, ...facts }: Asked): string {
  const tokens = compileTokens({ token, previousTokens: [], queryToken: 'warn' });
  const isToken = (text: string): boolean => findToken(tokens, text);
  const common = { reason: 'missing', isToken, queryToken: 'warn', rawHeaders: [], query: {} } as const;
  return said(sayProof(findTokenFault({ ...common, ...facts }, near)));
}

const textOf = (rawHeaders: readonly string[], token = TOKEN): string =>
  textFor({
    token,
    rawHeaders,
    queryToken: 'reject',
    mapping: MAPPING,
    reason: rawHeaders[0] === 'Authorization' ? 'wrong' : 'missing',
  });

test.each([
  [
    ['X-Gitlab-Token', 'a'],
    "write verify: {scheme: gitlab, secrets: ['${GITLAB_SECRET}']} in bk (a.yaml:1:1), beside match, and set GITLAB_SECRET",
  ],
  [
    ['X-Hub-Signature-256', `sha256=${'a'.repeat(64)}`],
    "{scheme: github, secrets: ['${GITHUB_SECRET}']} in bk (a.yaml:1:1), beside match (or scheme: meta, as the sender is), and set GITHUB_SECRET",
  ],
  [
    ['X-GitHub-Event', 'push', 'X-Hub-Signature', `sha1=${'a'.repeat(40)}`],
    "{scheme: hmac, header: x-hub-signature, algorithm: sha1, prefix: 'sha1=', secrets: ['${WEBHOOK_SECRET}']} in bk",
  ],
  [
    ['X-GitHub-Event', 'push', 'X-Hub-Signature-256', `sha256=${'a'.repeat(64)}`],
    "{scheme: github, secrets: ['${GITHUB_SECRET}']} in bk (a.yaml:1:1), beside match, and set",
  ],
  [['X-Hub-Signature', `sha1=${'a'.repeat(40)}`], '{scheme: intercom, secrets:'],
  [
    ['Paypal-Transmission-Sig', Buffer.alloc(256, 7).toString('base64'), 'Paypal-Auth-Algo', 'SHA256withRSA'],
    'verify has no scheme for such a one: let a service of yours take the request, check it',
  ],
  [['X-Acme-Token', 'a'], 'no hook token came; send it as'],
  [['X-Acme-Signature', 'a'.repeat(64)], '{scheme: hmac, header: x-acme-signature,'],
  [
    ['Webhook-Signature', Buffer.alloc(32).toString('base64')],
    "{scheme: hmac, header: webhook-signature, encoding: base64, secrets: ['${WEBHOOK_SECRET}']} in bk",
  ],
  [['Webhook-Signature', 'a'.repeat(64)], '{scheme: hmac, header: webhook-signature, secrets:'],
  [['X-Csrf-Token', 'a'], 'no hook token came; send it as'],
  [
    ['X-Api-Key', TOKEN],
    "{scheme: header, header: x-api-key, secrets: ['${WEBHOOK_SECRET}']} in bk (a.yaml:1:1), beside match",
  ],
  [
    ['X-Auth', `Bearer ${TOKEN}`],
    'stands in the header x-auth behind the word bearer, where it does not count: send it as Authorization',
  ],
])('without the hook token, the headers %j are told what to do', (rawHeaders, text) => {
  expect(textOf(rawHeaders)).toContain(text);
});

test('without a token, a hook name that was meant is told before the token', () => {
  expect(textFor({ unknownName: 'bk', near: 'hooks/bk' })).toMatch(
    /^no mapping has the hook name it was sent to.* the nearest hook name is hooks\/bk; correct it/,
  );
  expect(textFor({ unknownName: 'bk' })).toMatch(/^no hook token came; send it as/);
});

test('no token is advised in the address, where it stands under another name', () => {
  const text = textFor({ query: { secret: TOKEN } });
  expect(text).toContain(
    'the hook token stands in the address as ?secret=, where it does not count: send it as',
  );
  expect(text).not.toContain('?token=');
});

test('a path without a mapping of its own takes no verify', () => {
  expect(textFor({ rawHeaders: ['X-Acme-Token', 'a'], queryToken: 'reject' })).not.toContain('verify');
});

test.each([
  [`"${TOKEN}"`, 'quotes around it'],
  [`${TOKEN}\r`, 'white space around it'],
])('hooks.token is %j, and the token alone came', (token, what) => {
  expect(textOf(['Authorization', `Bearer ${TOKEN}`], token)).toContain(
    `the value of hooks.token has ${what}`,
  );
});

test.each(['x-acme`$-token', `x-${'a'.repeat(60)}-token`])(
  'the header %s, whose name a stranger chose, is not told',
  (name) => {
    expect(textOf([name, 'a'])).toMatch(/^no hook token came; send it as/);
  },
);

test('a token of the address that is another one is not said to be nearly right', () => {
  const text = textFor({ token: 'Xk7+mQ2v/Rt9sUaab', addressToken: 'Xk8 mQ2v/Rt9sUaab', reason: 'wrong' });
  expect(text).toContain('neither hooks.token nor');
});
