import type { AgentRun } from './run-records.ts';

/** What a process is working on. */
export interface HeldWork {
  /** Ids of its active runs. */
  readonly runs: readonly string[];
  /** Ids of the outbox entries it sends. */
  readonly outbox: readonly string[];
  /** Whether it takes a turn of the main session. */
  readonly isTurnTaken: boolean;
}

/** A process whose lease has ended, as it was seen. */
export interface LapsedReplica {
  readonly id: string;
  readonly leaseUntil: number;
}

/** What a process took over from others that are gone. */
export interface Succession {
  /** Runs that were active there, with the process group of their last attempt; they are active here now. */
  readonly runs: readonly AgentRun[];
  /** Whether this process leads: takes the turns of the main session, and sends deliveries. */
  readonly isLeader: boolean;
}
