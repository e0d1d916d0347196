/**
 * The pages of `docs/findings/`, one a code, and what is run of them. A section of a page with a block `says` or `silent`
 * is a case: its other blocks are files, whose name is the second word of the line that opens the block.
 *
 *     ```yaml mappings.yaml            a file of the case; `executable`, or `cut` where it has no last line break
 *     ```text says mapping near        what the room `mapping` finds, as `check` prints it; the case is CODE-near
 *     ```yaml mappings.yaml after      the file as the edits of the finding leave it
 *     ```text silent mapping           the code of the page is not found, though it is near
 */
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PAGES = fileURLToPath(new URL('../../docs/findings/', import.meta.url));

interface Block {
  /** The words behind the backticks: `yaml`, `mappings.yaml`, `after`. */
  readonly words: readonly string[];
  readonly text: string;
}

export interface FindingCase {
  readonly code: string;
  /** `CODE`, or `CODE-variant`: what rooms and records call it. */
  readonly name: string;
  readonly room: string;
  readonly kind: 'says' | 'silent';
  readonly files: readonly Block[];
  readonly said: string;
  /** Files as the edits leave them, by name. */
  readonly after: ReadonlyMap<string, string>;
}

export interface FindingPage {
  readonly code: string;
  readonly text: string;
  readonly cases: readonly FindingCase[];
}

/** A fenced block: its opening line, its text, and the fence that ends it. */
const BLOCK = /^(`{3,})([^\n`]+)\n([^]*?)^\1$/gm;

export function readFindingPages(): readonly FindingPage[] {
  return globSync('*.md', { cwd: PAGES })
    .filter((name) => name !== 'README.md')
    .toSorted()
    .map((name) => readPage(basename(name, '.md'), readFileSync(join(PAGES, name), 'utf8')));
}

/** `README.md` of the pages: the list of all. */
export function findingIndex(): string {
  const rows = readFindingPages().map(({ code }) => `- [${code}](${code}.md)`);
  return `# Findings

What \`sluice check\` and the start of a service find in files, a page each. \`sluice check --explain CODE\` prints one. Every example is run by the project's tests, and every change that is shown is what \`sluice check --fix\` makes of it.

${rows.join('\n')}
`;
}

function readPage(code: string, text: string): FindingPage {
  const cases = sectionsOf(text).flatMap((section) => readCase(code, section) ?? []);
  return { code, text, cases };
}

/** A page in pieces, each beginning with its heading; a line within a block is no heading. */
function sectionsOf(text: string): readonly string[] {
  const hidden = text.replaceAll(BLOCK, (block) => block.replaceAll('\n#', '\n-'));
  const starts = [0, ...Array.from(hidden.matchAll(/^## /gm), ({ index }) => index), text.length];
  return starts.slice(1).map((end, at) => text.slice(starts[at], end));
}

function readCase(code: string, section: string): FindingCase | undefined {
  const blocks = Array.from(section.matchAll(BLOCK), ([, , info = '', text = '']): Block => ({
    words: info.trim().split(/\s+/),
    text,
  }));
  const verdict = blocks.find(({ words }) => words[1] === 'says' || words[1] === 'silent');
  if (verdict === undefined) return undefined;
  const [, kind, room = '', variant] = verdict.words;
  const files = blocks.filter((block) => block !== verdict && block.words.length > 1);
  const isAfter = ({ words }: Block): boolean => words[2] === 'after';
  return {
    code,
    name: variant === undefined ? code : `${code}-${variant}`,
    room,
    kind: kind as FindingCase['kind'],
    files: files.filter((block) => !isAfter(block)),
    said: verdict.text,
    after: new Map(files.filter(isAfter).map(({ words, text }) => [words[1] ?? '', text])),
  };
}

/** Puts the files of a case into a folder. */
export function writeCase({ files }: FindingCase, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { words, text } of files) {
    const file = join(folder, words[1] ?? '');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, words.includes('cut') ? text.slice(0, -1) : text);
    if (words.includes('executable')) chmodSync(file, 0o755);
  }
}

/** All cases as folders `<folder>/<room>/<CODE>[-variant]`. */
export function writeCases(folder: string): void {
  for (const { cases } of readFindingPages())
    for (const each of cases) if (each.kind === 'says') writeCase(each, join(folder, each.room, each.name));
}

/** Writes what is found, and what the edits leave, into the page of a case. */
export function updateCase(
  { code, name, kind, room }: FindingCase,
  said: string,
  after: ReadonlyMap<string, string>,
): void {
  const file = join(PAGES, `${code}.md`);
  const page = readFileSync(file, 'utf8');
  const section = sectionsOf(page).find((text) => {
    const found = readCase(code, text);
    return found?.name === name && found.kind === kind && found.room === room;
  });
  if (section === undefined) throw new Error(`${code}.md has no case ${name}`);
  const kept = section.replaceAll(/\n+^(`{3,})\w+ \S+ after\n[^]*?^\1$/gm, '');
  const renewed = kept.replace(BLOCK, (block, _fence: string, info: string) =>
    info.split(/\s+/)[1] === 'says' ? [fenced(info.trim(), said), ...afterBlocks(after)].join('\n\n') : block,
  );
  writeFileSync(
    file,
    page.replace(section, () => renewed),
  );
}

const afterBlocks = (after: ReadonlyMap<string, string>): readonly string[] =>
  [...after].map(([name, text]) => fenced(`${languageOf(name)} ${name} after`, text));

/** A fenced block. */
export function fenced(info: string, text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${info}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  yaml: 'yaml',
  yml: 'yaml',
  json: 'json',
  json5: 'json5',
  ts: 'ts',
  js: 'js',
  mjs: 'js',
  sh: 'sh',
};

const languageOf = (name: string): string => LANGUAGES[/\.(\w+)$/.exec(name)?.[1] ?? ''] ?? 'text';
