import { basename, relative } from 'node:path';
import { quoted } from '../../../base/finding.ts';
import type { GenerationSubjects } from '../../../service/generation/facts.ts';
import { AGENT_PROFILES } from '../../../service/runners/facts.ts';
import { isWithin } from '../../../service/runners/runners.ts';
import { findShellWord, listText } from '../commands/shell-words.ts';
import { findStartProblem } from '../commands/start-problem.ts';
import type { LookFinding, Look, Rules } from '../rule.ts';

type RunnerSubject = GenerationSubjects['runner'];

const atOf = ({ path }: RunnerSubject): string => path.join('.');

function found(
  { root, path }: RunnerSubject,
  key: string,
  {
    message,
    hint,
    text,
  }: { readonly message: string; readonly hint: string; readonly text?: string | undefined },
): readonly LookFinding[] {
  const at = root.place([...path, key]);
  const written = at.source.text.slice(at.start, at.end);
  // A list in a block ends with its line, and the value behind a reference is never written.
  const isFree = !written.startsWith('-') && !written.includes('${');
  const edit = text === undefined || !isFree ? {} : { edit: { at, text } };
  return [{ message: quoted(message), at, hint: quoted(hint), ...edit }];
}

/** A program that cannot be started. */
function notStartable(subject: RunnerSubject): readonly LookFinding[] {
  const { runner, configDir, host } = subject;
  const isAgent = runner.kind === 'agent';
  const argv = isAgent ? [runner.command] : runner.argv;
  const [program = ''] = argv;
  const path = runner.env['PATH'] ?? host['PATH'];
  const wrong = program === '' || program.includes('{') ? undefined : findStartProblem(argv, path);
  if (wrong === undefined) return [];
  const name = (isWithin(program, configDir) ? `./${relative(configDir, program)}` : program).slice(0, 80);
  const { problem, remedy, argv: mended } = wrong;
  return found(subject, isAgent ? 'kind' : 'argv', {
    message: `the command ${name.includes(' ') ? `"${name}"` : name} cannot be started: ${problem}`,
    hint:
      mended === undefined
        ? `${remedy} (${atOf(subject)}.${isAgent ? 'command' : 'argv'}); runs wait until it can be started`
        : remedy,
    text: mended && listText(mended),
  });
}

function wordsOfShell(subject: RunnerSubject): readonly LookFinding[] {
  const { runner } = subject;
  const word = runner.kind === 'command' ? findShellWord(runner.argv) : undefined;
  if (word === undefined) return [];
  return found(subject, 'argv', {
    message: `"${word.slice(0, 80)}" is for a shell, and a command is started without one: it is an argument like any other`,
    hint: `start a shell with the whole command, [sh, -c, 'COMMAND "$1"', sh, '{prompt_file}']: what a run fills in stands behind it, and comes as "$1"; or put the command into a script`,
  });
}

function keptVariables(subject: RunnerSubject): readonly LookFinding[] {
  const { runner, host } = subject;
  if (runner.kind === 'agent') return [];
  const { argv, env, passEnv } = runner;
  const at = atOf(subject);
  const isKnown = (name: string): boolean => Object.hasOwn(env, name) || passEnv.includes(name);
  const isSet = (name: string): boolean => (host[name] ?? '') !== '';
  // The agent may stand anywhere in the arguments.
  const words = new Set(
    argv.flatMap((argument) => argument.split(/[\s;|&()'"]+/).map((word) => basename(word))),
  );
  return Object.entries(AGENT_PROFILES).flatMap(([agent, { keys }]) => {
    const list = keys.filter(isSet).join(', ');
    if (!words.has(agent) || list === '' || keys.some(isKnown)) return [];
    return found(subject, 'argv', {
      message: `${list} is set for the service, but the command ${agent} does not get it`,
      hint: `add passEnv: [${list}] to ${at}, or use kind: ${agent}, which passes it on`,
    });
  });
}

export const COMMANDS: readonly Look[] = [
  { on: 'runner', codes: ['COMMAND_NOT_FOUND'], find: notStartable },
  { on: 'runner', codes: ['COMMAND_WITHOUT_SHELL'], find: wordsOfShell },
  { on: 'runner', codes: ['RUNNER_ENVIRONMENT'], find: keptVariables },
];

export const RUNNER_SAFETY: Rules = {
  RUNNER_FOLDER: [
    ({ of, runner: { at, hasCwd, kind } = {} }) => {
      if (of === 'workFolders') return 'name a folder outside of it, such as a checkout of its own';
      if (of === 'private') return `or name another folder with cwd, below ${at ?? ''}`;
      const rest = kind === 'agent' ? ', or leave cwd out' : '';
      return `${hasCwd === true ? `write cwd: private at ${at ?? ''}.cwd` : `add cwd: private to ${at ?? ''}`}${rest}`;
    },
  ],
  RUNNER_ACCESS: [
    ({ at }) =>
      at === undefined
        ? 'write access: read, or edit; or run the service in a container of its own'
        : `remove it from ${at}.argv, and let access say the same: read, edit or full`,
  ],
};
