/** Runners that start a command: programs and files that are not there, words of a shell, variables that are kept from it. */
import { readFileSync, statSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { findOnPath } from '../../config/config.ts';
import { quoted } from '../../finding.ts';
import type { GenerationSubjects } from '../../generation/facts.ts';
import { AGENT_PROFILES, ARGV_PLACEHOLDERS } from '../../runners/facts.ts';
import { isWithin } from '../../runners/runners.ts';
import { findMisplacedFile } from '../commands/misplaced-file.ts';
import { findMeantPlaceholder } from '../commands/placeholders.ts';
import { scriptVariables } from '../commands/script-variables.ts';
import { findShellLine, listText } from '../commands/shell-words.ts';
import { findStartProblem } from '../commands/start-problem.ts';
import { hint, look, type Found } from '../rule.ts';

type Subject = GenerationSubjects['runner'];

const atOf = ({ path }: Subject): string => path.join('.');

/** A finding at a key of the runner, with the value that is to stand there. */
function found(
  { root, path }: Subject,
  key: string,
  {
    message,
    hint,
    text,
  }: { readonly message: string; readonly hint: string; readonly text?: string | undefined },
): readonly Found[] {
  const at = root.place([...path, key]);
  const written = at.source.text.slice(at.start, at.end);
  // A list in a block ends with its line, and what a reference leads to is never written.
  const isFree = !written.startsWith('-') && !written.includes('${');
  const edit = text === undefined || !isFree ? {} : { edit: { at, text } };
  return [{ message: quoted(message), at, hint: quoted(hint), ...edit }];
}

/** A program that cannot be started. */
function notStartable(subject: Subject): readonly Found[] {
  const { runner, configDir, host } = subject;
  const isAgent = runner.kind === 'agent';
  const argv = isAgent ? [runner.command] : runner.argv;
  const [program = ''] = argv;
  const places = { path: runner.env['PATH'] ?? host['PATH'], folders: [configDir] };
  const wrong = program === '' || program.includes('{') ? undefined : findStartProblem(argv, places);
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

/** A file in the arguments that is beside the configuration, and not in the folder the command works in. */
function misplacedFile(subject: Subject): readonly Found[] {
  const { runner, configDir, workFolders } = subject;
  const { cwd } = runner;
  const works = [...(cwd === undefined ? [] : [cwd]), ...workFolders];
  const line = runner.kind === 'agent' ? [runner.command, ...runner.argv] : runner.argv;
  const misplaced = findMisplacedFile(line, { configDir, works });
  if (misplaced === undefined) return [];
  const text = listText(runner.kind === 'agent' ? misplaced.argv.slice(1) : misplaced.argv);
  const folder = cwd === undefined ? 'private folders of its own (cwd: private)' : `${cwd} (cwd)`;
  const why = misplaced.isProgram ? '; a program with a folder is looked for from the configuration' : '';
  return found(subject, 'argv', {
    message: `the command works in ${folder}, and ${misplaced.word} is looked for there: the file is beside the configuration`,
    hint: `write argv: ${text}${why}, or another cwd at ${atOf(subject)}`,
    text,
  });
}

function meantPlaceholder({ runner }: Subject): ReturnType<typeof findMeantPlaceholder> {
  return runner.kind === 'command' ? findMeantPlaceholder(runner.argv, runner.env) : undefined;
}

/** A word that was meant as a placeholder. */
function placeholder(subject: Subject): readonly Found[] {
  const { runner } = subject;
  const meant = meantPlaceholder(subject);
  if (meant === undefined) return [];
  const text = listText(meant.argv);
  const write = `write argv: ${text.slice(0, 300)}`;
  const isPrompt = meant.placeholder === undefined;
  const isFile = runner.kind === 'command' && runner.prompt === 'file';
  const stdin = isFile ? 'with prompt: stdin the prompt comes on stdin' : 'the prompt comes on stdin';
  return found(subject, 'argv', {
    message: `"${meant.word.slice(0, 80)}" is no placeholder: the command gets it as it stands; the placeholders are ${ARGV_PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`,
    hint: isPrompt
      ? `${stdin}, so leave it out where the program reads that; where it wants the text as an argument, ${write}`
      : write,
    text: isPrompt ? undefined : text,
  });
}

/** Words that only a shell understands; one that was meant as a placeholder is told as such. */
function wordsOfShell(subject: Subject): readonly Found[] {
  const { runner } = subject;
  const line =
    runner.kind !== 'command' || meantPlaceholder(subject) !== undefined
      ? undefined
      : findShellLine(runner.argv);
  if (line === undefined) return [];
  const text = listText(line.argv);
  return found(subject, 'argv', {
    message: `"${line.word.slice(0, 80)}" is for a shell, and a command is started without one: it is an argument like any other`,
    hint: `write argv: ${text.slice(0, 300)}`,
    text: line.isCertain ? text : undefined,
  });
}

/** Programs that start another one, which may well read `SLUICE_PROMPT_FILE`. */
const STARTERS =
  /^(?:sh|bash|dash|zsh|ksh|fish|node|deno|bun|tsx|python[\d.]*|ruby|perl|php|java|npx|npm|pnpm|yarn|uv|uvx|docker|podman|env|sudo|ssh|make|nice|timeout|xargs)$/;
/** A script is a small file; a program of this size is none. */
const MAX_SCRIPT_BYTES = 262_144;
const VARIABLE = 'SLUICE_PROMPT_FILE';

/** A prompt that is only in a file, of which an installed program is not told: it surely reads none. */
function withoutPrompt(subject: Subject): readonly Found[] {
  const { runner, host } = subject;
  if (runner.kind !== 'command' || runner.prompt !== 'file' || meantPlaceholder(subject) !== undefined)
    return [];
  const { argv } = runner;
  const [program = '', ...rest] = argv;
  if (argv.some((word) => word.includes('{prompt_file}') || word.includes(VARIABLE))) return [];
  // Scripts of the operator's own find the file by the variable, also those that another program is given.
  if (program.includes('/') || program.includes('{') || STARTERS.test(basename(program))) return [];
  if (rest.some((word) => /\.(?:sh|py|rb|pl|[cm]?[jt]s)$/.test(word))) return [];
  const file = findOnPath(program, runner.env['PATH'] ?? host['PATH']);
  if (file === undefined || knowsVariable(file)) return [];
  const name = program.slice(0, 80);
  return found(subject, 'prompt', {
    message: `with prompt: file the prompt is only in the file {prompt_file}, which argv does not name: ${name} gets no prompt, and its stdin is empty`,
    hint: `write prompt: stdin, or add '{prompt_file}' to argv where ${name} reads a file`,
    text: 'stdin',
  });
}

/** A script that cannot be read may know it. */
function knowsVariable(file: string): boolean {
  try {
    return statSync(file).size <= MAX_SCRIPT_BYTES && readFileSync(file, 'latin1').includes(VARIABLE);
  } catch {
    return true;
  }
}

/** Variables that the service has, and a command does not get: the keys of a known agent, or what its script reads. */
function keptVariables(subject: Subject): readonly Found[] {
  const { runner, configDir, host } = subject;
  if (runner.kind === 'agent') return [];
  const { argv, env, passEnv } = runner;
  const at = atOf(subject);
  const isKnown = (name: string): boolean => Object.hasOwn(env, name) || passEnv.includes(name);
  const isSet = (name: string): boolean => (host[name] ?? '') !== '';
  // Wherever in the arguments the agent stands.
  const words = new Set(
    argv.flatMap((argument) => argument.split(/[\s;|&()'"]+/).map((word) => basename(word))),
  );
  const ofAgents = Object.entries(AGENT_PROFILES).flatMap(([agent, { keys }]) => {
    const list = keys.filter(isSet).join(', ');
    if (!words.has(agent) || list === '' || keys.some(isKnown)) return [];
    return found(subject, 'argv', {
      message: `${list} is set for the service, but the command ${agent} does not get it`,
      hint: `add passEnv: [${list}] to ${at}, or use kind: ${agent}, which passes it on`,
    });
  });
  if (ofAgents.length > 0) return ofAgents;
  const { file = '', names = [] } = scriptVariables(argv, configDir) ?? {};
  const kept = names.filter((name) => !isKnown(name) && isSet(name));
  if (kept.length === 0) return [];
  const shown = isWithin(file, configDir) ? `./${relative(configDir, file)}` : file;
  const [are, them] = kept.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return found(subject, 'argv', {
    message: `${shown.slice(0, 80)} reads ${kept.join(', ')}, which ${are} set for the service, and does not get ${them}: a command gets only a few variables of the service`,
    hint: `write passEnv: [${[...passEnv, ...kept].join(', ')}] at ${at}`,
  });
}

export const COMMANDS = [
  look({ on: 'runner', codes: ['COMMAND_NOT_FOUND'], find: notStartable }),
  look({ on: 'runner', codes: ['COMMAND_FILE_ELSEWHERE'], find: misplacedFile }),
  look({ on: 'runner', codes: ['COMMAND_PLACEHOLDER'], find: placeholder }),
  look({ on: 'runner', codes: ['COMMAND_WITHOUT_SHELL'], confidence: 'likely', find: wordsOfShell }),
  look({ on: 'runner', codes: ['COMMAND_WITHOUT_PROMPT'], find: withoutPrompt }),
  look({ on: 'runner', codes: ['RUNNER_ENVIRONMENT'], confidence: 'likely', find: keptVariables }),
];

/** Agents that may do more than they should. */
export const RUNNER_SAFETY = [
  hint('RUNNER_FOLDER', ['agent-in-folder', 'certain'], ({ of, runner: { at, hasCwd, kind } = {} }) => {
    if (of === 'workFolders') return 'name a folder outside of it, such as a checkout of its own';
    if (of === 'private') return `or name another folder with cwd, below ${at ?? ''}`;
    const rest = kind === 'agent' ? ', or leave cwd out' : '';
    return `${hasCwd === true ? `write cwd: private at ${at ?? ''}.cwd` : `add cwd: private to ${at ?? ''}`}${rest}`;
  }),
  hint('RUNNER_ACCESS', ['loosened', 'certain'], ({ at }) =>
    at === undefined
      ? 'write access: read, or edit; or run the service in a container of its own'
      : `remove it from ${at}.argv, and write access: read, edit or full`,
  ),
];
