import type { CallbackAddress, StartQuestion } from '../../base/action.ts';
import type { ChannelLookup } from '../channels/channels.ts';
import type { Settings } from '../../engine/config/config.ts';
import type { PermissionAnswer } from '../../engine/senders/senders.ts';
import type { Runner } from '../runners/runners.ts';
import type { AgentRun, LimitRules, NewDelivery, Storage } from '../../engine/storage/storage.ts';
import type { GatewayMetrics, HealthReporter, Log, Tracing } from '../../base/telemetry/telemetry.ts';
import type { RetryPolicy } from './retry.ts';

/** What a reload replaces as a whole; work under way ends with what it began with. */
export interface GatewayConfiguration {
  readonly settings: Pick<Settings, 'gateway' | 'agents' | 'channels'>;
  readonly runners: ReadonlyMap<string, Runner>;
  readonly channels: ChannelLookup;
  /** How many runs of each mapping may begin within an hour; absent where none is limited. */
  readonly limits?: LimitRules;
  /** The address at which somebody approves a run; undefined where the service has no public address. */
  readonly approvalLink?: (asked: NonNullable<NewDelivery['asks']>) => string | undefined;
  /** The only channel, where mappings deliver to it and nothing says which place of it is the main session's. */
  readonly sharedChannel?: string | undefined;
  /** Asks the sender of a path what an account may do; undefined where there is no token for it. */
  readonly askPermission?: (question: StartQuestion, path: string) => Promise<PermissionAnswer | undefined>;
  /** The text behind a reference in a mapping; undefined where it is not set. */
  readonly readReference?: (reference: CallbackAddress) => string | undefined;
}

/** The policies of `retry.ts`, or others for tests. */
export interface RetryPolicies {
  readonly runs: RetryPolicy;
  readonly outbox: RetryPolicy;
  readonly heartbeat: RetryPolicy;
  /** Pauses between the tries of a runner that is away. */
  readonly holds: RetryPolicy;
}

export interface GatewayBase {
  readonly storage: Storage;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly health: HealthReporter;
  /** The scheduling clock: milliseconds since the epoch that never go back. */
  readonly now: () => number;
  readonly random: () => number;
  readonly nonce: () => string;
  readonly retry: RetryPolicies;
  readonly configuration: () => GatewayConfiguration;
  /** Absent where no metrics are served. */
  readonly metrics: GatewayMetrics | undefined;
  /** Absent where no spans are made. */
  readonly tracing: Tracing | undefined;
  /** What to write where a run failed; undefined where nothing is known. */
  readonly advise: (run: AgentRun) => Promise<string | undefined>;
  /** As in `GatewayOptions`. A run that a crash left begins before the service listens. */
  readonly keysUrl: Promise<string | undefined>;
  /** Makes the gateway look soon for due work. */
  readonly wake: () => void;
}
