import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configJsonSchema, loadConfig } from '../../../src/engine/config/config.ts';
import { findingToJson, formatFindings, parseDocument } from '../../../src/base/document/facts.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-robust-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const bits = fc.constantFrom(
  'a',
  ': ',
  '\n',
  '  ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '|',
  '>',
  '&a ',
  '*a',
  '!',
  '#',
  '? ',
  '<<: ',
  '---\n',
  '\t',
  '\\',
  ',',
  '%',
  '@',
  '__proto__',
  '\r\n',
  '\u0000',
  '\ud800',
  '😀',
  '0x',
  '1e999',
  '.nan',
  '~',
);

test('no text makes a parser throw, and every finding has a place inside the text', () => {
  fc.assert(
    fc.property(
      fc.array(bits, { maxLength: 40 }),
      fc.constantFrom('yaml' as const, 'json' as const, 'json5' as const),
      (parts, format) => {
        const text = parts.join('');
        const { document, findings } = parseDocument({ file: 'f', text }, format);
        expect(document !== undefined || findings.length > 0).toBe(true);
        for (const { at } of findings) {
          expect(at?.start).toBeGreaterThanOrEqual(0);
          expect(at?.start).toBeLessThanOrEqual(text.length);
        }
        findings.map(findingToJson);
        for (const kind of ['pretty', 'github', 'sarif'] as const) formatFindings(findings, { format: kind });
      },
    ),
    { numRuns: 200, seed: 11 },
  );
});

/** Paths of every key that the configuration knows, from its own schema. */
function keyPaths(schema: object, path: readonly string[] = []): readonly (readonly string[])[] {
  const { properties } = schema as { properties?: Readonly<Record<string, object>> };
  return Object.entries(properties ?? {}).flatMap(([key, inner]) => [
    [...path, key],
    ...keyPaths(inner, [...path, key]),
  ]);
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let object = target;
  for (const key of path.slice(0, -1)) object = (object[key] ??= {}) as Record<string, unknown>;
  object[path.at(-1) ?? ''] = value;
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '${X}',
    '${',
    '$${X}',
    '${X',
    { file: '.' },
    { file: 'none' },
    { file: 3 },
    '',
    -1,
    1e308,
    [],
    {},
    null,
  ),
);

test.each(['sluice.json', 'openclaw.json'])(
  'any value at any key of %s gives settings or findings',
  async (name) => {
    const paths = keyPaths(configJsonSchema()).filter((path) => path.length > 1);
    expect(paths.length).toBeGreaterThan(60);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), odd, fc.boolean(), async (path, value, needSecrets) => {
        const content: Record<string, unknown> = { hooks: { enabled: true, token: 't0ken' } };
        put(content, path, value);
        const file = join(folder, name);
        writeFileSync(file, JSON.stringify(content).replaceAll('__proto__', 'proto'));
        const { config, findings } = await loadConfig(file, { env: { X: 'x' }, needSecrets, cwd: folder });
        const hasError = findings.some(({ severity }) => severity === 'error');
        expect(config === undefined).toBe(hasError);
        expect(formatFindings(findings)).not.toContain('undefined');
      }),
      { numRuns: 200, seed: 5 },
    );
  },
);

test('the JSON Schema describes every key and takes the schema of a mapping', () => {
  const schema = configJsonSchema({ $ref: './mapping.schema.json' });
  const undescribed = keyPaths(schema).filter((path) => {
    let inner = schema as { properties?: Record<string, object>; description?: string };
    for (const key of path) inner = inner.properties?.[key] ?? {};
    return inner.description === undefined;
  });
  expect(undescribed).toEqual([]);
  expect(schema).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { hooks: { properties: { mappings: { items: { $ref: './mapping.schema.json' } } } } },
  });
  expect(schema).toMatchObject({
    properties: {
      server: {
        properties: {
          port: {
            description: expect.any(String),
            anyOf: [
              { type: 'integer', maximum: 65_535 },
              { type: 'string', pattern: '^\\$\\{[A-Za-z_]' },
            ],
          },
        },
      },
    },
  });
  expect(JSON.stringify(schema)).not.toContain('"required":["hooks"');
});
