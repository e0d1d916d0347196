/** What it costs that a request is not kept: nothing of it is read but what decides that. */
import { describe, expect, test } from 'vitest';
import { ACTION_SETTINGS, shapeOf, valueOfShape } from '../../../src/engine/hook/kept-request.ts';
import { keepRequest } from '../../../src/service/server/keep-request.ts';
import { FewPerSecond } from '../../../src/service/server/rates.ts';
import type { KeptRequest } from '../../../src/engine/storage/storage.ts';
import type { KeptKind } from '../../../src/engine/mapping/mapping.ts';

/** An object of which each read is noted, whatever is asked. */
function watched(name: string, reads: string[], known: object = {}): object {
  return new Proxy(known, {
    get: (target, key) => {
      reads.push(`${name}.${String(key)}`);
      return Reflect.get(target, key) as unknown;
    },
    ownKeys: () => {
      throw new Error(`the keys of ${name} were asked for`);
    },
  });
}

interface Case {
  /** Absent: nothing is kept at all. */
  readonly which?: KeptKind;
  readonly ofPath?: 'none';
  readonly status?: number;
  /** Whether there is room for one more; default that nobody may ask. */
  readonly hasRoom?: boolean;
}

/** Everything that was read of the request, what became of it, and where it would be kept. */
function readsOf({ which, ofPath, status = 202, hasRoom }: Case): readonly string[] {
  const reads: string[] = [];
  const settings = watched('settings', reads, { keepRequests: ofPath });
  const keeping = which && watched('keepRequests', reads, { which });
  const knowsName = (): boolean => true;
  const generation = { settingsOf: () => settings, knowsName, ...(keeping && { keepRequests: keeping }) };
  const exchange = watched('exchange', reads, { generation, receivedAt: 1, bodyBytes: 10 });
  const request = watched('request', reads, { path: 'order' });
  const evaluation = watched('evaluation', reads, { outcome: { kind: 'accepted' } });
  const judged = { request, evaluation };
  const ending = { answer: { status }, ...(status >= 400 && { error: { code: 'x' } }), judged };
  const take = (): boolean => {
    if (hasRoom === undefined) throw new Error('no room was to be asked for');
    return hasRoom;
  };
  const kept = { whole: { take }, shape: { take } };
  const context = { kept, deps: watched('deps', reads) };
  keepRequest(...([context, exchange, ending] as unknown as Parameters<typeof keepRequest>));
  return reads;
}

const ASKED = [
  'exchange.generation',
  'request.path',
  'exchange.generation',
  'settings.keepRequests',
  'keepRequests.which',
];

describe('a request that is not kept', () => {
  test('costs the one comparison where nothing is kept', () => {
    expect(readsOf({})).toEqual(['exchange.generation']);
  });

  test.each<readonly [string, Case]>([
    ['none is kept', { which: 'none' }],
    ['those that failed are kept, and it was accepted', { which: 'failed' }],
    ['failed transforms are kept, and it was accepted', { which: 'transforms' }],
    ['failed transforms are kept, and it was refused', { which: 'transforms', status: 404 }],
  ])('costs a look at the word where %s', (_name, given) => {
    expect(readsOf(given)).toEqual(ASKED);
  });

  test('costs no more where its path keeps none', () => {
    expect(readsOf({ which: 'all', ofPath: 'none' })).toEqual(ASKED.slice(0, -1));
  });

  test('costs no look at its payload where there is no room for one more', () => {
    const ROOM = ['exchange.generation', 'evaluation.mapping', 'exchange.receivedAt', 'exchange.bodyBytes'];
    expect(readsOf({ which: 'shapes', status: 404, hasRoom: false })).toEqual([...ASKED, ...ROOM]);
    expect(readsOf({ which: 'shapes', hasRoom: false })).toEqual([...ASKED, 'evaluation.outcome', ...ROOM]);
  });

  test('is told apart from one that is kept, of which all is read', () => {
    expect(() => readsOf({ which: 'all' })).toThrow('the keys of request were asked for');
  });
});

test('a shape has every name that came, also one called __proto__', () => {
  const texts: string[] = [];
  const payload = JSON.parse('{"__proto__": {"a": "secret"}, "b": "secret"}') as object;
  const values = Object.assign(Object.create(null) as object, { accept: 'secret' });
  Object.defineProperty(values, '__proto__', { value: 'secret', enumerable: true });
  const request = {
    id: 'i',
    receivedAt: 1,
    path: 'order',
    url: '/order',
    headers: values,
    query: values,
    payload,
  };
  const evaluation = { outcome: { kind: 'accepted', actions: [] }, trace: { transforms: [] } };
  const fieldsOf = (): object => ({ isRead: false, below: new Map() });
  const knowsName = (): boolean => true;
  const generation = {
    id: 'g',
    settingsOf: () => ({}),
    knowsName,
    keepRequests: { which: 'shapes', fieldsOf },
  };
  const keep = ({ json }: { json: string }): void => void texts.push(json);
  const context = { kept: { shape: { take: () => true } }, deps: { storage: { keepRequest: keep } } };
  const exchange = { ids: { id: 'i' }, receivedAt: 1, bodyBytes: 10, generation };
  const ending = { answer: { status: 202 }, judged: { request, evaluation } };
  keepRequest(...([context, exchange, ending] as unknown as Parameters<typeof keepRequest>));
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain('"shape":{"__proto__":{"a":6},"b":6}');
  for (const where of ['headers', 'query'])
    expect(texts[0]).toContain(`"${where}":{"accept":"…","__proto__":"…"}`);
});

test('of more than are kept in a second, the first of each cause is kept; made-up names are no causes', () => {
  const kept: KeptRequest[] = [];
  const generation = {
    settingsOf: () => ({}),
    knowsName: (name: string) => ['order', 'other'].includes(name),
    keepRequests: { which: 'shapes' },
  };
  const context = {
    kept: { whole: new FewPerSecond(2) },
    deps: { storage: { keepRequest: (request: KeptRequest) => void kept.push(request) } },
  };
  const refuse = (path: string, code: string, receivedAt = 1): void => {
    const request = { path, headers: {}, query: {}, url: `/${path}` };
    const exchange = { ids: { id: `${path} ${code}` }, receivedAt, bodyBytes: 10, generation };
    const ending = { answer: { status: 404 }, error: { code }, judged: { request } };
    keepRequest(...([context, exchange, ending] as unknown as Parameters<typeof keepRequest>));
  };
  for (let count = 0; count < 10; count += 1) refuse('order', 'broken');
  refuse('order', 'odd');
  refuse('other', 'broken');
  for (let count = 0; count < 10; count += 1) refuse(`made-up-${count}`, 'broken');
  const ids = ['order broken', 'order broken', 'order odd', 'other broken', 'made-up-0 broken'];
  expect(kept.map(({ requestId }) => requestId)).toEqual(ids);
  expect(new Set(kept.map(({ cause }) => cause)).size).toBe(4);
  refuse('made-up-1', 'broken', 1_001);
  expect(kept.at(-1)).toMatchObject({ requestId: 'made-up-1 broken', cause: kept[4]?.cause });
});

test('what decides whether an action is right is kept of it, and none of its texts', () => {
  const sent = { message: 'secretive', name: 'n', wakeMode: 'now', timeoutSeconds: 60, deliver: false };
  const kept = { ...sent, message: '…(9 characters)', name: '…(1 character)' };
  expect(valueOfShape(shapeOf(sent, ACTION_SETTINGS))).toEqual(kept);
});

test('a shape is read with words for what was not kept', () => {
  const shape = shapeOf({ one: 'x', text: 'secret', on: true, list: [7, null] });
  expect(valueOfShape(shape)).toEqual({
    one: '…(1 character)',
    text: '…(6 characters)',
    on: '…(a boolean)',
    list: ['…(a number)', null],
  });
});
