/*
 * A path that goes on within a list by a name, as if the list were an object: `answers.email.text`, where one of the
 * elements says of itself that it is "email". Its position is of this request alone, so it is looked up by that name.
 */
import { isJsonObject, valueAt, type JsonValue } from '../../json.ts';
import { scalarsIn } from './rule-operands.ts';

/** Fields by which elements name themselves, the surest first. */
const NAMES = [
  'ref',
  'key',
  'slug',
  'code',
  'name',
  'label',
  'title',
  'field',
  'identifier',
  'id',
  'type',
  'kind',
];
/** Fields that hold what an element says, where the path ends at its name. */
const VALUES = ['value', 'values', 'text', 'answer', 'content', 'display_value'];
/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 200;
/** A name that can be written in a template and in a condition as it is. */
const PLAIN = /^[\w .:-]{1,60}$/;

/** An element that is known by its name. */
export interface NamedElement {
  /** The path of the list. */
  readonly list: string;
  /** The path within an element of what names it. */
  readonly by: string;
  readonly name: string;
  /** The path within the element that was asked for. */
  readonly rest: string;
}

/** Finds the one element of the first list on a path that has the next name; undefined where several have it. */
export function findNamedElement(path: string, root: JsonValue): NamedElement | undefined {
  const keys = path.split('.');
  for (let end = 1; end < keys.length; end += 1) {
    const list = valueAt(root, keys.slice(0, end));
    if (!Array.isArray(list)) continue;
    const [name = '', ...rest] = keys.slice(end);
    if (/^\d+$/.test(name) || !PLAIN.test(name)) return undefined;
    const found = elementNamed((list as readonly JsonValue[]).slice(0, MAX_ELEMENTS), name);
    const asked = found && restOf(found.element, rest);
    return found === undefined || asked === undefined
      ? undefined
      : { list: keys.slice(0, end).join('.'), by: found.by, name, rest: asked };
  }
  return undefined;
}

function elementNamed(
  elements: readonly JsonValue[],
  name: string,
): { readonly element: JsonValue; readonly by: string } | undefined {
  const named = elements.flatMap((element) =>
    [...scalarsIn(element)]
      .filter(({ path, value }) => value === name && rankOf(path) !== -1)
      .map(({ path }) => ({ element, by: path })),
  );
  const [first] = named.toSorted((a, b) => rankOf(a.by) - rankOf(b.by));
  const same = named.filter(({ by }) => by === first?.by);
  return same.length === 1 ? first : undefined;
}

/** Which of the names a path ends with; -1 for none, and for what stands deeper than one level. */
function rankOf(path: string): number {
  const keys = path.split('.');
  return keys.length > 2 ? -1 : NAMES.indexOf((keys.at(-1) ?? '').toLowerCase());
}

function restOf(element: JsonValue, rest: readonly string[]): string | undefined {
  if (rest.length > 0) return valueAt(element, rest) === undefined ? undefined : rest.join('.');
  return isJsonObject(element) ? VALUES.find((each) => Object.hasOwn(element, each)) : undefined;
}

/** What a template prints of it. */
export const templateOf = ({ list, by, name, rest }: NamedElement): string =>
  `{{#each ${list}}}{{#if (eq ${by} "${name}")}}{{${rest}}}{{/if}}{{/each}}`;
