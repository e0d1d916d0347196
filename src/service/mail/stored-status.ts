import type { MailboxRecord } from '../../engine/storage/storage.ts';
import { type MailboxStatus, type MailFigures, type MailHealth, NOTHING_READ } from './mailbox-health.ts';

/** What a reader wrote into the store about its mailbox. */
export interface StoredState extends MailboxStatus {
  /** Since when the server refuses the login for good; outlives the reader, so that it is told of once. */
  readonly loginDeadSince?: number;
}

/** Undefined where no reader has written one yet. */
export function readState(json: string): StoredState | undefined {
  const state = JSON.parse(json) as Partial<StoredState>;
  return state.health === undefined ? undefined : (state as StoredState);
}

/** A mailbox as `sluice webhooks mail status` shows it. */
export interface MailboxReport extends MailFigures {
  readonly mailbox: string;
  /** As in `MailHealth`; `not-running` where nobody holds the mailbox, whatever its last reader wrote. */
  readonly state: MailHealth['state'] | 'not-running';
  readonly since: number;
  readonly reason?: string;
  readonly retryAt?: number;
}

/** What the store knows of a mailbox, whoever reads it. */
export function mailboxReport(record: MailboxRecord, nowMs: number): MailboxReport {
  const stored = readState(record.state);
  const isHeld = record.holder !== undefined && record.heldUntil >= nowMs;
  const { health, figures = NOTHING_READ } = stored ?? {};
  return {
    mailbox: record.mailbox,
    state: isHeld ? (health?.state ?? 'connecting') : 'not-running',
    since: isHeld ? (health?.since ?? record.updatedAt) : record.updatedAt,
    ...(health !== undefined && 'reason' in health ? { reason: health.reason } : {}),
    ...(isHeld && health !== undefined && 'retryAt' in health ? { retryAt: health.retryAt } : {}),
    ...figures,
  };
}
