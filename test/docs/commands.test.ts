/** Every command that the documentation names exists with the options shown, and every command is documented. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/frontends/cli/cli.ts';
import { processTerminal } from '../../src/frontends/cli/terminal.ts';
import { commandNames, pagePaths, readPage } from '../support/docs.ts';

const program = createProgram(processTerminal(), () => undefined);

/** What is wrong with a command line as the documentation prints it. */
function problemOf(line: string): string | undefined {
  const words = line.split(/\s+/).slice(1);
  let command = program;
  while (command.commands.length > 0) {
    const child = command.commands.find((candidate) => candidate.name() === words[0]);
    if (child === undefined) break;
    command = child;
    words.shift();
  }
  const isGroup = command.commands.length > 0;
  const [next] = words;
  // A group alone runs its default command; `<command>` stands for any.
  if (isGroup && next !== undefined && /^[a-z]/.test(next)) return `"${line}": there is no command "${next}"`;
  if (command === program && next === undefined) return undefined;
  const known = new Set(command.options.flatMap(({ short, long }) => [short, long]));
  for (const flag of words.filter((word) => /^--?[a-z]/.test(word))) {
    const [name] = flag.split('=');
    if (name !== '--help' && name !== '--version' && !known.has(name)) return `"${line}": no option ${name}`;
  }
  return undefined;
}

/** Command lines in code: those that begin with `sluice` (or `npx sluice`), up to a comment, pipe or semicolon. */
function commandLines(text: string): readonly string[] {
  const code = [
    ...[...text.matchAll(/^```(?:sh|bash|yaml)?\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      block.split('\n'),
    ),
    ...[...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
  ];
  return code
    .flatMap((line) => line.split(/\s#\s|[;|&]+\s/))
    .map((line) => /^\s*(?:npx )?(sluice(?: .*)?)$/.exec(line)?.[1]?.trim())
    .filter((line) => line !== undefined);
}

const PAGES = pagePaths().filter((page) => page !== 'CHANGELOG.md');

describe('the documentation', () => {
  test('names only commands and options that exist', () => {
    const lines = PAGES.flatMap((page) => commandLines(readPage(page)).map((line) => `${page} ${line}`));
    expect(lines.length).toBeGreaterThan(40);
    const problems = lines.map((line) => problemOf(line.slice(line.indexOf(' ') + 1)));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test('has a row for every command', () => {
    const page = readPage('docs/command-line.md');
    const rows = [...page.matchAll(/^\| `sluice ([a-z ]+)` +\|/gm)].map(([, name = '']) => name);
    expect(rows.toSorted()).toEqual(commandNames(program).toSorted());
    expect(rows.length, 'a new command takes the place of another, or is an option of one').toBeLessThan(55);
  });
});

test('no page but those of a checkout names npx: elsewhere it would fetch a package of a stranger', () => {
  const pages = PAGES.filter((page) => /npx sluice/.test(readPage(page)));
  expect(pages).toEqual(['README.md', 'docs/command-line.md', 'docs/deploy.md', 'docs/tutorial.md']);
});

test('hints and messages in the source name only commands and options that exist', () => {
  const lines = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/["`'](sluice (?!\$)[a-z][\w\s<>-]*)["`']/g)].map(
      ([, line = '']) => line,
    ),
  );
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
});

test('a command or an option that does not exist is found', () => {
  expect(problemOf('sluice webhooks post setup')).toBe(
    '"sluice webhooks post setup": there is no command "post"',
  );
  expect(problemOf('sluice check --sarif')).toBe('"sluice check --sarif": no option --sarif');
  expect(problemOf('sluice queue list --limit 3')).toBeUndefined();
});
