/** Keys of mappings that are in order one by one, and do not do what they were written for. */
import { expect, test } from 'vitest';
import { said } from '../../support/said.ts';
import { advised, codesOf, compileList } from '../../support/mapping-compile.ts';

test('a mapping that wakes is told of keys of agents, unless a transform may choose', () => {
  const codes = (mapping: object) => codesOf(advised(compileList([mapping])));
  const wake = { action: 'wake', textTemplate: 'x', deliver: true };
  expect(codes(wake)).toEqual(['MAPPING_KEY_WITHOUT_EFFECT (warning)']);
  expect(codes({ ...wake, transform: 'a.js' })).toEqual([]);
  // It could not stand in a thread, whatever channel was named.
  for (const other of [
    { action: 'wake', textTemplate: 'x' },
    { action: 'skip', match: { path: 'p' } },
  ]) {
    const found = advised(compileList([{ ...other, channel: 'slack', thread: '{{ts}}' }]));
    expect(said(found[0]?.message)).toContain('"channel" and "thread" have no effect');
    expect(codes({ ...other, thread: '{{ts}}' })).toEqual(['MAPPING_KEY_WITHOUT_EFFECT (warning)']);
  }
  const notify = {
    action: 'notify',
    messageTemplate: 'x',
    channel: 'slack',
    to: 'C0123456',
    thread: '{{ts}}',
  };
  expect(codes(notify)).toEqual([]);
  expect(codes({ ...wake, transform: 'a.js', thread: '{{ts}}' })).toEqual(['INVALID_RECIPIENT (warning)']);
  expect(codes({ action: 'skip', match: { path: 'p' } })).toEqual([]);
});

test('a key is not renamed to one that is there', () => {
  const both = { match: { path: 'p' }, message: 'x', messageTemplate: 'y' };
  const [found] = advised(compileList([both]));
  expect(said(found?.hint)).toBe('remove it, as messageTemplate is there already');
});

test('mappings of an OpenClaw file get one warning for all keys that have no use here', () => {
  const mappings = [
    { match: { path: 'a' }, persist: 1, messageTemplate: 'x' },
    { match: { path: 'b' }, persist: 2, other: 1, messageTemplate: 'x' },
  ];
  const found = advised(compileList(mappings, {}, 'openclaw'));
  expect(codesOf(found)).toEqual(['OPENCLAW_KEYS_IGNORED (warning)']);
  expect(said(found[0]?.message)).toContain('"persist", "other"');
});

test('trust in what the request decides is needed, and none in what is fixed', () => {
  const base = { messageTemplate: 'x', channel: 'slack', trust: ['to'] };
  expect(codesOf(advised(compileList([{ ...base, to: '{{to}}' }])))).toEqual([]);
  const [found, ...others] = advised(compileList([{ ...base, to: 'C0123456' }]));
  expect([found?.code, others]).toEqual(['MAPPING_KEY_WITHOUT_EFFECT', []]);
  expect(codesOf(advised(compileList([{ messageTemplate: 'x', to: '{{to}}' }])))).toEqual([
    'UNTRUSTED_ROUTING (warning)',
  ]);
});
