import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { shorten } from '../../base/finding.ts';
import { hasColors, withoutCommands } from '../../base/telemetry/facts.ts';

/** Where a command writes and what it may ask. Every command receives it, so that none touches the process itself. */
export interface Terminal {
  /**
   * Prints results: everything that a pipe may want. `annotations` marks lines for GitHub's runner that
   * Sluice itself writes.
   */
  out(text: string, options?: { readonly annotations: boolean }): void;
  /** Prints progress, warnings and errors. */
  err(text: string): void;
  /** Whether stdout has colours. */
  readonly color: boolean;
  /** Letters in a line of stdout; undefined where it is no terminal. */
  readonly columns: number | undefined;
  readonly interactive: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Asks a yes/no question on stderr; false where nobody answers. */
  confirm(question: string): Promise<boolean>;
  /** Asks for one word out of several; undefined where nobody answers. */
  choose(question: string, choices: readonly string[]): Promise<string | undefined>;
  /** Asks for a line, which is not shown where it is a secret; undefined where nobody answers. */
  ask(question: string, how?: { readonly isSecret: boolean }): Promise<string | undefined>;
  /** Resolves to the next line that the person writes unasked; to undefined where nobody does, or the signal fires. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** Resolves when the person ends the command, with Ctrl-C or SIGTERM. */
  untilInterrupted(): Promise<void>;
}

/**
 * How a command ends: 0 is fine. 1 means findings: what was checked is wrong, refused or not there. 2 means
 * wrong usage: the command line, or a file that it names. 3 means that the tool itself failed: what it
 * needs is away or broken.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** Ends a command; the message is for people. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Returns the exit code for what was thrown. Commands load the modules of other errors, so this function goes by names.
 */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  const { name, code, kind } = error as Record<'name' | 'code' | 'kind', unknown>;
  if (name === 'InterfaceError' && kind === 'address') return 2;
  const isFound =
    name === 'WrongFilesError' ||
    name === 'UnwritableBody' ||
    (name === 'StorageError' && code === 'not_found') ||
    (name === 'MailFailure' && kind !== 'connection');
  return isFound ? 1 : 3;
}

const GAP = '  ';
const USUAL_COLUMNS = 80;

export function processTerminal(): Terminal {
  const interactive = process.stdin.isTTY && process.stderr.isTTY;
  const ask: Terminal['ask'] = async (question, how) => (interactive ? askLine(question, how) : undefined);
  ignoreClosedPipes();
  return {
    out: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    err: (text) => void process.stderr.write(text.endsWith('\n') ? text : `${text}\n`),
    color: hasColors(process.env, process.stdout.isTTY),
    // A terminal that does not know its width says 0.
    columns: process.stdout.isTTY ? process.stdout.columns || USUAL_COLUMNS : undefined,
    interactive,
    env: process.env,
    cwd: process.cwd(),
    untilInterrupted: async () => void (await untilStopSignal()),
    readLine: async (signal) => (interactive ? nextLine(signal) : undefined),
    ask,
    confirm: async (question) => /^y(?:es)?$/i.test((await ask(`${question} [y/N] `)) ?? ''),
    choose: (question, choices) => chooseWord(ask, question, choices),
  };
}

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. The listeners stay: while
 * commands of agents run, the library that starts them listens, too, and ends the process at a signal that
 * nobody else listens to. A listener of `once` would be gone when the library looks.
 */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      done(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/** Escapes output where GitHub's runner reads it: only Sluice's own annotations may be commands. */
export function forRunner(terminal: Terminal): Terminal {
  if (!terminal.env['GITHUB_ACTIONS']) return terminal;
  return {
    ...terminal,
    out: (text, options) => terminal.out(withoutCommands(text, options)),
    err: (text) => terminal.err(withoutCommands(text)),
  };
}

/** A reader such as `| head` may close the pipe early, which is no failure. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

/** The terminal shows only what the reader writes, which is nothing where the line is a secret. */
async function askLine(question: string, { isSecret } = { isSecret: false }): Promise<string | undefined> {
  process.stderr.write(isSecret ? `${question}(it is not shown) ` : '');
  const output = isSecret ? NOWHERE : process.stderr;
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return (await reader.question(question)).trim();
  } catch {
    return undefined;
  } finally {
    reader.close();
    process.stderr.write(isSecret ? '\n' : '');
  }
}

/** A process in the background reads nothing: it would be stopped. It looks again when it is continued. */
async function nextLine(signal: AbortSignal): Promise<string | undefined> {
  while (!signal.aborted) {
    const continued = new AbortController();
    const either = AbortSignal.any([signal, continued.signal]);
    const onContinue = (): void => continued.abort();
    process.once('SIGCONT', onContinue);
    const reader = isInForeground() ? createInterface({ input: process.stdin, terminal: false }) : undefined;
    try {
      if (reader === undefined) await once(process, 'SIGCONT', { signal });
      else return (await Promise.race([once(reader, 'line', { signal: either }), closed(reader, either)]))[0];
    } catch {
      // Continued, or ended.
    } finally {
      process.off('SIGCONT', onContinue);
      reader?.close();
    }
  }
  return undefined;
}

const closed = async (reader: Interface, signal: AbortSignal): Promise<readonly []> => {
  await once(reader, 'close', { signal });
  return [];
};

/** Linux says which group of processes has the terminal (proc(5), tpgid); elsewhere it is taken to be ours. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] =
      readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return group === foreground;
  } catch {
    return true;
  }
}

/** Asks until the answer is one of the choices, or how one of them begins; nothing is the first. */
async function chooseWord(
  ask: Terminal['ask'],
  question: string,
  choices: readonly string[],
): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(`${question} (${choices.join(', ')}; Enter: ${choices[0]}) `);
    if (answer === undefined) return undefined;
    const begun = choices.filter((each) => each.toLowerCase().startsWith(answer.toLowerCase()));
    const found = begun.find((each) => each.length === answer.length) ?? begun[0];
    if (found !== undefined) return found;
  }
}

/** The last cell of a row always has as much, even where the terminal is too narrow. */
const MIN_LAST_CELL = 70;

/**
 * Formats rows under a heading, columns padded to their widest cell; cells are single lines. Where
 * `columns` is given, the last cell of a row is cut so that the row fits.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { columns }: { readonly columns?: number | undefined } = {},
): string {
  const widths = heading.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), title.length),
  );
  const last = heading.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const space = columns === undefined ? Infinity : Math.max(MIN_LAST_CELL, columns - before);
  const fitted = (cell: string, column: number): string => {
    if (column < last) return cell.padEnd(widths[column] ?? 0);
    return cell.length <= space ? cell : formatOneLine(cell, space);
  };
  const line = (cells: readonly string[]): string => cells.map(fitted).join(GAP).trimEnd();
  return [heading, ...rows].map(line).join('\n');
}

/** Bytes as people read them. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Cuts a text to one line of at most `length` characters. */
export function formatOneLine(text: string, length: number): string {
  return shorten(text.replaceAll(/\s+/g, ' ').trim(), length);
}
