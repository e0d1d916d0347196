import { Command, CommanderError } from 'commander';
import { authoringCommands } from './authoring/authoring-commands.ts';
import { addCommands } from './command-line.ts';
import { sourceCommands } from './mail/mail-commands.ts';
import { serviceCommands } from './running/service-commands.ts';
import { storeCommands } from './operating/store-commands.ts';
import {
  CliError,
  type ExitCode,
  exitCodeOf,
  forRunner,
  processTerminal,
  type Terminal,
} from './terminal.ts';
import { version } from './version.ts';

/**
 * Runs one command line and resolves to its exit code: 0 fine, 1 findings, 2 wrong usage, 3 the tool failed. Results go
 * to stdout, everything else to stderr. Commands load their modules on first use, so that `--help` is instant.
 */
export async function runCli(
  args: readonly string[],
  printer: Terminal = processTerminal(),
): Promise<number> {
  const terminal = forRunner(printer);
  let exitCode = 0;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      terminal.err(`sluice: ${error instanceof CliError ? error.message : describeFailure(error)}`);
      return exitCodeOf(error);
    }
    if (error.exitCode === 0) return 0;
    // Help that was printed for a missing command says all there is to say.
    if (!error.code.startsWith('commander.help')) terminal.err(explainUsage(program, args, error.message));
    return 2;
  }
}

/** Makes every command with its options. A test compares them with the documentation. */
export function createProgram(terminal: Terminal, setExitCode: (code: ExitCode) => void): Command {
  const program = withoutCommands(terminal);
  const commands = { ...serviceCommands, ...authoringCommands, ...storeCommands, ...sourceCommands };
  const place = ([usage]: readonly [string, unknown]): number => PLACES.indexOf(usage.split(' ')[0] ?? '');
  const ordered = Object.fromEntries(Object.entries(commands).toSorted((a, b) => place(a) - place(b)));
  addCommands(program, ordered, { terminal, setExitCode, program, run: runCli });
  groupCommands(program);
  forEachCommand(program, (command) => command.exitOverride());
  return program;
}

function withoutCommands(terminal: Terminal): Command {
  return (
    new Command('sluice')
      .description('Inbound hooks for agent gateways: webhooks in, durable wakes and agent runs out.')
      .version(version)
      .showSuggestionAfterError()
      .configureHelp({ sortSubcommands: false })
      // More is printed below about a command line that cannot be read.
      .configureOutput({ writeOut: terminal.out, writeErr: terminal.err, outputError: () => undefined })
  );
}

function forEachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    forEachCommand(child, visit);
  }
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return process.env['SLUICE_DEBUG'] ? (error.stack ?? error.message) : error.message;
}

function explainUsage(program: Command, args: readonly string[], message: string): string {
  const words = args.filter((word) => !word.startsWith('-'));
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => [one.name(), one.alias()].includes(word));
    if (next === undefined) break;
    command = next;
  }
  return [message, ...formOf(program, command)].join('\n');
}

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

/** The help groups these commands by what a person is about to do; the others stand in one line below. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Begin:': ['init', 'add', 'import'],
  'Run:': ['dev', 'serve', 'doctor'],
  'Write mappings:': ['check', 'routes', 'explain', 'test', 'diff', 'send', 'lsp'],
  'Look at what happened:': ['requests', 'runs', 'events', 'sessions', 'queue'],
  'Connect and keep:': ['runners', 'channels', 'webhooks', 'storage'],
};

/** Commands are added in the order of the help, those without a group first. */
const PLACES = Object.values(GROUPS).flat();

function groupCommands(program: Command): void {
  for (const [title, names] of Object.entries(GROUPS))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(title);
  const isGrouped = (command: Command): boolean => PLACES.includes(command.name());
  program.configureHelp({
    visibleCommands: (shown) => shown.commands.filter((command) => shown !== program || isGrouped(command)),
  });
  const others = program.commands.filter((command) => !isGrouped(command));
  const names = others.map((command) => command.name()).join(', ');
  program.addHelpText('after', `\nMore rarely: ${names}. sluice NAME --help describes each.`);
}
