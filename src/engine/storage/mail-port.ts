/** A mailbox, how far it was read, and who reads it. */
export interface MailboxRecord {
  /** Account and folder. */
  readonly mailbox: string;
  /** The holder; absent where nobody reads the mailbox. */
  readonly holder?: string;
  /** After this, anyone may take it. */
  readonly heldUntil: number;
  /** How far it was read, in the words of the reader; absent before the first run. */
  readonly position?: string;
  /** Passed messages that arrived before this are forgotten. */
  readonly floorAt: number;
  /** How reading goes, as the reader's JSON. */
  readonly state: string;
  readonly updatedAt: number;
}

/** A message that has been dealt with. */
export interface PassedMail {
  /** What the server calls it. */
  readonly identity: string;
  /** By what it is known again under another identity; absent where identities never change. */
  readonly fingerprint?: string;
  readonly receivedAt: number;
}

/** The code of mail of which too little is proved: it is offered again only by its id, and the newest 1,000 are kept. */
export const SENDER_NOT_PROVED = 'sender_not_proved';

/** A message the service refused. */
export interface SetAsideMail {
  readonly id: string;
  readonly mailbox: string;
  readonly identity: string;
  /** `retry`: the operator wants it offered again. */
  readonly state: 'set-aside' | 'retry';
  /** Status and code of the refusal; status 0 where it never came to a request. */
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

export type SetAsideSelection =
  { readonly kind: 'ids'; readonly ids: readonly string[] } | { readonly kind: 'all' };

/** Who asks, for which mailbox, when. */
export interface MailboxHold {
  readonly mailbox: string;
  readonly holder: string;
  readonly nowMs: number;
}

/** What one message, or a step without one, came to; all of it becomes true at once. */
export interface MailPass extends MailboxHold {
  /** Absent where the position stays. */
  readonly position?: string;
  readonly floorAt: number;
  /** How reading goes, with what was counted until then. */
  readonly state: string;
  readonly passed: readonly PassedMail[];
  readonly setAside?: SetAsideMail;
  /** Id of a message that was set aside and has been delivered now. */
  readonly settled?: string;
}

/** The part of the port that keeps what a reader of mailboxes must not lose. */
export interface MailStorage {
  /**
   * Takes a mailbox, or renews the hold of the same holder. Refused while another one's hold lasts, unless that is
   * `goneHolder`, who is known to be no more: of several that ask at once, one gets it.
   */
  claimMailbox(
    claim: MailboxHold & { readonly leaseMs: number; readonly goneHolder?: string },
  ): Promise<{ readonly isHeld: boolean; readonly record: MailboxRecord }>;
  /** Renews the hold and notes how reading goes; says what waits, and whether the mailbox is still the holder's. */
  reportMailbox(report: MailboxHold & { readonly leaseMs: number; readonly state: string }): Promise<{
    readonly isHeld: boolean;
    /** Messages set aside whose retry was asked for. */
    readonly retries: number;
    /** All messages set aside, those included. */
    readonly setAside: number;
  }>;
  /** Lets go; nothing where someone else holds it. */
  releaseMailbox(release: MailboxHold & { readonly state: string }): Promise<void>;
  /** Moves the position with everything that belongs to the step; false, and nothing is changed, where it is not held. */
  passMail(pass: MailPass): Promise<boolean>;
  /** Asked with an identity or a fingerprint, which have different forms. */
  isMailPassed(mailbox: string, mark: string): Promise<boolean>;
  listMailboxes(): Promise<readonly MailboxRecord[]>;
  /** In the order they were set aside. */
  listSetAsideMail(query: {
    readonly limit: number;
    readonly mailbox?: string;
    readonly state?: SetAsideMail['state'];
  }): Promise<readonly SetAsideMail[]>;
  /** Asks for another try; resolves to how many messages that concerns. */
  retrySetAsideMail(selection: SetAsideSelection): Promise<number>;
  dropSetAsideMail(selection: SetAsideSelection): Promise<number>;
}
