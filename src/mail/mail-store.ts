/** A mailbox and who reads it. */
export interface MailboxRecord {
  /** Account and folder. */
  readonly mailbox: string;
  /** Who holds it; absent where nobody does. */
  readonly holder?: string;
  readonly heldUntil: number;
  /** How far it was read, in the words of its source; absent before the first run. */
  readonly position?: string;
  readonly floorAt: number;
  /** Its health as JSON. */
  readonly state: string;
  readonly updatedAt: number;
}

export interface SetAsideMail {
  readonly id: string;
  readonly mailbox: string;
  readonly identity: string;
  readonly state: 'set-aside' | 'retry';
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly from: string;
  readonly subject: string;
  readonly sizeBytes: number;
  readonly receivedAt: number;
  readonly setAsideAt: number;
  readonly attempts: number;
}

export interface PassedMailRow {
  readonly identity: string;
  readonly fingerprint?: string;
  readonly receivedAt: number;
}

export type MailSelection =
  { readonly kind: 'ids'; readonly ids: readonly string[] } | { readonly kind: 'all' };

export interface MailStore {
  claimMailbox(claim: {
    readonly mailbox: string;
    readonly holder: string;
    /** A holder known to be gone: its lease does not count. */
    readonly goneHolder?: string;
    readonly nowMs: number;
    readonly leaseMs: number;
  }): Promise<{ readonly isHeld: boolean; readonly record: MailboxRecord }>;
  reportMailbox(report: {
    readonly mailbox: string;
    readonly holder: string;
    readonly state: string;
    readonly nowMs: number;
    readonly leaseMs: number;
  }): Promise<{ readonly isHeld: boolean; readonly retries: number; readonly setAside: number }>;
  releaseMailbox(release: {
    readonly mailbox: string;
    readonly holder: string;
    readonly state: string;
    readonly nowMs: number;
  }): Promise<void>;
  passMail(pass: MailPass): Promise<boolean>;
  isMailPassed(mailbox: string, identity: string): Promise<boolean>;
  findPassedMail(mailbox: string, fingerprint: string): Promise<readonly string[]>;
  listMailboxes(): Promise<readonly MailboxRecord[]>;
  listSetAsideMail(query: {
    readonly limit: number;
    readonly mailbox?: string;
    readonly state?: SetAsideMail['state'];
  }): Promise<readonly SetAsideMail[]>;
  retrySetAsideMail(selection: MailSelection): Promise<number>;
  dropSetAsideMail(selection: MailSelection): Promise<number>;
}

export interface MailPass {
  readonly mailbox: string;
  readonly holder: string;
  /** Absent where a message set aside is settled: the position stays. */
  readonly position?: string;
  readonly floorAt: number;
  readonly passed: readonly PassedMailRow[];
  /** Identities that are no longer true. */
  readonly forgotten?: readonly string[];
  readonly setAside?: SetAsideMail;
  /** Of a message set aside that has been dealt with. */
  readonly settled?: string;
  readonly nowMs: number;
}
