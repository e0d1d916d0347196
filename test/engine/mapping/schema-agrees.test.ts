/**
 * What an editor's schema refuses of a mapping, the validator refuses, and the other way round where a JSON Schema can say
 * it: on thousands of mappings that are made of right values with one thing wrong in many of them.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { mappingJsonSchema, MappingSchema, OPERATORS } from '../../../src/engine/mapping/facts.ts';
import { sampleOf } from '../../support/schema-samples.ts';
import { compileList } from '../../support/mapping-compile.ts';

const compile = (schema: object) =>
  new Ajv({ strict: false, validateFormats: false, validateSchema: false }).compile(schema);
const accepts = compile(mappingJsonSchema());
/** Codes of what both can say: names, kinds and values of keys, operators and how many operands they take. */
const OF_BOTH =
  /^(?:UNKNOWN_KEY|MISSING_KEY|WRONG_TYPE|INVALID_VALUE|CONDITION_(?:UNKNOWN_OPERATOR|NOT_ONE_OPERATOR|ARITY|NOT_A_RULE))$/;

const errorsOf = (mapping: object): readonly string[] =>
  compileList([mapping]).findings.flatMap(({ severity, code }) => (severity === 'error' ? [code] : []));

const KEYS = Object.keys(MappingSchema.shape) as (keyof typeof MappingSchema.shape)[];
const VALUES = new Map(KEYS.map((key) => [key, sampleOf(MappingSchema.shape[key])]));

const variable = fc
  .constantFrom('action', 'payload.issue.title', 'headers.x-a', 'query.a')
  .map((name) => ({ var: name }));
const scalar = fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.boolean());
const operator = fc.constantFrom(...OPERATORS.keys(), 'equals', 'contains', '=', '');
/** Rules of any operator with any number of operands. */
const rule = fc.letrec<{ rule: unknown }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    variable,
    scalar,
    fc
      .tuple(operator, fc.array(tie('rule'), { maxLength: 4 }))
      .map(([name, operands]) => ({ [name]: operands })),
    fc.tuple(operator, tie('rule')).map(([name, operand]) => ({ [name]: operand })),
  ),
})).rule;

const wrong = fc.constantFrom<unknown>(null, true, 7, 'x', [], {}, [1], { a: 1 });
/** Keys with values that the schema takes; in some one key is of another kind, or unknown, or has a letter too many. */
const mapping = fc
  .record({
    keys: fc.subarray(KEYS, { maxLength: 8 }),
    when: fc.option(rule, { nil: undefined }),
    slip: fc.option(fc.tuple(fc.constantFrom(...KEYS, 'colour', 'matches'), wrong), {
      nil: undefined,
      freq: 2,
    }),
  })
  .map(({ keys, when, slip }) => {
    const own = Object.fromEntries(keys.map((key) => [key, VALUES.get(key)]));
    const match = { path: 'a', ...(when === undefined ? {} : { when }) };
    return { id: 'a', messageTemplate: 'x', ...own, match, ...(slip && { [slip[0]]: slip[1] }) };
  });

test('the schema takes what the validator takes, and refuses what both can say is wrong', () => {
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(mapping, (each) => {
      const errors = errorsOf(each);
      if (!errors.every((code) => OF_BOTH.test(code))) return;
      const isRight = errors.length === 0;
      if (isRight) taken += 1;
      else refused += 1;
      const isAccepted = accepts(each);
      expect([each, errors, isAccepted, isRight ? accepts.errors : null]).toEqual([
        each,
        errors,
        isRight,
        null,
      ]);
    }),
    { numRuns: 4_000, seed: 20_261_127 },
  );
  expect(taken).toBeGreaterThan(500);
  expect(refused).toBeGreaterThan(500);
});

test('every mapping file of this project is right with it', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const files = globSync('{mappings,test/corpus}/**/*.{yaml,json}', { cwd: root });
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) {
    const value: unknown = parse(readFileSync(join(root, file), 'utf8'));
    expect([file, accepts(value), accepts.errors]).toEqual([file, true, null]);
  }
});
