import type { FetchedMail, MailSource } from './source.ts';

/** Fetches of one message that end with the connection: so many in a row are no accident of the line. */
export const FETCHES_UNTIL_SET_ASIDE = 20;

/** A message whose fetch ends the connection again and again must not keep those behind it. */
export class FetchAttempts {
  #fetching: { readonly identity: string; attempts: number } | undefined;

  async fetch(source: MailSource, identity: string): Promise<FetchedMail | 'unreadable' | undefined> {
    if (this.#fetching?.identity === identity) this.#fetching.attempts += 1;
    else this.#fetching = { identity, attempts: 1 };
    const isHopeless = this.#fetching.attempts > FETCHES_UNTIL_SET_ASIDE;
    const mail = isHopeless ? ('unreadable' as const) : await source.fetch(identity);
    this.#fetching = undefined;
    return mail;
  }
}
