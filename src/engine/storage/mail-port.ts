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
