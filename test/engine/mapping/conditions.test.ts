import * as fc from 'fast-check';
import jsonLogic from 'json-logic-js';
import { describe, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import { conditionDefinitions } from '../../../src/engine/mapping/condition/condition-check.ts';
import { compileCondition } from '../../../src/engine/mapping/condition/condition.ts';
import type { CompiledCondition } from '../../../src/engine/mapping/compiled-mapping.ts';
import { MISSING, ROOT, UNKNOWN, type RuleValue } from '../../../src/engine/mapping/condition/rule-value.ts';
import { compileRule } from '../../../src/engine/mapping/condition/rule.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { located, scopeOf } from '../../support/mapping-scope.ts';

function evaluate(rule: unknown, payload: JsonValue): RuleValue {
  const compiled = compileRule(located(rule));
  const errors = compiled.findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('; '));
  return compiled.evaluate({ scope: scopeOf(payload), recorder: undefined, data: ROOT, spent: 0 });
}

function compile(rule: unknown): CompiledCondition {
  const { condition, findings } = compileCondition(located(rule));
  if (condition === undefined) throw new Error(findings.map(({ message }) => message).join('; '));
  return condition;
}

function codes(rule: unknown): readonly string[] {
  return compileCondition(located(rule)).findings.map(({ code }) => code);
}

const VAR = (name: string): object => ({ var: name });

describe('each operator does what JsonLogic says', () => {
  const data = { n: 5, t: 'spring', l: [1, 2, 3], o: { k: 'v' }, e: [], z: 0, nil: null };
  test.each<[unknown, unknown]>([
    [{ var: 'o.k' }, 'v'],
    [{ var: ['gone', 'else'] }, 'else'],
    [{ var: ['nil', 'else'] }, null],
    [{ var: 'l.1' }, 2],
    [{ var: '' }, data],
    [{ missing: ['n', 'gone', 'nil', 'o.x'] }, ['gone', 'nil', 'o.x']],
    [{ missing: { merge: ['gone', ['n']] } }, ['gone']],
    [{ missing_some: [1, ['n', 'gone']] }, []],
    [{ missing_some: [2, ['n', 'gone']] }, ['gone']],
    [{ if: [VAR('z'), 'a', VAR('n'), 'b', 'c'] }, 'b'],
    [{ if: [false, 'a'] }, null],
    [{ '?:': [[], 1, 2] }, 2],
    [{ and: [VAR('n'), VAR('t')] }, 'spring'],
    [{ and: [VAR('n'), VAR('e'), VAR('t')] }, []],
    [{ or: [VAR('z'), VAR('t')] }, 'spring'],
    [{ or: [VAR('z'), ''] }, ''],
    [{ '!': VAR('e') }, true],
    [{ '!!': '0' }, true],
    [{ '==': [VAR('n'), '5'] }, true],
    [{ '===': [VAR('n'), '5'] }, false],
    [{ '!=': [VAR('n'), '5'] }, false],
    [{ '!==': [VAR('n'), '5'] }, true],
    [{ '<': [1, VAR('n'), 9] }, true],
    [{ '<=': [1, VAR('n'), 4] }, false],
    [{ '>': [VAR('n'), 4] }, true],
    [{ '>=': [VAR('n'), 6] }, false],
    [{ in: ['ring', VAR('t')] }, true],
    [{ in: [2, VAR('l')] }, true],
    [{ in: ['k', VAR('o')] }, false],
    [{ cat: ['a', VAR('n'), VAR('nil')] }, 'a5'],
    [{ substr: [VAR('t'), 1, -2] }, 'pri'],
    [{ '+': ['1', VAR('n')] }, 6],
    [{ '-': VAR('n') }, -5],
    [{ '-': [VAR('n'), 2] }, 3],
    [{ '*': [VAR('n'), 2, 3] }, 30],
    [{ '/': [VAR('n'), 2] }, 2.5],
    [{ '%': [VAR('n'), 2] }, 1],
    [{ min: [3, VAR('n')] }, 3],
    [{ max: [3, VAR('n')] }, 5],
    [{ merge: [VAR('l'), 4, [5]] }, [1, 2, 3, 4, 5]],
    [{ map: [VAR('l'), { '*': [VAR(''), 2] }] }, [2, 4, 6]],
    [{ filter: [VAR('l'), { '>': [VAR(''), 1] }] }, [2, 3]],
    [{ reduce: [VAR('l'), { '+': [VAR('current'), VAR('accumulator')] }, 10] }, 16],
    [{ reduce: [VAR('gone'), VAR('current'), 7] }, 7],
    [{ all: [VAR('l'), { '>': [VAR(''), 0] }] }, true],
    [{ all: [VAR('e'), true] }, false],
    [{ some: [VAR('l'), { '===': [VAR(''), 3] }] }, true],
    [{ none: [VAR('l'), { '===': [VAR(''), 3] }] }, false],
    [{ none: [VAR('gone'), true] }, true],
    [
      [1, VAR('n')],
      [1, 5],
    ],
    [{ in: [VAR('t'), ['winter', { cat: ['spr', 'ing'] }]] }, true],
  ])('the condition %j gives %j', (rule, expected) => {
    expect(evaluate(rule, data)).toEqual(expected);
  });

  test('gives what json-logic-js gives wherever nothing is missing', () => {
    const value = fc.constantFrom<JsonValue>(0, 1, -2.5, '', 'a', '1', true, false, null, [], [1], ['a', 2]);
    const name = fc.constantFrom('a', 'b', 'l');
    const operand = (names: fc.Arbitrary<string>, depth: number): fc.Arbitrary<unknown> => {
      const leaf = fc.oneof(value, names.map(VAR));
      if (depth === 0) return leaf;
      const inner = operand(names, depth - 1);
      const element = operand(fc.constant(''), depth - 1);
      const of = (
        operators: readonly string[],
        ...operands: fc.Arbitrary<unknown>[]
      ): fc.Arbitrary<unknown> =>
        fc
          .tuple(fc.constantFrom(...operators), fc.tuple(...operands))
          .map(([key, list]) => ({ [key]: list }));
      return fc.oneof(
        { weight: 2, arbitrary: leaf },
        of(['==', '===', '!=', '!==', '<', '<=', '>', '>=', '-', '/', '%'], inner, inner),
        of(['<', '<=', 'if', '?:'], inner, inner, inner),
        of(['and', 'or', '+', '*', 'min', 'max', 'cat', 'merge'], inner, inner),
        of(['!', '!!', '+', '-'], inner),
        of(['in'], inner, inner),
        of(['map', 'filter', 'all', 'some', 'none'], inner, element),
        of(['reduce'], inner, operand(fc.constantFrom('current', 'accumulator'), depth - 1), value),
        of(['missing'], name),
      );
    };
    fc.assert(
      fc.property(operand(name, 3), value, value, fc.array(value), (rule, a, b, l) => {
        const data = { a, b, l };
        const reference = jsonLogic.apply(rule as jsonLogic.RulesLogic, data) as unknown;
        expect(evaluate(rule, data)).toEqual(reference ?? null);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

describe('what is missing is not a value', () => {
  test.each<[unknown]>([
    [{ '<': [VAR('gone'), 2] }],
    [{ '==': [VAR('gone'), null] }],
    [{ '!==': [VAR('gone'), 'x'] }],
    [{ in: [VAR('gone'), 'text'] }],
    [{ in: ['x', VAR('gone')] }],
    [{ '+': [VAR('gone'), 1] }],
    [{ substr: [VAR('gone'), 1] }],
    [{ max: [1, VAR('gone')] }],
    [{ '!': { '===': [VAR('gone'), 1] } }],
    [{ '!!': { '===': [VAR('gone'), 1] } }],
    [{ and: [true, { '<': [VAR('gone'), 2] }] }],
    [{ or: [false, { '<': [VAR('gone'), 2] }] }],
    [{ if: [{ '<': [VAR('gone'), 2] }, true, true] }],
    [{ '===': [{ '+': [VAR('gone'), 1] }, 2] }],
    [{ all: [VAR('list'), { '===': [VAR('a'), 1] }] }],
    [{ none: [VAR('list'), { '===': [VAR('a'), 2] }] }],
    [{ map: [VAR('list'), { '+': [VAR('a'), 1] }] }],
    [{ reduce: [VAR('list'), { '+': [VAR('current.a'), VAR('accumulator')] }, 0] }],
  ])('the condition %j is unknown, and does not match', (rule) => {
    const payload = { list: [{ a: 1 }, {}] };
    expect(evaluate(rule, payload)).toBe(UNKNOWN);
    expect(compile(rule).matches(scopeOf(payload))).toBe(false);
  });

  test.each<[unknown, unknown]>([
    [VAR('gone'), MISSING],
    [{ '!': VAR('gone') }, true],
    [{ '!!': VAR('gone') }, false],
    [{ or: [VAR('gone'), 'x'] }, 'x'],
    [{ if: [VAR('gone'), 1, 2] }, 2],
    [{ and: [{ '<': [VAR('gone'), 2] }, false] }, false],
    [{ or: [{ '<': [VAR('gone'), 2] }, true] }, true],
    [{ '<': [{ var: ['gone', 1] }, 2] }, true],
    [{ '==': [{ var: ['gone', null] }, null] }, true],
    [{ cat: ['a', VAR('gone')] }, 'a'],
    [{ '<': [VAR('nil'), 2] }, true],
  ])('the condition %j gives %j', (rule, expected) => {
    expect(evaluate(rule, { nil: null })).toBe(expected);
  });
});

describe('what a payload can do to a condition', () => {
  test('a value that looks like a rule stays data wherever it comes from', () => {
    const rule = { var: 'secret' };
    const payload = { secret: 'found', evil: rule, list: [rule, { cat: ['fo', 'und'] }] };
    const isFound = (operand: unknown): object => ({ '==': [operand, 'found'] });
    expect(evaluate(isFound(VAR('evil')), payload)).not.toBe(true);
    expect(evaluate(isFound({ cat: VAR('evil') }), payload)).toBe(false);
    expect(evaluate({ some: [VAR('list'), isFound(VAR(''))] }, payload)).toBe(false);
    expect(evaluate({ map: [VAR('list'), VAR('')] }, payload)).toEqual(payload.list);
    expect(evaluate({ merge: [VAR('evil'), VAR('list')] }, payload)).toEqual([rule, ...payload.list]);
    expect(evaluate({ reduce: [VAR('list'), VAR('current'), null] }, payload)).toEqual({
      cat: ['fo', 'und'],
    });
    expect(evaluate({ if: [true, VAR('evil')] }, payload)).toEqual(rule);
  });

  test('names never reach a prototype', () => {
    for (const name of [
      'constructor',
      '__proto__',
      'toString',
      'list.constructor.name',
      'list.map',
      'text.trim',
    ]) {
      expect(evaluate(VAR(name), { list: [1], text: 't' })).toBe(MISSING);
    }
    expect(evaluate(VAR('list.length'), { list: [1, 2] })).toBe(2);
  });

  test('a value that cannot be converted makes the comparison unknown', () => {
    const payload = { o: { toString: 1, valueOf: 2 }, i: { indexOf: 'x' } };
    expect(evaluate({ '==': [VAR('o'), 'x'] }, payload)).toBe(UNKNOWN);
    expect(evaluate({ '+': [VAR('o'), 1] }, payload)).toBe(UNKNOWN);
    expect(evaluate({ in: ['x', VAR('i')] }, payload)).toBe(UNKNOWN);
    expect(evaluate({ var: VAR('o') }, payload)).toBe(MISSING);
    expect(evaluate({ missing: VAR('o') }, payload)).toEqual([payload.o]);
  });

  test('a value nested deeper than the stack is compared without recursing', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`) as JsonValue;
    expect(evaluate({ '==': [VAR('deep'), 1] }, { deep })).toBe(UNKNOWN);
    expect(evaluate({ cat: [VAR('deep')] }, { deep })).toBe(UNKNOWN);
  });

  test('long lists cannot be multiplied without end', () => {
    const list = Array.from({ length: 1000 }, () => 'x');
    for (const rule of [
      { reduce: [VAR('list'), { merge: [VAR('accumulator'), VAR('accumulator'), 1] }, []] },
      { reduce: [VAR('list'), { cat: [VAR('accumulator'), VAR('accumulator'), 'x'] }, ''] },
    ]) {
      expect(() => compile(rule).matches(scopeOf({ list }))).toThrow(HookError);
    }
  });
});

describe('a trace', () => {
  const rule = {
    and: [
      { '===': [VAR('headers.x-github-event'), 'push'] },
      { or: [{ '>': [VAR('size'), 10] }, { '!': VAR('draft') }] },
      { '===': [VAR('repository.private'), false] },
    ],
  };

  test('holds every node visited, in order, with what was found and expected', () => {
    const scope = scopeOf({ size: 3, draft: true }, { headers: { 'x-github-event': 'push' } });
    const { matched, nodes, failed, held } = compile(rule).trace(scope);
    expect(matched).toBe(false);
    expect(nodes.map(({ expression, result, leaf }) => [expression.slice(0, 12), result, leaf])).toEqual([
      ['{"and":[{"==', 'false', false],
      ['{"===":[{"va', 'true', true],
      ['{"or":[{">":', 'false', false],
      ['{">":[{"var"', 'false', true],
      ['{"!":{"var":', 'false', false],
      ['{"var":"draf', 'true', true],
    ]);
    expect(nodes[1]).toMatchObject({ found: 'push', expected: 'push' });
    expect(nodes[3]).toMatchObject({ found: 3, expected: 10 });
    expect(failed?.expression).toBe(nodes[2]?.expression);
    expect(held).toBe(1);
  });

  test('names the variable that was missing', () => {
    const scope = scopeOf({ size: 30 }, { headers: { 'x-github-event': 'push' } });
    const { failed, held } = compile(rule).trace(scope);
    expect(failed).toMatchObject({ result: 'unknown', missing: 'repository.private', expected: false });
    expect(held).toBe(2);
  });

  test('lists the leaves that coverage counts, without constants, at their places', () => {
    const { leaves } = compile({ and: [true, { '!': { '===': [VAR('a'), 1] } }, VAR('b')] });
    expect(leaves.map((at) => at.source.text.slice(at.start, at.end))).toEqual([
      '{"===":[{"var":"a"},1]}',
      '{"var":"b"}',
    ]);
  });

  test('decides as matches does', () => {
    const leaf = fc.oneof(
      fc.constantFrom('a', 'b', 'gone').map(VAR),
      fc
        .tuple(fc.constantFrom('===', '<', 'in'), fc.constantFrom('a', 'b', 'gone'))
        .map(([key, name]) => ({ [key]: [VAR(name), 'x'] })),
      fc.boolean(),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(fc.constantFrom('and', 'or', 'if'), fc.array(tie('tree'), { minLength: 2, maxLength: 3 }))
          .map(([key, list]) => ({ [key]: list })),
        fc.tuple(fc.constantFrom('!', '!!'), tie('tree')).map(([key, inner]) => ({ [key]: [inner] })),
      ),
    }));
    const value = fc.constantFrom<JsonValue>('x', 'y', 0, null, true, []);
    fc.assert(
      fc.property(tree, value, value, (rule, a, b) => {
        const condition = compile(rule);
        const scope = scopeOf({ a, b });
        const { matched, failed, nodes } = condition.trace(scope);
        expect(condition.matches(scope)).toBe(matched);
        expect(failed === undefined).toBe(matched);
        expect(nodes[0]?.result === 'true').toBe(matched);
      }),
      { numRuns: 200, seed: 3 },
    );
  });
});

describe('what is found when a condition is compiled', () => {
  test.each<[unknown, string]>([
    ['text', 'CONDITION_NOT_A_RULE'],
    [[VAR('a')], 'CONDITION_NOT_A_RULE'],
    [null, 'CONDITION_NOT_A_RULE'],
    [{ equals: [1, 2] }, 'CONDITION_UNKNOWN_OPERATOR'],
    [{ and: [{ '==': [VAR('a'), 1], '!=': [VAR('b'), 1] }] }, 'CONDITION_NOT_ONE_OPERATOR'],
    [{ and: [{}] }, 'CONDITION_NOT_ONE_OPERATOR'],
    [{ '===': [VAR('a')] }, 'CONDITION_ARITY'],
    [{ '!': [1, 2] }, 'CONDITION_ARITY'],
    [{ and: [] }, 'CONDITION_ARITY'],
    [{ log: VAR('a') }, 'CONDITION_LOG'],
    [{ in: ['a', [{ log: 'a' }]] }, 'CONDITION_LOG'],
  ])('the condition %j is refused with %s', (rule, code) => {
    expect(codes(rule)).toEqual([code]);
  });

  test('64 operators may be nested, not 65', () => {
    const nest = (depth: number): unknown => (depth === 0 ? true : { '!': [nest(depth - 1)] });
    expect(codes(nest(64))).toEqual([]);
    expect(codes(nest(65))).toEqual(['CONDITION_TOO_DEEP']);
  });

  test('equalities that must hold are listed for the routing table', () => {
    const { equalities } = compile({
      and: [
        { '===': [VAR('action'), 'opened'] },
        { and: [{ '==': ['x', VAR('headers.event')] }] },
        { or: [{ '===': [VAR('a'), 'b'] }] },
        { '===': [{ var: ['a', 'b'] }, 'b'] },
        { '===': [VAR('n'), 5] },
      ],
    });
    expect(equalities).toEqual([
      { keys: ['action'], literal: 'opened', strict: true },
      { keys: ['headers', 'event'], literal: 'x', strict: false },
    ]);
  });
});

test('no rule and no payload makes compiling or deciding throw anything but what is documented', () => {
  const operator = fc.constantFrom(
    'var',
    'and',
    '!',
    'if',
    '==',
    '<',
    'in',
    'cat',
    'substr',
    'map',
    'reduce',
    'some',
    'missing',
    'missing_some',
    'merge',
    'max',
    'log',
    'nope',
  );
  const { rule } = fc.letrec<{ rule: unknown }>((tie) => ({
    rule: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.tuple(operator, fc.array(tie('rule'), { maxLength: 3 })).map(([key, list]) => ({ [key]: list })),
      fc.tuple(operator, tie('rule')).map(([key, inner]) => ({ [key]: inner })),
    ),
  }));
  fc.assert(
    fc.property(rule, fc.jsonValue({ maxDepth: 3 }), (value, payload) => {
      const { condition, findings } = compileCondition(located(JSON.parse(JSON.stringify(value))));
      expect(condition === undefined).toBe(findings.some(({ severity }) => severity === 'error'));
      const scope = scopeOf(JSON.parse(JSON.stringify(payload)) as JsonValue);
      try {
        expect(condition?.matches(scope)).toBe(condition?.trace(scope).matched);
      } catch (error) {
        expect(error).toBeInstanceOf(HookError);
      }
    }),
    { numRuns: 200, seed: 9 },
  );
});

test('the schema for editors offers exactly the operators that the compiler takes', () => {
  const { rule } = conditionDefinitions() as {
    rule: { properties: Record<string, { description?: string }> };
  };
  const takes = (operator: string): boolean =>
    !compileCondition(located({ [operator]: [{ var: 'a' }, { var: 'a' }] })).findings.some(
      ({ code }) => code === 'CONDITION_UNKNOWN_OPERATOR' || code === 'CONDITION_LOG',
    );
  expect(rule.properties['var']?.description).toMatch(
    /but for payload, headers, query, path, now, item and index\.$/,
  );
  const offered = Object.keys(rule.properties);
  expect(offered).toContain('===');
  expect(offered.filter((operator) => !takes(operator))).toEqual([]);
  expect(['log', 'eq', 'not'].filter((operator) => takes(operator) || offered.includes(operator))).toEqual(
    [],
  );
});
