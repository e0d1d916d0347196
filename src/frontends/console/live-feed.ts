/**
 * Sends decisions to every open page as they happen. In a flood a page gets some of each second and a
 * remark that there were more. It then reads the list again, as it does whenever it opens the feed.
 */
import { setInterval } from 'node:timers';
import { defined } from '../../base/json.ts';
import { shorten } from '../../base/document/document.ts';
import { decisionLine } from '../../authoring/explanation/explanation.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import type { InboxRow } from './protocol.ts';

const GATHER_MS = 250;
const MAX_ROWS = 50;
const ALIVE_MS = 15_000;
/** A page with more unread bytes is disconnected, and comes back. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_PAGES = 20;

/** The part of node's response that is used. */
export interface FeedReader {
  write(text: string): void;
  end(): void;
  /** Whether the visitor may still read: a key is removed, or a user gets another role. */
  mayRead(): boolean;
  readonly writableLength: number;
}

export class LiveFeed {
  readonly #pages = new Set<FeedReader>();
  readonly #alive: NodeJS.Timeout;
  /** The decisions that are not sent yet, and how many more there were. */
  #gathered: DecisionRecord[] = [];
  #more = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#alive = setInterval(() => this.#write(': alive\n\n'), ALIVE_MS).unref();
  }

  /** Adds a decision; this costs next to nothing while no page is open. */
  see(decision: DecisionRecord): void {
    if (this.#pages.size === 0) return;
    if (this.#gathered.length < MAX_ROWS) this.#gathered.push(decision);
    else this.#more += 1;
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  /** Adds a page, which then reads the list; returns how to end it, or undefined where there are too many. */
  open(reader: FeedReader): (() => void) | undefined {
    if (this.#pages.size >= MAX_PAGES) return undefined;
    this.#pages.add(reader);
    reader.write(event('opened', {}));
    return () => this.#pages.delete(reader);
  }

  tell(kind: 'generation', data: object): void {
    this.#write(event(kind, data));
  }

  stop(): void {
    clearInterval(this.#alive);
    clearTimeout(this.#timer);
    for (const reader of this.#pages) reader.end();
    this.#pages.clear();
  }

  #flush(): void {
    const [rows, more] = [this.#gathered.map(rowOf).toReversed(), this.#more];
    this.#timer = undefined;
    this.#gathered = [];
    this.#more = 0;
    this.#write(event('rows', { rows, more }));
  }

  /** Every write goes through here. A page that does not read, or may not read any more, is disconnected. */
  #write(text: string): void {
    for (const reader of this.#pages) {
      if (reader.writableLength <= MAX_UNREAD_BYTES && reader.mayRead()) reader.write(text);
      else {
        this.#pages.delete(reader);
        reader.end();
      }
    }
  }
}

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

function event(kind: string, data: object): string {
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
