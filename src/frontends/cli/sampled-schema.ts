/*
 * The schema of mapping files with the paths that samples have, for editors that know schemas and no language server. What
 * is added only suggests: examples and snippets refuse nothing.
 */
import { knownPaths, parseExact } from '../console/facts.ts';
import type { Sample } from '../../authoring/advice/samples.ts';
import { templatePath } from '../../engine/mapping/facts.ts';
import { fieldInTemplate } from './sample-text.ts';

/** A mapping file as `mappingJsonSchema` describes it: a list, an object that holds one, or one mapping. */
interface FileSchema {
  readonly anyOf: readonly [
    { readonly items: object },
    { readonly properties: { readonly mappings: { readonly items: object } } },
    object,
  ];
  readonly definitions: object;
}

/** Keys that are templates, and those whose `key` is one. */
const TEMPLATES = 'name sessionKey messageTemplate textTemplate channel to thread model thinking'.split(' ');
const KEYED = 'dedupe debounce maxRuns'.split(' ');

/** The schema with what is suggested in a mapping of each hook name that has samples. */
export function withSamples(schema: object, samples: readonly Sample[]): object {
  const { anyOf, definitions } = schema as FileSchema;
  const byName = [...Map.groupBy(samples, ({ request }) => request.path)];
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  const allOf = byName.map(([name], at) => ({ if: hasName(name), then: suggestedAt(at) }));
  if (allOf.length === 0) return schema;
  for (const each of [anyOf[0].items, anyOf[1].properties.mappings.items, anyOf[2]])
    Object.assign(each, { allOf: [{ $ref: '#/definitions/samples' }] });
  const own = byName.map(([, some], at) => definitionsOf(some, at));
  return { ...schema, definitions: Object.assign({ ...definitions, samples: { allOf } }, ...own) as object };
}

/** Slashes around a hook name count for nothing. */
function hasName(name: string): object {
  const path = { type: 'string', pattern: `^/*${name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}/*$` };
  return { required: ['match'], properties: { match: { required: ['path'], properties: { path } } } };
}

const refer = (what: string, at: number): object => ({ $ref: `#/definitions/${what}${at + 1}` });

function suggestedAt(at: number): object {
  const template = refer('template', at);
  const keys = [
    ...TEMPLATES.map((key) => [key, template] as const),
    ...KEYED.map((key) => [key, { properties: { key: template } }] as const),
  ];
  const match = { properties: { when: refer('condition', at) } };
  return { properties: { ...Object.fromEntries(keys), match, forEach: refer('list', at) } };
}

/** Of one hook name: conditions suggest where a rule reads a variable, however deep it is in other rules. */
function definitionsOf(samples: readonly Sample[], at: number): object {
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
function snippetOf({ keys }: SuggestedPath): object {
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
  return knownPaths(contents)
    .filter(({ path }) => !/\.[1-9]\d*(?:\.|$)/.test(path))
    .map(({ path, values }) => {
      const [root, ...inner] = path.split('.') as [string, ...string[]];
      const [first = ''] = inner;
      const isBare = root === 'payload' && fieldInTemplate([first]) === first;
      const keys = isBare ? inner : [root, ...inner];
      const isText = values.some((value) => value !== 'list' && value !== 'object');
      return { keys, name: keys.join('.'), isList: values.includes('list'), isText };
    });
}
