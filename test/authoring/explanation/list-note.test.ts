import { expect, test } from 'vitest';
import { noListText, settingNotes } from '../../../src/authoring/explanation/setting-notes.ts';
import type { StoredRequest } from '../../../src/engine/storage/facts.ts';
import { settingsWith } from '../../support/hook-fixture.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { printSentence } from '../../../src/base/finding.ts';

const say = (text: string, payload: JsonValue): string => {
  const keys = text.replace(/^payload\.?/, '').split('.');
  return printSentence(noListText({ text, keys: keys[0] === '' ? [] : keys }, payload));
};

test.each<readonly [string, JsonValue, string]>([
  ['events', [{ a: 1 }, { a: 2 }], 'the whole body is the list (of 2): write forEach: payload'],
  ['data', { data: { items: [{ a: 1 }] } }, 'write forEach: data.items'],
  [
    'items',
    { data: { items: [{ a: 1 }], more: [{ b: 1 }] } },
    'this body has one at data.items: write forEach: data.items',
  ],
  ['alert', { alerts: [], labels: [{ a: 1 }] }, 'write forEach: alerts'],
  [
    'events',
    { payload: { list: [{ a: 1 }] } },
    'write forEach: payload.payload.list; take requests without events',
  ],
  ['data', { data: { a: { x: [1] }, b: { y: [2] } } }, 'lists at data.a.x, data.b.y: name one of them'],
  ['events', { tags: ['a'] }, 'this body has none of objects: take requests without events'],
])('%s of %j', (text, payload, words) => {
  expect(say(text, payload)).toContain(words);
});

test('an optional list that was left out is no reason to read another list of texts', () => {
  expect(say('commits', { ref: 'a', topics: ['x'] })).not.toContain('write forEach');
});

test('a recipient that rendered empty is told with a default for it, and no other delivery that failed', () => {
  const { table } = settingsWith({
    table: `- {id: m, match: {path: p}, channel: slack, to: "{{team.channel}}", trust: [to], messageTemplate: x}`,
  });
  const toldOf = (code: string): readonly string[] => {
    const lastError = { code, message: 'it was not sent' };
    const outbox = [{ kind: 'delivery', delivery: { channel: 'slack' }, lastError }];
    const run = { action: { origin: { mappingId: 'm' } } };
    const stored = { runs: [{ run, outbox }], events: [] } as unknown as StoredRequest;
    const config = { settings: { gateway: { heartbeat: { everySeconds: 0 } } } } as never;
    return settingNotes({ config, table, stored }).map(({ message }) => printSentence(message));
  };
  expect(toldOf('no_recipient')).toEqual([
    expect.stringContaining(`write to: '{{default team.channel "RECIPIENT"}}'`),
  ]);
  expect(toldOf('not_found')).toEqual([]);
});
