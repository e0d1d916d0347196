/**
 * The pages of `docs/findings/`, and what is run of them. A page is called after its code (`# CODE`), or is of several that
 * are mended alike, each in a part with the heading `## CODE`. A section with a block `says` or `silent` is a case: its other blocks are files, whose name is the second word of the line that opens the block.
 *
 *     ```yaml mappings.yaml            a file of the case; `executable`, or `cut` where it has no last line break
 *     ```text says mapping near        what the module `mapping` finds, as `check` prints it; the case is CODE-near
 *     ```yaml mappings.yaml after      the file as the edits of the finding leave it
 *     ```text silent mapping           the code of the page is not found, though it is near
 */
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PAGES = fileURLToPath(new URL('../../docs/findings/', import.meta.url));

interface Block {
  /** The words behind the backticks: `yaml`, `mappings.yaml`, `after`. */
  readonly words: readonly string[];
  readonly text: string;
}

export interface FindingCase {
  readonly code: string;
  /** `CODE`, or `CODE-variant`: what modules and records call it. */
  readonly name: string;
  readonly module: string;
  readonly kind: 'says' | 'silent';
  readonly files: readonly Block[];
  readonly said: string;
  /** Files as the edits leave them, by name. */
  readonly after: ReadonlyMap<string, string>;
}

/** A page, or the part of a page that is about a code. */
export interface FindingPage {
  readonly code: string;
  /** Its name in the folder. */
  readonly file: string;
  readonly text: string;
  readonly cases: readonly FindingCase[];
}

/** A fenced block: its opening line, its text, and the fence that ends it. */
const BLOCK = /^(`{3,})([^\n`]+)\n([^]*?)^\1$/gm;

export function readFindingPages(): readonly FindingPage[] {
  return globSync('*.md', { cwd: PAGES })
    .filter((name) => name !== 'README.md')
    .flatMap((file) => {
      const text = readFileSync(join(PAGES, file), 'utf8');
      const parts = text.split(/^(?=##? [A-Z][A-Z0-9_]+$)/m);
      return parts.flatMap((part) => readPage(file, part) ?? []);
    })
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

/** `README.md` of the pages: the list of all. */
export function findingIndex(): string {
  const rows = readFindingPages().map(
    ({ code, file }) => `- [${code}](${file}${file === `${code}.md` ? '' : `#${code.toLowerCase()}`})`,
  );
  return `# Findings

What \`sluice check\` and the start of a service find in files, with a page for each, or for several that are mended alike. \`sluice check --explain CODE\` prints one. Every example is run by the project's tests, and every change that is shown is what \`sluice check --fix\` makes of it.

${rows.join('\n')}
`;
}

/** Undefined of what stands before the parts of a page. */
function readPage(file: string, text: string): FindingPage | undefined {
  const code = /^##? ([A-Z][A-Z0-9_]+)$/m.exec(text)?.[1];
  if (code === undefined) return undefined;
  const cases = sectionsOf(text).flatMap((section) => readCase(code, section) ?? []);
  return { code, file, text, cases };
}

/** A page in pieces, each beginning with its heading; a line within a block is no heading. */
function sectionsOf(text: string): readonly string[] {
  const hidden = text.replaceAll(BLOCK, (block) => block.replaceAll('\n#', '\n-'));
  const starts = [0, ...Array.from(hidden.matchAll(/^##+ /gm), ({ index }) => index), text.length];
  return starts.slice(1).map((end, at) => text.slice(starts[at], end));
}

function readCase(code: string, section: string): FindingCase | undefined {
  const blocks = Array.from(section.matchAll(BLOCK), ([, , info = '', text = '']): Block => ({
    words: info.trim().split(/\s+/),
    text,
  }));
  const verdict = blocks.find(({ words }) => words[1] === 'says' || words[1] === 'silent');
  if (verdict === undefined) return undefined;
  const [, kind, module = '', variant] = verdict.words;
  const files = blocks.filter((block) => block !== verdict && block.words.length > 1);
  const isAfter = ({ words }: Block): boolean => words[2] === 'after';
  return {
    code,
    name: variant === undefined ? code : `${code}-${variant}`,
    module,
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

/** All cases as folders `<folder>/<module>/<CODE>[-variant]`. */
export function writeCases(folder: string): void {
  for (const { cases } of readFindingPages())
    for (const each of cases) if (each.kind === 'says') writeCase(each, join(folder, each.module, each.name));
}

/** Writes what is found, and what the edits leave, into the page of a case. */
export function updateCase(
  { code, name, kind, module }: FindingCase,
  said: string,
  after: ReadonlyMap<string, string>,
): void {
  const own = readFindingPages().find((each) => each.code === code);
  const file = join(PAGES, own?.file ?? '');
  const part = own?.text ?? '';
  const section = sectionsOf(part).find((text) => {
    const found = readCase(code, text);
    return found?.name === name && found.kind === kind && found.module === module;
  });
  if (section === undefined) throw new Error(`${file} has no case ${name}`);
  const kept = section.replaceAll(/\n+^(`{3,})\w+ \S+ after\n[^]*?^\1$/gm, '');
  const renewed = kept.replace(BLOCK, (block, _fence: string, info: string) =>
    info.split(/\s+/)[1] === 'says' ? [fenced(info.trim(), said), ...afterBlocks(after)].join('\n\n') : block,
  );
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(part, () => part.replace(section, () => renewed)),
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
