/*
 * Decisions as they happen, to every open page. Under load a page gets the newest of each moment and a remark that
 * there were more; what it missed while it was away is sent again from a ring, as long as it is there.
 */
import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import { decisionLine } from '../explanation/explanation.ts';
import type { DecisionRecord } from '../storage/storage.ts';
import type { InboxRow } from './protocol.ts';

/** Decisions that can be sent again to a page that comes back. */
const RING = 2_000;
/** Rows gather this long. */
const GATHER_MS = 150;
/** Rows sent at once at most. */
const MAX_ROWS = 200;
const ALIVE_MS = 15_000;
/** Unread bytes after which a page is let go: it comes back and goes on where it was. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_PAGES = 20;
/** Runs and events of one request that its row looks at. */
const MAX_WORK = 20;

/** Where a page reads: the part of node's response that is used. */
export interface FeedReader {
  write(text: string): void;
  end(): void;
  readonly writableLength: number;
}

interface Page {
  readonly reader: FeedReader;
  /** Number of the last decision it was sent. */
  sent: number;
}

export class LiveFeed {
  /** Another process has other numbers. */
  readonly #epoch = randomUUID().slice(0, 8);
  readonly #ring: DecisionRecord[] = [];
  readonly #pages = new Set<Page>();
  readonly #alive: NodeJS.Timeout;
  #last = 0;
  /** Whether anybody has looked yet: nothing is held before that. */
  #isWatched = false;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#alive = setInterval(() => {
      for (const page of this.#pages) page.reader.write(': alive\n\n');
    }, ALIVE_MS).unref();
  }

  /** Takes a decision; costs next to nothing while no page is open. */
  see(decision: DecisionRecord): void {
    this.#last += 1;
    if (!this.#isWatched) return;
    this.#ring[this.#last % RING] = decision;
    if (this.#pages.size > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
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
    for (const { reader } of this.#pages) reader.write(event(kind, undefined, data));
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
    if (page.reader.writableLength > MAX_UNREAD_BYTES) {
      this.#pages.delete(page);
      page.reader.end();
      return;
    }
    const count = this.#last - page.sent;
    if (count === 0) return;
    const shown = Math.min(count, MAX_ROWS);
    const rows: InboxRow[] = [];
    for (let number = this.#last; number > this.#last - shown; number -= 1) {
      const decision = this.#ring[number % RING];
      if (decision !== undefined) rows.push(rowOf(decision));
    }
    page.sent = this.#last;
    page.reader.write(event('rows', this.cursor, { rows, more: count - shown }));
  }
}

/** A decision as a row of the inbox. */
export function rowOf(decision: DecisionRecord): InboxRow {
  const { code, mappingId } = decision;
  const note = decisionLine(decision).slice(0, 200);
  return {
    id: decision.requestId,
    at: decision.receivedAt,
    path: decision.path,
    status: decision.status,
    outcome: decision.outcome,
    ...(code === undefined ? {} : { code }),
    ...(mappingId === undefined ? {} : { mapping: mappingId }),
    ...(note === '' ? {} : { note }),
    ...(decision.actionIds.length === 0 ? {} : { work: decision.actionIds.slice(0, MAX_WORK) }),
    ...(decision.findings?.some(({ code: said }) => said === 'repeat') === true ? { isRepeat: true } : {}),
    tookMs: Math.round(decision.tookMs * 100) / 100,
    ...(decision.bodyUnread === true ? {} : { bytes: decision.bodyBytes }),
  };
}

function event(kind: string, id: string | undefined, data: object): string {
  return `event: ${kind}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
