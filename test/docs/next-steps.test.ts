/** Every command that a text of ours names exists, with its options: a next step works as it is printed. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/frontends/cli/cli.ts';
import { processTerminal } from '../../src/frontends/cli/terminal.ts';

const program = createProgram(processTerminal(), () => undefined);

/** Words that follow the name in a sentence about the program itself. */
const PROSE = ['needs', 'may', 'run', 'printed'];

/** What a source file says, without its comments. */
function textsOf(file: string): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
}

/** `sluice` with the words and options behind it; a value that is filled in ends it. */
function stepsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w/.-])sluice((?: (?:--?[a-z][\w-]*|[a-z]+))+)/g)].map(([, words = '']) =>
    words.trim(),
  );
}

function problemOf(step: string): string | undefined {
  const words = step.split(' ');
  if (PROSE.includes(words[0] ?? '')) return undefined;
  let command = program;
  while (command.commands.length > 0) {
    const child = command.commands.find((candidate) => candidate.name() === words[0]);
    if (child === undefined) break;
    command = child;
    words.shift();
  }
  if (command === program && words[0] !== '--help') return `there is no command "${step}"`;
  const isGroup = command.commands.length > 0;
  const isDefault = command.commands.some((child) => child.name() === 'list');
  if (isGroup && !isDefault && command !== program) return `"${step}" is a group: name one of its commands`;
  const known = new Set(['--help', ...command.options.flatMap(({ short, long }) => [short, long])]);
  const option = words.find((word) => word.startsWith('-'));
  return option === undefined || known.has(option) ? undefined : `"${step}": no option ${option}`;
}

test('every command in a text of ours exists', () => {
  const steps = globSync('src/**/*.ts').flatMap((file) =>
    stepsIn(textsOf(file)).map((step) => ({ file, step })),
  );
  expect(steps.length).toBeGreaterThan(50);
  const problems = steps.flatMap(({ file, step }) => {
    const problem = problemOf(step);
    return problem === undefined ? [] : [`${file}: ${problem}`];
  });
  expect(problems).toEqual([]);
});

test('a step that does not exist is found', () => {
  expect(problemOf('explian ID')).toContain('no command');
  expect(problemOf('send --sing')).toContain('no option --sing');
});
