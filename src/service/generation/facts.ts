/** What advice looks at in the configuration, with what it names. */
import type { ChannelCatalog, ChannelProblem } from '../channels/channels.ts';
import type { LoadedConfig, RunnerSettings } from '../../engine/config/config.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

export interface GenerationSubjects {
  /** The configuration, with the mappings that are enabled and have no error. */
  generation: {
    readonly kind: 'generation';
    readonly config: LoadedConfig;
    readonly catalog: ChannelCatalog;
    readonly mappings: readonly CompiledMapping[];
  };
  /** A runner that starts a command. */
  runner: {
    readonly kind: 'runner';
    readonly runner: Extract<RunnerSettings, { readonly kind: 'command' | 'agent' }>;
    readonly root: LoadedConfig['root'];
    /** The path to the settings of the runner. */
    readonly path: readonly string[];
    readonly configDir: string;
    readonly host: NodeJS.ProcessEnv;
  };
}

interface RecipientCheck {
  readonly channel: string;
  readonly to: string;
  readonly isRecipient: (to: string) => boolean;
}

/** The facts of findings that need several files together, by code. */
export interface GenerationFacts {
  CHANNEL_SETTINGS: {
    readonly setting?: {
      /** The name that the channel has in the file. */
      readonly as: string;
      readonly problem: ChannelProblem;
      readonly root: LoadedConfig['root'];
      readonly isRecipient: RecipientCheck['isRecipient'];
    };
    /** `gateway.main.to`, which is wrong, or has no channel. */
    readonly main?: { readonly wrong?: RecipientCheck };
  };
  RUNNER_SETTINGS: {
    readonly runner: string;
    readonly of: 'provider' | 'model' | 'no-model';
    /** The setting that is wrong; absent for a package that is missing. */
    readonly key?: string | undefined;
  };
  TIMEOUT_CUT: { readonly asked: number; readonly most: number };
}
