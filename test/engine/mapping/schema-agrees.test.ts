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
import { loadSamples } from '../../../src/frontends/cli/types.ts';
import { silentTerminal } from '../../support/cli-terminal.ts';
import { mappingJsonSchema, MappingSchema, OPERATORS } from '../../../src/engine/mapping/facts.ts';
import { sampleOf } from '../../support/schema-samples.ts';
import { withSamples } from '../../../src/frontends/cli/sampled-schema.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { compileList } from '../../support/mapping-compile.ts';

const compile = (schema: object) =>
  new Ajv({ strict: false, validateFormats: false, validateSchema: false }).compile(schema);
const accepts = compile(mappingJsonSchema());
/** With a sample of the hook name that all mappings here have, and one whose name is no plain word. */
const sampled = withSamples(
  mappingJsonSchema(),
  ['a', 'b.c/d'].map((path) => ({
    request: createHookRequest({
      path,
      headers: { 'x-a': '1' },
      payload: { $ref: 'x', date: 1, order: { lines: [{ 'a b': 1 }, { c: null }] } },
      receivedAt: 0,
    }),
    from: 'a.json',
  })),
);
const acceptsSampled = compile(sampled);

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

test(
  'the schema takes what the validator takes, and refuses what both can say is wrong',
  { timeout: 80_000 },
  () => {
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
        if (isRight) expect([each, acceptsSampled(each)]).toEqual([each, true]);
      }),
      { numRuns: 4_000, seed: 20_261_127 },
    );
    expect(taken).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(500);
  },
);

test('with samples it suggests their paths, in the mappings of their hook name', () => {
  const { definitions } = sampled as { definitions: Record<string, Record<string, unknown>> };
  const names = ['headers.x-a', '$ref', 'payload.date', 'order', 'order.lines', 'order.lines.0'];
  const condition = { properties: { var: { examples: [...names, 'order.lines.0.a b'] } } };
  expect(definitions['condition1']).toMatchObject(condition);
  expect(definitions['list1']).toEqual({ examples: ['order.lines'] });
  expect(definitions['template1']).toEqual({
    defaultSnippets: [
      { label: '{{headers.x-a}}', body: '^"{{headers.x-a}}"' },
      { label: '{{$ref}}', body: String.raw`^"{{\$ref}}"` },
      { label: '{{payload.date}}', body: '^"{{payload.date}}"' },
      { label: '{{order.lines.[0].[a b]}}', body: '^"{{order.lines.[0].[a b]}}"' },
    ],
  });
  const suggested = {
    properties: { dedupe: { properties: { key: { $ref: '#/definitions/template2' } } } },
  };
  const named = { properties: { match: { properties: { path: { pattern: String.raw`^/*b\.c/d/*$` } } } } };
  const { allOf = [] } = (definitions['samples'] ?? {}) as { allOf?: readonly object[] };
  expect(Object.entries(allOf[1] ?? {})).toMatchObject([
    ['if', named],
    ['then', suggested],
  ]);
});

test('it suggests at every key that is a template', () => {
  const isTemplate = ({ description = '' }: { description?: string }) =>
    /^(?:Experimental: )?template\b/i.test(description);
  const { anyOf, definitions } = sampled as {
    anyOf: [object, object, MappingJson];
    definitions: { samples: { allOf: { then: MappingJson }[] } };
  };
  const suggested = definitions.samples.allOf[0]?.then.properties ?? {};
  for (const [key, schema] of Object.entries(anyOf[2].properties)) {
    const keyed = schema.anyOf?.find(({ properties }) => properties?.['key'] !== undefined) ?? schema;
    const isAny = isTemplate(schema) || isTemplate(keyed.properties?.['key'] ?? {});
    expect([key, key in suggested]).toEqual([key, isAny || /^(?:match|forEach)$/.test(key)]);
  }
});

interface MappingJson {
  readonly description?: string;
  readonly anyOf?: readonly MappingJson[];
  readonly properties: Readonly<Record<string, MappingJson>>;
}

test('every mapping file of this project is right with it', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { table, samples } = await loadSamples(silentTerminal(root), { config: `${root}/sluice.yaml` });
  const whole = compile(withSamples(mappingJsonSchema(), samples));
  const files = globSync('{mappings,test/corpus}/**/*.{yaml,json}', { cwd: root });
  expect(files.length).toBeGreaterThan(20);
  expect(table.mappings.length).toBeGreaterThan(20);
  for (const file of files) {
    const value: unknown = parse(readFileSync(join(root, file), 'utf8'));
    expect([file, whole(value), whole.errors]).toEqual([file, true, null]);
  }
});
