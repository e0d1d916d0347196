/** The table of mappings as requests meet it: what is said of it is held against every request that there can be. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeRoutes, type HookRoutes, type NamedRequest } from '../../../src/authoring/advice/routes.ts';
import { conditionWords } from '../../../src/authoring/advice/routes/condition-words.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { takesRequest } from '../../../src/engine/mapping/mapping.ts';
import type { HookRequest, JsonObject, JsonValue } from '../../../src/base/request.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { compileList, tableOf } from '../../support/mapping-compile.ts';

interface Rule {
  readonly [operator: string]: JsonValue;
}

const eq = (name: string, value: JsonValue): Rule => ({ '===': [{ var: name }, value] });
const request = (payload: JsonValue, headers: Record<string, string> = {}): HookRequest =>
  createHookRequest({ path: 'shop', payload, headers, receivedAt: 0 });

const tableFrom = (conditions: readonly (JsonValue | undefined)[]) =>
  tableOf(
    compileList(
      conditions.map((when, index) => ({
        id: `m${index}`,
        match: { path: 'shop', ...(when === undefined ? {} : { when }) },
        messageTemplate: 'x',
      })),
    ),
  );

async function routesOf(
  conditions: readonly (JsonValue | undefined)[],
  samples: readonly NamedRequest[] = [],
): Promise<HookRoutes> {
  const table = tableFrom(conditions);
  const evaluate = (each: HookRequest) => evaluateHook(each, settingsWith({ table })).evaluation;
  const [hook] = await describeRoutes(table, { samples, unmatched: 'reject', evaluate });
  if (hook === undefined) throw new Error('there is a hook name');
  return hook;
}

describe('shadows', () => {
  test.each([
    ['a part of the condition', [eq('kind', 'a'), { and: [eq('kind', 'a'), eq('state', 'b')] }]],
    [
      'one of the texts',
      [{ in: [{ var: 'kind' }, ['a', 'b']] }, { and: [eq('payload.kind', 'a'), { '!': [{ var: 'x' }] }] }],
    ],
    [
      'alternatives',
      [{ or: [eq('kind', 'a'), eq('kind', 'b')] }, { and: [{ in: [{ var: 'kind' }, ['b']] }, eq('n', 1)] }],
    ],
    [
      'a header that is always a text',
      [{ '==': [{ var: 'headers.x-kind' }, 'a'] }, { and: [eq('headers.x-kind', 'a'), eq('n', 1)] }],
    ],
  ])('a mapping behind one that asks for %s is never taken', async (_what, conditions) => {
    const { mappings } = await routesOf(conditions);
    expect(mappings.map(({ shadowedBy }) => shadowedBy)).toEqual([undefined, 'm0']);
  });

  test('equality that converts proves nothing of a field that may be no text', async () => {
    const { mappings } = await routesOf([
      eq('kind', 'a'),
      { and: [{ '==': [{ var: 'kind' }, 'a'] }, eq('n', 1)] },
    ]);
    expect(mappings[1]?.shadowedBy).toBeUndefined();
  });
});

describe('overlaps', () => {
  test('a request that falls into both is made, as small as can be, and run', async () => {
    const { overlaps } = await routesOf([
      { and: [eq('kind', 'order'), { '>': [{ var: 'total' }, 100] }] },
      { some: [{ var: 'labels' }, eq('name', 'urgent')] },
    ]);
    expect(overlaps).toEqual([
      {
        first: 'm0',
        second: 'm1',
        taken: 'm0',
        request: {
          path: 'shop',
          headers: {},
          query: {},
          body: { kind: 'order', total: 101, labels: [{ name: 'urgent' }] },
        },
      },
    ]);
  });

  test('a golden case comes before one that is made', async () => {
    const known = request({ kind: 'order', vip: 'yes', more: 1 });
    const { overlaps } = await routesOf(
      [eq('kind', 'order'), eq('vip', 'yes')],
      [{ name: 'shop/vip', request: known }],
    );
    expect(overlaps).toMatchObject([{ case: 'shop/vip', request: { body: { more: 1 } } }]);
  });

  test('a special case before the general one is none, and neither are conditions that exclude each other', async () => {
    const { overlaps, notDecided } = await routesOf([
      { and: [eq('kind', 'a'), eq('n', 1)] },
      eq('kind', 'a'),
      eq('kind', 'b'),
      undefined,
    ]);
    expect({ overlaps, notDecided }).toEqual({ overlaps: [], notDecided: [] });
  });

  test('what cannot be decided is said', async () => {
    const { overlaps, notDecided } = await routesOf([
      { '===': [{ substr: [{ var: 'ref' }, 0, 5] }, 'refs/'] },
      eq('kind', 'push'),
    ]);
    expect({ overlaps, notDecided }).toEqual({ overlaps: [], notDecided: [['m0', 'm1']] });
  });

  test('what may be a secret is not shown', async () => {
    const secret = { and: [eq('headers.x-token', 'hunter2hunter2'), eq('kind', 'a')] };
    const hook = await routesOf([secret, eq('n', 1)]);
    expect(hook.overlaps).toHaveLength(1);
    expect(JSON.stringify(hook)).not.toContain('hunter2');
  });
});

test('kinds of the samples that nothing takes are named with their cases, and what every mapping insists on', async () => {
  const samples = [
    { name: 'shop/order', request: request({ kind: 'order' }) },
    { name: 'shop/refund', request: request({ kind: 'refund' }) },
    { name: 'shop/refund-twice', request: request({ kind: 'refund' }) },
  ];
  const hook = await routesOf([eq('kind', 'order'), { in: [{ var: 'kind' }, ['paid', 'order']] }], samples);
  expect(hook.untaken).toEqual([{ kind: { kind: 'refund' }, cases: ['shop/refund', 'shop/refund-twice'] }]);
  expect(hook.only).toEqual({ kind: ['order', 'paid'] });
});

test.each<[JsonValue, string]>([
  [eq('action', 'opened'), 'action is "opened"'],
  [{ and: [eq('payload.a', 1), { '!': { var: 'draft' } }] }, 'a is 1 and not draft is set'],
  [{ or: [eq('a', 1), eq('b', 2)] }, 'a is 1 or b is 2'],
  [{ and: [eq('c', true), { or: [eq('a', 1), eq('b', 2)] }] }, 'c is true and (a is 1 or b is 2)'],
  [{ in: [{ var: 'a' }, ['x', 'y']] }, 'a is "x" or "y"'],
  [{ in: ['x', { var: 'a' }] }, 'a contains "x"'],
  [{ '<': [1, { var: 'n' }, 3] }, '1 < n < 3'],
  [{ some: [{ var: 'labels' }, eq('name', 'bug')] }, 'of labels one: name is "bug"'],
  [{ missing: ['a', 'b'] }, 'a or b is missing'],
  [eq('headers.x-token', 'abc'), 'headers.x-token is as written'],
  [{ '%': [{ var: 'n' }, 2] }, '{"%":[{"var":"n"},2]}'],
])('says the rule %j in words', (rule, words) => {
  expect(conditionWords(rule)).toBe(words);
});

const FIELDS: Readonly<Record<string, readonly JsonValue[]>> = {
  kind: ['a', 'b', ['a']],
  'headers.x-event': ['push', 'ping'],
  n: [1, 2, 'a'],
};
const leaf = fc.constantFrom(...Object.keys(FIELDS)).chain((name): fc.Arbitrary<Rule> =>
  fc.oneof(
    fc
      .tuple(
        fc.constantFrom('===', '==', '!==', '!='),
        fc.constantFrom(...(FIELDS[name] ?? []).filter((each) => !Array.isArray(each))),
      )
      .map(([operator, value]) => ({ [operator]: [{ var: name }, value] })),
    fc.subarray([...(FIELDS[name] ?? [])], { minLength: 1 }).map((list) => ({ in: [{ var: name }, list] })),
    fc.constant<Rule>({ '!!': [{ var: name }] }),
  ),
);
const condition: fc.Arbitrary<Rule> = fc.oneof(
  leaf,
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map((and): Rule => ({ and })),
  fc.array(leaf, { minLength: 1, maxLength: 2 }).map((or): Rule => ({ or })),
  leaf.map((one): Rule => ({ '!': [one] })),
);

/** Every request of the small world in which the conditions above live. */
const ALL: readonly HookRequest[] = [undefined, ...(FIELDS['kind'] ?? [])].flatMap((kind) =>
  [undefined, ...(FIELDS['n'] ?? [])].flatMap((n) =>
    [undefined, 'push', 'ping'].map((event) => {
      const payload = {
        ...(kind === undefined ? {} : { kind }),
        ...(n === undefined ? {} : { n }),
      } as JsonObject;
      return request(payload, event === undefined ? {} : { 'x-event': event });
    }),
  ),
);

test('what is said of generated tables holds for every request that there can be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(condition, { minLength: 2, maxLength: 4 }), async (conditions) => {
      const { table } = compileList(
        conditions.map((when, index) => ({
          id: `m${index}`,
          match: { path: 'shop', when },
          messageTemplate: 'x',
        })),
      );
      // The same condition twice is refused.
      if (table === undefined) return;
      const evaluate = (each: HookRequest) => evaluateHook(each, settingsWith({ table })).evaluation;
      const [hook] = await describeRoutes(table, { samples: [], unmatched: 'reject', evaluate });
      const taken = new Set(ALL.map((each) => table.route({ request: each })?.id));
      for (const { id, shadowedBy } of hook?.mappings ?? [])
        if (shadowedBy !== undefined) expect(taken).not.toContain(id);
      const both = (first: string, second: string, each: HookRequest): boolean =>
        [first, second].every((id) =>
          table.mappings.some((one) => one.id === id && takesRequest(one, { request: each })),
        );
      for (const {
        first,
        second,
        request: { headers, body },
      } of hook?.overlaps ?? [])
        expect(both(first, second, request(body, headers))).toBe(true);
      // A pair of which nothing is said: apart, a special case, or shadowed; never one where each takes what the other does not.
      const said = new Set([
        ...(hook?.overlaps ?? []).map(({ first, second }) => `${first} ${second}`),
        ...(hook?.notDecided ?? []).map((pair) => pair.join(' ')),
      ]);
      const open = (hook?.mappings ?? [])
        .filter(({ shadowedBy }) => shadowedBy === undefined)
        .map(({ id }) => id);
      for (const [index, first] of open.entries())
        for (const second of open.slice(index + 1)) {
          if (said.has(`${first} ${second}`)) continue;
          const [one, other] = [first, second].map((id) => table.mappings.find((each) => each.id === id));
          const inFirst = ALL.filter((each) => one !== undefined && takesRequest(one, { request: each }));
          const shared = inFirst.filter(
            (each) => other !== undefined && takesRequest(other, { request: each }),
          );
          expect(shared.length === 0 || shared.length === inFirst.length, `${first} and ${second}`).toBe(
            true,
          );
        }
      for (const [field, texts] of Object.entries(hook?.only ?? {}))
        for (const each of ALL) {
          const found =
            field === 'headers.x-event' ? each.headers['x-event'] : (each.payload as JsonObject)[field];
          if (!texts.includes(found as string)) expect(table.route({ request: each })).toBeUndefined();
        }
    }),
    { seed: 33, numRuns: process.env['TEST_FORM'] === 'long' ? 1_000 : 300 },
  );
});
