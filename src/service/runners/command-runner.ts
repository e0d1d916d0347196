import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { defined } from '../../base/json.ts';
import type { Readable, Writable } from 'node:stream';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { type ArgvValues, expandArgv } from './command-argv.ts';
import { BoundedHead, BoundedTail, extractReply } from './command-output.ts';
import { openWorkspace, type CommandWorkspace } from './command-workspace.ts';
import { codeText, diskText, folderProblem } from './start-failure.ts';
import { openWorkFolder, removeWorkFolder, WorkFolderError } from './work-folder.ts';
import { namesSecretText, withoutSecrets } from '../../base/telemetry/telemetry.ts';
import { endProcessTree, readStartTicks, RUN_ID_VARIABLE, type ProcessTree } from './process-tree.ts';
import {
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from './runner.ts';
import { armAwakeTimer, pause } from '../../base/timers/timers.ts';

export type CommandSettings = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** The service's environment, of which the command gets the names of an allow-list. */
export type HostEnvironment = Readonly<Record<string, string | undefined>>;

const PASSED_VARIABLES = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TZ', 'TMPDIR'];
const TERM_GRACE_MS = 1_000;
/** How much of the end of stderr goes into the run's record; none of it reaches the service log. */
const STDERR_TAIL_BYTES = 4_096;
/** After the command exited, its output is read until it has been quiet this long, and no longer than the maximum. */
const QUIET_MS = 200;
const MAX_DRAIN_MS = 5_000;
/** Spawn errors that no repeat can help: the arguments or the environment are too large, or not valid. */
const FINAL_SPAWN_CODES = new Set(['E2BIG', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_TYPE']);

type CommandEnd =
  | { readonly kind: 'exit'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'flooded' };

type Exit = Extract<CommandEnd, { readonly kind: 'exit' }>;

/** Says by the disk why a program did not start, and what mends it; undefined where the disk does not show it. */
export type ExplainStart = (
  argv: readonly string[],
  /** What PATH of the command holds. */
  path: string | undefined,
) => Promise<string | undefined>;

/** What the configuration knows of a command beside its settings. */
export interface CommandSurroundings {
  /** Texts of the configuration that came from outside of its file: they are removed from what a failed command says. */
  readonly secrets?: readonly string[] | undefined;
  /** Asked where a command did not start. */
  readonly explainStart?: ExplainStart | undefined;
  /** Whether the reply of a turn that was ended is what it had printed until then; default: it has none. */
  readonly keepsPart?: boolean;
}

/**
 * A runner for any agent that is a command: prompt on stdin (or as a file), reply on stdout. The command gets an
 * environment of its own (an allow-list, so that none of the service's secrets leak) and ends, with everything it
 * started, when it exits, at the deadline, or when the service stops.
 */
export function createCommandRunner(
  settings: CommandSettings,
  host: HostEnvironment,
  { secrets = [], explainStart, keepsPart = false }: CommandSurroundings = {},
): Runner {
  return {
    kind: 'command',
    async run(turn, options) {
      const place = await openPlace(settings, turn);
      if ('kind' in place) return place;
      try {
        return await runCommand(settings, turn, {
          ...options,
          ...place,
          host,
          secrets,
          explainStart,
          keepsPart,
        });
      } finally {
        await place.workspace.remove();
        const { privateFolders } = settings;
        // The conversation has ended with its one turn.
        if (privateFolders !== undefined && turn.isOneShot === true)
          await removeWorkFolder(privateFolders, turn.sessionId).catch(() => {});
      }
    },
  };
}

/** Whether the prompt is a file, which the command may read before its process is on record. */
export const getsPromptFile = ({ prompt, argv }: CommandSettings): boolean =>
  prompt === 'file' || argv.some((each) => each.includes('{prompt_file}'));

/** Opens the turn's files and the folder to work in, or says why that failed. */
async function openPlace(
  settings: CommandSettings,
  turn: Turn,
): Promise<Pick<CommandContext, 'workspace' | 'cwd'> | TurnResult> {
  const { cwd, privateFolders } = settings;
  try {
    const folder =
      turn.cwd ?? (privateFolders === undefined ? cwd : await openWorkFolder(privateFolders, turn.sessionId));
    return { workspace: await openWorkspace(turn, getsPromptFile(settings)), cwd: folder };
  } catch (error) {
    const of = error instanceof WorkFolderError ? error : undefined;
    const message = `the files of a turn could not be written: ${of?.message ?? diskText(error, tmpdir())}`;
    // Every turn meets it, unless the folder of one conversation is at fault.
    return notStarted('workspace_failed', message, of?.isOfOne === true ? {} : { affects: 'runner' });
  }
}

interface CommandContext extends RunnerOptions, Pick<CommandSurroundings, 'explainStart' | 'keepsPart'> {
  /** The folder to work in; default that of the service. */
  readonly cwd: string | undefined;
  readonly secrets: readonly string[];
  readonly host: HostEnvironment;
  readonly workspace: CommandWorkspace;
}

async function runCommand(
  settings: CommandSettings,
  turn: Turn,
  context: CommandContext,
): Promise<TurnResult> {
  const expanded = expandArgv(settings.argv, argvValues(turn, context.workspace));
  if (!expanded.ok) {
    const message = `argv[${expanded.index}] would start with a dash that comes from the request, not from the template`;
    return notStarted('unsafe_argument', message, { final: true });
  }
  const [file = '', ...args] = expanded.argv;
  const env = commandEnvironment(settings, turn, context);
  const child = await startCommand(file, args, {
    ...defined({ cwd: context.cwd }),
    env,
    stdio: [settings.prompt === 'stdin' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    // With a process group of its own, one signal ends all of it.
    detached: true,
  });
  if (typeof child === 'string') return spawnFailure(expanded.argv, child, { ...context, path: env['PATH'] });
  const secrets = [...context.secrets, ...secretsOf(env)];
  return await superviseCommand(settings, turn, { ...context, ...child, secrets });
}

/** The process groups of running commands, which also end where the service ends without a stop. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pgid of running) {
    try {
      process.kill(-pgid, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }
});

/** The process, or the code of the error for which there is none: Node throws some of them and emits the others. */
async function startCommand(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<Pick<Supervision, 'pid' | 'child'> | string> {
  try {
    const child = spawn(file, args, options);
    const { pid } = child;
    if (pid === undefined) throw (await once(child, 'error'))[0];
    running.add(pid);
    child.once('exit', () => running.delete(pid));
    // A signal that cannot be sent: the exit of the process says what became of it.
    child.on('error', () => {});
    return { pid, child };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

function argvValues(turn: Turn, workspace: CommandWorkspace): ArgvValues {
  return {
    prompt_file: workspace.promptFile,
    model: turn.model,
    thinking: turn.thinking,
    session_key: turn.sessionKey,
    session_id: turn.sessionId,
    timeout_seconds: String(turn.timeoutSeconds),
    run_id: turn.runId,
    history_file: workspace.historyFile,
  };
}

async function spawnFailure(
  argv: readonly string[],
  code: string,
  { cwd, path, explainStart }: StartFolders,
): Promise<TurnResult> {
  const why = folderProblem(cwd) ?? (await explainStart?.(argv, path)) ?? codeText(code);
  const message = `the command ${(argv[0] ?? '').slice(0, 80)} did not start (${code}): ${why}`;
  return notStarted(
    'spawn_failed',
    message,
    FINAL_SPAWN_CODES.has(code) ? { final: true } : { affects: 'runner' },
  );
}

interface StartFolders extends Pick<CommandContext, 'cwd' | 'explainStart'> {
  /** What PATH of the command holds. */
  readonly path: string | undefined;
}

/** Values that the command gets as secrets; its errors are stored and shown without them. `PWD` is its folder. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const isSecret = (name: string): boolean => name !== 'PWD' && namesSecretText(name);
  return Object.entries(env).flatMap(([name, value = '']) => (isSecret(name) ? [value] : []));
}

interface Supervision extends CommandContext {
  readonly pid: number;
  readonly child: {
    readonly stdin: Writable | null;
    readonly stdout: Readable | null;
    readonly stderr: Readable | null;
    once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  };
}

async function superviseCommand(
  settings: CommandSettings,
  turn: Turn,
  { child, pid, secrets, signal, onProcess, keepsPart }: Supervision,
): Promise<TurnResult> {
  const startTicks = readStartTicks(pid);
  const tree: ProcessTree = { runId: turn.runId, pgid: pid, startTicks, own: true };
  const stdout = new BoundedHead(settings.maxReplyBytes);
  const stderr = new BoundedTail(STDERR_TAIL_BYTES);
  const ended = endingOf(child, { stdout, stderr }, { signal, timeoutSeconds: turn.timeoutSeconds });
  // The prompt follows only once the process is on record, so that the command cannot act before.
  try {
    await onProcess({ pgid: pid, startTicks });
  } catch {
    await endCommand(child, tree, { kind: 'aborted' });
    const end = getsPromptFile(settings) ? failedTurn : notStarted;
    return end('storage_unavailable', 'that the command began could not be stored');
  }
  child.stdin?.end(turn.prompt);
  const ending = await ended;
  const isClean = await endCommand(child, tree, ending);
  const hide = (text: string): string => withoutSecrets(text, secrets, 'text');
  const output = { ending, stdout: stdout.text(), stderr: stderr.text(hide), hide };
  const result = toResult(settings, turn, output);
  const kept = ending.kind !== 'exit' && keepsPart === true ? { ...result, reply: output.stdout } : result;
  return isClean ? kept : withSurvivors(kept);
}

/** Collects the output, and resolves to the first thing that ends the command. */
function endingOf(
  child: Supervision['child'],
  { stdout, stderr }: { readonly stdout: BoundedHead; readonly stderr: BoundedTail },
  { signal, timeoutSeconds }: { readonly signal: AbortSignal; readonly timeoutSeconds: number },
): Promise<CommandEnd> {
  const { promise, resolve } = Promise.withResolvers<CommandEnd>();
  child.once('exit', (code, exitSignal) => resolve({ kind: 'exit', code, signal: exitSignal }));
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!stdout.add(chunk)) resolve({ kind: 'flooded' });
  });
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
  // A command that does not read its prompt closes the pipe (EPIPE); its exit code says what it did.
  child.stdin?.on('error', () => {});
  if (signal.aborted) resolve({ kind: 'aborted' });
  signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true });
  return promise.finally(armAwakeTimer(timeoutSeconds * 1000, () => resolve({ kind: 'timeout' })));
}

/** Ends what is left of the command once its last output was read; resolves to whether all of it ended. */
async function endCommand(
  child: Supervision['child'],
  tree: ProcessTree,
  ending: CommandEnd,
): Promise<boolean> {
  if (ending.kind === 'exit') await drain(child.stdout, child.stderr);
  const isClean = await endProcessTree(tree, TERM_GRACE_MS);
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
  return isClean;
}

/** Waits for silence, not for the end of the streams: a process left behind may keep the pipes open. */
async function drain(...streams: readonly (Readable | null)[]): Promise<void> {
  const open = streams.filter((stream) => stream !== null && !stream.readableEnded);
  if (open.length === 0) return;
  let heardAt = performance.now();
  const heard = (): void => void (heardAt = performance.now());
  for (const stream of open) stream?.on('data', heard);
  const giveUpAt = performance.now() + MAX_DRAIN_MS;
  while (performance.now() < Math.min(heardAt + QUIET_MS, giveUpAt)) {
    if (open.every((stream) => stream?.readableEnded === true)) return;
    await pause(5);
  }
}

interface CommandOutput {
  readonly ending: CommandEnd;
  readonly stdout: string;
  readonly stderr: string;
  /** Removes secrets of the command from a text. */
  readonly hide: (text: string) => string;
}

function toResult(settings: CommandSettings, turn: Turn, output: CommandOutput): TurnResult {
  const { ending } = output;
  switch (ending.kind) {
    case 'timeout':
      return failedTurn('timeout', `the command was ended after ${turn.timeoutSeconds} s`, 'timeout');
    case 'aborted':
      return failedTurn('interrupted', 'the command was ended because the service stops');
    case 'flooded':
      return failedTurn('reply_too_large', `the command printed over ${settings.maxReplyBytes} bytes`);
    case 'exit':
      return exitResult(settings, output, ending);
  }
}

function exitResult(settings: CommandSettings, output: CommandOutput, exit: Exit): TurnResult {
  const said = output.stderr === '' ? '' : `\n${output.stderr}`;
  if (exit.code !== null && settings.retryExitCodes.includes(exit.code)) {
    return notStarted(`exit_${exit.code}`, `the command asked to be run again${said}`);
  }
  const extracted = extractReply(output.stdout, settings.replyPath);
  if (exit.code === 0) {
    if (!extracted.ok) return failedTurn(extracted.code, extracted.message);
    return { kind: 'completed', outcome: 'ok', reply: extracted.reply };
  }
  const { code, how } = describeExit(exit);
  return {
    ...failedTurn(code, `the command ${how}${said}`),
    reply: extracted.ok ? output.hide(extracted.reply) : '',
  };
}

function describeExit({ code, signal }: Exit): { readonly code: string; readonly how: string } {
  if (code !== null) return { code: `exit_${code}`, how: `exited with code ${code}` };
  return { code: `signal_${(signal ?? 'unknown').toLowerCase()}`, how: `was ended by ${signal}` };
}

/** Adds to the error of a failed run that a part of the command is still running; a reply stays as it is. */
function withSurvivors(result: TurnResult): TurnResult {
  if (result.kind === 'not-started' || result.error === undefined) return result;
  const message = `${result.error.message} (processes of the command could not be ended)`;
  return { ...result, error: { code: result.error.code, message } };
}

/** The variables of the allow-list, then the operator's, then ours, which nothing overrides. */
function commandEnvironment(
  settings: CommandSettings,
  turn: Turn,
  { host, workspace }: CommandContext,
): Record<string, string> {
  return {
    ...allowedOf(host, [...PASSED_VARIABLES, ...settings.passEnv]),
    ...settings.env,
    [RUN_ID_VARIABLE]: turn.runId,
    SLUICE_SESSION_KEY: turn.sessionKey,
    SLUICE_SESSION_ID: turn.sessionId,
    SLUICE_MODEL: turn.model ?? '',
    SLUICE_THINKING: turn.thinking ?? '',
    SLUICE_TIMEOUT_SECONDS: String(turn.timeoutSeconds),
    SLUICE_HISTORY_FILE: workspace.historyFile,
    ...defined({
      TRACEPARENT: turn.traceparent,
      SLUICE_PROMPT_FILE: workspace.promptFile,
      SLUICE_MARK: turn.mark,
      SLUICE_CONVERSATION_URL: turn.keysAt?.url,
      SLUICE_CONVERSATION_TOKEN: turn.keysAt?.token,
    }),
  };
}

function allowedOf(host: HostEnvironment, names: readonly string[]): Record<string, string> {
  const allowed = new Set(names);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (allowed.has(name) || name.startsWith('LC_'))) environment[name] = value;
  }
  return environment;
}
