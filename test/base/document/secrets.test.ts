/** Tokens in odd places of a file: however it is wrong, no finding and no source line beside it shows one. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { configSchema } from '../../../src/engine/config/config-schema.ts';
import { hideTokens, sourceOfCode, validate } from '../../../src/base/document/document.ts';
import { formatFindings, parseDocument } from '../../../src/base/document/facts.ts';
import { MappingSchema } from '../../../src/engine/mapping/mapping-schema.ts';
import { say } from '../../../src/base/finding.ts';

const MIXED = 'q7Zr9Kw2Lm4Xv8Tb';
const GITHUB = `ghp_${'a1B2'.repeat(9)}`;

const schema = z.strictObject({
  hooks: z.strictObject({
    enabled: z.boolean().optional(),
    token: z.union([z.string(), z.strictObject({ file: z.string() })]).optional(),
  }),
  server: z.strictObject({ port: z.number() }).optional(),
  argv: z.array(z.string()).optional(),
  verify: z.strictObject({ scheme: z.string() }).optional(),
});

function printed(text: string): string {
  const { document, findings } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  const found = document === undefined ? findings : validate(document.root, schema).findings;
  const pretty = formatFindings(advise(found));
  expect(pretty).toMatch(/^(?:error|warning) [A-Z_]+: /);
  // As the configuration hands them on; also where no advice was asked for.
  return hideTokens(`${pretty}\n${formatFindings(found)}`);
}

test.each([
  ['braces around it', 'hooks: {token: {hunter2}}\n'],
  ['in a list', 'hooks:\n  token: [hunter2, hunter2]\n'],
  ['as a number', 'hooks:\n  token: 98765432109876\n'],
  ['in the next line, not indented', 'hooks:\n  enabled: true\n  token:\n  hunter2\n'],
  ['in the next line of a file that cannot be read', 'hooks:\n  token: |\n    hunter2\n  a: b: c\n'],
  ['without a colon', 'hooks:\n  enabled: true\n  token hunter2\n'],
  ['in a comment', 'hooks:\n  # token: hunter2\n  nonsense: 1\n'],
  ['in a header of a command', 'argv: [curl, -H, "X-Api-Key: hunter2"]\nserver: 1\nhooks: 1\n'],
  ['with Bearer', "argv: [curl, -H, 'Authorization: Bearer hunter2']\nserver: 1\nhooks: 1\n"],
  ['under a provider', 'verify: {github: hunter2}\nserver: 1\nhooks: 1\n'],
  ['under auth', 'hooks: {auth: hunter2}\n'],
  ['under a word that is no key', `hooks: {enabled: ${MIXED}}\n`],
  ['in place of a block', `server: ${MIXED}\n`],
  ['of a known look', `hooks: {enabled: ${GITHUB}}\n`],
  ['as a key', `${GITHUB}: 1\n`],
  ['in an address', 'hooks: {enabled: "a?token=hunter2"}\n'],
])('%s', (_where, text) => {
  expect(printed(text)).not.toMatch(/hunter2|9876543|q7Zr|a1B2/);
});

test.each([
  [
    'known elsewhere',
    'mappings: [{id: deploy-note, verify: {scheme: gitlab, secrets: [hunter2]}}]\n',
    /id: deploy-note, .*scheme: gitlab, secrets: \[•+\]/,
  ],
  [
    'of another scheme',
    'hooks: {enabled: true}\nverify: {scheme: github, secrets: [hunter2], encoding: hex}\n',
    /\[•+\], encoding: hex/,
  ],
  [
    'beside no secret',
    'mappings: [{match: {path: a, user: b}, verify: {scheme: gitlab, secrets: [hunter2]}}]\n',
    /user: b}/,
  ],
  [
    'of OpenClaw',
    'gateway: {port: 18789, auth: {mode: token, token: hunter2}, bind: lan}\n',
    /port: 18789, auth: \{mode: •+, token: •+\}, bind: lan/,
  ],
  [
    'too short for the console',
    'hooks: {enabled: true}\nconsole: {keys: {ann: {role: view, key: hunter2}}}\n',
    /role: view, key: •+/,
  ],
  ['true or false', 'hooks: {enabled: true, check: false, tokn: hunter2}\n', /check: false, tokn: •+/],
  ['known nowhere', 'hooks: {enabled: true}\nsender: {word: hunter2}\n', /word: •+/],
])('of a key that is %s, all but secrets is shown', (_how, text, expected) => {
  const { document } = parseDocument({ file: 'sluice.yaml', text }, 'yaml');
  if (document === undefined) throw new Error(text);
  const { findings } = text.includes('encoding')
    ? validate(document.root, MappingSchema, 'mapping')
    : validate(document.root, configSchema, 'configuration');
  const pretty = formatFindings(advise(findings));
  expect(pretty).toMatch(expected);
  expect(`${pretty}${formatFindings(findings)}`).not.toContain('hunter2');
});

test('what is no token is shown', () => {
  const text = `hooks: {enabled: sometimes, maxTokens: 4096} # the token: see docs\nserver: x-hub-signature-256\n`;
  expect(printed(text)).toContain('hooks: {enabled: sometimes, maxTokens: ••••} # the token: see docs');
  const kept = [
    '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    'claude-opus-4-20250514',
    'refs/heads/main',
    'pull_request.head.repo.full_name',
    'https://example.com/hooks?page=2&token=${TOKEN}',
  ].join(' ');
  expect(hideTokens(kept)).toBe(kept);
});

test('the frame of a finding in a transform shows no token of the lines around it', () => {
  const code = [
    "const apiKey: string = 'hunter2hunter2';",
    `const client = make({ SLACK_TOKEN: "hunter2", key: '${GITHUB}' });`,
    'const token = payload.token;',
    'fetch(token);',
  ].join('\n');
  const source = sourceOfCode('a.ts', code);
  const at = { source, start: code.indexOf('payload'), end: code.indexOf('payload') + 7 };
  const text = formatFindings([{ severity: 'error', code: 'A', message: say`a`, at }]);
  expect(text).not.toMatch(/hunter2|a1B2/);
  expect(text).toContain('const token = payload.token;');
});
