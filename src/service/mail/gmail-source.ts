import { isUtf8 } from 'node:buffer';
import { defined } from '../../base/json.ts';
import { field, listField, textField, TooLongError } from '../../base/outgoing/outgoing.ts';
import { pause } from '../../base/timers/timers.ts';
import type { GoogleApi, GoogleEndpoints } from './gmail-api.ts';
import { textOfCharset } from './mail-charset.ts';
import { MailFailure } from './mail-failure.ts';
import { type HeaderField, valuesOf } from './mail-header.ts';
import type {
  Batch,
  Beginning,
  MailCandidate,
  FetchedMail,
  KnownMail,
  FetchOmission,
  MailAttachment,
  MailContent,
  MailSource,
} from './source.ts';

/**
 * How far the mailbox was read: Gmail's history id. With `listFrom` the history does not reach back (a first run with
 * older mail, or an id that Gmail has forgotten after about a week): messages since then are listed instead, those
 * dealt with are left out by their ids, and the history goes on from `historyId` afterwards.
 */
interface GmailPosition {
  readonly historyId: string;
  readonly listFrom?: number;
}

export interface GmailPlace {
  readonly topic: string;
  /** Absent where Pub/Sub pushes: somebody else hears of notices then, and ends the wait. */
  readonly subscription?: string | undefined;
  /** Names or ids of labels; a message needs one of them. */
  readonly labels: readonly string[];
}

/** Gmail ends a watch after 7 days and asks for a renewal every day. */
const RENEW_WATCH_MS = 24 * 3_600_000;
const LEFT_OUT = ['SPAM', 'TRASH', 'DRAFT', 'SENT', 'CHAT'];
const PAGE = 500;
/** Pub/Sub holds a pull open for up to this long where nothing waits. */
const PULL_MS = 95_000;

/** Reads a Gmail account: a watch publishes notices to Pub/Sub, which are pulled, and the history says what is new. */
export class GmailSource implements MailSource {
  readonly #api: GoogleApi;
  readonly #endpoints: GoogleEndpoints;
  readonly #place: GmailPlace;
  readonly #closing = new AbortController();
  readonly #clock: () => number;
  #labels: readonly string[] = [];
  #watchedAt = 0;

  private constructor(api: GoogleApi, endpoints: GoogleEndpoints, place: GmailPlace, clock: () => number) {
    this.#api = api;
    this.#endpoints = endpoints;
    this.#place = place;
    this.#clock = clock;
  }

  /**
   * Finds the labels and starts the watch.
   * @throws MailFailure
   */
  static async open(
    api: GoogleApi,
    place: GmailPlace,
    { endpoints, clock = Date.now }: { readonly endpoints: GoogleEndpoints; readonly clock?: () => number },
  ): Promise<GmailSource> {
    const source = new GmailSource(api, endpoints, place, clock);
    const known = listField(await source.#get('labels', {}), 'labels');
    source.#labels = place.labels.map((name) => labelId(name, known));
    await source.#watch();
    return source;
  }

  async newest(count: number): Promise<readonly string[]> {
    const query = { maxResults: String(count), labelIds: this.#labels[0] ?? '' };
    const found = await this.#get('messages', query);
    return listField(found, 'messages').flatMap((message) => textField(message, 'id') ?? []);
  }

  async begin({ sinceMs, nowMs }: Parameters<MailSource['begin']>[0]): Promise<Beginning> {
    const historyId = await this.#currentHistoryId();
    const position: GmailPosition = sinceMs === undefined ? { historyId } : { historyId, listFrom: sinceMs };
    return { position: JSON.stringify(position), floorAt: sinceMs ?? nowMs, known: [] };
  }

  async next(text: string, known: KnownMail): Promise<Batch> {
    const position = JSON.parse(text) as GmailPosition;
    if (position.listFrom !== undefined) return this.#listed(position, position.listFrom);
    const ids: string[] = [];
    let latest = position.historyId;
    const query = { startHistoryId: position.historyId, historyTypes: 'messageAdded' };
    for await (const answer of this.#pages('history', query)) {
      if (answer === undefined) return this.#forgotten(known);
      for (const record of listField(answer, 'history')) ids.push(...this.#addedBy(record));
      latest = textField(answer, 'historyId') ?? latest;
    }
    return batchOf([...new Set(ids)], { during: position, after: { historyId: latest } });
  }

  async fetch(id: string, without?: FetchOmission): Promise<FetchedMail | undefined> {
    const message = await this.#message(id, without === 'body');
    if (message === undefined) return undefined;
    const labels = listField(message, 'labelIds').filter((label) => typeof label === 'string');
    const isWanted = this.#labels.some((label) => labels.includes(label));
    const other = isWanted ? undefined : 'another label';
    const leftOut = LEFT_OUT.find((label) => labels.includes(label)) ?? other;
    const receivedAt = Number(textField(message, 'internalDate') ?? 0);
    const size = field(message, 'sizeEstimate');
    return {
      identity: id,
      id,
      receivedAt: Number.isFinite(receivedAt) ? receivedAt : 0,
      sizeBytes: typeof size === 'number' ? size : 0,
      content: gmailContent(message),
      ...defined({ leftOut }),
    };
  }

  /** A notice says only that something changed: it is acknowledged at once, and the history is asked what. */
  async wait(maxMs: number, signal: AbortSignal): Promise<void> {
    if (this.#clock() - this.#watchedAt > RENEW_WATCH_MS) await this.#watch();
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    const { subscription } = this.#place;
    if (subscription === undefined) return pause(maxMs, stop);
    const endsAt = performance.now() + maxMs;
    while (!stop.aborted && performance.now() < endsAt) {
      const timeoutMs = Math.min(PULL_MS, endsAt - performance.now());
      const received = await this.#pull(subscription, { signal: stop, timeoutMs });
      if (received.length > 0) {
        await this.#acknowledge(subscription, received);
        return;
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #pull(
    subscription: string,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<readonly string[]> {
    const url = `${this.#endpoints.pubsub}/v1/${subscription}:pull`;
    try {
      const answer = await this.#api.call(url, {
        method: 'POST',
        body: { maxMessages: 100 },
        signal,
        timeoutMs,
      });
      if (answer === undefined) throw new MailFailure('settings', `there is no subscription ${subscription}`);
      return listField(answer, 'receivedMessages').flatMap((message) => textField(message, 'ackId') ?? []);
    } catch (error) {
      // The pull ended at its time limit, or the reader has something else to do: both are no failure.
      const { name = '' } = ((error as Error).cause ?? {}) as { readonly name?: string };
      const isOver = error instanceof MailFailure && ['AbortError', 'TimeoutError'].includes(name);
      if (isOver || signal.aborted) return [];
      throw error;
    }
  }

  async #acknowledge(subscription: string, ackIds: readonly string[]): Promise<void> {
    const url = `${this.#endpoints.pubsub}/v1/${subscription}:acknowledge`;
    await this.#api.call(url, { method: 'POST', body: { ackIds }, signal: this.#closing.signal });
  }

  async #watch(): Promise<void> {
    const { topic } = this.#place;
    const body = { topicName: topic, labelIds: this.#labels, labelFilterBehavior: 'INCLUDE' };
    const url = `${this.#endpoints.gmail}/gmail/v1/users/me/watch`;
    const answer = await this.#api.call(url, { method: 'POST', body, signal: this.#closing.signal });
    if (answer === undefined) throw new MailFailure('settings', `Gmail knows no topic ${topic}`);
    this.#watchedAt = this.#clock();
  }

  async #currentHistoryId(): Promise<string> {
    const id = textField(await this.#get('profile', {}), 'historyId');
    if (id === undefined) throw new MailFailure('connection', 'Gmail gave no history id');
    return id;
  }

  #addedBy(record: unknown): readonly string[] {
    return listField(record, 'messagesAdded').flatMap((added) => {
      const message = field(added, 'message');
      const labels = listField(message, 'labelIds');
      const isLeftOut = LEFT_OUT.some((label) => labels.includes(label));
      return isLeftOut ? [] : (textField(message, 'id') ?? []);
    });
  }

  /** The history no longer reaches back to the position. */
  async #forgotten(known: KnownMail): Promise<Batch> {
    const historyId = await this.#currentHistoryId();
    const position: GmailPosition = { historyId, listFrom: known.floorAt };
    return { candidates: [], position: JSON.stringify(position) };
  }

  async #listed(position: GmailPosition, from: number): Promise<Batch> {
    const ids: string[] = [];
    for await (const answer of this.#pages('messages', { q: `after:${String(Math.floor(from / 1000))}` })) {
      ids.push(...listField(answer, 'messages').flatMap((message) => textField(message, 'id') ?? []));
    }
    // Gmail lists the newest first.
    return batchOf(ids.toReversed(), { during: position, after: { historyId: position.historyId } });
  }

  async *#pages(path: string, query: Readonly<Record<string, string>>): AsyncGenerator {
    const asked = { ...query, maxResults: String(PAGE) };
    let pageToken: string | undefined;
    do {
      const answer = await this.#get(path, pageToken === undefined ? asked : { ...asked, pageToken });
      yield answer;
      pageToken = textField(answer, 'nextPageToken');
    } while (pageToken !== undefined);
  }

  async #message(id: string, headerOnly: boolean): Promise<unknown> {
    const path = `messages/${encodeURIComponent(id)}`;
    try {
      if (!headerOnly) return await this.#get(path, { format: 'full' });
    } catch (error) {
      if (!(error instanceof TooLongError)) throw error;
    }
    // The texts are longer than is read: header and snippet say what the message is.
    return this.#get(path, { format: 'metadata' });
  }

  #get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const text = new URLSearchParams(query).toString();
    const url = `${this.#endpoints.gmail}/gmail/v1/users/me/${path}${text === '' ? '' : `?${text}`}`;
    return this.#api.call(url, { signal: this.#closing.signal });
  }
}

/** The position moves when the whole batch has been dealt with; until then the ids say which messages have been. */
function batchOf(
  ids: readonly string[],
  { during, after }: { readonly during: GmailPosition; readonly after: GmailPosition },
): Batch {
  const position = JSON.stringify(after);
  const before = JSON.stringify(during);
  const candidates = ids.map((identity, index): MailCandidate => ({
    identity,
    position: index === ids.length - 1 ? position : before,
  }));
  return { candidates, position };
}

/** @throws MailFailure where there is no such label, or one that is not read */
function labelId(name: string, known: readonly unknown[]): string {
  const found = known.find((label) => textField(label, 'id') === name || textField(label, 'name') === name);
  const id = textField(found, 'id');
  if (id === undefined) {
    const all = known.flatMap((label) => textField(label, 'name') ?? []).slice(0, 20);
    const message = `the account has no label ${JSON.stringify(name)}; it has ${all.join(', ')}`;
    throw new MailFailure('settings', message);
  }
  if (LEFT_OUT.includes(id)) {
    throw new MailFailure('settings', `the label ${id} is not read; take it out of hooks.mail.folders`);
  }
  return id;
}

const MAX_PARTS = 200;

/** The texts and the list of attachments of a message as the Gmail API gives it (`format=full`). */
function gmailContent(message: unknown): Extract<MailContent, { kind: 'parts' }> {
  const payload = field(message, 'payload');
  const header = headerOf(payload);
  const { text, html, attachments } = partsOf(payload);
  const snippet = textField(message, 'snippet');
  const found = text ?? (html === undefined ? snippet : undefined);
  return { kind: 'parts', header, attachments, ...defined({ text: found, html }) };
}

interface MessageParts {
  text?: string | undefined;
  html?: string | undefined;
  readonly attachments: MailAttachment[];
}

/** The first text, the first HTML and the attachments, however they are nested. */
function partsOf(payload: unknown): MessageParts {
  const parts: MessageParts = { attachments: [] };
  const open: unknown[] = [payload];
  for (let seen = 0; open.length > 0 && seen < MAX_PARTS; seen += 1) {
    const part = open.shift();
    open.unshift(...listField(part, 'parts'));
    const type = textField(part, 'mimeType') ?? '';
    const name = textField(part, 'filename') ?? '';
    const body = field(part, 'body');
    if (type.startsWith('multipart/')) continue;
    if (name !== '' || textField(body, 'attachmentId') !== undefined) {
      const size = field(body, 'size');
      parts.attachments.push({ name, type, sizeBytes: typeof size === 'number' ? size : 0 });
    } else if (type === 'text/plain') parts.text ??= decodeText(part);
    else if (type === 'text/html') parts.html ??= decodeText(part, true);
  }
  return parts;
}

function headerOf(payload: unknown): readonly HeaderField[] {
  return listField(payload, 'headers').map((header) => [
    textField(header, 'name')?.toLowerCase() ?? '',
    textField(header, 'value') ?? '',
  ]);
}

/** Gmail gives most texts in UTF-8 whatever the sender's charset; what is no UTF-8 is read by the charset. */
function decodeText(part: unknown, isHtml = false): string {
  const bytes = Buffer.from(textField(field(part, 'body'), 'data') ?? '', 'base64url');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const charset = /charset="?([\w.:-]+)/i.exec(valuesOf(headerOf(part), 'content-type')[0] ?? '')?.[1];
  const declared = charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset;
  return textOfCharset(bytes, declared, isHtml) ?? bytes.toString('latin1');
}
