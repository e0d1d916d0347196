/* `{{#each}}` over one object: it goes through the fields of the object, which have none of the names in the block. */
import type { Place } from '../../document/document.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { readElement } from './element-advice.ts';

/** A block of a template that is open at some place of it. */
interface OpenBlock {
  readonly helper: string;
  readonly path: string;
}

/** The blocks that are open at the end of a piece of a template, the innermost last. */
export function openBlocks(template: string): readonly OpenBlock[] {
  const open: OpenBlock[] = [];
  for (const [, sign, helper = '', path = ''] of template.matchAll(
    /\{\{~?([#^/])\s*(\w+)\s*((?:\[[^\]]*\]|[^\s{}~|[])*)/g,
  )) {
    if (sign === '/') open.pop();
    else open.push({ helper, path });
  }
  return open;
}

interface EmptyPlace {
  /** The path that found nothing. */
  readonly name: string;
  readonly at: Place;
  /** Of its template. */
  readonly template: Place;
  readonly payload: JsonValue;
  readonly item: JsonValue | undefined;
}

/** Why a name in an `{{#each}}` found nothing, where that goes through one object. Continues "the request has …". */
export function adviseOnEachObject({ name, at, template, payload, item }: EmptyPlace): string | undefined {
  const text = template.source.text.slice(template.start, at.start);
  const [block, ...others] = openBlocks(text).filter(({ helper }) => helper === 'each' || helper === 'with');
  if (block?.helper !== 'each' || others.length > 0) return undefined;
  const { path } = block;
  if (!/^[\w.[\]-]+$/.test(path)) return undefined;
  const dotted = withDots(path);
  const isOfItem = item !== undefined && dotted.startsWith('item.');
  const list = readElement(isOfItem ? item : payload)(
    dotted.replace(isOfItem ? /^item\./ : /^payload\./, ''),
  );
  return isJsonObject(list) ? adviseOn(path, list, name) : undefined;
}

/** A name in an `{{#each}}` over a list that begins with the list, or with a name for its element. Continues "the request has …". */
export function adviseInBlock({ name, at, template, payload, item }: EmptyPlace): string | undefined {
  const text = template.source.text.slice(template.start, at.start);
  const [block, ...others] = openBlocks(text).filter(({ helper }) => helper === 'each' || helper === 'with');
  if (block?.helper !== 'each' || others.length > 0 || !/^[\w.[\]-]+$/.test(block.path)) return undefined;
  const dotted = withDots(block.path);
  const root = item !== undefined && dotted.startsWith('item.') ? item : payload;
  const list = readElement(root)(dotted.replace(root === item ? /^item\./ : /^payload\./, ''));
  const elements = Array.isArray(list) ? (list as readonly JsonValue[]).slice(0, MAX_ELEMENTS) : [];
  const keys = withDots(name.replace(/^this[./]/, '')).split('.');
  const own = dotted.split('.').at(-1) ?? '';
  const [first = ''] = keys;
  const isElement =
    [own, own.replace(/s$/, ''), ...ELEMENTS].includes(first) || dotted.startsWith(`${first}.`);
  if (!isElement) return undefined;
  for (let from = 1; from < keys.length; from += 1) {
    const rest = keys.slice(from).join('.');
    if (elements.some((element) => isThere(element, rest)))
      return `${rest} in the elements of ${block.path}: in the block a path begins at the element, so write {{${rest}}}`;
  }
  return undefined;
}

/** Names that other languages give the element of a loop. */
const ELEMENTS = ['item', 'element', 'entry', 'each', 'it', 'el', 'elem', 'row', 'obj', 'x', 'i'];

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 20;

function adviseOn(path: string, object: JsonObject, name: string): string | undefined {
  const field = withDots(name.replace(/^this[./]/, ''));
  const members = Object.values(object);
  if (isThere(object, field) && !members.some((member) => isThere(member, field)))
    return `one object at ${path} and no list, so each went through its fields: write {{#with ${path}}} … {{/with}}; where several come as a list and one comes alone (as elements of XML do), {{#if ${path}.${field}}}{{#with ${path}}} … {{/with}}{{else}}{{#each ${path}}} … {{/each}}{{/if}}, or a transform with [].concat(…)`;
  if (members.length === 0 || members.some((member) => typeof member === 'object' && member !== null))
    return undefined;
  return `one object at ${path} and no list, so each went through its fields: in the block {{@key}} is the name of a field, and {{this}} its value`;
}

function isThere(value: JsonValue, path: string): boolean {
  const found = readElement(value)(path);
  return found !== undefined && found !== null;
}

const withDots = (path: string): string => path.replaceAll(/\.?\[([^\]]*)\]/g, '.$1').replace(/^\./, '');
