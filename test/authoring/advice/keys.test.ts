/** Keys of mappings that are in order one by one, and do not do what they were written for. */
import { expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import { formatFindings } from '../../../src/base/document/facts.ts';
import { hideValues } from '../../../src/engine/config/config.ts';
import { said } from '../../support/said.ts';
import { advised, adviseFile, codesOf, compileList } from '../../support/mapping-compile.ts';

test('a mapping that wakes is told of keys of agents, unless a transform may choose', () => {
  const codes = (mapping: object) => codesOf(advised(compileList([mapping])));
  const wake = { action: 'wake', textTemplate: 'x', deliver: true };
  expect(codes(wake)).toEqual(['MAPPING_KEY_WITHOUT_EFFECT (warning)']);
  expect(codes({ ...wake, transform: 'a.js' })).toEqual([]);
  for (const other of [
    { action: 'wake', textTemplate: 'x' },
    { action: 'skip', match: { path: 'p' } },
  ]) {
    const found = advised(compileList([{ ...other, channel: 'slack', to: 'C0123456' }]));
    expect(said(found[0]?.message)).toContain('"channel" and "to" have no effect');
  }
  const notify = {
    action: 'notify',
    messageTemplate: 'x',
    channel: 'slack',
    to: 'C0123456',
  };
  expect(codes(notify)).toEqual([]);
  expect(codes({ action: 'skip', match: { path: 'p' } })).toEqual([]);
});

test('a key is not renamed to one that is there', () => {
  const both = { match: { path: 'p' }, mesageTemplate: 'x', messageTemplate: 'y' };
  const [found] = advised(compileList([both]));
  expect(said(found?.hint)).toBe('remove it, as messageTemplate is there already');
  const [shorter] = advised(compileList([{ match: { path: 'p' }, message: 'x', messageTemplate: 'y' }]));
  expect(said(shorter?.hint)).toBe('remove it, as messageTemplate is there already');
});

test('mappings of an OpenClaw file get one warning for all keys that have no use here', () => {
  const mappings = [
    { match: { path: 'a' }, persist: 1, messageTemplate: 'x' },
    { match: { path: 'b' }, persist: 2, other: 1, messageTemplate: 'x' },
  ];
  const found = advised(compileList(mappings, {}, OPENCLAW));
  expect(codesOf(found)).toEqual(['OPENCLAW_KEYS_IGNORED (warning)']);
  expect(said(found[0]?.message)).toContain('"persist", "other"');
});

const BASE = 'id: a\nmatch: { path: a }\n';

test.each([
  ["maxRuns: '3'", 'remove the quotes'],
  ["deliver: 'true'", 'remove the quotes'],
  ['name: 3', 'put it in quotes'],
  ['name: [a]', 'write it without [ ]'],
  ['allowFrom: 203.0.113.7', 'put it in [ ]'],
])('%s is the same value as the kind that is wanted', (line, hint) => {
  const text = `${BASE}messageTemplate: x\n${line}\n`;
  const [found] = adviseFile(text);
  expect(said(found?.hint)).toBe(hint);
  const { at, text: to = '' } = found?.edit ?? {};
  expect(adviseFile(`${text.slice(0, at?.start)}${to}${text.slice(at?.end)}`)).toEqual([]);
});

test.each([
  ['match: { path: a, headers: { X-GitHub-Event: push } }', 'write what is asked for in match, as when:'],
  ['secret: ${S}', "write verify: {scheme: NAME, secrets: ['${SECRET}']} beside match"],
  ['prompt: Review {{title}}', 'rename it to messageTemplate, where {{name}} prints a field'],
  ['agentId: main', 'write runner: NAME, one of gateway.runners'],
  ["verify: { scheme: sha256, secrets: ['${S}'] }", 'write scheme: hmac, header: NAME'],
  ["verify: { scheme: hmac-sha1, secrets: ['${S}'] }", 'write scheme: hmac, algorithm: sha1, header: NAME'],
  [
    "verify: { scheme: vercel, secrets: ['${S}'] }",
    'write scheme: hmac, header: x-vercel-signature, algorithm: sha1',
  ],
  ["verify: { scheme: bearer, secrets: ['${S}'] }", 'write scheme: token'],
  ["verify: { scheme: api-key, secrets: ['${S}'] }", 'write scheme: header'],
  ['verify: { scheme: github, secrets: [{ env: GITHUB_SECRET }] }', "or '${NAME}' in place of the braces"],
  ["verify: { scheme: basic, user: a, password: '${S}' }", "write secrets: ['${NAME}'] in its place"],
  ["challenge: { kind: meta, verify_token: '${S}' }", "write token: '${NAME}' in its place"],
  ["verify: { scheme: github-app, secrets: ['${S}'] }", 'did you mean "github"?'],
  ["verify: { scheme: githb, secrets: ['${S}'] }", 'did you mean "github"?'],
])('%s is told the word for it', (line, hint) => {
  const text = `id: a\nmessageTemplate: x\n${line.startsWith('match') ? '' : 'match: { path: a }\n'}${line}\n`;
  const [found, ...others] = adviseFile(text);
  expect(others).toEqual([]);
  expect(said(found?.hint)).toContain(hint);
});

test.each([
  'verify: whsec_hunter2',
  'verify: [whsec_hunter2]',
  'verify:\n  - whsec_hunter2',
  "verify: { scheme: github, secrets: ['hunter2hunter2'] }",
  "verify: { scheme: github, secrets: 'hunter2hunter2' }",
  'match: { path: a, headers: { X-Gitlab-Token: hunter2 } }',
  'secret: hunter2',
])('%s is a secret in the wrong place, and not printed', (line) => {
  const found = adviseFile(`${line.startsWith('match') ? 'id: a\n' : BASE}messageTemplate: x\n${line}\n`);
  expect(found.length).toBeGreaterThan(0);
  expect(formatFindings(found)).not.toContain('hunter2');
});

const GITHUB = `ghp_${'aB3'.repeat(12)}`;

test.each([
  `when: "headers['x-gitlab-token'] == 'hunter2'"`,
  `when: 'query.secret = "hunter2"'`,
  `when: { '===': [{ var: headers.x-gitlab-token }, hunter2, hunter2] }`,
  `when: { in: [{ var: headers.x-api-key }, 'hunter2,hunter2'] }`,
  `# token: hunter2\n  when: { nonsense: 1 }`,
  `when: { startsWith: [{ var: a }, ${GITHUB}, x] } # ${GITHUB}`,
  `when: { ${GITHUB}: 1 }`,
  'when: { “===”: [{ “var”: “headers.x-gitlab-token” }, “hunter2”] }',
  `path: ${GITHUB}`,
])('%s: what may be a secret is not printed', (line) => {
  const found = adviseFile(`id: a\nmatch:\n  path: a\n  ${line}\nmessageTemplate: x\n`);
  expect(found.length).toBeGreaterThan(0);
  expect(formatFindings(hideValues(found, []))).not.toMatch(/hunter2|aB3/);
});
