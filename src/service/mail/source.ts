import type { PassedMail } from '../../engine/storage/storage.ts';
import type { HeaderField } from './mail-header.ts';

/**
 * A mailbox as its reader sees it, whatever protocol is behind. The reader keeps the position as a text it does not
 * look into; the source gives every message the position that holds once that message has been dealt with.
 */
export interface MailSource {
  /** How many messages are there; absent where the interface does not tell. */
  readonly messages?: number;
  /** The identities of the newest messages. */
  newest(count: number): Promise<readonly string[]>;
  /** The first position: now, or before the first message since a time. */
  begin(options: { readonly sinceMs: number | undefined; readonly nowMs: number }): Promise<Beginning>;
  /** The messages after the position, oldest first, at most some hundred. */
  next(position: string, known: KnownMail): Promise<Batch>;
  /** The message itself; undefined where it is gone. */
  fetch(identity: string, without?: FetchOmission): Promise<FetchedMail | undefined>;
  /** Resolves when something may have arrived, after `maxMs` at the latest. Rejects where the connection is lost. */
  wait(maxMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the connection at once; idempotent. */
  close(): void;
}

/** What a repeated fetch leaves out: the server's account of the structure, or all but the header. */
export type FetchOmission = 'structure' | 'body';

export interface Beginning {
  readonly position: string;
  /** Messages that arrived before this never count as new when they have to be recognised. */
  readonly floorAt: number;
  /** Messages that are there already and arrived after the floor. */
  readonly known: readonly PassedMail[];
}

/** The messages that have been dealt with, for when the position alone does not say it. */
export interface KnownMail {
  readonly floorAt: number;
  /** Whether a message with this fingerprint was passed. */
  isPassed(fingerprint: string): Promise<boolean>;
}

export interface Batch {
  readonly candidates: readonly MailCandidate[];
  /** The position after the batch; another one than before also where all messages were left out. */
  readonly position: string;
}

export interface MailCandidate {
  readonly identity: string;
  /** The position once this message has been dealt with. */
  readonly position: string;
  /** Set where the message was passed under another identity before: it is passed again, and not delivered. */
  readonly recognised?: PassedMail;
  /** True where the message arrived before the time with which the first run was to begin. */
  readonly tooOld?: boolean;
}

export interface FetchedMail {
  readonly identity: string;
  /** The id of the message in the payload. */
  readonly id: string;
  readonly receivedAt: number;
  readonly fingerprint?: string;
  readonly sizeBytes: number;
  /** Why the message is no mail that arrived: a draft, spam and the like. */
  readonly leftOut?: string;
  /** True where only the header is to be read. */
  readonly headerOnly?: boolean;
  readonly content: MailContent;
}

/** The content of a message; its texts are decoded and not bounded yet. */
export type MailContent =
  | {
      readonly kind: 'raw';
      /** The beginning of the raw message. */
      readonly source: Buffer;
      /** Whether the message is longer than `source`. */
      readonly truncated: boolean;
      /** The attachments by the server's account of the structure; absent where it gave none. */
      readonly attachments?: readonly MailAttachment[];
    }
  | {
      readonly kind: 'parts';
      readonly header: readonly HeaderField[];
      readonly text?: string;
      readonly html?: string;
      readonly attachments: readonly MailAttachment[];
    };

/** A part of a message that is listed without its content. */
export interface MailAttachment {
  readonly name: string;
  readonly type: string;
  readonly sizeBytes: number;
}

export function passedRow(mail: FetchedMail): PassedMail {
  const { identity, fingerprint, receivedAt } = mail;
  return { identity, receivedAt, ...(fingerprint === undefined ? {} : { fingerprint }) };
}
