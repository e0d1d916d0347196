import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli } from '../support/cli-terminal.ts';

test('the help shows at most 22 commands, in groups, and names every other one', async () => {
  const { out } = await cli(['--help'], { cwd: '/' });
  const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(15);
  expect(commands.length).toBeLessThanOrEqual(22);
  expect(out.match(/^[A-Z][a-z ]+:$/gm)).toEqual([
    'Options:',
    'Begin:',
    'Run:',
    'Write mappings:',
    'Look at what happened:',
    'Connect and keep:',
  ]);
  expect(out).toMatch(/More rarely: .*\bverify\b.*replay/);
});

test('the changelog names the version that package.json carries, or what is unreleased', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  expect(changelog).toMatch(new RegExp(`^## (Unreleased|${version.replaceAll('.', '\\.')})`, 'm'));
});
