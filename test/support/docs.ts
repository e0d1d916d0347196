import type { Command } from 'commander';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The text of one page of the documentation, by its path from the root (`docs/http.md`). */
export function readPage(path: string): string {
  return readFileSync(`${ROOT}/${path}`, 'utf8');
}

/** The paths of every page of the documentation, `llms.txt` and the skill included. */
export function pagePaths(): readonly string[] {
  return globSync(['*.md', 'docs/llms.txt', 'docs/**/*.md', 'skills/**/*.md'], { cwd: ROOT }).toSorted();
}

/** The text of a page from one heading (`## Token`) up to the next heading of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`no heading "${heading}"`);
  const level = heading.indexOf(' ');
  // A line that begins with "#" inside a code block is a comment: code is blanked out before headings are looked for.
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, (code) => code.replaceAll('#', ' '));
  const next = prose.slice(start + 1 + heading.length).search(new RegExp(`^#{1,${level}} `, 'm'));
  return page.slice(start + 1, next === -1 ? undefined : start + 1 + heading.length + next);
}

/** The fenced blocks of a page, with their language. */
export function codeBlocks(page: string): readonly { readonly language: string; readonly text: string }[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** Names of all commands that do something themselves: `queue list`, `check`. */
export function commandNames(command: Command, names: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [names.join(' ')];
  return command.commands.flatMap((child) => commandNames(child, [...names, child.name()]));
}
