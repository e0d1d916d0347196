/* What stands at a place of a mapping file, read from the text alone: while somebody types it is often no YAML. */
import { join, dirname } from 'node:path';
import {
  blockAt,
  describeKey,
  type Known,
  type KnownPath,
  knownPaths,
  presence,
  type TextAt,
} from '../console/facts.ts';
import { type LocatedValue, type OpenTexts, type Place, readDocument } from '../../base/document/document.ts';

/** The path, name or operator that a place is in; empty for none. */
function wordAt(text: string, pos: number): string {
  const start = text.lastIndexOf('\n', pos - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0] ?? '';
  const words = [...line.matchAll(/[\w$/-]+(?:\.(?:[\w$-]+|\[[^\][]+\]))*/g)];
  const isHere = ({ index, 0: word }: RegExpExecArray): boolean =>
    index <= pos - start && pos - start <= index + word.length;
  return words.find(isHere)?.[0] ?? '';
}

/** The path of a request that a place names, as samples have it. */
export function pathAt({ text, pos }: TextAt, paths: readonly KnownPath[]): KnownPath | undefined {
  const word = wordAt(text, pos)
    .replaceAll(/\[([^\]]*)\]/g, '$1')
    .replace(/^(?:this|root)[./]/, '');
  const block = blockAt({ text, pos });
  const names = [
    ...(block === '' ? [] : [`payload.${block}.${word}`, `${block}.${word}`]),
    word,
    `payload.${word}`,
  ];
  return names.map((name) => paths.find(({ path }) => path === name)).find((found) => found !== undefined);
}

/** The text of the mapping around a place. */
function mappingAt(text: string, pos: number): string {
  const item = /^( *)- /gm;
  const starts = [...text.matchAll(item)];
  const least = Math.min(...starts.map(([, lead = '']) => lead.length));
  const items = starts.filter(([, lead = '']) => lead.length === least).map(({ index }) => index);
  const from = items.findLast((start) => start <= pos) ?? 0;
  const to = items.find((start) => start > pos) ?? text.length;
  return text.slice(from, to);
}

/** The hook name of the mapping around a place; undefined where it names none. */
export const hookNameAt = (text: string, pos: number): string | undefined =>
  /\bpath:\s*["']?\/?([\w./-]*[\w.-])/.exec(mappingAt(text, pos))?.[1];

/** The keys of its list, without `payload`; undefined where it has no forEach. */
export const forEachAt = (text: string, pos: number): readonly string[] | undefined =>
  /\bforEach:\s*["']?(?:payload\b\.?)?([\w.$-]*)/.exec(mappingAt(text, pos))?.[1]?.split('.').filter(Boolean);

/** A file that the line of a place names: a transform or a schema. */
export function linkedFile(text: string, pos: number): string | undefined {
  const start = text.lastIndexOf('\n', pos - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0] ?? '';
  return /(?:\b(?:module|transform|schema):\s*["']?|\$schema=)([^\s"'{}]+\.\w+)/.exec(line)?.[1];
}

/** What is known of what stands at a place. */
export function hoverText(at: TextAt, known: Known): string | undefined {
  const ofKey = describeKey(at, known.vocabulary?.mapping);
  if (ofKey !== undefined) return ofKey;
  const path = pathAt(at, knownPaths(known.samples));
  if (path !== undefined) return `${path.path}: ${presence(path, known.samples.length)}`;
  return known.vocabulary?.helpers.find(({ name }) => name === wordAt(at.text, at.pos))?.usage;
}

/** Where a field of a request stands in the file of a sample; undefined where the file has none, or is neither JSON nor YAML. */
export async function placeInSample(
  file: string,
  [part = '', ...keys]: readonly string[],
  open: OpenTexts,
): Promise<Place | undefined> {
  const { document } = await readDocument(file, { open });
  if (document === undefined) return undefined;
  const { root } = document;
  const isCase = /\.request\.\w+$/.test(file);
  if (!isCase) return part === 'payload' ? placeOf(root, keys) : undefined;
  const { deliveries } = root.value as { readonly deliveries?: readonly unknown[] };
  for (const each of deliveries?.map((_, at) => root.at(['deliveries', at])) ?? [root]) {
    const bodyFile = each.at(['bodyFile']).value;
    const found =
      part !== 'payload'
        ? placeOf(each, [part, ...keys])
        : typeof bodyFile === 'string'
          ? // oxlint-disable-next-line no-await-in-loop
            await placeInSample(join(dirname(file), bodyFile), [part, ...keys], open)
          : placeOf(each, ['body', ...keys]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names of headers are written in any case. */
function placeOf(root: LocatedValue, keys: readonly string[]): Place | undefined {
  const path: (string | number)[] = [];
  for (const key of keys) {
    const holder = root.at(path).value;
    const names = typeof holder === 'object' && holder !== null ? Object.keys(holder) : [];
    const name = names.includes(key) ? key : names.find((each) => each.toLowerCase() === key);
    if (name === undefined) return undefined;
    path.push(Array.isArray(holder) ? Number(name) : name);
  }
  return root.place(path, 'key');
}
