import type { FetchedMail, FetchOmission, MailSource } from './source.ts';

/** Fetches of one message that end with the connection: so many in a row are no accident of the line. */
const FETCHES_UNTIL_SET_ASIDE = 20;
/** The structure of a message of 3,000 messages in one another ends the connection whenever it is asked for. */
const FETCHES_WITH_STRUCTURE = 2;
/** Readers that ended while they had a message: one may have been ended by anybody. */
export const DEATHS_UNTIL_HEADER_ONLY = 2;
const DEATHS_UNTIL_SET_ASIDE = 4;

/** Whoever outlives the reader: hears which message it has, and knows how many readers ended with it. */
export interface MessageWatch {
  onFetch(mailbox: string, identity: string): void;
  deathsWith(mailbox: string, identity: string): number;
  /** A message begins to be read; resolves when that is known. */
  onReading(mailbox: string, identity: string): Promise<void>;
  onRead(): void;
}

/** A message whose fetch ends the connection, or the reader, again and again must not keep those behind it. */
export class FetchAttempts {
  readonly #mailbox: string;
  readonly #watch: Pick<MessageWatch, 'onFetch' | 'deathsWith'> | undefined;
  #fetching: { readonly identity: string; attempts: number } | undefined;

  constructor(mailbox: string, watch?: Pick<MessageWatch, 'onFetch' | 'deathsWith'>) {
    this.#mailbox = mailbox;
    this.#watch = watch;
  }

  async fetch(source: MailSource, identity: string): Promise<FetchedMail | 'unreadable' | undefined> {
    const deaths = this.#watch?.deathsWith(this.#mailbox, identity) ?? 0;
    this.#watch?.onFetch(this.#mailbox, identity);
    if (this.#fetching?.identity === identity) this.#fetching.attempts += 1;
    else this.#fetching = { identity, attempts: 1 };
    const isHopeless = this.#fetching.attempts > FETCHES_UNTIL_SET_ASIDE || deaths >= DEATHS_UNTIL_SET_ASIDE;
    const without = leftOut(deaths, this.#fetching.attempts);
    const mail = isHopeless ? ('unreadable' as const) : await source.fetch(identity, without);
    this.#fetching = undefined;
    return typeof mail === 'object' && without === 'body' ? { ...mail, headerOnly: true } : mail;
  }
}

function leftOut(deaths: number, attempts: number): FetchOmission | undefined {
  if (deaths >= DEATHS_UNTIL_HEADER_ONLY) return 'body';
  return attempts > FETCHES_WITH_STRUCTURE ? 'structure' : undefined;
}
