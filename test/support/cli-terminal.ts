import { runCli } from '../../src/frontends/cli/cli.ts';
import type { Terminal } from '../../src/frontends/cli/terminal.ts';
import { asksForJson, checkOutput } from './output-check.ts';

/** What a command printed and how it ended. */
export interface CliRun {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Width of the terminal; absent where the output goes to a file. */
  readonly columns?: number;
  /** Answers to questions, in order; where given, the terminal is interactive. */
  readonly answers?: readonly string[];
  /** Sees each question to choose in. */
  readonly onAsk?: (question: string) => void;
  /** Ends a command that runs until it is interrupted; default: at once. */
  readonly interrupt?: Promise<void>;
  /** Sees each text as it is printed, on either stream. */
  readonly onPrint?: (text: string) => void;
}

/** Runs a command line in this process, on a terminal that records; what it prints with `--json` is checked. */
export async function cli(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const out: string[] = [];
  const err: string[] = [];
  const answers = [...(options.answers ?? [])];
  const line = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
  const terminal: Terminal = {
    out: (text) => {
      out.push(line(text));
      options.onPrint?.(text);
    },
    err: (text) => {
      err.push(line(text));
      options.onPrint?.(text);
    },
    color: false,
    columns: options.columns,
    interactive: options.answers !== undefined,
    env: options.env ?? {},
    cwd: options.cwd,
    confirm: () => Promise.resolve(answers.shift() === 'yes'),
    choose: (question, choices) => {
      options.onAsk?.(`${question} (${choices.join(', ')})`);
      return Promise.resolve(answers.shift());
    },
    ask: () => Promise.resolve(answers.shift()),
    untilInterrupted: () => options.interrupt ?? Promise.resolve(),
    readLine: () => Promise.resolve(undefined),
  };
  const exitCode = await runCli(args, terminal);
  if (asksForJson(args) && out.length > 0) checkOutput(out.join(''));
  return { exitCode, out: out.join(''), err: err.join('') };
}

/** A terminal that prints nothing and asks nobody. */
export const silentTerminal = (cwd: string): Terminal => ({
  out: () => undefined,
  err: () => undefined,
  color: false,
  columns: undefined,
  interactive: false,
  env: {},
  cwd,
  confirm: () => Promise.resolve(false),
  choose: () => Promise.resolve(undefined),
  ask: () => Promise.resolve(undefined),
  untilInterrupted: () => Promise.resolve(),
  readLine: () => Promise.resolve(undefined),
});
