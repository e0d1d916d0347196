import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ExitCode, Terminal } from './terminal.ts';

/** What a command gets besides its own options. */
export interface Cli {
  readonly terminal: Terminal;
  /** Ends the command so, without a message of its own. */
  setExitCode(code: ExitCode): void;
  /** Adds `-c, --config`. */
  withConfig(command: Command): Command;
}

/** Reads an option that takes a whole number of at least `min`. */
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

/** Reads an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** An option restricted to some words. */
export function choiceOption(
  flags: string,
  description: string,
  choices: readonly string[],
  fallback: string,
): Option {
  return new Option(flags, description).choices([...choices]).default(fallback);
}
