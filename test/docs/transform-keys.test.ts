import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AGENT_FIELDS, WAKE_FIELDS } from '../../src/hook/action-fields.ts';

test('the docs list every key that a transform may return, and no other', () => {
  const page = readFileSync(new URL('../../docs/transforms.md', import.meta.url), 'utf8');
  const table = page.split('An object may have these keys.')[1]?.split('\n\nSluice calls')[0] ?? '';
  const listed = [...table.matchAll(/^\| `(\w+)` +\| (\w+) /gm)].map(([, key, kind]) => `${key} ${kind}`);
  const expected = [...AGENT_FIELDS.map((key) => `${key} agent`), ...WAKE_FIELDS.map((key) => `${key} wake`)];
  expect(listed.toSorted((a, b) => a.localeCompare(b))).toEqual(
    ['kind all', ...expected].toSorted((a, b) => a.localeCompare(b)),
  );
});
