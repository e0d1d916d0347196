import type { Generation } from '../../service/generation/generation.ts';
import type { RunningServer } from '../../service/server/server.ts';
import type { Storage } from '../../engine/storage/storage.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';

/** Everything the console works with; nothing is reached by any other way. */
export interface ConsoleDeps {
  /** `serve` changes nothing. */
  readonly mode: 'dev' | 'serve';
  readonly listen: {
    readonly host: string;
    readonly port: number;
    /** Taken where `port` is in use: 0 is a free one. */
    readonly otherPort?: number;
  };
  readonly publicUrl?: string;
  /** The first of them that can be read or written holds the key. */
  readonly keyFiles: readonly string[];
  readonly storage: Storage;
  readonly log: Pick<Log, 'error' | 'info'>;
  /** Address that hooks are sent to. */
  readonly hooksUrl: string;
  /** `test/golden` next to the configuration. */
  readonly goldenDir: string;
  readonly live: () => Generation;
  /** The configuration, and what its references may name: drafts are loaded beside what is live. */
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  /** Takes the files as they are into service; a rejected reload says how many findings kept them out. */
  readonly reload: () => Promise<{ readonly kind: string; readonly findings?: number }>;
  /** Takes a request by the way every request goes. */
  readonly deliver: RunningServer['deliver'];
  /** Ends the turns of these runs that are under way here; how many these were. */
  readonly cancel: (ids: readonly string[]) => number;
  /** Wakes who performs work: the queue was changed. */
  readonly notify: () => void;
}
