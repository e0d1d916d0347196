import { expect, test } from 'vitest';
import { noListText } from '../../../src/authoring/explanation/setting-notes.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { printSentence } from '../../../src/base/finding.ts';

const say = (text: string, payload: JsonValue): string => {
  const keys = text.replace(/^payload\.?/, '').split('.');
  return printSentence(noListText({ text, keys: keys[0] === '' ? [] : keys }, payload));
};

test.each<readonly [string, JsonValue, string]>([
  ['events', [{ a: 1 }, { a: 2 }], 'the whole body is the list: write forEach: payload'],
  ['item', { items: [{ a: 1 }] }, 'this body has one at items: write forEach: items'],
  ['items', { data: { items: [{ a: 1 }] } }, 'write forEach: data.items'],
  ['events', { tags: ['a'] }, 'name a path that is a list, or take requests without events'],
])('%s of %j', (text, payload, words) => {
  expect(say(text, payload)).toContain(words);
});

test('an optional list that was left out is no reason to read another list of texts', () => {
  expect(say('commits', { ref: 'a', topics: ['x'] })).not.toContain('write forEach');
});
