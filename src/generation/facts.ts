/** What advice looks at in the configuration, with what it names. */
import type { LoadedConfig, RunnerSettings } from '../config/config.ts';

export interface GenerationSubjects {
  /** A runner that starts a command. */
  runner: {
    readonly kind: 'runner';
    readonly runner: Extract<RunnerSettings, { readonly kind: 'command' | 'agent' }>;
    readonly root: LoadedConfig['root'];
    /** The steps to its settings. */
    readonly path: readonly string[];
    /** The folder of the configuration. */
    readonly configDir: string;
    /** Folders that a mapping may choose in place of the runner's own. */
    readonly workFolders: readonly string[];
    /** The environment of the service. */
    readonly host: NodeJS.ProcessEnv;
  };
}
