import { formatDiagnostics, formatPlace, type Diagnostic } from '../document/document.ts';
import { startService, type Service, type ServiceRole } from '../service/service.ts';
import { createLogger, type Log } from '../telemetry/telemetry.ts';
import { giveBackWhenIdle, limitGarbage, putCollectorsBehind } from '../timers/timers.ts';
import type { Cli } from './command-line.ts';
import { findConfigFile } from './config-file.ts';
import { consoleKeyFile, openConsole } from './serve-console.ts';
import { untilStopSignal } from './stop-signals.ts';
import { CliError } from './terminal.ts';
import { version } from './version.ts';

export interface ServeFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly role?: ServiceRole;
}

/**
 * Runs the service for production: the token is required, logs are JSON, SIGHUP reloads. Who collects the log gets
 * every line in its form, a start that failed included; only a person at a terminal gets findings to read.
 */
export async function serve(cli: Cli, flags: ServeFlags): Promise<void> {
  const log = createLogger();
  try {
    await run(cli, flags, log);
  } catch (error) {
    if (cli.terminal.interactive) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ reason }, 'the service does not run');
    log.flush();
    cli.setExitCode(error instanceof CliError ? error.exitCode : 1);
  }
}

async function run({ terminal }: Cli, flags: ServeFlags, log: Log): Promise<void> {
  let isRunning = false;
  const configFile = findConfigFile(terminal, flags);
  const service = await startService({
    configFile,
    env: terminal.env,
    log,
    listen: flags,
    readMail: true,
    version,
    ...(flags.role === undefined ? {} : { role: flags.role }),
    openConsole: async (parts) => {
      const console = await openConsole({ mode: 'serve', configFile, env: terminal.env, log }, parts);
      if (console === undefined) return undefined;
      log.info({ consoleUrl: console.url, keyFile: consoleKeyFile(configFile) }, 'the console is served');
      return console;
    },
    onDiagnostics: (diagnostics, isLoaded) => {
      if (!isRunning && !isLoaded && terminal.interactive) {
        terminal.err(formatDiagnostics(diagnostics, { color: terminal.color }));
      } else logDiagnostics(log, diagnostics);
    },
  });
  isRunning = true;
  limitGarbage();
  putCollectorsBehind();
  giveBackWhenIdle();
  const reload = (): void => void service.reload();
  process.on('SIGHUP', reload);
  try {
    log.info(
      {
        url: service.url,
        path: service.generation.config.settings.hooks.path,
        generation: service.generation.id,
      },
      'ready',
    );
    await untilStopped(service, (signal, graceSeconds) => {
      log.info({ signal, graceSeconds }, 'stopping; a second signal ends at once');
    });
  } finally {
    process.off('SIGHUP', reload);
    await service.stop();
    log.info({}, 'stopped');
    log.flush();
  }
}

/** Warnings that say that nothing works: the service starts all the same. */
const LOUD: ReadonlySet<string> = new Set(['OPENCLAW_NOT_FOUND']);

/** Findings of a service that runs, as lines of its log. */
function logDiagnostics(log: Log, diagnostics: readonly Diagnostic[]): void {
  for (const { severity, code, message, at, hint } of diagnostics) {
    const fields = {
      code,
      ...(at === undefined ? {} : { at: formatPlace(at) }),
      ...(hint === undefined ? {} : { hint }),
    };
    log[severity === 'error' || LOUD.has(code) ? 'error' : 'warn'](fields, message);
  }
}

/** Waits for SIGINT or SIGTERM, or rejects when the store has failed; a second signal while stopping ends the process at once. */
export async function untilStopped(
  service: Service,
  say: (signal: NodeJS.Signals, graceSeconds: number) => void,
): Promise<void> {
  const signal = await Promise.race([untilStopSignal(), service.failed]);
  if (signal instanceof Error)
    throw new CliError(`the store failed: ${signal.message}; start the service again`);
  say(signal, service.generation.config.settings.server.stopGraceSeconds);
}
