import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/frontends/cli/cli.ts';
import { printJson } from '../../../src/frontends/cli/json.ts';
import { processTerminal } from '../../../src/frontends/cli/terminal.ts';
import { checkOutput, describedCommands } from '../../support/output-check.ts';

/** `replay` prints as `explain` and `send` do. A command with another name has a form for each. */
const BORROWED = ['replay'];
/** Forms that kept the name of the command that printed them in 0.1.0. */
const KEPT: ReadonlyMap<string, string> = new Map([['runners check', 'runners']]);

function commandsWithJson(command: Command, words: readonly string[] = []): readonly string[] {
  const names = [command.name(), ...command.aliases()].map((name) => [...words.slice(0, -1), name].join(' '));
  const own = command.options.some(({ long }) => long === '--json') ? names : [];
  return [...own, ...command.commands.flatMap((child) => commandsWithJson(child, [...words, child.name()]))];
}

test('every command with --json has its form in the schema, and every form has its command', () => {
  const commands = commandsWithJson(createProgram(processTerminal(), () => undefined));
  expect(commands.length).toBeGreaterThan(25);
  const described = [...describedCommands()].map((name) => KEPT.get(name) ?? name);
  expect([...described, ...BORROWED].toSorted()).toEqual(commands.toSorted());
});

test.each([
  [undefined, '{"version":1,"command":"queue drop","changed":2}'],
  [80, '{\n  "version": 1,\n  "command": "queue drop",\n  "changed": 2\n}'],
])('with %s columns it is printed for whoever reads it', (columns, text) => {
  const printed: string[] = [];
  printJson({ columns, out: (line) => printed.push(line) }, 'queue drop', { changed: 2 });
  expect(printed).toEqual([text]);
});

test.each([
  ['{"version":1,"command":"queue drop"}', "must have required property 'changed'"],
  ['{"version":1,"command":"queue drop","changed":1,"more":1}', 'must NOT have additional properties'],
  ['{"version":2,"command":"queue drop","changed":1}', 'must be equal to constant'],
  ['{"version":1,"command":"queue","changed":1}', 'no command prints this'],
])('the check of all tests refuses %s', (out, said) => {
  expect(() => checkOutput(out)).toThrow(said);
});
