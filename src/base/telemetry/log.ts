import { constants, fstatSync, openSync } from 'node:fs';
import { styleText } from 'node:util';
import sonicBoom from 'sonic-boom';
import { clearControl, clearLine, withoutCommands } from './clear-control.ts';
import { membersOf, SecretValues } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a line carries besides its message. Never anything derived from a payload. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The service log. Messages are constant texts; what varies goes into the fields, where it is redacted. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** Whether lines of this level are written: for fields that are costly to collect. */
  isEnabled(level: LogLevel): boolean;
  /** A log whose every line also carries these fields. */
  child(fields: LogFields): Log;
  /** Takes up `log.level` and `log.format` of a configuration; before that, the level is `info`. */
  adopt(settings: { readonly level: LogLevel; readonly format?: 'json' | 'pretty' }): void;
  /** From now on this secret (4 characters or more) is replaced wherever it would appear, in every form of the log. */
  protect(secret: string): void;
  /**
   * Writes out what is buffered; for the end of the process. Lines whose writing has begun by then are not waited for:
   * another thread writes them, and what is written here may come before their rest where standard error is slow.
   */
  flush(): void;
}

export interface LogOptions {
  /** `json` (default): one object per line. `pretty`: one readable line. */
  readonly format?: 'json' | 'pretty';
  /** Where finished lines go; default standard error. */
  readonly destination?: { write(line: string): unknown };
  /** Colours in `pretty`; default: as `hasColors` says of standard error, and none with a `destination`. */
  readonly color?: boolean;
}

/** Levels in the order of their severity. */
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function createLogger(options: LogOptions = {}): Log {
  const secrets = new SecretValues();
  const standard = options.destination === undefined ? openStandardError() : undefined;
  const color = options.color ?? (standard !== undefined && hasColors(process.env, process.stderr.isTTY));
  const shared: SharedLog = {
    secrets,
    threshold: LEVELS.indexOf('info'),
    format: options.format ?? 'json',
    write: (line) => {
      const safe = secrets.replaceIn(line);
      (options.destination ?? standard)?.write(shared.format === 'pretty' ? prettyLine(safe, color) : safe);
    },
    flush: () => standard?.flushSync(),
  };
  return wrap(shared, '');
}

/** Whether to write in colour, by the usual variables: `FORCE_COLOR` wins, as it does in Node itself. */
export function hasColors(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** How long lines gather; a write for every line took a seventh of the time of a request. */
const GATHER_MS = 10;

/** Bytes of lines kept while nobody reads them; later ones are dropped, or the log would take all memory. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** How long the end of the process waits for somebody to read them. */
const MAX_FLUSH_MS = 1_000;

/**
 * A pipe on standard error as one that says when it is full: a write that nobody reads would hold its thread, and with
 * it the end of the process, for ever. A file stays as it is, or two places in it would be written to; so does what
 * cannot be opened once more, as on other systems than Linux.
 */
function openWithoutWaiting(): number {
  try {
    if (!fstatSync(2).isFIFO()) return 2;
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return 2;
  }
}

/**
 * Standard error, written asynchronously, many lines at once. Pino writes what is left at exit; `flushSync` does so
 * before, and cannot take back a write that a thread of Node's has begun.
 */
function openStandardError(): { write(line: string): void; flushSync(): void } {
  let givesUpAt = Infinity;
  let isGivenUp = false;
  const destination = new sonicBoom.SonicBoom({
    fd: openWithoutWaiting(),
    sync: false,
    maxLength: MAX_UNREAD_BYTES,
    retryEAGAIN: () => performance.now() < givesUpAt,
  });
  // A failed write cannot be reported anywhere.
  destination.on('error', () => undefined);
  let lines = '';
  const handOver = (): void => {
    if (lines !== '' && !isGivenUp) destination.write(lines);
    lines = '';
  };
  const flushSync = (): void => {
    givesUpAt = Math.min(givesUpAt, performance.now() + MAX_FLUSH_MS);
    handOver();
    if (isGivenUp) return;
    try {
      destination.flushSync();
    } catch {
      // Nobody reads them.
      isGivenUp = true;
      destination.destroy();
    }
  };
  process.prependListener('exit', flushSync);
  return {
    write: (line) => {
      if (lines === '') setTimeout(handOver, GATHER_MS);
      lines += process.env['GITHUB_ACTIONS'] ? withoutCommands(line) : line;
    },
    flushSync,
  };
}

/** State that a log shares with its children. */
interface SharedLog {
  readonly secrets: SecretValues;
  /** Index of the least severe level that is written. */
  threshold: number;
  format: 'json' | 'pretty';
  readonly write: (line: string) => void;
  readonly flush: () => void;
}

/** `inherited` are members of every line, each behind a comma. */
function wrap(shared: SharedLog, inherited: string): Log {
  return {
    debug: lineWriter(shared, inherited, 'debug'),
    info: lineWriter(shared, inherited, 'info'),
    warn: lineWriter(shared, inherited, 'warn'),
    error: lineWriter(shared, inherited, 'error'),
    isEnabled: (level) => isEnabled(shared, level),
    child: (fields) => wrap(shared, inherited + membersOf(fields, shared.secrets)),
    adopt: ({ level, format }) => {
      shared.threshold = LEVELS.indexOf(level);
      shared.format = format ?? shared.format;
    },
    protect: (secret) => {
      shared.secrets.add(secret);
    },
    flush: shared.flush,
  };
}

function isEnabled({ threshold }: SharedLog, level: LogLevel): boolean {
  return LEVELS.indexOf(level) >= threshold;
}

function lineWriter(shared: SharedLog, inherited: string, level: LogLevel): Log['info'] {
  return (fields, message) => {
    if (!isEnabled(shared, level)) return;
    const head = `{"level":"${level}","time":"${new Date().toISOString()}"${inherited}`;
    shared.write(`${head}${membersOf(fields, shared.secrets)},"msg":${JSON.stringify(message)}}\n`);
  };
}

const LEVEL_STYLES: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: ['bold', 'red'],
};

/** `10:05:12 info  message  key=value key="two words"`. */
function prettyLine(line: string, color: boolean): string {
  const { level, time, msg, hint, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const at = new Date(String(time)).toTimeString().slice(0, 8);
  const pairs = Object.entries(fields).map(
    ([key, value]) => `${style('dim', `${clearLine(key)}=`)}${clearLine(show(value))}`,
  );
  const name = String(level);
  const head = `${style('dim', at)} ${style(LEVEL_STYLES[name] ?? 'dim', name.padEnd(5))} ${clearLine(typeof msg === 'string' ? msg : '')}`;
  const advice = typeof hint === 'string' ? `\n  hint: ${clearLine(hint)}` : '';
  return `${[head, ...pairs].join(pairs.length > 0 ? ' ' : '')}${advice}\n`;
}

function show(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? '';
  const safe = clearControl(value);
  return /^[^\s"=]+$/.test(safe) ? safe : JSON.stringify(safe);
}
