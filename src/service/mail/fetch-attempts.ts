import type { FetchedMail, FetchOmission, MailSource } from './source.ts';

/** So many fetches of one message in a row that end with the connection are no accident of the network. */
const FETCHES_UNTIL_SET_ASIDE = 20;
/** The structure of a message of 3,000 messages in one another ends the connection whenever it is asked for. */
const FETCHES_WITH_STRUCTURE = 2;
/** How many readers have to end with a message: one may have ended for another reason. */
export const DEATHS_UNTIL_HEADER_ONLY = 2;
const DEATHS_UNTIL_SET_ASIDE = 4;

/** Outlives the reader, hears which message it has, and knows how many readers ended with that message. */
export interface MessageWatch {
  onFetch(mailbox: string, identity: string): void;
  deathsWith(mailbox: string, identity: string): number;
  /** Says that a message begins to be read; resolves when that is noted. */
  onReading(mailbox: string, identity: string): Promise<void>;
  onRead(): void;
}

/** Fetches less of a message that ends the connection or the reader again and again, as others wait behind it. */
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
