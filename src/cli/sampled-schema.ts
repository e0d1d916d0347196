/*
 * The schema of mapping files with the paths that samples have, for editors that know schemas and no language server. What
 * is added only suggests: examples and snippets refuse nothing.
 */
import { knownPaths, parseExact } from '../console/facts.ts';
import type { Sample } from '../advice/samples.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { isReserved, listHelpers, templatePath } from '../mapping/facts.ts';

/** The schema with what is suggested in a mapping of each hook name that has samples. */
export function withSamples(schema: object, samples: readonly Sample[]): object {
  const root = schema as JsonObject;
  const mapping = mappingsIn(root)[0];
  const byName = [...Map.groupBy(samples, ({ request }) => request.path)];
  if (mapping === undefined || byName.length === 0) return schema;
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  const sampled = byName.map(([name], at) => ({ if: hasName(name), then: suggestedIn(mapping, at) }));
  for (const each of mappingsIn(root)) Object.assign(each, { allOf: [{ $ref: '#/definitions/samples' }] });
  const own = Object.assign({}, ...byName.map(([, some], at) => definitionsOf(some, at))) as JsonObject;
  const definitions = { ...(root['definitions'] as JsonObject), samples: { allOf: sampled }, ...own };
  return { ...root, definitions };
}

/** Every place of the schema that is one of a mapping. */
function mappingsIn(schema: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).flatMap(mappingsIn);
  if (!isJsonObject(schema)) return [];
  const { properties, anyOf, items } = schema;
  if (isJsonObject(properties) && 'messageTemplate' in properties) return [schema];
  const inside = isJsonObject(properties) ? properties['mappings'] : undefined;
  return [anyOf, items, inside].flatMap(mappingsIn);
}

/** Slashes around a hook name count for nothing. */
function hasName(name: string): JsonObject {
  const path = { type: 'string', pattern: `^/*${name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}/*$` };
  return { required: ['match'], properties: { match: { required: ['path'], properties: { path } } } };
}

function suggestedIn(mapping: JsonObject, at: number): JsonObject {
  const match = { properties: { when: refer('condition', at) } };
  const templates = templatesIn(mapping, refer('template', at))?.['properties'] as JsonObject;
  return { properties: { ...templates, match, forEach: refer('list', at) } };
}

const refer = (what: string, at: number): JsonObject => ({ $ref: `#/definitions/${what}${at + 1}` });

/** The same suggestions at every key that is a template, as its description says. */
function templatesIn(schema: JsonValue | undefined, suggested: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { description, properties, anyOf } = schema;
  if (typeof description === 'string' && /^(?:Experimental: )?template\b/i.test(description))
    return suggested;
  if (Array.isArray(anyOf)) {
    const choices = (anyOf as readonly JsonValue[]).map((each) => templatesIn(each, suggested));
    return choices.find((each) => each !== undefined);
  }
  if (!isJsonObject(properties)) return undefined;
  const keys = Object.entries(properties).flatMap(([key, inner]) => {
    const found = templatesIn(inner, suggested);
    return found === undefined ? [] : [[key, found] as const];
  });
  return keys.length === 0 ? undefined : { properties: Object.fromEntries(keys) };
}

/** Of one hook name: conditions suggest where a rule reads a variable, however deep it is in other rules. */
function definitionsOf(samples: readonly Sample[], at: number): JsonObject {
  const found = pathsOf(samples);
  const paths = { examples: found.map(({ name }) => name) };
  const self = refer('condition', at);
  const variable = { ...paths, items: paths };
  const condition = {
    items: self,
    properties: { var: variable, missing: variable },
    additionalProperties: self,
  };
  return {
    [`condition${at + 1}`]: condition,
    [`template${at + 1}`]: { defaultSnippets: found.filter(({ isText }) => isText).map(snippetOf) },
    [`list${at + 1}`]: { examples: found.filter(({ isList }) => isList).map(({ name }) => name) },
  };
}

/** Editors of YAML and of JSON write what stands after `^` as it is: a template needs its quotes in both. */
function snippetOf({ keys }: SuggestedPath): JsonObject {
  const label = `{{${templatePath(keys)}}}`;
  return { label, body: `^${JSON.stringify(label)}`.replaceAll('$', String.raw`\$`) };
}

interface SuggestedPath {
  readonly keys: readonly string[];
  /** The same as conditions and forEach name it. */
  readonly name: string;
  readonly isList: boolean;
  readonly isText: boolean;
}

/** What samples have; of lists, as the first element has it. */
function pathsOf(samples: readonly Sample[]): readonly SuggestedPath[] {
  const contents = samples.map(({ request: { headers, payload } }) => ({
    headers,
    payload: parseExact(JSON.stringify(payload)),
  }));
  const helpers = new Set(listHelpers().map(({ name }) => name));
  return knownPaths(contents)
    .filter(({ path }) => !/\.[1-9]\d*(?:\.|$)/.test(path))
    .map(({ path, values }) => {
      const [root, ...inner] = path.split('.') as [string, ...string[]];
      const [first = ''] = inner;
      // A name at the root of a request, or of a helper, means something else than the field of that name.
      const isBare = root === 'payload' && !isReserved(first) && !helpers.has(first);
      const keys = isBare ? inner : [root, ...inner];
      const isText = values.some((value) => value !== 'list' && value !== 'object');
      return { keys, name: keys.join('.'), isList: values.includes('list'), isText };
    });
}
