import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, loadConfig } from '../../src/config/config.ts';
import { loadGeneration } from '../../src/generation/generation.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

const readme = readFileSync('README.md', 'utf8');
const section = readme.slice(readme.indexOf('\n## Configuration'), readme.indexOf('\n## Mapping files'));

function leafKeys(schema: object): readonly string[] {
  const { properties } = schema as { properties?: Readonly<Record<string, object>> };
  if (properties === undefined) return [];
  return Object.entries(properties).flatMap(([key, inner]) => {
    const below = leafKeys(inner);
    return below.length === 0 ? [key] : below;
  });
}

test('the README names every key of the configuration', () => {
  const keys = leafKeys(configJsonSchema());
  expect(keys.length).toBeGreaterThan(50);
  expect(keys.filter((key) => key !== '$schema' && !new RegExp(`\\b${key}\\b`).test(section))).toEqual([]);
});

test("the README's example loads", async () => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
  try {
    const file = join(folder, 'sluice.yaml');
    writeFileSync(file, example);
    const { config, diagnostics } = await loadConfig(file, {
      env: { SLUICE_HOOK_TOKEN: 'hook-token-of-the-example' },
      needSecrets: true,
    });
    expect(diagnostics).toEqual([]);
    expect(config?.settings.agents.defaults.models).toEqual(['anthropic/claude-opus-4-8']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const EXAMPLES = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => {
  const value = parse(text) as unknown;
  const has = (key: string): boolean => typeof value === 'object' && value !== null && key in value;
  const isMappings = Array.isArray(value) || has('match');
  return { text, kind: isMappings ? 'mappings' : has('path') ? 'request' : 'config' } as const;
});

test('the README has examples of each kind', () => {
  const kinds = EXAMPLES.map(({ kind }) => kind).toSorted();
  expect(kinds.filter((kind) => kind === 'config').length).toBeGreaterThanOrEqual(4);
  expect(new Set(kinds)).toEqual(new Set(['config', 'mappings', 'request']));
});

test.each(EXAMPLES.filter(({ kind }) => kind !== 'request'))(
  '"sluice check" finds nothing in the $kind of the README: $text',
  async ({ kind, text }) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
    const sandbox = new Sandbox();
    onTestFinished(async () => {
      await sandbox.stop();
      rmSync(folder, { recursive: true });
    });
    const file = join(folder, 'sluice.yaml');
    mkdirSync(join(folder, 'mappings'));
    writeFileSync(file, kind === 'config' ? text : 'gateway: {runner: {kind: command, argv: [cat]}}\n');
    if (kind === 'mappings') writeFileSync(join(folder, 'mappings', 'example.yaml'), text);
    const { diagnostics } = await loadGeneration(file, { env: {}, needSecrets: false, dev: true, sandbox });
    // An example shows one part and leaves hooks off.
    expect(diagnostics.filter(({ code }) => code !== 'HOOKS_DISABLED')).toEqual([]);
  },
);
