import type { Gateway } from '../gateway/gateway.ts';
import type { LiveGeneration } from '../generation/generation.ts';
import type { RunningServer } from '../server/server.ts';
import type { DecisionRecord, Storage } from '../../engine/storage/storage.ts';

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

export interface Onlooker {
  see(decision: DecisionRecord): void;
  replaced(): void;
  stop(): Promise<void>;
}

/** Empty at first: the console is opened after the server that it looks at. */
export interface Onlookers {
  onlooker?: Onlooker;
}

/** The store of the server, which also shows each decision to the console. */
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
