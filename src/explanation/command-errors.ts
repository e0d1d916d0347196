/* What an interpreter said when a command ended with an error, and what to write; names of files are looked up. */
import { say, type Sentence } from '../finding.ts';
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { isWithin } from '../runners/runners.ts';
import type { CommandRunner } from './setting-words.ts';

/** What is known of a command that failed. */
export interface FailedCommand {
  readonly runner: CommandRunner;
  /** The folder of the configuration. */
  readonly configDir: string;
  readonly message: string;
}

/** The first of the causes that is found; undefined where what it said is not known. */
export function commandErrorNote(failed: FailedCommand): Sentence | undefined {
  return syntaxNote(failed) ?? moduleNote(failed);
}

const INTERPRETERS: Readonly<Record<string, string>> = {
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  py: 'python3',
  rb: 'ruby',
  php: 'php',
  pl: 'perl',
};

/** A script that sh read, which is in another language. */
function syntaxNote({ runner: { argv }, configDir, message }: FailedCommand): Sentence | undefined {
  const isOfShell = /(?:^|\n)[^\n:]{1,200}: (?:line )?\d{1,6}: (?:Syntax error\b|syntax error near)/.test(
    message,
  );
  if (!isOfShell) return undefined;
  const [program = ''] = argv;
  const script = isWithin(program, configDir) ? relative(configDir, program) : program;
  const interpreter = INTERPRETERS[/\.(\w{1,4})$/.exec(program)?.[1] ?? ''];
  return interpreter === undefined
    ? say`sh could not read the script, which may be in the language of bash. Write #!/usr/bin/env bash as the first line of ${script}`
    : say`the script was read by sh, as no first line names its language. Write #!/usr/bin/env ${interpreter} as the first line of ${script}`;
}

/** How interpreters say that a package is not there. */
const NO_MODULE =
  /(?:Cannot find (?:package|module) '([\w@][\w@/.-]{0,100})'|No module named '?([\w.]{1,100})'?|cannot load such file -- ([\w/-]{1,100}))/;

function moduleNote({ runner: { argv }, configDir, message }: FailedCommand): Sentence | undefined {
  const [, node, python, ruby] = NO_MODULE.exec(message) ?? [];
  const name = node ?? python ?? ruby;
  if (name === undefined) return undefined;
  const script = argv.find((word) => /[./]/.test(word) && existsSync(resolve(configDir, word)));
  const folder = script === undefined ? configDir : dirname(resolve(configDir, script));
  const where = say`in ${folder}, as the user of the service`;
  if (node !== undefined)
    return say`the package ${name} is not installed for the command: run npm install ${name} ${where}`;
  return python === undefined
    ? say`the package ${name} is not installed for the command: run gem install ${name}, as the user of the service`
    : say`the package ${name} is not installed for the command: run pip install ${name}, as the user of the service; no virtual environment is active here, so the python of yours is written as the first word of argv, such as ${folder}/.venv/bin/python`;
}
