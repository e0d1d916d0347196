import type { Gateway } from '../gateway/gateway.ts';
import type { LiveGeneration } from '../generation/generation.ts';
import type { RunningServer } from '../server/server.ts';
import type { DecisionRecord, Storage } from '../../engine/storage/storage.ts';

/** The parts of the service that its console works with. */
export interface ConsoleParts {
  readonly url: string;
  readonly storage: Storage;
  readonly live: Pick<LiveGeneration, 'generation' | 'reload'>;
  /** Takes a request again by the way every request goes. */
  readonly server: Pick<RunningServer, 'deliver'>;
  /** Hears that the queue was changed, and ends turns that are under way in this process. */
  readonly gateway: Pick<Gateway, 'notify' | 'cancel'>;
}

/** Somebody who looks on. */
export interface Onlooker {
  see(decision: DecisionRecord): void;
  replaced(): void;
  stop(): Promise<void>;
}

/** Nobody yet; filled when somebody looks on, as the server that is looked at has to be there first. */
export interface Onlookers {
  onlooker?: Onlooker;
}

/** The store as the server writes into it: each decision is kept as the configuration says, and shown. */
export function watchedStorage(
  storage: Storage,
  live: LiveGeneration,
  looking: Onlookers,
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
