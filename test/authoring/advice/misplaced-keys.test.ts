import { expect, test } from 'vitest';
import { z } from 'zod';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { configSchema } from '../../../src/engine/config/config-schema.ts';
import { mailSchema } from '../../../src/engine/config/mail-schema.ts';
import { fromZodError, type Finding, type Path } from '../../../src/base/document/document.ts';
import { type SchemaName, parseDocument } from '../../../src/base/document/facts.ts';
import { MappingSchema } from '../../../src/engine/mapping/mapping-schema.ts';
import { sampleOf, strictObjects, type StrictObject } from '../../support/schema-samples.ts';
import { said } from '../../support/said.ts';

const FILES = [
  ['sluice.yaml', configSchema, 'configuration'],
  // Its block is looked at by itself, after the rest of the file.
  ['hooks.mail', z.object({ hooks: z.object({ mail: mailSchema }) }), undefined],
  ['a mapping', MappingSchema, 'mapping'],
] as const;

interface Misplacement {
  readonly text: string;
  readonly key: string;
  readonly target: Path;
}

test.each(FILES)(
  'a key of %s in a wrong object is told where it belongs, where one place is the nearest',
  (_, schema, of) => {
    const misplaced = misplacements(schema);
    // A third in the short form: of each object there are many.
    const isLong = process.env['TEST_FORM'] === 'long';
    const asked = misplaced.filter((_, index) => isLong || index % 3 === 0);
    const told = asked.map((each) => [each, unknownKeys(each, { schema, of })] as const);
    const wrong = told.filter(([, [found]]) =>
      /\bremove it\b/.test(found === undefined ? 'remove it' : said(found.hint)),
    );
    // Where several objects take the key, nothing says which was meant.
    expect(wrong.length).toBeLessThan(asked.length * 0.4);
    expect(misplaced.length).toBeGreaterThan(40);
  },
);

/** Each key of each object in the object around it, in each beside it and in each inside it, where it is not known. */
function misplacements(schema: z.ZodType): readonly Misplacement[] {
  const objects = strictObjects(schema).filter(({ path }) => schema !== configSchema || path[1] !== 'mail');
  return objects.flatMap((own) =>
    objects
      .filter((target) => isNear(own, target))
      .flatMap((target) =>
        Object.entries(own.shape)
          .filter(([key]) => !objects.some((one) => isSame(one, target) && key in one.shape))
          .map(([key, value]) => ({ key, target: target.path, text: print(target, key, sampleOf(value)) })),
      ),
  );
}

/** Around, inside or beside, in one option of each union on the way. */
function isNear(own: StrictObject, target: StrictObject): boolean {
  const [above, outer] = [own.around.at(-1), target.around.at(-1)];
  const isBeside = above !== undefined && above === outer && own.path.join('.') !== target.path.join('.');
  return above === target.schema || outer === own.schema || isBeside;
}

const isSame = (a: StrictObject, b: StrictObject): boolean => a.path.join('.') === b.path.join('.');

/** The target with what it and those around it need, then the key; as lines. */
function print({ schema, path, around }: StrictObject, key: string, value: unknown): string {
  const members = { ...(sampleOf(schema) as object), [key]: value };
  const levels = [...around, schema].map((one, depth) => {
    const own =
      depth === path.length ? members : { ...(sampleOf(one) as object), [String(path[depth])]: undefined };
    return Object.entries(own).map(
      ([name, one]) => `${'  '.repeat(depth)}${name}:${one === undefined ? '' : ` ${JSON.stringify(one)}`}\n`,
    );
  });
  return levels
    .flatMap((lines, depth) => (depth === path.length ? lines : last(lines, String(path[depth]))))
    .join('');
}

/** The object that holds the next lines comes last. */
function last(lines: readonly string[], key: string): readonly string[] {
  return lines.toSorted((a, b) => Number(a.trim() === `${key}:`) - Number(b.trim() === `${key}:`));
}

function unknownKeys(
  { text }: Pick<Misplacement, 'text'>,
  { schema, of }: { readonly schema: z.ZodType; readonly of: SchemaName | undefined },
): readonly Finding[] {
  const { document } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  if (document === undefined) throw new Error(text);
  const { error } = schema.safeParse(document.root.value);
  return error === undefined
    ? []
    : advise(fromZodError(error, document.root, schema, of)).filter(({ code }) => code === 'UNKNOWN_KEY');
}
