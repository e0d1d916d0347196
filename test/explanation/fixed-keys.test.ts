/** A key that is a fixed text, where the request has a field of that name. */
import { expect, test } from 'vitest';
import { fixedKeyNote } from '../../src/explanation/fixed-keys.ts';
import type { CompiledMapping } from '../../src/mapping/mapping.ts';

const at = { source: { file: 'a.yaml', text: '' }, start: 0, end: 0 };
const template = (literal: string | undefined): object => ({ source: literal, literal, at });

function say(key: string, literal: string | undefined, payload = { host: 'db-3', of: { id: 7 }, list: [] }) {
  const own = template(literal);
  const mapping = {
    debounce: { key: own },
    dedupe: { key: own, ttlSeconds: 60 },
    sessionKey: own,
    name: own,
    to: own,
  } as unknown as CompiledMapping;
  return fixedKeyNote(key, mapping, payload)?.text;
}

test.each([
  ['debounce.key', 'host', `The request has host ("db-3"): write key: '{{host}}'`],
  [
    'dedupe.key',
    'payload.of.id',
    `counts as a repeat of the first, for 60 s. The request has of.id (7): write key: '{{of.id}}'`,
  ],
  ['sessionKey', '$.host', `write sessionKey: '{{host}}'`],
  ['name', 'host', `write name: '{{host}}'`],
  ['to', 'host', `write to: '{{host}}'`],
])('%s: %s is told the field', (key, literal, text) => {
  expect(say(key, literal)).toContain('the same for every request');
  expect(say(key, literal)).toContain(text);
});

test.each(['all', 'Host', 'list', 'of', 'to: host', undefined])(
  '%s is no field, and may be meant',
  (literal) => {
    expect(say('debounce.key', literal)).toBeUndefined();
  },
);
