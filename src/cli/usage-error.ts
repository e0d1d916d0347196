import type { Command } from 'commander';

/** What a command line that cannot be read most likely meant: commands, flags and files as other tools take them. */
export function adviseOnUsage(program: Command, args: readonly string[], message: string): string {
  const { command, words } = readWords(program, args);
  const meant = meantCommand(command, words, message) ?? meantFlag(command, args, message);
  // A name that is nearly the same is worse than one that means the same.
  const said = meant === undefined ? message : message.replace(/\n\(Did you mean .*\)/, '');
  const lines = [said, ...(meant === undefined ? [] : [`hint: ${meant}`]), ...formOf(program, command)];
  return lines.join('\n');
}

interface ReadWords {
  readonly command: Command;
  /** What stands behind the name of the command, flags left out. */
  readonly words: readonly string[];
}

function readWords(program: Command, args: readonly string[]): ReadWords {
  let command = program;
  const words = args.filter((word) => !word.startsWith('-'));
  for (;;) {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next === undefined) return { command, words };
    command = next;
    words.shift();
  }
}

/** How the command is written, and its flags. */
function formOf(program: Command, command: Command): readonly string[] {
  if (command === program) return ['sluice --help lists the commands'];
  const name = nameOf(command);
  const flags = command.options.map(({ long, short }) => long ?? short ?? '');
  const below = command.commands.map(
    (one) => `${name} ${one.name()} ${one.usage().replace('[options] ', '')}`,
  );
  if (below.length > 0) return [`it is written: ${below.map((one) => one.trimEnd()).join(', or ')}`];
  return [`it is written: ${name} ${command.usage()}`, `its options: ${flags.join(' ')}  (${name} --help)`];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

const LOOK = 'sluice requests lists the last requests with their ids, sluice explain ID shows one';
const RUN = 'sluice dev runs the service while you write mappings, sluice serve in production';
const SEND =
  'what is sent stands in a request file: write path: NAME (the hook name), headers: and body: (or bodyFile: payload.json) into a file x.request.yaml, then sluice send x.request.yaml';

/** What commands are called in other tools. */
const COMMANDS: Readonly<Record<string, string>> = {
  ...alike('validate lint config mappings routes', 'sluice check finds every error in all files'),
  ...alike('fix format', 'sluice check --fix corrects what can be corrected by itself'),
  ...alike('start up run server daemon', RUN),
  ...alike(
    'listen watch tunnel',
    'sluice dev runs the service, and its log shows each request; see its --tunnel',
  ),
  ...alike('logs log tail history list ls show get inspect trace debug', LOOK),
  ...alike('trigger fire post curl invoke emit simulate', SEND),
  ...alike(
    'retry resend redeliver rerun',
    'sluice replay ID runs a request again, sluice queue retry ID a run',
  ),
  ...alike(
    'migrate convert openclaw',
    'sluice import openclaw openclaw.json makes a Sluice configuration of it',
  ),
  ...alike(
    'new create generate scaffold setup',
    'sluice init writes a first project, sluice add NAME adds a sender',
  ),
  ...alike('status health ping', 'sluice doctor looks at the whole set-up'),
  ...alike('schema', 'sluice schemas prints the schemas'),
};

function alike(words: string, hint: string): Readonly<Record<string, string>> {
  return Object.fromEntries(words.split(' ').map((word) => [word, hint]));
}

function meantCommand(command: Command, words: readonly string[], message: string): string | undefined {
  const [first = ''] = words;
  if (command.parent === null) return Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  const [only, ...more] = command.commands;
  // The one command of a group is easily left out.
  if (only !== undefined && more.length === 0 && /\.\w+$/.test(first))
    return `write ${nameOf(only)} ${first}${only.name() === 'run' ? ` --request ${words[1] ?? 'FILE'}` : ''}`;
  if (!message.includes('too many arguments')) return undefined;
  return TOO_MANY[command.name()];
}

const TOO_MANY: Readonly<Record<string, string>> = {
  check: 'leave the name out: all files of the configuration are read',
  send: SEND,
  requests: 'sluice explain ID shows one request',
};

/** What is sent, and how, as HTTP clients take it. */
const OF_CURL = /unknown option '(?:-d|--data|--body|--json|--payload|-H|--header|-X|--method|--path)\b/;

function meantFlag(command: Command, args: readonly string[], message: string): string | undefined {
  if (command.name() === 'send' && OF_CURL.test(message)) return SEND;
  const [, flag] = /unknown option '(-{1,2}[\w-]+)/.exec(message) ?? [];
  if (flag === '-p' && command.options.some(({ long }) => long === '--port'))
    return `write --port ${args[args.indexOf('-p') + 1] ?? 'NUMBER'}`;
  if (flag === '--watch' && command.name() === 'serve')
    return 'sluice dev reads the files again when they change; serve does so at a signal: kill -HUP PID';
  return undefined;
}
