import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decidingFields, type CompiledMapping, type Scope } from '../../../src/engine/mapping/mapping.ts';
import { createRoutingTable, takesRequest } from '../../../src/engine/mapping/routing/routing-table.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { compileList, tableOf } from '../../support/mapping-compile.ts';
import { scopeOf } from '../../support/mapping-scope.ts';

const equals = (name: string, text: JsonValue, operator = '==='): object => ({
  [operator]: [{ var: name }, text],
});

function table(...mappings: readonly object[]): ReturnType<typeof tableOf> {
  return tableOf(compileList(mappings.map((mapping) => ({ messageTemplate: 'x', ...mapping }))));
}

function picked(routes: ReturnType<typeof tableOf>, payload: JsonValue, path = 'github'): string | undefined {
  return routes.route(scopeOf(payload, { path }))?.id;
}

describe('the mapping that is taken', () => {
  test('is the first of those that match, whichever way they are looked up', () => {
    const routes = table(
      { id: 'opened', match: { path: 'github', when: equals('action', 'opened') } },
      { id: 'sourced', match: { source: 'ci' } },
      { id: 'closed', match: { when: equals('action', 'closed') } },
      { id: 'any-github', match: { path: '/github/' } },
      { id: 'any' },
    );
    expect(picked(routes, { action: 'opened', source: 'ci' })).toBe('opened');
    expect(picked(routes, { action: 'closed', source: 'ci' })).toBe('sourced');
    expect(picked(routes, { action: 'closed' })).toBe('closed');
    expect(picked(routes, {})).toBe('any-github');
    expect(picked(routes, {}, 'other')).toBe('any');
    expect(picked(routes, { action: 'opened' }, 'github/more')).toBe('any');
  });

  test('needs its source exactly, as text', () => {
    const routes = table({ id: 's', match: { source: 'ci' } });
    expect(picked(routes, { source: 'ci' })).toBe('s');
    for (const source of ['CI', ' ci', ['ci'], null, 1]) expect(picked(routes, { source })).toBeUndefined();
    expect(picked(routes, ['ci'])).toBeUndefined();
    expect(picked(routes, null)).toBeUndefined();
  });

  test('can be found by a loose equality that a number satisfies', () => {
    const routes = table(
      { id: 'other', match: { when: equals('n', '6', '==') } },
      { id: 'five', match: { when: equals('n', '5', '==') } },
      { id: 'strict', match: { when: equals('n', '7') } },
    );
    expect(picked(routes, { n: 5 })).toBe('five');
    expect(picked(routes, { n: '5' })).toBe('five');
    expect(picked(routes, { n: 7 })).toBeUndefined();
  });

  test('is never one that is switched off', () => {
    const routes = table({ id: 'off', enabled: false }, { id: 'on', match: { path: 'github' } });
    expect(picked(routes, {})).toBe('on');
    expect(routes.mappings.map(({ id }) => id)).toEqual(['on']);
    expect(routes.canTake('other')).toBe(false);
  });

  test('canTake says whether a hook name can lead anywhere', () => {
    expect(table({ match: { path: 'a/b' } }).canTake('a/b')).toBe(true);
    expect(table({ match: { path: 'a/b' } }).canTake('a')).toBe(false);
    expect(table({ match: { source: 's' } }).canTake('anything')).toBe(true);
  });

  test('settings hold for a path, whichever of its mappings sets them', () => {
    const routes = table(
      { match: { path: 'p', when: equals('a', 'b') } },
      { match: { path: 'p' }, maxBodyBytes: 99 },
    );
    expect(routes.settingsOf('p')).toEqual({ maxBodyBytes: 99 });
    expect(routes.settingsOf('q')).toEqual({});
  });
});

describe('the index', () => {
  /** A match with equalities over few variables and texts, so that many of them meet. */
  const variable = fc.constantFrom('a', 'payload.b', 'headers.h', 'source', 'path', 'c.d');
  const text = fc.constantFrom('x', 'y', '5', 'github');
  const leaf = fc
    .tuple(variable, text, fc.constantFrom('===', '==', '!='))
    .map(([name, value, operator]) => equals(name, value, operator));
  const condition = fc.oneof(
    leaf,
    fc.array(leaf, { minLength: 1, maxLength: 3 }).map((list) => ({ and: list })),
    fc.tuple(leaf, leaf).map((list) => ({ or: list })),
    leaf.map((one) => ({ '!': one })),
  );
  const match = fc.record(
    { path: fc.constantFrom('github', 'x', ''), source: text, when: condition },
    { requiredKeys: [] },
  );
  const value = fc.constantFrom<JsonValue>('x', 'y', 5, '5', null, true, ['x']);
  const payload = fc.record(
    { a: value, b: value, source: value, c: fc.record({ d: value }) },
    { requiredKeys: [] },
  );

  test('takes what trying every mapping in order would take', () => {
    fc.assert(
      fc.property(
        fc.array(match, { maxLength: 12 }),
        fc.array(payload, { minLength: 3, maxLength: 3 }),
        fc.constantFrom('github', 'x', 'y'),
        (matches, payloads, path) => {
          const entries = matches.map((each) => ({ messageTemplate: 'm', match: each }));
          // Each compiled alone, since a mapping that can never be taken is an error beside the others.
          const alone = entries.flatMap((entry, order) =>
            tableOf(compileList([entry])).mappings.map((mapping) => ({ ...mapping, id: `m${order}`, order })),
          );
          const routes = createRoutingTable(alone);
          for (const body of payloads) {
            const scope = scopeOf(body, { path, headers: { h: 'x' } });
            const inTurn = alone.find((mapping) => takesRequest(mapping, scope));
            expect(routes.route(scope)?.id).toBe(inTurn?.id);
            expect([...routes.explain(scope)].find(({ matched }) => matched)?.mapping.id).toBe(inTurn?.id);
          }
        },
      ),
      { numRuns: 150, seed: 11 },
    );
  });

  function counted(mappings: readonly object[]): { pick(scope: Scope): string | undefined; tried(): number } {
    let tried = 0;
    const { mappings: compiled } = table(...mappings);
    const watched = compiled.map((mapping): CompiledMapping => {
      const { when } = mapping.match;
      if (when === undefined) return mapping;
      const matches = (scope: Scope): boolean => {
        tried += 1;
        return when.matches(scope);
      };
      return { ...mapping, match: { ...mapping.match, when: { ...when, matches } } };
    });
    const routes = createRoutingTable(watched);
    return { pick: (scope) => routes.route(scope)?.id, tried: () => tried };
  }

  test.each<[string, (n: number) => object]>([
    ['a path each', (n) => ({ path: `p${n}`, when: equals('a', 'x') })],
    ['a source each', (n) => ({ source: `s${n}`, when: equals('a', 'x') })],
    ['a header each', (n) => ({ when: equals('headers.h', `h${n}`) })],
    [
      'one path and a conjunct each',
      (n) => ({ path: 'p1', when: { and: [equals('a', 'x'), equals('b.c', `c${n}`)] } }),
    ],
    [
      'two conjuncts in turn',
      (n) => ({ when: n % 2 === 0 ? equals('b.c', `c${n}`) : equals('headers.h', `h${n}`) }),
    ],
  ])('evaluates at most two conditions among 400 mappings with %s', (_, matchOf) => {
    const { pick, tried } = counted(
      Array.from({ length: 400 }, (_each, n) => ({ id: `m${n}`, match: matchOf(n) })),
    );
    const scope = scopeOf(
      { a: 'x', source: 's399', b: { c: 'c399' } },
      { path: 'p399', headers: { h: 'h399' } },
    );
    const atOne = scopeOf({ a: 'x', b: { c: 'c399' } }, { path: 'p1' });
    expect(pick(scope) ?? pick(atOne)).toBe('m399');
    expect(tried()).toBeLessThanOrEqual(2);
  });
});

describe('explain', () => {
  const routes = table(
    { id: 'path', match: { path: 'gitlab' } },
    { id: 'source', match: { path: 'github', source: 'ci' } },
    {
      id: 'when',
      match: { path: 'github', when: { and: [equals('action', 'opened'), equals('draft', 'no')] } },
    },
  );

  test('names the part that failed, its place, and how much held before it', () => {
    const considered = [...routes.explain(scopeOf({ source: 'cd', action: 'opened', draft: 'yes' }))];
    expect(considered.map(({ mapping, held, failed }) => [mapping.id, held, failed?.part])).toEqual([
      ['path', 0, 'path'],
      ['source', 1, 'source'],
      ['when', 2, 'when'],
    ]);
    expect(considered[0]?.failed).toMatchObject({ expected: 'gitlab', found: 'github' });
    expect(considered[1]?.failed).toMatchObject({ expected: 'ci', found: 'cd' });
    expect(considered[2]?.failed).toMatchObject({ node: { found: 'yes', expected: 'no', result: 'false' } });
    const { at } = considered[1]?.failed ?? {};
    expect(at?.source.text.slice(at.start, at.end)).toBe('"ci"');
  });

  test('ends at the mapping that is taken', () => {
    const considered = [...routes.explain(scopeOf({}, { path: 'gitlab' }))];
    expect(considered.map(({ mapping, matched }) => [mapping.id, matched])).toEqual([['path', true]]);
  });
});

test('the fields that decide are those of conditions, also within lists and beside constants', () => {
  const when = {
    and: [
      { in: [{ var: 'action' }, ['opened', 'closed']] },
      { some: [{ var: 'labels' }, { '===': [{ var: 'name' }, 'bug'] }] },
      { '!': { var: ['draft', false] } },
      { some: [{ filter: [{ var: 'users' }, { var: 'active' }] }, { '===': [{ var: 'name' }, 'ann'] }] },
      { some: [{ map: [{ var: 'commits' }, { var: 'author' }] }, { '===': [{ var: 'login' }, 'ann'] }] },
      {
        '>': [{ reduce: [{ var: 'lines' }, { '+': [{ var: 'current.n' }, { var: 'accumulator' }] }, 0] }, 1],
      },
      true,
    ],
  };
  const { mappings } = tableOf(
    compileList([{ match: { path: 'issues', when }, messageTemplate: '{{title}}' }]),
  );
  const payload = decidingFields(mappings, 'issues').below.get('payload');
  expect([...(payload?.below.keys() ?? [])]).toEqual([
    'action',
    'labels',
    'draft',
    'users',
    'commits',
    'lines',
  ]);
  expect(payload?.below.get('labels')?.below.get('*')?.below.get('name')?.isRead).toBe(true);
  const elementOf = (name: string) => payload?.below.get(name)?.below.get('*');
  const fieldsOf = (name: string): readonly string[] => [...(elementOf(name)?.below.keys() ?? [])];
  expect([fieldsOf('lines'), elementOf('lines')?.isRead]).toEqual([['n'], false]);
  expect(fieldsOf('users')).toEqual(['active', 'name']);
  expect(fieldsOf('commits')).toEqual(['author']);
  expect(elementOf('commits')?.below.get('author')?.below.get('login')?.isRead).toBe(true);
});
