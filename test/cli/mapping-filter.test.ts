import { expect, test } from 'vitest';
import { nearMappings } from '../../src/cli/mapping-filter.ts';
import { settingsWith } from '../support/hook-fixture.ts';

const { mappings } = settingsWith({
  table: `
- {id: image-scanned, match: {path: harbor/scans}, name: Harbor, messageTemplate: x}
- {id: quota, match: {path: harbor/quota}, name: "Harbor {{project}}", messageTemplate: x}
- {id: pushed, match: {path: registry, source: a}, name: Registry, messageTemplate: x}
- {id: deleted, match: {path: registry}, messageTemplate: x}
`,
}).table;

test.each([
  ['image-scanned', undefined],
  ['imagescaned', /; did you mean image-scanned\?$/],
  ['something else', /; the ids are image-scanned, quota, pushed, deleted$/],
])('%s as the id of a mapping', (asked, told) => {
  const text = nearMappings(asked, mappings);
  if (told === undefined) expect(text).toBeUndefined();
  else expect(text).toMatch(told);
});

test('without any mapping there is no id', () => {
  expect(nearMappings('a', [])).toBe('no mapping has the id "a": there is no mapping');
});
