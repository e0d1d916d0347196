/** What the pool schedules. */
import type { Breaker } from './breaker.ts';
import type { Answer, LoadBody } from '../frames.ts';

/** A module under certain settings, shared by all generations that use it so. */
export interface PooledModule {
  /** Its number in frames; never given twice. */
  readonly number: number;
  /** As mappings name it, for logs. */
  readonly name: string;
  readonly sha256: string;
  readonly body: LoadBody;
  readonly breaker: Breaker;
  /** Quick answers in a row; a module that has proven itself may queue on a worker and use all of them. */
  quickAnswers: number;
  /** Milliseconds that a call is expected to take, by those before it. */
  usualMs: number;
}

/** How a job ended. */
export type JobOutcome =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly tookMs: number }
  | { readonly kind: 'killed'; readonly failure: 'timeout' | 'memory' | 'crashed'; readonly tookMs: number }
  | { readonly kind: 'deferred'; readonly reason: string; readonly retryAfterMs: number };

export interface Job {
  readonly id: number;
  readonly module: PooledModule;
  /** The limit; for a second try, what the first has left of it. */
  timeoutMs: number;
  readonly frame: Buffer;
  readonly queuedAt: number;
  /** The breaker's one call while it is half open. */
  readonly isTrial: boolean;
  /** Runs on a worker that has nothing else: a trial, or the second try after an unexplained death. */
  isAlone: boolean;
  sentAt: number;
  /** It was tried before, and hardly got the processor. */
  wasStarved?: boolean;
  /** When its time is up; known once a worker that ran it was lost. */
  endsAt?: number;
  readonly end: (outcome: JobOutcome) => void;
}
