import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configJsonSchema, loadConfig } from '../src/config/config.ts';

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
      env: { SLUICE_HOOK_TOKEN: 'secret' },
      needSecrets: true,
    });
    expect(diagnostics).toEqual([]);
    expect(config?.settings.agents.defaults.models).toEqual(['anthropic/claude-opus-4-8']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
