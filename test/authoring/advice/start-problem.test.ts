/** Why a program does not start: only the surest reason, with what mends it. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findStartProblem } from '../../../src/authoring/advice/commands.ts';
import { codeText } from '../../../src/service/runners/start-failure.ts';

let folder = '';
let path = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'start-'));
  path = join(folder, 'bin');
  mkdirSync(path);
  const file = (name: string, text: string, mode: number): void => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  file('run.sh', '#!/bin/sh\n', 0o755);
  file('closed.sh', '#!/bin/sh\n', 0o644);
  file('bin/python3', '#!/bin/sh\n', 0o755);
  file('bin/agent', '#!/bin/sh\n', 0o755);
  file('bin/locked', '#!/bin/sh\n', 0o644);
});

const problemOf = (argv: readonly string[]): string | undefined => {
  const found = findStartProblem(argv, path);
  return found && `${found.problem}; ${found.remedy}`.replaceAll(folder, '.');
};

test.each<[readonly string[], string]>([
  [['agent --short', 'x'], 'a whole command line; write argv: ["agent", "--short", "x"]'],
  [['agent -p {{prompt}}'], 'write argv: ["agent", "-p", "{{prompt}}"]'],
  // A shell would run what the text of a sender says.
  [['agent -p "{{prompt}}"'], 'write each word as an element of its own'],
  [['cat | agent'], 'a whole command line; write argv: ["sh", "-c", "cat | agent"]'],
  [['locked'], './bin/locked is not executable; run chmod +x ./bin/locked'],
  [
    ['nothing-like-it'],
    'it is not on PATH; install it, or write its whole path, which "command -v nothing-like-it" prints',
  ],
  [['./closed.sh'], 'it is not executable; run chmod +x ./closed.sh'],
  [['./bin'], 'it is a folder; name the program in it'],
  [['./other/agent-of-ours'], 'there is no such file; correct the path, or install it'],
])('the command %j is told what keeps it from a start', (argv, expected) => {
  expect(problemOf(argv.map((word) => word.replace(/^\./, folder)))).toContain(expected);
});

test('a program that starts has no problem, also one that is named without its folder', () => {
  for (const argv of [['agent'], [join(folder, 'run.sh')], ['python3', 'x y']])
    expect(problemOf(argv)).toBeUndefined();
});

test.each(['E2BIG', 'EAGAIN', 'EMFILE', 'ENOEXEC', 'ENOTDIR', 'ELOOP'])('%s is told in words', (code) => {
  expect(codeText(code)).not.toBe(codeText('EOTHER'));
});
