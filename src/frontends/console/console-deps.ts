import type { ConsoleParts } from '../../service/startup/startup.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';

export interface ConsoleContext {
  /** `serve` changes no file, and `dev` listens on this machine only. */
  readonly mode: 'dev' | 'serve';
  /** The configuration, and what its references may name: drafts are loaded beside what is live. */
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Pick<Log, 'error' | 'info'>;
}

/** Everything the console works with; nothing is reached by any other way. */
export interface ConsoleDeps extends ConsoleContext, ConsoleParts {
  /** The address that hooks are sent to. */
  readonly hooksUrl: string;
  /** The folder `test/golden` next to the configuration. */
  readonly goldenDir: string;
}
