import { basename, relative } from 'node:path';
import { type RunnerSettings } from '../config/config.ts';
import { AGENT_PROFILES } from './agent-profiles.ts';
import { ARGV_PLACEHOLDERS } from './command-argv.ts';
import type { HostEnvironment } from './command-runner.ts';
import { findMeantPlaceholder, type MeantPlaceholder } from './meant-placeholder.ts';
import { findMisplacedFile } from './misplaced-file.ts';
import { readsNoPrompt } from './prompt-problem.ts';
import { scriptVariables } from './script-variables.ts';
import { findShellLine, listText } from './shell-words.ts';
import { findStartProblem } from './start-problem.ts';
import { isWithin, workRootProblem } from './work-folder.ts';

/** A finding about a runner that starts a command. */
export interface CommandProblem {
  readonly severity: 'error' | 'warning';
  readonly code:
    | 'RUNNER_FOLDER'
    | 'RUNNER_ENVIRONMENT'
    | 'RUNNER_ACCESS'
    | 'COMMAND_NOT_FOUND'
    | 'COMMAND_FILE_ELSEWHERE'
    | 'COMMAND_PLACEHOLDER'
    | 'COMMAND_WITHOUT_PROMPT'
    | 'COMMAND_WITHOUT_SHELL';
  /** The key below the runner it is about; absent where that is not written. */
  readonly key?: string;
  readonly message: string;
  readonly hint: string;
  /** What to write in place of the key's value, where that is the remedy. */
  readonly text?: string;
}

type CommandRunner = Extract<RunnerSettings, { readonly kind: 'command' | 'agent' }>;

export interface CommandPlace {
  /** The runner's place in the file, e.g. `gateway.runners.main`. */
  readonly at: string;
  /** The folder of the configuration. */
  readonly configDir: string;
  readonly hasCwd: boolean;
  /** Folders that a mapping may choose in place of the runner's own. */
  readonly workFolders: readonly string[];
  readonly host: HostEnvironment;
}

/** Where a command would work, whether it is there, and keys that would not reach it. Looks at the disk. */
export function commandProblems(runner: CommandRunner, place: CommandPlace): readonly CommandProblem[] {
  return [
    ...folderProblems(runner, place),
    ...accessProblems(runner, place),
    ...programProblems(runner, place),
    ...fileProblems(runner, place),
    ...argumentProblems(runner, place),
    ...keyProblems(runner, place),
  ];
}

function folderProblems(
  { cwd, privateFolders, kind }: CommandRunner,
  { at, configDir, hasCwd }: CommandPlace,
): readonly CommandProblem[] {
  if (privateFolders !== undefined) {
    const message = workRootProblem(privateFolders, configDir);
    const hint = `or name another folder with cwd, below ${at}`;
    return message === undefined
      ? []
      : [{ severity: 'error', code: 'RUNNER_FOLDER', message: `the private folder ${message}`, hint }];
  }
  if (cwd === undefined || !isWithin(configDir, cwd)) return [];
  const rest = kind === 'agent' ? ', or leave cwd out' : '';
  const hint = `${hasCwd ? `write cwd: private at ${at}.cwd` : `add cwd: private to ${at}`}${rest}`;
  return [configurationFolder({ ...(hasCwd ? { key: 'cwd' } : {}), hint })];
}

function configurationFolder(place: Pick<CommandProblem, 'key' | 'hint'>): CommandProblem {
  return {
    severity: 'warning',
    code: 'RUNNER_FOLDER',
    message:
      'the command works in a folder that holds the configuration: ' +
      'an agent that works here on text from outside can read and change it',
    ...place,
  };
}

/** Arguments that say something else about permissions than `access` does. */
const PERMISSION_OPTIONS =
  /^(?:--(?:dangerously-[\w-]+|allow-dangerously-[\w-]+|permission-mode|yolo|approval-mode|sandbox|full-auto|auto)(?:=|$)|-[ys]$|(?:sandbox_mode|approval_policy)=)/;

/** What loosens the access of an agent that reads what senders wrote. */
function accessProblems(runner: CommandRunner, { at }: CommandPlace): readonly CommandProblem[] {
  if (runner.kind !== 'agent') return [];
  const { access, agent, argv } = runner;
  if (access === 'full') return [fullAccess(agent)];
  const option = argv.find((argument) => PERMISSION_OPTIONS.test(argument));
  return option === undefined ? [] : [loosened(option, access, at)];
}

function fullAccess(agent: string): CommandProblem {
  return {
    severity: 'warning',
    code: 'RUNNER_ACCESS',
    key: 'access',
    message: `${agent} may do everything that the user of the service may, and it reads text from outside`,
    hint: 'write access: read, or edit; or run the service in a container of its own',
  };
}

function loosened(option: string, access: string, at: string): CommandProblem {
  return {
    severity: 'warning',
    code: 'RUNNER_ACCESS',
    key: 'argv',
    message: `${option.slice(0, 80)} comes after the options of access: ${access}, and may allow more than they do`,
    hint: `remove it from ${at}.argv, and write access: read, edit or full`,
  };
}

function programProblems(
  runner: CommandRunner,
  { at, configDir, host }: CommandPlace,
): readonly CommandProblem[] {
  const argv = runner.kind === 'agent' ? [runner.command] : runner.argv;
  const [program = ''] = argv;
  const places = { path: runner.env['PATH'] ?? host['PATH'], folders: [configDir] };
  const found = program === '' || program.includes('{') ? undefined : findStartProblem(argv, places);
  if (found === undefined) return [];
  const name = isWithin(program, configDir) ? `./${relative(configDir, program)}` : program;
  const shown = name.includes(' ') ? `"${name.slice(0, 80)}"` : name.slice(0, 80);
  const { problem, remedy, argv: text } = found;
  return [
    {
      severity: 'warning',
      code: 'COMMAND_NOT_FOUND',
      key: runner.kind === 'agent' ? 'kind' : 'argv',
      message: `the command ${shown} cannot be started: ${problem}`,
      hint:
        text === undefined
          ? `${remedy} (${at}.${runner.kind === 'agent' ? 'command' : 'argv'}); runs wait until it can be started`
          : remedy,
      ...(text === undefined ? {} : { text: listText(text) }),
    },
  ];
}

/** Files in the arguments that are beside the configuration, and not in the folder the command works in. */
function fileProblems(
  { kind, argv, cwd, command }: CommandRunner & { readonly command?: string },
  { at, configDir, workFolders }: CommandPlace,
): readonly CommandProblem[] {
  const works = [...(cwd === undefined ? [] : [cwd]), ...workFolders];
  const line = kind === 'agent' ? [command ?? '', ...argv] : argv;
  const found = findMisplacedFile(line, { configDir, works });
  if (found === undefined) return [];
  const { word, isProgram } = found;
  const text = listText(kind === 'agent' ? found.argv.slice(1) : found.argv);
  const folder = cwd === undefined ? 'private folders of its own (cwd: private)' : `${cwd} (cwd)`;
  return [
    {
      severity: 'warning',
      code: 'COMMAND_FILE_ELSEWHERE',
      key: 'argv',
      message: `the command works in ${folder}, and ${word} is looked for there: the file is beside the configuration`,
      hint: `write argv: ${text}${isProgram ? `; a program with a folder is looked for from the configuration` : ''}, or another cwd at ${at}`,
      text,
    },
  ];
}

/** A word that was meant as a placeholder says why the command gets no prompt, too. */
function argumentProblems(runner: CommandRunner, place: CommandPlace): readonly CommandProblem[] {
  const meant = runner.kind === 'command' ? findMeantPlaceholder(runner.argv, runner.env) : undefined;
  return meant === undefined
    ? [...shellProblems(runner), ...promptProblems(runner, place)]
    : [placeholderProblem(meant, runner)];
}

function placeholderProblem(
  { word, placeholder, argv }: MeantPlaceholder,
  runner: CommandRunner,
): CommandProblem {
  const text = listText(argv);
  const names = ARGV_PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
  const isPrompt = placeholder === undefined;
  const isFile = runner.kind === 'command' && runner.prompt === 'file';
  const stdin = isFile ? 'with prompt: stdin the prompt comes on stdin' : 'the prompt comes on stdin';
  return {
    severity: 'warning',
    code: 'COMMAND_PLACEHOLDER',
    key: 'argv',
    message: `"${word.slice(0, 80)}" is no placeholder: the command gets it as it stands; the placeholders are ${names}`,
    hint: isPrompt
      ? `${stdin}, so leave it out where the program reads that; where it wants the text as an argument, write argv: ${text.slice(0, 300)}`
      : `write argv: ${text.slice(0, 300)}`,
    ...(isPrompt ? {} : { text }),
  };
}

/** Words that only a shell understands, in a command that is started without one. */
function shellProblems(runner: CommandRunner): readonly CommandProblem[] {
  if (runner.kind !== 'command') return [];
  const found = findShellLine(runner.argv);
  if (found === undefined) return [];
  const text = listText(found.argv);
  return [
    {
      severity: 'warning',
      code: 'COMMAND_WITHOUT_SHELL',
      key: 'argv',
      message: `"${found.word.slice(0, 80)}" is for a shell, and a command is started without one: it is an argument like any other`,
      hint: `write argv: ${text.slice(0, 300)}`,
      ...(found.isCertain ? { text } : {}),
    },
  ];
}

/** A prompt that is only in a file, of which the command is not told. */
function promptProblems(runner: CommandRunner, { host }: CommandPlace): readonly CommandProblem[] {
  if (runner.kind !== 'command') return [];
  if (!readsNoPrompt(runner, host)) return [];
  const program = (runner.argv[0] ?? '').slice(0, 80);
  return [
    {
      severity: 'warning',
      code: 'COMMAND_WITHOUT_PROMPT',
      key: 'prompt',
      message: `with prompt: file the prompt is only in the file {prompt_file}, which argv does not name: ${program} gets no prompt, and its stdin is empty`,
      hint: `write prompt: stdin, or add '{prompt_file}' to argv where ${program} reads a file`,
      text: 'stdin',
    },
  ];
}

/** The keys of agents that are known by their names, wherever in the arguments they stand. */
function keyProblems(
  runner: CommandRunner,
  { at, configDir, host }: CommandPlace,
): readonly CommandProblem[] {
  if (runner.kind === 'agent') return [];
  const words = new Set(
    runner.argv.flatMap((argument) => argument.split(/[\s;|&()'"]+/).map((word) => basename(word))),
  );
  const isKnown = (name: string): boolean => Object.hasOwn(runner.env, name) || runner.passEnv.includes(name);
  const ofAgents = Object.entries(AGENT_PROFILES).flatMap(([agent, { keys }]) => {
    const set = keys.filter((name) => (host[name] ?? '') !== '');
    if (!words.has(agent) || set.length === 0 || keys.some(isKnown)) return [];
    return [notPassedOn(set.join(', '), agent, at)];
  });
  return ofAgents.length > 0 ? ofAgents : scriptProblems(runner, { at, configDir, host, isKnown });
}

interface ScriptPlace extends Pick<CommandPlace, 'at' | 'configDir' | 'host'> {
  readonly isKnown: (name: string) => boolean;
}

/** Variables that the service has, and the script of a command reads, which does not get them. */
function scriptProblems(
  { argv, passEnv }: CommandRunner,
  { at, configDir, host, isKnown }: ScriptPlace,
): readonly CommandProblem[] {
  const { file = '', names = [] } = scriptVariables(argv, configDir) ?? {};
  const kept = names.filter((name) => !isKnown(name) && (host[name] ?? '') !== '');
  if (kept.length === 0) return [];
  const shown = isWithin(file, configDir) ? `./${relative(configDir, file)}` : file;
  const are = kept.length === 1 ? 'is' : 'are';
  return [
    {
      severity: 'warning',
      code: 'RUNNER_ENVIRONMENT',
      key: 'argv',
      message: `${shown.slice(0, 80)} reads ${kept.join(', ')}, which ${are} set for the service, and does not get ${kept.length === 1 ? 'it' : 'them'}: a command gets only a few variables of the service`,
      hint: `write passEnv: [${[...passEnv, ...kept].join(', ')}] at ${at}`,
    },
  ];
}

function notPassedOn(list: string, agent: string, at: string): CommandProblem {
  return {
    severity: 'warning',
    code: 'RUNNER_ENVIRONMENT',
    key: 'argv',
    message: `${list} is set for the service, but the command ${agent} does not get it`,
    hint: `add passEnv: [${list}] to ${at}, or use kind: ${agent}, which passes it on`,
  };
}
