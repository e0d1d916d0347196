import type { MailboxRecord } from '../../engine/storage/storage.ts';
import type { HealthReporter } from '../../base/telemetry/telemetry.ts';

/** How the reading of one mailbox is going; each state calls for something else. */
export type MailHealth =
  | { readonly state: 'connecting'; readonly since: number }
  | { readonly state: 'connected'; readonly since: number }
  /** The server cannot be reached; the reader tries again by itself. */
  | {
      readonly state: 'backing-off';
      readonly since: number;
      readonly reason: string;
      readonly attempts: number;
      readonly retryAt: number;
    }
  /** The server refuses the login: someone has to run `sluice webhooks mail setup`. */
  | { readonly state: 'authentication-dead'; readonly since: number; readonly reason: string }
  /** Something in the configuration has to change. */
  | { readonly state: 'misconfigured'; readonly since: number; readonly reason: string }
  /** The mailbox can be read, but the service takes no message. */
  | { readonly state: 'held'; readonly since: number; readonly reason: string; readonly code: string }
  /** Another process reads this mailbox. */
  | { readonly state: 'standby'; readonly since: number; readonly holder: string }
  | { readonly state: 'stopped'; readonly since: number };

/** The counts of one mailbox, from all its readers so far. */
export interface MailFigures {
  readonly delivered: number;
  readonly setAside: number;
  readonly filtered: number;
  readonly lastMailAt?: number;
}

export const NOTHING_READ: MailFigures = { delivered: 0, setAside: 0, filtered: 0 };

export interface MailboxStatus {
  readonly account: string;
  readonly folder: string;
  readonly health: MailHealth;
  readonly figures: MailFigures;
}

/** One connection that broke is no trouble: it is there again within a second. */
const ATTEMPTS_UNTIL_AWAY = 2;

/** Reports the trouble of a mailbox, of which it has one at most, or clears it. */
export function reportHealth(reporter: HealthReporter, name: string, health: MailHealth): void {
  const trouble = troubleOf(health);
  if (trouble === 'unchanged') return;
  for (const code of ['mailbox_away', 'mailbox_login_refused', 'mail_refused'] as const) {
    if (trouble?.code === code) reporter.raise({ ...trouble, name });
    else reporter.clear({ code, name });
  }
}

interface MailTrouble {
  readonly code: 'mailbox_away' | 'mailbox_login_refused' | 'mail_refused';
  readonly message: string;
}

function troubleOf(health: MailHealth): MailTrouble | 'unchanged' | undefined {
  if (health.state === 'backing-off' && health.attempts < ATTEMPTS_UNTIL_AWAY) return 'unchanged';
  switch (health.state) {
    case 'connecting':
      return 'unchanged';
    case 'connected':
    case 'standby':
    case 'stopped':
      return undefined;
    case 'backing-off':
    case 'misconfigured':
      return { code: 'mailbox_away', message: health.reason };
    case 'authentication-dead':
      return {
        code: 'mailbox_login_refused',
        message: `${health.reason}; run "sluice webhooks mail setup"`,
      };
    case 'held':
      return { code: 'mail_refused', message: health.reason };
  }
}

/** What a reader wrote into the store about its mailbox. */
export interface StoredState extends MailboxStatus {
  /** Since when the server refuses the login for good; outlives the reader, so that it is reported once. */
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
