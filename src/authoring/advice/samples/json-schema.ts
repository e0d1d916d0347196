/**
 * Says what a JSON Schema allows at a path. It reads `properties`, `items`, `additionalProperties`, `type`, `allOf`,
 * `anyOf`, `oneOf` and references within the file. Anything else (`if`, patterns, other files) forbids nothing.
 */
import { isJsonObject, type JsonValue } from '../../../base/json.ts';

/**
 * `named` means that the path may be there. `forbidden` means that it cannot, with the names that can.
 * Undefined means that the schema does not decide.
 */
export type SchemaAnswer =
  { readonly kind: 'named' } | { readonly kind: 'forbidden'; readonly known: readonly string[] } | undefined;

const NAMED = { kind: 'named' } as const;
const MAX_DEPTH = 40;

export const schemaSays = (root: JsonValue, keys: readonly string[]): SchemaAnswer =>
  judge(root, keys, { root, depth: 0 });

interface Within {
  readonly root: JsonValue;
  readonly depth: number;
}

function judge(schema: JsonValue | undefined, keys: readonly string[], within: Within): SchemaAnswer {
  if (schema === false) return { kind: 'forbidden', known: [] };
  if (!isJsonObject(schema) || within.depth > MAX_DEPTH) return undefined;
  const next = { ...within, depth: within.depth + 1 };
  const { $ref, allOf, anyOf, oneOf } = schema;
  if (typeof $ref === 'string') return judge(referred(within.root, $ref), keys, next);
  const all = [ownSays(schema, keys, next), ...listOf(allOf).map((each) => judge(each, keys, next))];
  for (const choice of [anyOf, oneOf].map(listOf))
    if (choice.length > 0) all.push(anySays(choice, keys, next));
  return all.find((said) => said?.kind === 'forbidden') ?? all.find((said) => said?.kind === 'named');
}

/** A path is forbidden where each choice forbids it. */
function anySays(choice: readonly JsonValue[], keys: readonly string[], within: Within): SchemaAnswer {
  const said = choice.map((each) => judge(each, keys, within));
  const known = said.flatMap((each) => (each?.kind === 'forbidden' ? each.known : []));
  if (said.every((each) => each?.kind === 'forbidden')) return { kind: 'forbidden', known };
  return said.find((each) => each?.kind === 'named');
}

function ownSays(
  { properties, items, additionalProperties, patternProperties, type }: Readonly<Record<string, JsonValue>>,
  [key, ...rest]: readonly string[],
  within: Within,
): SchemaAnswer {
  if (key === undefined) return NAMED;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return judge(properties[key], rest, within);
  const types = listOf(Array.isArray(type) ? type : type === undefined ? [] : [type]);
  const has = (name: string): boolean => types.length === 0 || types.includes(name);
  if (has('array') && /^\d+$/.test(key)) return items === undefined ? undefined : judge(items, rest, within);
  // A text has a length, too.
  if (patternProperties !== undefined || key === 'length') return undefined;
  if (!has('object')) return { kind: 'forbidden', known: [] };
  return additionalProperties === false
    ? { kind: 'forbidden', known }
    : judge(additionalProperties, rest, within);
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];

function referred(root: JsonValue, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').filter(Boolean);
  return keys.reduce<JsonValue | undefined>((found, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, root);
}
