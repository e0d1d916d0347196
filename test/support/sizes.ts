/** `npm run sizes`: lines of `src` by room and kind, pages and sender files apart, and the imports between kinds. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { allImports, kindOf, roomOf, SOURCE, type Kind } from './house.ts';

const KINDS: readonly Kind[] = ['engine', 'adapters', 'advice', 'tools'];
const ROOT = dirname(SOURCE);

interface Size {
  readonly files: number;
  readonly lines: number;
}

const linesOf = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;

function sizeOf(files: readonly string[]): Size {
  return { files: files.length, lines: files.reduce((sum, file) => sum + linesOf(file), 0) };
}

const find = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: ROOT }).map((name) => join(ROOT, name));

function row(name: string, cells: readonly (string | number)[]): string {
  const shown = cells.map((cell) =>
    (typeof cell === 'number' ? (cell === 0 ? '' : cell.toLocaleString('en')) : cell).padStart(9),
  );
  return (name.padEnd(14) + shown.join(' ')).trimEnd();
}

/** One row a room, lines by kind; the last two are sums. */
function roomRows(files: readonly string[]): readonly string[] {
  const rooms = Object.entries(Object.groupBy(files, roomOf)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const cellsOf = (some: readonly string[]): readonly number[] => {
    const sums = KINDS.map((kind) => sizeOf(some.filter((file) => kindOf(file) === kind)).lines);
    return [...sums, sizeOf(some).lines, some.length];
  };
  return [
    row('lines of src', [...KINDS, 'all', 'files']),
    ...rooms.map(([room, some = []]) => row(room, cellsOf(some))),
    row('all', cellsOf(files)),
    row('files', [
      ...KINDS.map((kind) => files.filter((file) => kindOf(file) === kind).length),
      files.length,
      '',
    ]),
  ];
}

/** How many imports of a file of one kind lead to a file of another, and how many of these bring only types. */
function importRows(): readonly string[] {
  const between = allImports().flatMap(({ file, specifier, typeOnly }) => {
    const target = resolve(dirname(file), specifier);
    return specifier.startsWith('.') && target.startsWith(SOURCE)
      ? [{ from: kindOf(file), to: kindOf(target), typeOnly }]
      : [];
  });
  return [
    row(
      'imports from',
      KINDS.map((kind) => `to ${kind}`),
    ),
    ...KINDS.map((from) =>
      row(
        from,
        KINDS.map((to) => between.filter((each) => each.from === from && each.to === to).length),
      ),
    ),
    `engine to advice: ${between.filter(({ from, to }) => from === 'engine' && to === 'advice').length}, of types alone ${
      between.filter(({ from, to, typeOnly }) => from === 'engine' && to === 'advice' && typeOnly).length
    }`,
  ];
}

const apart = Object.entries({
  pages: find('docs/findings/*.md'),
  senders: find('src/senders/*.yaml'),
}).map(([name, files]) => row(name, [sizeOf(files).lines, files.length]));

console.log(
  [
    ...roomRows(find('src/**/*.{ts,tsx,css}')),
    '',
    row('apart', ['lines', 'files']),
    ...apart,
    '',
    ...importRows(),
  ].join('\n'),
);
