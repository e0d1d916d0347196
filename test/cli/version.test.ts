import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the changelog names the version that package.json carries, or what is unreleased', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  expect(changelog).toMatch(new RegExp(`^## (Unreleased|${version.replaceAll('.', '\\.')})`, 'm'));
});
