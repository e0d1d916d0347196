import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, loadConfig } from '../../src/engine/config/config.ts';
import { loadGeneration } from '../../src/service/generation/generation.ts';
import { Sandbox } from '../../src/engine/sandbox/sandbox.ts';
import { codeBlocks, pagePaths, readPage } from '../support/docs.ts';

const configuration = readPage('docs/configuration.md');

function leafKeys(schema: object): readonly string[] {
  const { properties } = schema as { properties?: Readonly<Record<string, object>> };
  if (properties === undefined) return [];
  return Object.entries(properties).flatMap(([key, inner]) => {
    const below = leafKeys(inner);
    return below.length === 0 ? [key] : below;
  });
}

test('the page on the configuration names every key of it', () => {
  const keys = leafKeys(configJsonSchema());
  expect(keys.length).toBeGreaterThan(50);
  expect(keys.filter((key) => key !== '$schema' && !new RegExp(`\\b${key}\\b`).test(configuration))).toEqual(
    [],
  );
});

test('the first example of the page on the configuration loads', async () => {
  const example = codeBlocks(configuration).find(({ language }) => language === 'yaml')?.text ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
  try {
    const file = join(folder, 'sluice.yaml');
    writeFileSync(file, example);
    const { config, findings } = await loadConfig(file, {
      env: { SLUICE_HOOK_TOKEN: 'hook-token-of-the-example' },
      needSecrets: true,
    });
    expect(findings).toEqual([]);
    expect(config?.settings.agents.defaults.models).toEqual(['anthropic/claude-opus-4-8']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const BLOCKS = pagePaths().flatMap((page) =>
  codeBlocks(readPage(page))
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => ({ page, text })),
);

const EXAMPLES = BLOCKS.map(({ page, text }) => {
  const value = parse(text) as unknown;
  const has = (key: string): boolean => typeof value === 'object' && value !== null && key in value;
  const isMappings = Array.isArray(value) || has('match');
  if (has('outcome')) return { page, text, kind: 'expectation' } as const;
  return { page, text, kind: isMappings ? 'mappings' : has('path') ? 'request' : 'config' } as const;
});

test('the documentation has examples of each kind', () => {
  const kinds = EXAMPLES.map(({ kind }) => kind).toSorted();
  expect(kinds.filter((kind) => kind === 'config').length).toBeGreaterThanOrEqual(4);
  expect(new Set(kinds)).toEqual(new Set(['config', 'expectation', 'mappings', 'request']));
});

/** What mappings of the documentation are a part of: an agent, and the channels that they name. */
const AROUND_MAPPINGS = `
gateway: {runner: {kind: command, argv: [cat], cwd: private}, main: {channel: slack, to: "#ops"}}
channels:
  slack: {botToken: "\${SLACK_TOKEN}"}
  telegram: {botToken: "\${TELEGRAM_TOKEN}"}
  github: {token: "\${GITHUB_TOKEN}"}
`;

test.each(EXAMPLES.filter(({ kind }) => kind === 'config' || kind === 'mappings'))(
  '"sluice check" finds nothing in the $kind of $page: $text',
  async ({ kind, text }) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
    const sandbox = new Sandbox();
    onTestFinished(async () => {
      await sandbox.stop();
      rmSync(folder, { recursive: true });
    });
    const file = join(folder, 'sluice.yaml');
    mkdirSync(join(folder, 'mappings'));
    writeFileSync(file, kind === 'config' ? text : AROUND_MAPPINGS);
    if (kind === 'mappings') writeFileSync(join(folder, 'mappings', 'example.yaml'), text);
    const env = { PATH: process.env['PATH'], HOME: join(folder, '..') };
    const { findings } = await loadGeneration(file, { env, needSecrets: false, dev: true, sandbox });
    // An example shows one part and leaves hooks off; whose agents it names are not installed here.
    const expected = ['HOOKS_DISABLED', 'COMMAND_NOT_FOUND'];
    expect(findings.filter(({ code }) => !expected.includes(code))).toEqual([]);
  },
);

test('no documented or packaged mapping keys a conversation by what anybody can write into a mail', () => {
  const packaged = globSync('{mappings,skills}/**/*.{yaml,md,json}').map((file) =>
    readFileSync(file, 'utf8'),
  );
  const keys = [...packaged, ...pagePaths().map((page) => readPage(page))]
    .flatMap((text) => text.split('\n'))
    .filter((line) => /sessionKey.*\{\{/.test(line));
  expect(keys.length).toBeGreaterThan(30);
  const forged =
    /(?:\bitem|(?<!value\.)\bmessages\.\d+)\.(?:from|replyTo|sender|messageId|inReplyTo|references|subject)\b|mail:\{\{from\b/;
  expect(keys.filter((line) => forged.test(line))).toEqual([]);
});
