import { dirname, join } from 'node:path';
import { hooksAddress, type Settings, stateFolder } from '../../engine/config/config.ts';
import type { ConsoleDeps, RunningConsole } from '../console/console.ts';
import type { ConsoleParts } from '../../service/startup/startup.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';

export type { RunningConsole };

/** One above the service's own. */
const DEFAULT_CONSOLE_PORT = 8788;

export interface ConsoleContext {
  readonly mode: 'dev' | 'serve';
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Where the file with the console's key may be: beside the configuration, else where the service keeps its state. */
function consoleKeyFiles(configFile: string, env: NodeJS.ProcessEnv): readonly string[] {
  const directory = dirname(configFile);
  const elsewhere = stateFolder('console', { directory, env, name: 'console-key' });
  return [join(directory, '.sluice', 'console-key'), elsewhere];
}

/** Serves the console where the configuration, or the command, says so: `dev` on this machine only. */
export async function openConsole(
  { mode, configFile, env, log }: ConsoleContext,
  parts: ConsoleParts,
): Promise<RunningConsole | undefined> {
  const { settings } = parts.live().config;
  if (!(settings.console.enabled ?? mode === 'dev')) return undefined;
  const { startConsole } = await import('../console/console.ts');
  return startConsole({
    ...parts,
    ...addressesOf(settings, parts.url, mode),
    mode,
    keyFiles: consoleKeyFiles(configFile, env),
    log,
    goldenDir: join(dirname(configFile), 'test', 'golden'),
    configFile,
    env,
  });
}

/** Where it listens and is reached, and where hooks are sent to. A port that nobody chose may be another one. */
function addressesOf(
  settings: Settings,
  serviceUrl: string,
  mode: ConsoleContext['mode'],
): Pick<ConsoleDeps, 'listen' | 'publicUrl' | 'hooksUrl'> {
  const { port, host, publicUrl } = settings.console;
  const isFixed = port !== undefined || mode === 'serve';
  const listen = { host: mode === 'dev' ? '127.0.0.1' : host, port: port ?? DEFAULT_CONSOLE_PORT };
  return {
    listen: { ...listen, ...(isFixed ? {} : { otherPort: 0 }) },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    hooksUrl: hooksAddress(serviceUrl, settings),
  };
}
