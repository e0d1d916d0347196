/** How the documents, the comments and what is printed are written: plain words, short sentences, short lines. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const PAGES = ['README.md', ...globSync('docs/*.md', { cwd: ROOT }).toSorted()];
/** What users read; the others are for people who change the code. */
const FOR_USERS = PAGES.filter((page) => !/architecture|origins|performance/.test(page));
const SOURCES = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).toSorted();

/** Words of the project's own that the field has another word for. */
const PRIVATE =
  /\b(?:house rules?|(?:own|other|each|every|one) rooms?|lanes?|beliefs?|surest|theirs|it is so already)\b/i;
/** More sentences than this, of more than 30 words, stand nowhere: the number may only become smaller. */
const LONG_SENTENCES = 0;
const LONG_COMMENTS = 27;

/** The lines of a page outside of blocks of code. */
function proseOf(text: string): readonly string[] {
  let isCode = false;
  return text.split('\n').filter((line) => {
    if (line.startsWith('```')) isCode = !isCode;
    return !isCode && !line.startsWith('```');
  });
}

const isRow = (line: string): boolean => line.startsWith('|');
const words = (text: string): number => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

test('users have at most 18 pages beside the README, and at most 35,000 words', () => {
  expect(FOR_USERS.length).toBeLessThanOrEqual(1 + 18);
  const counted = FOR_USERS.map((page) => read(page).trim().split(/\s+/).length);
  expect(counted.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(35_000);
});

/** Sentences of the paragraphs and lists of a page. */
const sentencesOf = (text: string): readonly string[] =>
  proseOf(text)
    .filter((line) => !isRow(line) && !line.startsWith('#'))
    .join('\n')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=[.!?:])\s+/);

/** Sentences of the comments of a source file. */
const commentsOf = (text: string): readonly string[] =>
  [...text.matchAll(/\/\*\*([^]*?)\*\/|^\s*\/\/ (.*)$/gm)].map(([, block, line]) =>
    (block ?? line ?? '').replaceAll(/\n\s*\*/g, ' ').trim(),
  );

test.for(PAGES)('%s has no line over 120 columns, and no cell of a table over 30 words', (page) => {
  // One line is made from the entries of the keys.
  const lines = proseOf(read(page)).filter((line) => !line.startsWith('Experimental keys now'));
  expect(lines.filter((line) => !isRow(line) && line.length > 120)).toEqual([]);
  const cells = lines.filter(isRow).flatMap((line) => line.split(/(?<!\\)\|/));
  expect(cells.filter((cell) => words(cell) > 30)).toEqual([]);
});

test('pages and comments use the words of the field', () => {
  const found = [...PAGES, ...SOURCES].flatMap((file) => {
    const texts = file.endsWith('.md') ? proseOf(read(file)) : commentsOf(read(file));
    return texts.filter((text) => PRIVATE.test(text)).map((text) => `${file}: ${text}`);
  });
  expect(found).toEqual([]);
});

test('sentences of more than 30 words only become fewer', () => {
  const long = (texts: readonly string[]): readonly string[] => texts.filter((text) => words(text) > 30);
  expect(FOR_USERS.flatMap((page) => long(sentencesOf(read(page)))).length).toBeLessThanOrEqual(
    LONG_SENTENCES,
  );
  const comments = SOURCES.flatMap((file) =>
    commentsOf(read(file)).flatMap((text) => text.split(/(?<=[.!?:;])\s+/)),
  );
  expect(long(comments).length).toBeLessThanOrEqual(LONG_COMMENTS);
});

test('a comment is a sentence: it does not begin with "Of"', () => {
  const found = SOURCES.flatMap((file) =>
    commentsOf(read(file))
      .filter((text) => /^Of\b/.test(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

test('each path that a comment names exists', () => {
  const found = SOURCES.flatMap((file) =>
    commentsOf(read(file)).flatMap((text) =>
      [...text.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|md|yaml|mjs|json))`/g)]
        .map(([, path = '']) => path)
        .filter(
          (path) =>
            ![ROOT, join(ROOT, 'src'), join(ROOT, dirname(file))].some((from) =>
              existsSync(join(from, path)),
            ),
        )
        .filter((path) => globSync(`src/**/${path}`, { cwd: ROOT }).length === 0)
        .map((path) => `${file}: ${path}`),
    ),
  );
  expect(found).toEqual([]);
});
