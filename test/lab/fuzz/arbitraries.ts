/** Inputs that several properties share. */
import * as fc from 'fast-check';
import type { JsonValue } from '../../../src/base/json.ts';
import { CODE_POINT } from '../../support/code-point.ts';

export interface FuzzProperty {
  readonly name: string;
  /** How many cases the fixed run takes: all of them together stay short. */
  readonly runs: number;
  check(parameters: { readonly seed: number; readonly numRuns: number }): Promise<void>;
}

export const text = fc.oneof(
  fc.string({ unit: CODE_POINT, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '{{',
    '}}',
    '{{#each a}}',
    '{{/each}}',
    '{{a.b.[c]}}',
    '{{json payload}}',
    '__proto__',
    '\u202e',
    '\0',
  ),
);
export const texts = fc.array(text, { maxLength: 8 }).map((parts) => parts.join(''));
export const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

/** Names that payloads, templates and conditions below have in common, so that they meet. */
export const NAMES = [
  'a',
  'b',
  'list',
  'text',
  'id',
  '__proto__',
  'constructor',
  'length',
  '0',
  'ä b',
] as const;
const name = fc.constantFrom(...NAMES);

/** Values that code reads differently from how they look. */
const odd = fc.constantFrom<JsonValue>(
  '820982911946154508',
  '1e400',
  '',
  ' ',
  '2026-03-01T12:00:00Z',
  -0,
  1e308,
  9_007_199_254_740_992,
  '<<<END_EXTERNAL_CONTENT>>>',
  '＜＜＜',
  '{{json payload}}',
);

/** A payload in which the paths of the templates and conditions often lead somewhere. */
export const payload: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    odd,
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: false }),
  ),
})).value;

const path = fc.oneof(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.map((each) => `[${each}]`).join('.')),
  fc.constantFrom(
    'payload',
    'this',
    '@root.list',
    'headers.x',
    'query.a',
    'item',
    '../a',
    '@index',
    '@key',
    'nonsense.x.y',
  ),
);

const literal = fc.oneof(
  fc.integer({ min: -5, max: 100_000 }).map(String),
  fc.constantFrom(
    '"x"',
    '", "',
    '"yyyy-MM-dd HH:mm"',
    '"Europe/Berlin"',
    '"Nowhere/None"',
    'true',
    'null',
    '1e400',
  ),
);

/** Names with the least and the most operands they take. */
const HELPERS: readonly (readonly [string, number, number])[] = [
  ...['json', 'lower', 'upper', 'trim', 'not', 'length', 'nothing'].map((each) => [each, 1, 1] as const),
  ...['truncate', 'eq', 'ne', 'lookup'].map((each) => [each, 2, 2] as const),
  ...['default', 'join', 'and', 'or'].map((each) => [each, 2, 3] as const),
  ...['date', 'lines'].map((each) => [each, 1, 2] as const),
];

/** A name with operands, seldom too few or too many. */
function callOf<T>(
  names: readonly (readonly [string, number, number])[],
  operand: fc.Arbitrary<T>,
): fc.Arbitrary<readonly [string, readonly T[]]> {
  return fc
    .tuple(fc.constantFrom(...names), fc.array(operand, { minLength: 3, maxLength: 3 }), fc.nat(19))
    .map(([[called, min, max], operands, choice]) => {
      const count = choice === 0 ? 0 : choice === 1 ? 3 : min + (choice % (max - min + 1));
      return [called, operands.slice(0, count)];
    });
}

/** Templates with helpers in helpers and blocks in blocks; some do not compile. */
export const template: fc.Arbitrary<string> = fc.letrec<{ template: string; call: string; operand: string }>(
  (tie) => ({
    operand: fc.oneof(
      { depthSize: 'small' },
      path,
      literal,
      tie('call').map((call) => `(${call})`),
    ),
    call: callOf(HELPERS, tie('operand')).map(([helper, operands]) => [helper, ...operands].join(' ')),
    template: fc
      .array(
        fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(
            'text ',
            '\n',
            '{{!-- note --}}',
            '\\{{x}}',
            '{{{a}}}',
            '{{> part}}',
            '{{else}}',
            '{{/if}}',
          ),
          path.map((each) => `{{${each}}}`),
          path.map((each) => `{{~${each}~}}`),
          tie('call').map((call) => `{{${call}}}`),
          fc
            .tuple(
              fc.constantFrom('if', 'unless', 'each', 'with'),
              tie('operand'),
              tie('template'),
              tie('template'),
            )
            .map(
              ([block, operand, inner, otherwise]) =>
                `{{#${block} ${operand}}}${inner}{{else}}${otherwise}{{/${block}}}`,
            ),
        ),
        { maxLength: 4 },
      )
      .map((parts) => parts.join('')),
  }),
).template;

const OPERATORS: readonly (readonly [string, number, number])[] = [
  ...['!', '!!', 'log', 'nothing'].map((each) => [each, 1, 1] as const),
  ...['===', '!==', '==', '!=', 'in', '/', '%'].map((each) => [each, 2, 2] as const),
  ...['<', '<=', '>', '>=', 'substr'].map((each) => [each, 2, 3] as const),
  ...['and', 'or', 'cat', 'min', 'max', '+', '*', 'merge', '-', 'missing'].map(
    (each) => [each, 1, 3] as const,
  ),
  ...['if', 'reduce'].map((each) => [each, 3, 3] as const),
  ...['some', 'all', 'none', 'map', 'filter', 'missing_some'].map((each) => [each, 2, 2] as const),
];

/** JsonLogic, mostly of the right form. */
export const rule: fc.Arbitrary<unknown> = fc.letrec<{ rule: unknown }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small' },
    odd,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    path.map((each) => ({ var: each.replaceAll(/[[\]]/g, '') })),
    callOf(OPERATORS, tie('rule')).map(([operator, operands]) => ({ [operator]: operands })),
    callOf(OPERATORS, tie('rule')).map(([operator, operands]) => ({ [operator]: operands })),
  ),
})).rule;

/** The longest that any single case may take: far more than it needs, far less than a hang. */
const MAX_CASE_MS = 5_000;

/** Runs one case, and says so where it takes so long that it hung. */
export function inTime<T>(run: () => T): T {
  const begun = performance.now();
  const result = run();
  const tookMs = performance.now() - begun;
  if (tookMs > MAX_CASE_MS) throw new Error(`one case took ${Math.round(tookMs)} ms`);
  return result;
}
