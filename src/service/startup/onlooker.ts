import type { Generation, LiveGeneration, ReloadResult } from '../generation/generation.ts';
import type { RunningServer } from '../server/server.ts';
import type { DecisionRecord, Storage } from '../../engine/storage/storage.ts';

/** What the service hands to its console. */
export interface ConsoleParts {
  readonly url: string;
  readonly storage: Storage;
  readonly live: () => Generation;
  readonly reload: () => Promise<ReloadResult>;
  /** Takes a request again by the way every request goes; see the server's `deliver`. */
  readonly deliver: RunningServer['deliver'];
  /** Wakes who performs work: the queue was changed. */
  readonly notify: () => void;
  /** Ends the turns of runs that are under way in this process; how many these were. */
  readonly cancel: (runIds: readonly string[]) => number;
}

/** Somebody who looks on. */
export interface Onlooker {
  see(decision: DecisionRecord): void;
  replaced(): void;
  stop(): Promise<void>;
}

/** Nobody yet; filled when somebody looks on, as the server that is looked at has to be there first. */
export interface Looking {
  onlooker?: Onlooker;
}

/** The store as the server writes into it: each decision is kept as the configuration says, and shown. */
export function watchedStorage(
  storage: Storage,
  live: LiveGeneration,
  looking: Looking,
): Pick<Storage, 'recordDecision' | 'recordStranger'> {
  return {
    recordDecision: (decision) => {
      storage.recordDecision(decision, live.generation.config.settings.storage.keep.decisions);
      looking.onlooker?.see(decision);
    },
    recordStranger: (decision, sender) => {
      storage.recordStranger(decision, sender);
      looking.onlooker?.see(decision);
    },
  };
}
