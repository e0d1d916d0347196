/** Findings quote the file, never what its references lead to, and nothing below a key nobody knows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { hideValues, loadConfig } from '../../../src/engine/config/config.ts';
import { findingToJson, formatFindings } from '../../../src/base/document/facts.ts';
import { quoted, say } from '../../../src/base/finding.ts';
import { said } from '../../support/said.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SECRET = 'canary-4711-0123456789abcdef';
const TOKEN = 'hook-token-0123456789-0123';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

/** Everything that is printed of the findings, in every form. */
async function printed(text: string): Promise<string> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, text);
  const { findings } = await loadConfig(file, { env: { CANARY: SECRET }, needSecrets: true });
  const formats = ['pretty', 'github', 'sarif'] as const;
  const forms = formats.map((format) => formatFindings(findings, { format }));
  return [...forms, JSON.stringify(findings.map(findingToJson))].join('\n');
}

const HOOKS = `hooks:\n  enabled: true\n  token: ${TOKEN}\n`;

test.each([
  ['a runner', `${HOOKS}gateway: {runner: "\${CANARY}"}\n`, 'there is no runner'],
  ['a channel', `${HOOKS}gateway: {main: {channel: "\${CANARY}"}}\n`, 'CHANNEL'],
  ['a preset', `${HOOKS}  presets: ["\${CANARY}"]\n`, 'preset'],
  ['the address to listen on', `${HOOKS}server: {host: "\${CANARY}"}\n`, 'EXPOSED_LISTENER'],
  ['a number', `${HOOKS}server: {port: "\${CANARY}"}\n`, 'server.port'],
  ['a flag', `${HOOKS}  lenient: "\${CANARY}"\n`, 'hooks.lenient must be a boolean'],
  ['a choice', `${HOOKS}log: {level: "\${CANARY}"}\n`, 'log.level'],
  ['a model', `${HOOKS}agents: {defaults: {model: "\${CANARY}", models: ["openai/x"]}}\n`, 'model'],
  ['the path', `${HOOKS}  path: "\${CANARY}?"\n`, 'hooks.path'],
  ['a part of a text', `${HOOKS}gateway: {runner: "x-\${CANARY}-y"}\n`, 'there is no runner'],
])('a value by reference is not printed: %s', async (_what, text, found) => {
  const output = await printed(text);
  expect(output).toContain(found);
  expect(output).not.toContain(SECRET);
});

test.each(['API_TOKEN', 'PASS'])('a secret behind %s: without a space is not printed', async (name) => {
  const runner = `{kind: command, argv: [cat], env: '${name}:4711-word'}`;
  const output = await printed(`${HOOKS}gateway: {runner: ${runner}}\n`);
  expect(output).toContain('gateway.runner.env must be an object');
  expect(output).not.toContain('4711');
});

test.each(['API_TOKEN=4711-word claude -p', 'PASS=4711-word claude -p', 'claude --pass 4711-word'])(
  'a command line with a secret in the place of a runner is not printed: %s',
  async (runner) => {
    const output = await printed(`${HOOKS}gateway: {runner: '${runner}'}\n`);
    expect(output).toContain('there is no runner');
    expect(output).not.toContain('4711');
  },
);

test.each([
  ['a misspelt key', `hooks:\n  enabled: true\n  tokn: ${SECRET}\n`],
  ['one in quotes', `hooks:\n  enabled: true\n  tokn: "${SECRET}"\n`],
  ['a number', 'hooks:\n  enabled: true\n  pin: 47110815\n'],
  ['a list', `hooks:\n  enabled: true\n  tokns: [a, "${SECRET}"]\n`],
  ['an object', `hooks:\n  enabled: true\n  tokn:\n    value: ${SECRET}\n`],
  ['a block', `hooks:\n  enabled: true\n  tokn: |\n    ${SECRET}\n    ${SECRET}\n`],
  ['the frame of a line beside it', `hooks:\n  enabled: 1\n  tokn: ${SECRET}\n`],
])('a value below a key nobody knows is not printed: %s', async (_what, text) => {
  const output = await printed(text);
  expect(output).toContain('UNKNOWN_KEY');
  expect(output).not.toContain('4711');
});

test.each([
  ['a channel as a list', `channels: {slack: [${SECRET}]}\n`],
  ['a channel as a list on lines', `channels:\n  slack:\n    - ${SECRET}\n`],
  ['all channels', `channels: ${SECRET}\n`],
  ['all channels as a list', `channels: [${SECRET}]\n`],
  ['a password in a query', `storage: "postgres://db/work?sslmode=require&password=${SECRET}"\n`],
  ['one of another name', `storage: "postgres://db/work?sslpassword=${SECRET}"\n`],
  ['one below its key', `storage: {url: ["postgres://db/work?password=${SECRET}", x]}\n`],
  ['one of another system', `storage: "mysql://db/work?password=${SECRET}"\n`],
])('a secret in a place that takes no text is not printed: %s', async (_what, text) => {
  const output = await printed(text);
  expect(output).toMatch(/WRONG_TYPE|INVALID_VALUE/);
  expect(output).not.toContain('4711');
});

test('an address whose password holds a character that ends it is refused, and not printed', async () => {
  const output = await printed(`storage:\n  url: "postgres://user:/${SECRET}@host/work"\n`);
  expect(output).toContain('INVALID_STORAGE_URL');
  expect(output).toContain('%2F');
  expect(output).not.toContain('4711');
});

test('a reference below such a key is printed, as it names a value and is none', async () => {
  expect(await printed('hooks:\n  tokn: ${CANARY}\n')).toContain('tokn: ${CANARY}');
});

test('values are hidden as whole words, cut and escaped ones too', () => {
  const long = `long-${'x'.repeat(100)}`;
  const values = ['abc', 'a"b\\c-value', long];
  const message = `abcd "abc" abc. ${JSON.stringify('a"b\\c-value')} "${long.slice(0, 80)}"`;
  const [found] = hideValues(
    [{ severity: 'error', code: 'X', message: quoted(message), hint: say`not abc` }],
    values,
  );
  const hidden = '[value of a reference]';
  expect(said(found?.hint)).toBe(`not ${hidden}`);
  expect(said(found?.message)).toMatch(/^abcd "\[value of a reference\]" \[value of a reference\]\. "\[/);
  expect(said(found?.message)).not.toContain('long-');
});
