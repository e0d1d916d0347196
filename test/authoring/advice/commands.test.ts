/** Words of a shell in a command that is started without one. */
import { expect, test } from 'vitest';
import { findShellWord } from '../../../src/authoring/advice/commands/shell-words.ts';

test.each<readonly [string, readonly string[], string | undefined]>([
  ['a redirection', ['agent', '2>/dev/null'], '2>/dev/null'],
  ['a list', ['a', '&&', 'b'], '&&'],
  ['a variable', ['agent', '--key', '$AGENT_KEY'], '$AGENT_KEY'],
  ['the home folder', ['cat', '~/notes.txt'], '~/notes.txt'],
  ['a shell', ['sh', '-c', 'a | b', '|'], undefined],
  ['a shell behind another program', ['env', 'bash', '-c', 'a', '>'], undefined],
  ['a program of its own language', ['awk', '{print $NF}', 'a|b', '*.md'], undefined],
])('%s', (_name, argv, word) => {
  expect(findShellWord(argv)).toBe(word);
});
