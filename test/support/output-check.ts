/** Holds what commands print with `--json` against the schema that is published, and refuses fields it does not have. */
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

type Schema = Readonly<Record<string, unknown>>;

/** The same schema, whose objects with named fields have no others. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = typeof copy['properties'] === 'object' && copy['additionalProperties'] === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}

let validators: Map<string, ValidateFunction> | undefined;

function loadValidators(): Map<string, ValidateFunction> {
  const file = new URL('../../schemas/output.schema.json', import.meta.url);
  const { anyOf, definitions } = closed(JSON.parse(readFileSync(file, 'utf8'))) as {
    readonly anyOf: readonly { readonly properties: { readonly command: { readonly const: string } } }[];
    readonly definitions: Schema;
  };
  const ajv = new Ajv({ strict: false, allErrors: true });
  const forms = Map.groupBy(anyOf, ({ properties }) => properties.command.const);
  return new Map([...forms].map(([command, some]) => [command, ajv.compile({ anyOf: some, definitions })]));
}

/** @throws where a line of stdout that is an envelope is not as the schema says */
export function checkOutput(out: string): void {
  const output = JSON.parse(out) as { readonly version?: unknown; readonly command?: string };
  validators ??= loadValidators();
  const validate = validators.get(output.command ?? '');
  if (validate === undefined) throw new Error(`no command prints this: ${out.slice(0, 500)}`);
  if (validate(output)) return;
  const errors = validate.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  throw new Error(`${errors?.join('\n')}\nin ${out.slice(0, 2_000)}`);
}

/** Whether a command line asks for JSON. */
export const asksForJson = (args: readonly string[]): boolean =>
  args.includes('--json') || (args.includes('check') && args.join(' ').includes('--format json'));

/** The list in what a command printed with `--json`: its runs, its findings and so on. */
export function listIn<Row = Readonly<Record<string, unknown>>>(
  out: string,
  accept: (row: unknown) => row is Row = (row): row is Row => row !== null,
): readonly Row[] {
  checkOutput(out);
  const list = Object.values(JSON.parse(out) as object).find((value): value is unknown[] =>
    Array.isArray(value),
  );
  if (list === undefined) throw new Error(`there is no list in ${out.slice(0, 500)}`);
  return list.filter(accept);
}

/** Commands whose output the schema describes. */
export const describedCommands = (): readonly string[] => [...(validators ??= loadValidators()).keys()];
