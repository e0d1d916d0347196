import type { KeepRequests, LoadedConfig } from '../../engine/config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Generation, LiveGeneration, LiveOptions } from '../generation/generation.ts';
import type { RequestAdvisor, RunningServer, SeenRequest } from '../server/server.ts';
import type { AgentRun, Storage, StorageOptions } from '../../engine/storage/storage.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';

/** The parts of the service that its console works with. */
export interface ConsoleParts {
  readonly url: string;
  readonly storage: Storage;
  readonly live: Pick<LiveGeneration, 'generation' | 'reload'>;
  /** Replays a request by the way that every request goes. */
  readonly server: Pick<RunningServer, 'deliver'>;
  /** Notices changes of the queue, and ends turns that are under way in this process. */
  readonly gateway: Pick<Gateway, 'notify' | 'cancel'>;
}

export interface ServiceOptions extends LiveOptions {
  /** Where the line per request goes; default `log`. */
  readonly requestLog?: Omit<Log, 'child' | 'adopt' | 'protect' | 'flush'>;
  readonly onDecision?: (seen: SeenRequest) => void;
  /** Whether the mailbox of `hooks.mail` is read. */
  readonly readMail?: boolean;
  /** Whether senders are asked for what they could not deliver; default true. */
  readonly recovers?: boolean;
  /** Which requests are kept where the configuration does not say. */
  readonly keepRequests?: KeepRequests;
  /**
   * Every request is accepted, whatever its name and the format of its body. Without `performs` it has no effect:
   * no run, no turn of the main session, no delivery, and nothing is removed.
   */
  readonly recording?: { readonly performs: boolean };
  /** Loads what is known of mistakes in requests, on the first use; default: nothing is known. */
  readonly loadAdvisor?: (generation: Generation) => Promise<RequestAdvisor>;
  /** Says what to do about a run that failed. */
  readonly adviseRun?: (run: AgentRun, config: LoadedConfig) => Promise<string | undefined>;
  /** Opens the console, which is stopped first. */
  readonly openConsole?: (parts: ConsoleParts) => Promise<{ stop(): Promise<void> } | undefined>;
  /** The version of Sluice, for those who ask which services use a store. */
  readonly version?: string;
  /** Which part of the work of its store this service does; default all. */
  readonly role?: ServiceRole;
  /** Where the identity of the PostgreSQL store is remembered. */
  readonly knownStore?: StorageOptions['known'];
  /** How often `storage.keep` is applied; default every ten minutes. */
  readonly pruneEveryMs?: number;
}

/** `front` takes hooks and performs nothing, `worker` performs and takes no hooks; `sluice worker` is no service. */
export type ServiceRole = 'front' | 'worker' | 'all';
