/** Words of a shell in a command that is started without one, and the same command for a shell. */
import { expect, test } from 'vitest';
import { execFileSync } from 'node:child_process';
import { findShellLine } from '../../../src/authoring/advice/commands/shell-words.ts';

test('a pipe becomes a line of a shell that does the same with what a run fills in', () => {
  const found = findShellLine(['printf', '%s', '{session_id}', '|', 'tr', 'a-z', 'A-Z']);
  expect(found).toMatchObject({ word: '|', isCertain: true });
  const hostile = `x'; echo "$HOME" $(id) #`;
  const [program = '', ...rest] = (found?.argv ?? []).map((word) =>
    word === '{session_id}' ? hostile : word,
  );
  expect(execFileSync(program, rest, { encoding: 'utf8' })).toBe(hostile.toUpperCase());
});

test.each<readonly [string, readonly string[], string | undefined]>([
  ['a redirection', ['agent', '2>/dev/null'], '2>/dev/null'],
  ['a list', ['a', '&&', 'b'], '&&'],
  ['a variable', ['agent', '--key', '$AGENT_KEY'], '$AGENT_KEY'],
  ['the home folder', ['cat', '~/notes.txt'], '~/notes.txt'],
  ['a shell', ['sh', '-c', 'a | b', '|'], undefined],
  ['a shell behind another program', ['env', 'bash', '-c', 'a', '>'], undefined],
  ['a program of its own language', ['awk', '{print $NF}', 'a|b', '*.md'], undefined],
])('%s', (_name, argv, word) => {
  expect(findShellLine(argv)?.word).toBe(word);
});

test('a word that may be left out is for a person to judge', () => {
  expect(findShellLine(['agent', '{model}', '>', 'log'])?.isCertain).toBe(false);
});
