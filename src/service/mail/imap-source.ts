import type { FetchMessageObject, FetchQueryObject, MessageStructureObject } from 'imapflow';
import type { PassedMail } from '../../engine/storage/storage.ts';
import type { ImapClient } from './imap-client.ts';
import { fingerprintOf, headerOf, imapIdentity, imapMessageId, parseImapIdentity } from './identity.ts';
import { MailFailure } from './mail-failure.ts';
import { MAX_HEADER_BYTES } from './mail-header.ts';
import type {
  Batch,
  Beginning,
  MailCandidate,
  FetchedMail,
  KnownMail,
  FetchOmission,
  MailAttachment,
  MailSource,
} from './source.ts';

/**
 * How far a folder was read. UIDs only grow (RFC 3501, section 2.3.1.1), so everything above `uid` is new, as long as
 * UIDVALIDITY stays. When it changes, all UIDs mean other messages: up to `recogniseTo`, the last UID at that moment,
 * messages are compared with those that were dealt with, by arrival, size and header. `since` and `sinceTo` belong to
 * a first run that begins with older mail: up to that UID, messages that arrived before are left out.
 */
interface ImapPosition {
  readonly uidValidity: string;
  readonly uid: number;
  readonly recogniseTo?: number;
  readonly since?: number;
  readonly sinceTo?: number;
}

/** How many messages one step has; each is fetched on its own. */
const BATCH = 100;
/** Messages whose headers are asked for at once when they have to be recognised. */
const RECOGNISE_BATCH = 50;
/** Most messages that are kept for recognition when a mailbox is first read. */
const MAX_KNOWN_AT_START = 2_000;
/** How far back a new mailbox is known: clocks and time zones of servers differ by less. */
const FLOOR_MARGIN_MS = 24 * 3_600_000;
/** SEARCH SINCE takes a date without a time, in a zone of the server's choice. */
const SEARCH_MARGIN_MS = 2 * 24 * 3_600_000;
/** How much of a raw message is read; its texts come before its attachments in nearly all mail. */
const MAX_SOURCE_BYTES = 1024 * 1024;

const HEADER: FetchQueryObject = {
  uid: true,
  flags: true,
  internalDate: true,
  size: true,
  source: { start: 0, maxLength: MAX_HEADER_BYTES },
};
const WHOLE_MESSAGE: FetchQueryObject = {
  ...HEADER,
  bodyStructure: true,
  source: { start: 0, maxLength: MAX_SOURCE_BYTES },
};
function wanted(without: FetchOmission | undefined): FetchQueryObject {
  if (without === 'body') return HEADER;
  return without === 'structure' ? { ...WHOLE_MESSAGE, bodyStructure: false } : WHOLE_MESSAGE;
}

/** How many messages one search covers: its answer names each in up to 11 bytes. */
const SEARCH_SPAN = 50_000;

/** Reads one folder of an IMAP account over a connection of its own. */
export class ImapSource implements MailSource {
  readonly #client: ImapClient;
  readonly #place: { readonly account: string; readonly folder: string };
  readonly #uidValidity: string;
  /** UIDs that were found and not handed out yet, so that one search is enough for a long backlog. */
  #waiting: number[] = [];

  constructor(client: ImapClient, place: { readonly account: string; readonly folder: string }) {
    this.#client = client;
    this.#place = place;
    this.#uidValidity = String(client.mailbox.uidValidity);
  }

  get messages(): number {
    return this.#client.mailbox.exists;
  }

  async newest(count: number): Promise<readonly string[]> {
    const uidNext = this.#client.mailbox.uidNext;
    const uids = await this.#search({ uid: `${String(Math.max(1, uidNext - count))}:*` });
    return uids.slice(-count).map((uid) => imapIdentity({ uidValidity: this.#uidValidity, uid }));
  }

  async begin({ sinceMs, nowMs }: { sinceMs: number | undefined; nowMs: number }): Promise<Beginning> {
    const last = this.#client.mailbox.uidNext - 1;
    const here = { uidValidity: this.#uidValidity, uid: last };
    if (sinceMs !== undefined) {
      const found = await this.#search({ since: new Date(sinceMs - SEARCH_MARGIN_MS) });
      const first = found[0];
      const position: ImapPosition =
        first === undefined ? here : { ...here, uid: first - 1, since: sinceMs, sinceTo: last };
      return { position: JSON.stringify(position), floorAt: sinceMs, known: [] };
    }
    return this.#beginHere(here, nowMs - FLOOR_MARGIN_MS);
  }

  /** Begins behind the newest message; those that came just before are known, so that none of them is new later. */
  async #beginHere(here: ImapPosition, floorAt: number): Promise<Beginning> {
    const found = await this.#search({ since: new Date(floorAt - SEARCH_MARGIN_MS) });
    const newest = found.slice(-MAX_KNOWN_AT_START);
    const known: PassedMail[] = [];
    for (let at = 0; at < newest.length; at += RECOGNISE_BATCH) {
      for (const mail of await this.#identify(newest.slice(at, at + RECOGNISE_BATCH))) {
        if (mail.receivedAt >= floorAt) known.push(mail);
      }
    }
    // Where there are more than can be kept, the floor lies above those that are not.
    const isAll = newest.length === found.length;
    const lowest = Math.min(...known.map(({ receivedAt }) => receivedAt));
    return {
      position: JSON.stringify(here),
      floorAt: isAll || known.length === 0 ? floorAt : lowest + 1,
      known,
    };
  }

  async next(text: string, known: KnownMail): Promise<Batch> {
    const position = this.#current(JSON.parse(text) as ImapPosition);
    const { recogniseTo } = position;
    if (recogniseTo !== undefined && position.uid < recogniseTo) return this.#recognise(position, known);
    this.#waiting = this.#waiting.filter((uid) => uid > position.uid);
    if (this.#waiting.length === 0)
      this.#waiting = await this.#search({ uid: `${position.uid + 1}:*` }, position);
    const uids = this.#waiting.slice(0, BATCH);
    const dates = await this.#tooOld(uids, position);
    const candidates = uids.map((uid): MailCandidate => ({
      identity: imapIdentity({ uidValidity: this.#uidValidity, uid }),
      position: JSON.stringify({ ...position, uid }),
      ...(dates.has(uid) ? { tooOld: true } : {}),
    }));
    return { candidates, position: candidates.at(-1)?.position ?? JSON.stringify(position) };
  }

  async fetch(identity: string, without?: FetchOmission): Promise<FetchedMail | undefined> {
    const { uid, uidValidity } = parseImapIdentity(identity);
    if (uidValidity !== this.#uidValidity) return undefined;
    const found = await this.#client.call((client) =>
      client.fetchOne(String(uid), wanted(without), { uid: true }),
    );
    if (typeof found === 'object') return this.#fetched(found, found.source ?? Buffer.alloc(0), identity);
    // The library also answers so when the connection broke meanwhile: only a search that finds nothing proves it.
    const still = await this.#search({ uid: String(uid) });
    if (!still.includes(uid)) return undefined;
    throw new MailFailure('connection', 'the server lists a message and does not hand it out');
  }

  #fetched(found: FetchMessageObject, source: Buffer, identity: string): FetchedMail {
    const receivedAt = internalAt(found);
    const { uid, size: sizeBytes = source.length } = found;
    return {
      identity,
      id: imapMessageId({ ...this.#place, uidValidity: this.#uidValidity, uid }),
      receivedAt,
      fingerprint: fingerprintOf({ internalAt: receivedAt, sizeBytes, header: headerOf(source) }),
      sizeBytes,
      ...(found.flags?.has('\\Draft') === true ? { leftOut: 'a draft' } : {}),
      content: {
        kind: 'raw',
        source,
        truncated: sizeBytes > source.length,
        ...(found.bodyStructure === undefined ? {} : { attachments: attachmentsOf(found.bodyStructure) }),
      },
    };
  }

  wait(maxMs: number, signal: AbortSignal): Promise<void> {
    return this.#client.idle(maxMs, signal);
  }

  close(): void {
    this.#client.close();
  }

  /** The position under the UIDVALIDITY of today. */
  #current(position: ImapPosition): ImapPosition {
    if (position.uidValidity === this.#uidValidity) return position;
    this.#waiting = [];
    return { uidValidity: this.#uidValidity, uid: 0, recogniseTo: this.#client.mailbox.uidNext - 1 };
  }

  /**
   * UIDs that fit, above the position. The newest messages are looked at first, a bounded number at a time. When one is
   * removed meanwhile, older messages get lower numbers: some are seen twice, and none is missed.
   */
  async #search(
    query: { readonly since?: Date; readonly uid?: string },
    after?: ImapPosition,
  ): Promise<number[]> {
    const all = new Set<number>();
    let to = this.#client.mailbox.exists;
    for (let end = '*'; ; end = String(to)) {
      const from = Math.max(1, to - SEARCH_SPAN + 1);
      const seq = `${String(from)}:${end}`;
      const found = await this.#client.call((client) => client.search({ seq, ...query }, { uid: true }));
      if (!Array.isArray(found))
        throw new MailFailure('connection', 'the server refused to search the folder');
      for (const uid of found) all.add(uid);
      to = from - 1;
      // UIDs grow with sequence numbers: where not all of a span are above the position, none of an earlier span is.
      if (to <= 0 || (query.uid !== undefined && found.length < SEARCH_SPAN)) break;
    }
    // `n:*` always names the last message, whatever its UID.
    return [...all].filter((uid) => after === undefined || uid > after.uid).toSorted((a, b) => a - b);
  }

  /** The messages that are older than the time at which a first run with older mail begins. */
  async #tooOld(uids: readonly number[], { since, sinceTo }: ImapPosition): Promise<ReadonlySet<number>> {
    const asked = since === undefined || sinceTo === undefined ? [] : uids.filter((uid) => uid <= sinceTo);
    if (asked.length === 0 || since === undefined) return new Set();
    const found = await this.#client.call((client) =>
      client.fetchAll(asked.join(','), { uid: true, internalDate: true }, { uid: true }),
    );
    return new Set(found.filter((message) => internalAt(message) < since).map(({ uid }) => uid));
  }

  /** After a change of UIDVALIDITY: only messages above the floor can be new, and only those not known. */
  async #recognise(position: ImapPosition, known: KnownMail): Promise<Batch> {
    const { recogniseTo = 0 } = position;
    const found = await this.#search({ since: new Date(known.floorAt - SEARCH_MARGIN_MS) }, position);
    const uids = found.filter((uid) => uid <= recogniseTo).slice(0, RECOGNISE_BATCH);
    if (uids.length === 0) {
      const { recogniseTo: _done, ...rest } = { ...position, uid: recogniseTo };
      return { candidates: [], position: JSON.stringify(rest) };
    }
    const candidates: MailCandidate[] = [];
    for (const mail of await this.#identify(uids)) {
      if (mail.receivedAt < known.floorAt) continue;
      candidates.push({
        identity: mail.identity,
        position: JSON.stringify({ ...position, uid: parseImapIdentity(mail.identity).uid }),
        ...((await known.isPassed(mail.fingerprint ?? '')) ? { recognised: mail } : {}),
      });
    }
    return { candidates, position: JSON.stringify({ ...position, uid: uids.at(-1) ?? recogniseTo }) };
  }

  async #identify(uids: readonly number[]): Promise<readonly PassedMail[]> {
    if (uids.length === 0) return [];
    const found = await this.#client.call((client) =>
      client.fetchAll(
        uids.join(','),
        { uid: true, internalDate: true, size: true, headers: true },
        { uid: true },
      ),
    );
    return found.toSorted((a, b) => a.uid - b.uid).map((message) => this.#identified(message));
  }

  #identified(message: FetchMessageObject): PassedMail {
    const { uid, size: sizeBytes = 0, headers: header = Buffer.alloc(0) } = message;
    const receivedAt = internalAt(message);
    return {
      identity: imapIdentity({ uidValidity: this.#uidValidity, uid }),
      fingerprint: fingerprintOf({ internalAt: receivedAt, sizeBytes, header }),
      receivedAt,
    };
  }
}

/** INTERNALDATE as a time; without one the time is the epoch, so that nothing depends on a clock. */
function internalAt({ internalDate }: Pick<FetchMessageObject, 'internalDate'>): number {
  const at = internalDate === undefined ? 0 : new Date(internalDate).getTime();
  return Number.isFinite(at) ? at : 0;
}

const MAX_PARTS = 200;

/** Parts that are no text to be read: by the server's account, so that they are known without being fetched. */
function attachmentsOf(structure: MessageStructureObject): readonly MailAttachment[] {
  const found: MailAttachment[] = [];
  const open: MessageStructureObject[] = [structure];
  for (let seen = 0; open.length > 0 && seen < MAX_PARTS; seen += 1) {
    const part = open.shift();
    if (part === undefined) break;
    if (part.childNodes !== undefined && part.type !== 'message/rfc822') {
      open.unshift(...part.childNodes);
      continue;
    }
    const name = part.dispositionParameters?.['filename'] ?? part.parameters?.['name'];
    const isText = part.type === 'text/plain' || part.type === 'text/html';
    if (isText && part.disposition !== 'attachment' && name === undefined) continue;
    found.push({ name: name ?? '', type: part.type, sizeBytes: decodedBytes(part) });
  }
  return found;
}

/** BODYSTRUCTURE counts encoded octets: base64 carries 3 bytes in 4 characters, and lines end with 2 more of 78. */
function decodedBytes({ size = 0, encoding }: MessageStructureObject): number {
  return encoding?.toLowerCase() === 'base64' ? Math.floor((size * 76 * 3) / (78 * 4)) : size;
}
