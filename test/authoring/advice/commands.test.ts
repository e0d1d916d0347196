/** What is wrong with the arguments of a command: files in another folder, and words of a shell. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMisplacedFile } from '../../../src/authoring/advice/commands/misplaced-file.ts';
import { execFileSync } from 'node:child_process';
import { findShellLine } from '../../../src/authoring/advice/commands/shell-words.ts';

const configDir = mkdtempSync(join(tmpdir(), 'misplaced-'));
const work = mkdtempSync(join(tmpdir(), 'misplaced-'));
for (const folder of [configDir, work]) mkdirSync(join(folder, 'agents'));
for (const name of ['a.py', 'x.sh', 'both.sh']) writeFileSync(join(configDir, 'agents', name), '#!/bin/sh\n');
writeFileSync(join(configDir, 'mcp.json'), '{}');
writeFileSync(join(work, 'agents', 'both.sh'), '');
chmodSync(join(configDir, 'agents', 'x.sh'), 0o755);
const at = (name: string): string => join(configDir, name);

test.each<readonly [string, readonly string[], readonly string[] | undefined]>([
  ['a script that can be started', ['sh', 'agents/x.sh', '-v'], ['./agents/x.sh', '-v']],
  ['one that another program reads', ['bash', 'agents/x.sh'], ['bash', at('agents/x.sh')]],
  ['a word that is too long for a name', ['x', `--token=${'j'.repeat(9_000)}.y`], undefined],
  ['one that cannot be started', ['python3', 'agents/a.py'], ['python3', at('agents/a.py')]],
  ['one behind an option', ['sh', '-e', './agents/x.sh'], ['sh', '-e', at('agents/x.sh')]],
  [
    'the value of an option',
    ['claude', '--mcp-config=mcp.json'],
    ['claude', `--mcp-config=${at('mcp.json')}`],
  ],
  ['a program that changes the folder', ['uv', 'run', '--directory', '/srv/web', 'agents/a.py'], undefined],
  ['a file in a container', ['docker', 'run', 'image', 'sh', 'agents/x.sh'], undefined],
  ['a file to write', ['agent', '--output', 'mcp.json'], undefined],
  ['a file of the work folder', ['sh', 'agents/both.sh'], undefined],
  ['a file that is nowhere', ['sh', 'agents/new.sh'], undefined],
  ['a folder', ['ls', 'agents/'], undefined],
  ['the program itself', ['agents/x.sh', 'now'], undefined],
])('%s', (_name, argv, expected) => {
  expect(findMisplacedFile(argv, { configDir, works: [work] })?.argv).toEqual(expected);
});

/* Words of a shell in a command that is started without one, and the same command for a shell. */
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
