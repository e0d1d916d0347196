/** Finds where the thing that a mapping names is written: a file, or a field of a request. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type LocatedValue, type OpenTexts, type Place, readDocument } from '../../base/document/document.ts';
import { pathAt, pathsAt } from './complete-at.ts';
import { forEachAt, hookNameAt, linkedFile, type TextAt } from './places.ts';
import type { LoadedProject } from './project.ts';

export interface DefinitionPlace {
  /** An absolute path. */
  readonly file: string;
  readonly at?: Place;
}

const MAX_PLACES = 50;

/**
 * Returns the file that a key names, else where samples have a path, else the samples and golden cases of
 * the hook name.
 */
export async function findDefinitions(
  at: TextAt,
  { samples, transformsDir = '' }: LoadedProject,
  open: OpenTexts,
): Promise<readonly DefinitionPlace[]> {
  const linked = linkedFile(at);
  if (linked !== undefined) {
    const files = [transformsDir, dirname(at.fileName)].map((folder) => resolve(folder, linked));
    return files
      .filter((file) => existsSync(file))
      .slice(0, 1)
      .map((file) => ({ file }));
  }
  const name = hookNameAt(at);
  const own = samples.filter(({ request }) => name === undefined || request.path === name);
  const files = [...new Set(own.map(({ from }) => resolve(from)))].filter((file) => existsSync(file));
  const { paths } = pathsAt(at, { requests: own.map(({ request }) => request) });
  const path = pathAt(at, paths)?.path.split('.') ?? [];
  const [list = [], [root, ...rest]] = [forEachAt(at), path];
  const keys = root === 'item' ? ['payload', ...list, '0', ...rest] : path;
  if (root === undefined) return name === undefined ? [] : files.map((file) => ({ file }));
  const found = await Promise.all(files.slice(0, MAX_PLACES).map((file) => placeInSample(file, keys, open)));
  return found.flatMap((place) =>
    place === undefined ? [] : [{ file: resolve(place.source.file), at: place }],
  );
}

/** Returns undefined where the file has no such field, or is neither JSON nor YAML. */
async function placeInSample(
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
