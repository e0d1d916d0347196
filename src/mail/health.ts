/** How the reading of one mailbox is going; each state calls for something else. */
export type MailHealth =
  | { readonly state: 'connecting'; readonly since: number }
  /** All is well. */
  | { readonly state: 'connected'; readonly since: number }
  /** The server cannot be reached; it is tried again by itself. */
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
  /** The mailbox can be read, and the service takes no message. */
  | { readonly state: 'held'; readonly since: number; readonly reason: string; readonly code: string }
  /** Another process reads this mailbox. */
  | { readonly state: 'standby'; readonly since: number; readonly holder: string }
  | { readonly state: 'stopped'; readonly since: number };

/** What one mailbox came to since its reader started. */
export interface MailFigures {
  readonly delivered: number;
  readonly setAside: number;
  readonly filtered: number;
  readonly lastMailAt?: number;
}

export interface MailboxStatus {
  readonly account: string;
  readonly folder: string;
  readonly health: MailHealth;
  readonly figures: MailFigures;
}

/** What is wrong with a mailbox, as one sentence without a secret; undefined where nothing is. */
export function mailProblem({ account, folder, health }: MailboxStatus): string | undefined {
  const where = `the mailbox ${account}, folder ${folder},`;
  switch (health.state) {
    case 'connecting':
    case 'connected':
    case 'standby':
    case 'stopped':
      return undefined;
    case 'backing-off':
      return `${where} cannot be reached: ${health.reason}`;
    case 'authentication-dead':
      return `${where} refuses the login; run "sluice webhooks mail setup": ${health.reason}`;
    case 'misconfigured':
      return `${where} cannot be read: ${health.reason}`;
    case 'held':
      return `mail of ${account} waits, because the service refuses all of it: ${health.reason}`;
  }
}
