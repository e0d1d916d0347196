/** Relative files in the arguments of a command that works in another folder than that of the configuration. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMisplacedFile, lostFile } from '../../src/advice/commands/misplaced-file.ts';

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

test('of files that are nowhere it finds the one that the command complained about', () => {
  const said = 'the command exited with code 1\ncat: ./notes.md: No such file or directory\nreads ./other.md';
  expect(lostFile(['cat', './notes.md', './other.md'], work, said)).toBe('./notes.md');
  expect(lostFile(['sh', 'agents/both.sh'], work, 'agents/both.sh: no such file')).toBeUndefined();
});
