import { messageOf } from '../../../base/errors.ts';
import { knownStoreOf } from '../operating/known-store.ts';
import { printSentence } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { formatPlace, type Finding } from '../../../base/document/document.ts';
import {
  startService,
  type ConsoleParts,
  type Service,
  type ServiceRole,
} from '../../../service/startup/startup.ts';
import { createLogger, type Log } from '../../../base/telemetry/telemetry.ts';
import { limitGarbage } from '../../../base/timers/timers.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, printFindings } from '../config-file.ts';
import type { ConsoleContext, RunningConsole } from '../../console/console.ts';
import { CliError, exitCodeOf, type Terminal, untilStopSignal } from '../terminal.ts';
import { version } from '../version.ts';
import { serviceAdvice } from '../lazy-advice.ts';

export type { RunningConsole };

export interface ServeFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly role?: ServiceRole;
}

/**
 * Runs the service for production: the token is required, logs are JSON, SIGHUP reloads. A log collector
 * gets every line in its form, a failed start included; only a person at a terminal gets findings to read.
 */
export async function serve(cli: Cli, flags: ServeFlags): Promise<void> {
  const log = createLogger();
  try {
    await run(cli, flags, log);
  } catch (error) {
    if (cli.terminal.interactive) throw error;
    const reason = messageOf(error);
    log.error({ reason }, 'the service does not run');
    log.flush();
    cli.setExitCode(exitCodeOf(error));
  }
}

async function run({ terminal }: Cli, flags: ServeFlags, log: Log): Promise<void> {
  const service = await startForOperators(terminal, flags, log);
  limitGarbage();
  const endReloading = reloadOnHangup(service);
  try {
    const { id, config } = service.generation;
    log.info({ url: service.url, path: config.settings.hooks.path, generation: id }, 'ready');
    await untilStopped(service, (signal, graceSeconds) => {
      log.info({ signal, graceSeconds }, 'stopping; a second signal ends at once');
    });
  } finally {
    endReloading();
    await service.stop();
    log.info({}, 'stopped');
    log.flush();
  }
}

/** All that the service says goes into the log. Only a failed start is printed for a person at a terminal. */
async function startForOperators(terminal: Terminal, flags: ServeFlags, log: Log): Promise<Service> {
  const context = { configFile: findConfigFile(terminal, flags), env: terminal.env, log };
  let isRunning = false;
  const service = await startService({
    ...serviceAdvice,
    ...context,
    listen: flags,
    readMail: true,
    version,
    knownStore: knownStoreOf(context.configFile, context.env),
    ...defined({ role: flags.role }),
    openConsole: async (parts) => {
      const console = await openConsole({ ...context, mode: 'serve' }, parts);
      if (console !== undefined)
        log.info({ consoleUrl: console.url, keyFile: console.keyFile }, 'the console is served');
      return console;
    },
    onFindings: (findings, isLoaded) => {
      if (isRunning || isLoaded || !terminal.interactive) logFindings(log, findings);
      else printFindings(terminal, findings);
    },
  });
  isRunning = true;
  return service;
}

/** Serves the console where the configuration, or the command, says so; its code is not read before. */
export async function openConsole(
  context: ConsoleContext,
  parts: ConsoleParts,
): Promise<RunningConsole | undefined> {
  const { enabled = context.mode === 'dev' } = parts.live.generation.config.settings.console;
  return enabled ? (await import('../../console/console.ts')).startConsole(context, parts) : undefined;
}

/** Returns how to stop listening for the signal. */
function reloadOnHangup(service: Service): () => void {
  const reload = (): void => void service.reload('the signal SIGHUP');
  process.on('SIGHUP', reload);
  return () => void process.off('SIGHUP', reload);
}

/** Such warnings mean that nothing works, but the service starts all the same. */
const LOUD: ReadonlySet<string> = new Set(['OPENCLAW_NOT_FOUND']);

function logFindings(log: Log, findings: readonly Finding[]): void {
  for (const { severity, code, message, at, hint } of findings) {
    const fields = { code, ...defined({ at: at && formatPlace(at), hint: hint && printSentence(hint) }) };
    log[severity === 'error' || LOUD.has(code) ? 'error' : 'warn'](fields, printSentence(message));
  }
}

/**
 * Waits for SIGINT or SIGTERM, or rejects when the store has failed; a second signal while stopping ends
 * the process at once.
 */
export async function untilStopped(
  service: Service,
  say: (signal: NodeJS.Signals, graceSeconds: number) => void,
): Promise<void> {
  const signal = await Promise.race([untilStopSignal(), service.failed]);
  if (signal instanceof Error)
    throw new CliError(`the store failed: ${signal.message}; start the service again`, 3);
  say(signal, service.generation.config.settings.server.stopGraceSeconds);
}
