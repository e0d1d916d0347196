/**
 * Writes TypeScript types of what a sender sends, one for each kind of event in its samples. A field that some samples
 * of the kind lack is optional. A text field that tells kinds apart is a union of the texts that were seen.
 */
import { plural } from '../../../base/finding.ts';
import { ExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { canonicalPath } from '../../../engine/mapping/facts.ts';
import type { SampleKind } from './sampled-mapping.ts';

/** A deeper value is `unknown`. */
const MAX_DEPTH = 12;
/** An object with more keys is a map by ids, whose values are alike. */
const MAX_KEYS = 120;

/** Returns the text of a file that exports `<Name>Payload`, a union of its kinds where there are several. */
export function payloadTypes(hookName: string, kinds: readonly SampleKind[]): string {
  const whole = `${pascal(hookName)}Payload`;
  const named = kinds.map((kind, index) => ({
    kind,
    name: kinds.length === 1 && kind.name === '' ? whole : nameOf(kind, kinds.slice(0, index), whole),
  }));
  const types = named.map(({ kind: { name, samples, fields }, name: type }) => {
    const literals = new Set(fields.map(canonicalPath));
    const text = typeOf(
      samples.map(({ request }) => request.payload),
      { keys: ['payload'], literals },
    );
    return `/** ${plural(samples.length, 'sample')}${name === '' ? '' : ` of ${name.replaceAll('*/', '')}`}. */\nexport type ${type} = ${text};\n`;
  });
  const union = named.map(({ name }) => name).join(' | ');
  return [
    `// Written by "sluice types ${hookName}" from samples: run it again where they change.\n`,
    ...types,
    ...(kinds.length > 1 ? [`export type ${whole} = ${union};\n`] : []),
  ].join('\n');
}

function nameOf({ name }: SampleKind, before: readonly SampleKind[], whole: string): string {
  const own = pascal(name) || 'Other';
  const same = before.filter((each) => (pascal(each.name) || 'Other') === own).length;
  return `${own}${whole}${same === 0 ? '' : same + 1}`;
}

function pascal(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? [];
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return /^\d/.test(name) ? `_${name}` : name;
}

interface TypePosition {
  readonly keys: readonly string[];
  readonly literals: ReadonlySet<string>;
}

function typeOf(values: readonly JsonValue[], place: TypePosition): string {
  if (values.length === 0 || place.keys.length > MAX_DEPTH) return 'unknown';
  const lists = values.filter((value) => Array.isArray(value)) as readonly (readonly JsonValue[])[];
  const objects = values.filter(isJsonObject);
  const scalars = values.flatMap((value) => scalarType(value, place) ?? []);
  const parts = new Set([
    ...scalars,
    ...(objects.length === 0 ? [] : [objectType(objects, place)]),
    ...(lists.length === 0 ? [] : [`readonly (${typeOf(lists.flat(), inside(place, '0'))})[]`]),
  ]);
  return [...parts].join(' | ');
}

const inside = ({ keys, literals }: TypePosition, key: string): TypePosition => ({
  keys: [...keys, key],
  literals,
});

function scalarType(value: JsonValue, { keys, literals }: TypePosition): string | undefined {
  if (value === null) return 'null';
  if (value instanceof ExactNumber) return 'number';
  if (typeof value === 'object') return undefined;
  return typeof value === 'string' && literals.has(canonicalPath(keys))
    ? JSON.stringify(value)
    : typeof value;
}

function objectType(objects: readonly JsonObject[], place: TypePosition): string {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const valuesOf = (name: string): readonly JsonValue[] =>
    objects.flatMap((object) => (Object.hasOwn(object, name) ? [object[name] ?? null] : []));
  if (names.length === 0 || names.length > MAX_KEYS)
    return `Readonly<Record<string, ${typeOf(names.flatMap(valuesOf), inside(place, '*'))}>>`;
  const indent = '  '.repeat(place.keys.length);
  const members = names.map((name) => {
    const values = valuesOf(name);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${indent}readonly ${key}${values.length < objects.length ? '?' : ''}: ${typeOf(values, inside(place, name))};\n`;
  });
  return `{\n${members.join('')}${indent.slice(2)}}`;
}
