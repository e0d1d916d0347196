/** `npm run sizes`: lines of `src` by layer and module, pages and sender files apart, and the imports between layers. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { allImports, LAYERS, layerOf, moduleOf, SOURCE } from './modules.ts';

const ROOT = dirname(SOURCE);
const ORDER = [...LAYERS, 'top'] as const;

const find = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: ROOT }).map((name) => join(ROOT, name));

const row = (name: string, cells: readonly (string | number)[]): string =>
  (name.padEnd(16) + cells.map((cell) => cell.toLocaleString('en').padStart(11)).join('')).trimEnd();

/** The lines and the number of files. */
function sizeOf(files: readonly string[]): readonly number[] {
  const lines = files.map((file) => readFileSync(file, 'utf8').split('\n').length - 1);
  return [lines.reduce((sum, each) => sum + each, 0), files.length];
}

/** A row for each layer, and below it one for each of its modules. */
function sizeRows(files: readonly string[]): readonly string[] {
  return ORDER.flatMap((layer) => {
    const own = files.filter((file) => layerOf(file) === layer);
    const modules = Object.entries(Object.groupBy(own, moduleOf)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return [row(layer, sizeOf(own)), ...modules.map(([name, some = []]) => row(`  ${name}`, sizeOf(some)))];
  });
}

/** How many imports of files of one layer lead to files of another. */
function importRows(): readonly string[] {
  const between = allImports()
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ file, specifier }) => ({ from: layerOf(file), to: layerOf(resolve(dirname(file), specifier)) }));
  const count = (from: string, to: string): number =>
    between.filter((each) => each.from === from && each.to === to).length;
  return ORDER.map((from) =>
    row(
      from,
      ORDER.map((to) => count(from, to)),
    ),
  );
}

const files = find('src/**/*.{ts,tsx,css}');
console.log(
  [
    row('src', ['lines', 'files']),
    ...sizeRows(files),
    row('all', sizeOf(files)),
    '',
    row('pages', sizeOf(find('docs/findings/*.md'))),
    row('senders', sizeOf(find('src/engine/senders/*.yaml'))),
    '',
    row('imports from', ORDER),
    ...importRows(),
  ].join('\n'),
);
