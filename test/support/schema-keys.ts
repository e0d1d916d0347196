/** A JSON Schema as far as keys are concerned. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
}

/** A path of keys; `*` stands for any key of a map and any position of a list. */
export type KeyPath = readonly string[];

/** Every key that a JSON Schema names, with all its alternatives, each once. */
export function schemaKeys(schema: object): readonly KeyPath[] {
  const found = new Map<string, KeyPath>();
  collect(schema, [], found);
  return [...found.values()];
}

function collect(node: SchemaNode, path: KeyPath, found: Map<string, KeyPath>): void {
  for (const option of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) {
    collect(option, path, found);
  }
  for (const [key, inner] of Object.entries(node.properties ?? {})) {
    found.set([...path, key].join('.'), [...path, key]);
    collect(inner, [...path, key], found);
  }
  if (typeof node.additionalProperties === 'object')
    collect(node.additionalProperties, [...path, '*'], found);
  if (node.items !== undefined) collect(node.items, [...path, '*'], found);
}

/** Where a value has a key of the schema: `runners.*.argv` gives one path for each runner with an `argv`. */
export function instancesOf(value: unknown, path: KeyPath): readonly KeyPath[] {
  const [key, ...rest] = path;
  if (key === undefined) return [[]];
  if (typeof value !== 'object' || value === null) return [];
  const keys = key === '*' ? Object.keys(value) : key in value ? [key] : [];
  return keys.flatMap((own) =>
    instancesOf((value as Record<string, unknown>)[own], rest).map((below) => [own, ...below]),
  );
}

/** A copy without one key. */
export function without<Value>(value: Value, path: KeyPath): Value {
  const copy = structuredClone(value);
  let owner = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) owner = owner[key] as Record<string, unknown>;
  delete owner[path.at(-1) ?? ''];
  return copy;
}
