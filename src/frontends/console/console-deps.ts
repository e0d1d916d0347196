import type { LoadedConfig } from '../../engine/config/config.ts';
import type { Finding } from '../../base/document/document.ts';
import type { Evaluation, ReadKept } from '../../engine/hook/hook.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../base/request.ts';
import type { KeptGeneration, Storage } from '../../engine/storage/storage.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';

/** Configuration, mappings and transforms, as far as the console looks at them. */
export interface ConsoleGeneration {
  readonly id: string;
  readonly config: LoadedConfig;
  readonly table: RoutingTable;
  evaluate(request: HookRequest, detail?: 'brief' | 'full'): Evaluation | Promise<Evaluation>;
}

/** Folders that stand in for those of the configuration: a draft of one file lies in a copy. */
export interface DraftFolders {
  readonly mappingsDir?: string;
  readonly transformsDir?: string;
  /** Directory that names of files in findings are relative to. */
  readonly cwd: string;
}

/** A generation beside the one that is live, with all that was found in it. */
export interface LoadedWork {
  /** Absent where there is any error. */
  readonly generation?: ConsoleGeneration;
  readonly findings: readonly Finding[];
  /** Frees what it holds. */
  release(): void | Promise<void>;
}

/** Loads generations that never go live, with processes of their own for transforms. */
export interface Workshop {
  load(folders?: DraftFolders): Promise<LoadedWork>;
  /** What was live once and kept; undefined where the files as they are judge alike, or it cannot be loaded any more. */
  loadKept(kept: KeptGeneration): Promise<LoadedWork | undefined>;
  /** What the type checker says of the transforms of a folder. */
  checkTypes(transformsDir: string, draft: string): Promise<readonly Finding[]>;
  stop(): Promise<void>;
}

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
  readonly live: () => ConsoleGeneration;
  readonly openWorkshop: () => Workshop;
  /** Takes the files as they are into service; a rejected reload says how many findings kept them out. */
  readonly reload: () => Promise<{ readonly kind: string; readonly findings?: number }>;
  /** Takes a kept request again by the way every request goes, once in a day for its `root`; resolves to the new one. */
  readonly takeAgain: (
    kept: ReadKept,
    root: string,
  ) => Promise<{ readonly status: number; readonly requestId: string }>;
  /** Ends the turns of these runs that are under way here; how many these were. */
  readonly cancel: (ids: readonly string[]) => number;
  /** Wakes who performs work: the queue was changed. */
  readonly notify: () => void;
}
