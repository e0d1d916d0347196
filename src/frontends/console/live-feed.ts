/*
 * Decisions as they happen, to every open page. Of a flood a page gets some of each second and a remark that there were
 * more, for which it reads the list again; what it missed while it was away is sent again from a ring, as long as it is
 * there.
 */
import { defined } from '../../base/json.ts';
import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import { shorten } from '../../base/document/document.ts';
import { decisionLine } from '../../authoring/explanation/explanation.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import type { InboxRow } from './protocol.ts';

/** Decisions that can be sent again to a page that comes back. */
const RING = 2_000;
/** Rows gather this long. */
const GATHER_MS = 250;
/** Rows sent at once at most. */
const MAX_ROWS = 200;
/** Decisions that are held: what a flood leaves in the ring would outlive V8's young generation, and nobody reads more. */
const HELD_PER_SECOND = 200;
const ALIVE_MS = 15_000;
/** Unread bytes after which a page is let go: it comes back and goes on where it was. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_PAGES = 20;

/** Where a page reads: the part of node's response that is used. */
export interface FeedReader {
  write(text: string): void;
  end(): void;
  /** Whether who opened it may still read: a key is taken away, a user gets another role. */
  mayRead(): boolean;
  readonly writableLength: number;
}

interface Held {
  readonly number: number;
  readonly decision: DecisionRecord;
}

interface Page {
  readonly reader: FeedReader;
  /** Number of the last decision it was sent. */
  sent: number;
}

export class LiveFeed {
  /** Another process has other numbers. */
  readonly #epoch = randomUUID().slice(0, 8);
  readonly #ring: Held[] = [];
  readonly #pages = new Set<Page>();
  readonly #alive: NodeJS.Timeout;
  #last = 0;
  /** How many were held, and of these in the second of the last one. */
  #held = 0;
  #second = 0;
  #heldInSecond = 0;
  /** What the last page was sent, and what it had been sent before. */
  #text = { after: -1, upTo: -1, text: '' };
  /** Whether anybody has looked yet: nothing is held before that. */
  #isWatched = false;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#alive = setInterval(() => {
      for (const page of this.#pages) this.#write(page, ': alive\n\n');
    }, ALIVE_MS).unref();
  }

  /** Takes a decision; costs next to nothing while no page is open. */
  see(decision: DecisionRecord): void {
    this.#last += 1;
    if (!this.#isWatched) return;
    this.#hold(decision);
    if (this.#pages.size > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  #hold(decision: DecisionRecord): void {
    const second = Math.floor(decision.receivedAt / 1000);
    if (second !== this.#second) [this.#second, this.#heldInSecond] = [second, 0];
    if (this.#heldInSecond === HELD_PER_SECOND) return;
    this.#heldInSecond += 1;
    this.#held += 1;
    this.#ring[this.#held % RING] = { number: this.#last, decision };
  }

  /** What a page that reads from here on has seen. */
  get cursor(): string {
    this.#isWatched = true;
    return `${this.#epoch}-${this.#last}`;
  }

  /** Adds a page that has seen everything up to the cursor; returns how to end it, or undefined where there are too many. */
  open(reader: FeedReader, cursor: string): (() => void) | undefined {
    if (this.#pages.size >= MAX_PAGES) return undefined;
    const [epoch, number = ''] = cursor.split('-');
    const sent = epoch === this.#epoch ? Number(number) : Number.NaN;
    const isKnown = Number.isInteger(sent) && sent <= this.#last && this.#last - sent < RING;
    this.#isWatched = true;
    const page: Page = { reader, sent: isKnown ? sent : this.#last };
    this.#pages.add(page);
    if (isKnown) this.#send(page);
    else reader.write(event('restart', this.cursor, {}));
    return () => this.#pages.delete(page);
  }

  /** Tells every page that something else changed. */
  tell(kind: 'generation', data: object): void {
    for (const page of this.#pages) this.#write(page, event(kind, undefined, data));
  }

  stop(): void {
    clearInterval(this.#alive);
    clearTimeout(this.#timer);
    for (const { reader } of this.#pages) reader.end();
    this.#pages.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    for (const page of this.#pages) this.#send(page);
  }

  #send(page: Page): void {
    if (this.#last === page.sent) return;
    if (this.#text.after !== page.sent || this.#text.upTo !== this.#last)
      this.#text = { after: page.sent, upTo: this.#last, text: this.#textAfter(page.sent) };
    page.sent = this.#last;
    this.#write(page, this.#text.text);
  }

  /** The one way to a page; lets it go where it does not read, or may not any more. */
  #write(page: Page, text: string): void {
    const { reader } = page;
    if (reader.writableLength <= MAX_UNREAD_BYTES && reader.mayRead()) return reader.write(text);
    this.#pages.delete(page);
    reader.end();
  }

  /** Made once for all pages that have seen the same. */
  #textAfter(sent: number): string {
    const rows: InboxRow[] = [];
    for (let at = this.#held; at > 0 && rows.length < MAX_ROWS; at -= 1) {
      const held = this.#ring[at % RING];
      if (held === undefined || held.number <= sent) break;
      rows.push(rowOf(held.decision));
    }
    return event('rows', this.cursor, { rows, more: this.#last - sent - rows.length });
  }
}

/** A decision as a row of the inbox. */
export function rowOf(decision: DecisionRecord): InboxRow {
  const { code, mappingId, replayOf, replays } = decision;
  const note = shorten(decisionLine(decision), 200);
  return {
    id: decision.requestId,
    at: decision.receivedAt,
    path: decision.path,
    status: decision.status,
    outcome: decision.outcome,
    ...defined({ code, mapping: mappingId, replayOf, replays }),
    ...(note === '' ? {} : { note }),
    ...(decision.actionIds.length === 0 ? {} : { work: decision.actionIds }),
    ...(decision.findings?.some(({ code: said }) => said === 'repeat') === true ? { isRepeat: true } : {}),
    tookMs: Math.round(decision.tookMs * 100) / 100,
    ...(decision.bodyUnread === true ? {} : { bytes: decision.bodyBytes }),
  };
}

function event(kind: string, id: string | undefined, data: object): string {
  return `event: ${kind}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
