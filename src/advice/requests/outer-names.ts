/* A name in a block of a template that the element of the block has not, and what is around the block has. */
import type { Place } from '../../document/document.ts';
import type { JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { openBlocks } from './open-blocks.ts';
import { readElement } from './element-advice.ts';
import { readerOf } from './root-reader.ts';

type Reader = (path: string) => JsonValue | undefined;

interface EmptyName {
  /** The path that found nothing. */
  readonly name: string;
  /** The whole expression, in which a helper may take it. */
  readonly expression: string;
  readonly at: Place;
  /** Of its template. */
  readonly template: Place;
  readonly request: HookRequest;
  readonly item: JsonValue | undefined;
}

/** The tag to write, with the way out of the blocks. Continues "the request has …". */
export function adviseOnOuter(empty: EmptyName): string | undefined {
  const { name, expression, at, template } = empty;
  const blocks = openBlocks(template.source.text.slice(template.start, at.start));
  const bare = name.replace(/^(?:(?:\.\.|this|@root)[./])+/, '');
  const path = bare.replaceAll('/', '.');
  const scopes = scopesOf(empty, blocks);
  if (!name.startsWith('..') && !name.startsWith('@') && isThere(scopes.at(-1)?.(path))) return undefined;
  const outer = scopes.slice(0, -1).findLastIndex((read) => isThere(read(path)));
  if (outer < 0 || !/^[A-Za-z_][\w.[\]-]*$/.test(bare)) return undefined;
  const steps = scopes.length - 1 - outer;
  // A condition around it may count as a step of its own.
  const isPlain = blocks.length === scopes.length - 1;
  const way = outer === 0 && (steps > 1 || !isPlain) ? `@root.${bare}` : `${'../'.repeat(steps)}${bare}`;
  const where = outer === 0 ? 'outside of the block' : 'in the block around this one';
  if (way === name) return undefined;
  return `${bare} ${where}: write {{${expression.trim().replace(name, () => way)}}}`;
}

const isThere = (value: JsonValue | undefined): boolean =>
  value !== undefined && value !== null && value !== '';

/** What each block reads from, the whole request first; as far as the blocks are read in a way that is known. */
function scopesOf(
  { request, item }: Pick<EmptyName, 'request' | 'item'>,
  blocks: ReturnType<typeof openBlocks>,
): readonly Reader[] {
  const scopes: Reader[] = [readerOf(request, item)];
  for (const { helper, path } of blocks) {
    if (helper !== 'each' && helper !== 'with') continue;
    const up = path.split('../').length - 1;
    const from = path.startsWith('@root.') ? scopes[0] : scopes.at(-1 - up);
    const value = from?.(path.replace(/^(?:@root\.|(?:\.\.\/)+|this[./])/, ''));
    scopes.push(anyOf(value === undefined ? [] : helper === 'with' ? [value] : elementsOf(value)));
  }
  return scopes;
}

/** Elements that are looked at: a name that any of them has is one of the elements. */
const MAX_ELEMENTS = 50;

function elementsOf(value: JsonValue): readonly JsonValue[] {
  const elements = Array.isArray(value)
    ? (value as readonly JsonValue[])
    : typeof value === 'object' && value !== null
      ? (Object.values(value) as readonly JsonValue[])
      : [];
  return elements.slice(0, MAX_ELEMENTS);
}

function anyOf(elements: readonly JsonValue[]): Reader {
  const readers = elements.map((element) => readElement(element));
  return (path) => readers.map((read) => read(path)).find(isThere);
}
