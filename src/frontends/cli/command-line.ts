import { InvalidArgumentError, Option, type Command } from 'commander';
import type { AgentKind } from '../../engine/config/config.ts';
import type { ExitCode, Terminal } from './terminal.ts';

/** What a command receives besides its own arguments and options. */
export interface Cli {
  readonly terminal: Terminal;
  /** Ends the command with this code, without a message of its own. */
  setExitCode(code: ExitCode): void;
  readonly program: Command;
  /** Runs another command line, on a terminal of its own; resolves to its exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** Commands by how they are written: name and arguments, as `show <id>`. */
export interface CommandTable {
  readonly [usage: string]: CommandEntry | CommandGroup;
}

/** One command. Its code is loaded when it runs, so that the command line starts at once. */
export interface CommandEntry {
  readonly about: string;
  /** True where the name of its group alone means this command. */
  readonly isDefault?: boolean;
  /** The name that it had in an earlier version, under which it works as before. */
  readonly alias?: string;
  readonly options?: readonly OptionRow[];
  /** Loads the code of the command, which receives its arguments in their order, and then its options. */
  readonly load: () => Promise<(cli: Cli, ...given: never[]) => Promise<unknown>>;
}

interface CommandGroup {
  readonly about: string;
  readonly commands: CommandTable;
}

export type OptionRow = readonly [flags: string, about: string, value?: OptionValue];

interface OptionValue {
  readonly choices?: readonly string[];
  /** Reads the text of the option. A repeated option receives what was read before. */
  readonly read?: (text: string, before?: readonly string[]) => string | number | readonly string[];
  readonly fallback?: unknown;
  /** True where the command cannot do without the option. */
  readonly isNeeded?: boolean;
}

export function addCommands(parent: Command, table: CommandTable, cli: Cli): void {
  for (const [usage, entry] of Object.entries(table)) {
    const isDefault = 'load' in entry && entry.isDefault === true;
    const command = parent.command(usage, { isDefault }).description(entry.about);
    if ('commands' in entry) {
      addCommands(command, entry.commands, cli);
      continue;
    }
    if (entry.alias !== undefined) command.alias(entry.alias);
    for (const row of entry.options ?? []) command.addOption(optionOf(row));
    command.action(async (...given: unknown[]) => {
      const task = await entry.load();
      // The last argument is the command itself.
      await task(cli, ...(given.slice(0, -1) as never[]));
    });
  }
}

function optionOf([flags, about, { choices, read, fallback, isNeeded = false } = {}]: OptionRow): Option {
  const option = new Option(flags, about).default(fallback).makeOptionMandatory(isNeeded);
  if (read !== undefined) option.argParser<unknown>(read as (text: string) => unknown);
  return choices === undefined ? option : option.choices(choices);
}

/** Repeated here, because the command line starts without loading the configuration. */
export const AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const satisfies readonly AgentKind[];
export const TUNNEL_TOOLS = ['tailscale', 'cloudflared'] as const;
export const CHATS = ['telegram', 'slack', 'discord', 'whatsapp', 'mattermost'] as const;

export const CONFIG: OptionRow = [
  '-c, --config <file>',
  'configuration (default ./sluice.yaml or ./sluice.json)',
];
export const JSON_OUTPUT: OptionRow = ['--json', 'a JSON object on stdout'];

/** Reads an option that is a whole number of at least `min`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(
        `expected a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? ' up' : ` to ${max}`}`,
      );
    }
    return value;
  };
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
