/** What a command said, and what to write. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandErrorNote } from '../../src/explanation/command-errors.ts';
import { jsonReplyNote, programNote, terminalNote } from '../../src/explanation/command-words.ts';
import { shellNote } from '../../src/explanation/setting-words.ts';
import { printSentence } from '../../src/finding.ts';
import { printed } from '../support/printed.ts';

const RUNNER = {
  kind: 'command',
  argv: ['sh', '-c', 'docker run --rm -it agent'],
  prompt: 'stdin',
  env: {},
  passEnv: [],
  retryExitCodes: [],
  maxReplyBytes: 1_000,
} as const satisfies Parameters<typeof terminalNote>[0];

test.each<[string, string | undefined]>([
  ['sh: 1: claude: not found', 'claude'],
  ['bash: line 1: claude: command not found', 'claude'],
  ['x\nzsh:1: command not found: claude', 'claude'],
  ["/usr/bin/env: 'node': No such file or directory", 'node'],
  ['the page was not found', undefined],
  ['sh: 1: ./own/script: not found', undefined],
])('%s', (said, name) => {
  const text = programNote({ code: 'exit_127', message: `the command exited with code 127\n${said}` });
  if (name === undefined) expect(text).toBeUndefined();
  else expect(printed(text)).toContain(`${name} is not on the PATH`);
  expect(programNote({ code: 'exit_1', message: said })).toBeUndefined();
});

test.each<[readonly string[], string | undefined]>([
  [
    ['agent', '|', 'tail', '-1'],
    '"|" was an argument of agent like any other. Write argv: ["sh", "-c", "agent | tail -1"]',
  ],
  [['agent', '2>>log.txt'], 'Write argv: ["sh", "-c", "agent 2>>log.txt"]'],
  [['agent', '--key', '$TEAM'], String.raw`Write argv: ["sh", "-c", "agent --key \"$TEAM\""]`],
  [['busybox', 'sh', '-x', '|'], undefined],
  [['agent', '-c', 'a|b'], undefined],
])('what only a shell understands in %j', (argv, text) => {
  const note = shellNote({ ...RUNNER, argv });
  if (text === undefined) expect(note).toBeUndefined();
  else expect(printed(note)).toContain(text);
});

test('a command that wants a terminal is told its line without -t', () => {
  expect(printed(terminalNote(RUNNER, 'the input device is not a TTY'))).toContain(
    'Write argv: ["sh", "-c", "docker run --rm -i agent"]',
  );
  expect(printed(terminalNote({ ...RUNNER, argv: ['agent'] }, 'stdin is not a terminal'))).toContain(
    'leave out the option',
  );
  expect(terminalNote(RUNNER, 'exit 1')).toBeUndefined();
});

test.each<[string, string | undefined]>([
  ['{"type":"result","result":"All is well.","session_id":"s"}', 'result'],
  ['{"id":"m","choices":[{"message":{"role":"a","content":"Hi"}}]}', 'choices.0.message.content'],
  ['{"a":1}\n{"response":"Hi"}', 'response'],
  ['{"status":1}', undefined],
  ['All is {well}.', undefined],
])('of %s the text is at %s', (reply, path) => {
  const text = jsonReplyNote(RUNNER, reply, 'gateway.runner');
  if (path === undefined) expect(text).toBeUndefined();
  else expect(printed(text)).toContain(`write replyPath: ${path} at gateway.runner`);
  expect(jsonReplyNote({ ...RUNNER, replyPath: 'x' }, reply, 'k')).toBeUndefined();
});

test('what an interpreter said names the cause', async () => {
  const configDir = await mkdtemp(join(tmpdir(), 'sluice-errors-'));
  await mkdir(join(configDir, 'agents'));
  await writeFile(join(configDir, 'agents/run.mjs'), '');
  const told = (message: string, argv: readonly string[] = ['./agents/run.mjs']): string | undefined => {
    const note = commandErrorNote({ runner: { ...RUNNER, argv }, configDir, message: `exit\n${message}` });
    return note && printSentence(note);
  };
  expect(told('/a/run.mjs: 1: Syntax error: word unexpected')).toContain(
    '#!/usr/bin/env node as the first line of',
  );
  expect(told('run.sh: 2: Syntax error: "(" unexpected', ['./run.sh'])).toContain(
    '#!/usr/bin/env bash as the first line of ./run.sh',
  );
  expect(told("Error: Cannot find package '@ai-sdk/openai' imported from /a")).toContain(
    `run npm install @ai-sdk/openai in ${join(configDir, 'agents')}`,
  );
  expect(told("ModuleNotFoundError: No module named 'yaml'")).toContain('pip install yaml');
  expect(told('SyntaxError: Unexpected token')).toBeUndefined();
});
