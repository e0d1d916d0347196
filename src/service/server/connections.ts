/**
 * Who may keep a connection when there are too many. Senders that never proved themselves ("strangers") must not be
 * able to lock out those that did, so nobody is turned away as long as somebody else can be asked to go:
 * first strangers that say nothing, then strangers whose request is not complete, the longest first, then proved
 * senders that rest between two requests, and last those whose body is not complete, the longest first. Complete
 * requests whose sender was proved are never cut off before their answer.
 *
 * Everything here takes the same time whatever the number of connections: the lists are in the order in which their
 * members became quiet, and a member that turns out to have begun a request is moved to a list of its own, so that it
 * is looked at once. Under a flood this is most of what the service does, so it asks the socket as little as it can.
 */
import type { Socket } from 'node:net';
import { networksOf, type AddressList } from './addresses.ts';
import type { HttpConnection } from './exchange.ts';

export interface ConnectionLimits {
  /** Most open connections. */
  readonly connections: number;
  /** Most connections of one address (IPv6: /64). */
  readonly perAddress: number;
  /** How long a connection whose sender never proved itself stays open after an answer. */
  readonly strangerMs: number;
}

export interface ConnectionTableOptions {
  readonly limits: ConnectionLimits;
  readonly proxies: AddressList;
  /** Milliseconds that never go back. */
  readonly now?: () => number;
  /** Called for every connection that had to go, and for every new one that found no free place. */
  readonly onFull: (what: 'closed' | 'refused') => void;
  /** Called for every connection that is gone: nothing of it needs to be kept. */
  readonly onGone?: (connection: HttpConnection) => void;
}

/** A connection this young may be about to speak: others go first. */
const FRESH_MS = 1_000;
/** Places count as short for this long after a connection had to go. */
const CROWDED_MS = 1_000;
/** Senders of thousands of connections that close together come back together, and new ones wait for all of them. */
const SWEPT_AT_ONCE = 50;
/** Most members of a list that are moved on before one is closed. */
const MAX_LOOKED_AT = 64;

interface ConnectionEntry {
  readonly connection: HttpConnection;
  /** Absent for proxies, through which many senders come. */
  readonly group: AddressGroup | undefined;
  /** When the connection was opened, or got its last answer. */
  since: number;
  /** Bytes that it had sent by then. */
  quietBytes: number;
  isStranger: boolean;
  /** Requests whose sender is proved and that are not answered yet. */
  proved: number;
}

/** Connections of one sort that may be closed, in the order in which they became quiet. */
class WaitingConnections {
  /** Connections that had said nothing at the last look. */
  readonly #silent = new Set<ConnectionEntry>();
  /** Connections with a request that is not complete or not answered. */
  readonly #begun = new Set<ConnectionEntry>();

  delete(entry: ConnectionEntry): void {
    if (!this.#silent.delete(entry)) this.#begun.delete(entry);
  }

  add(entry: ConnectionEntry): void {
    this.#silent.add(entry);
  }

  /** The connections that became quiet at `since` or before. */
  *quietSince(since: number): Generator<ConnectionEntry> {
    for (const entries of [this.#begun, this.#silent]) {
      for (const entry of entries) {
        if (entry.since > since) break;
        yield entry;
      }
    }
  }

  get size(): number {
    return this.#silent.size + this.#begun.size;
  }

  /**
   * Picks the connection that is silent longest, else that began first, else one that may be about to speak.
   * With `sparesFresh` it picks none that is young.
   */
  pick(freshAfter: number, sparesFresh: boolean): ConnectionEntry | undefined {
    let fresh: ConnectionEntry | undefined;
    let looked = 0;
    for (const entry of this.#silent) {
      if (isIncomplete(entry)) {
        this.#silent.delete(entry);
        this.#begun.add(entry);
      } else if (entry.since <= freshAfter) return entry;
      else {
        // The connections after it are younger still.
        fresh = entry;
        break;
      }
      looked += 1;
      if (looked === MAX_LOOKED_AT) break;
    }
    const [entry = fresh] = this.#begun;
    return sparesFresh && entry !== undefined && entry.since > freshAfter ? undefined : entry;
  }
}

class QuietConnections {
  readonly strangers = new WaitingConnections();
  readonly known = new WaitingConnections();
  /** Proved senders whose requests are not answered, but for those whose bodies were found complete. */
  readonly receiving = new Set<ConnectionEntry>();

  remove(entry: ConnectionEntry): void {
    this.receiving.delete(entry);
    (entry.isStranger ? this.strangers : this.known).delete(entry);
  }

  add(entry: ConnectionEntry): void {
    if (entry.proved > 0) this.receiving.add(entry);
    else (entry.isStranger ? this.strangers : this.known).add(entry);
  }

  /** Picks a stranger, else a proved sender that rests, else the one whose body takes longest. */
  pick(freshAfter: number): ConnectionEntry | undefined {
    const { strangers, known } = this;
    // Strangers must not push out a slow body of a proved sender, nor many such bodies a sender about to speak.
    const isMostlyReceiving = this.receiving.size > strangers.size;
    const pick = (sparesFresh: boolean): ConnectionEntry | undefined =>
      strangers.pick(freshAfter, sparesFresh) ??
      known.pick(freshAfter, sparesFresh) ??
      this.#longestReceiving();
    return (isMostlyReceiving ? pick(true) : undefined) ?? pick(false);
  }

  #longestReceiving(): ConnectionEntry | undefined {
    for (const entry of this.receiving) {
      if (isReceiving(entry)) return entry;
      this.receiving.delete(entry);
    }
    return undefined;
  }
}

class AddressGroup extends QuietConnections {
  readonly name: string;
  count = 0;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

export class ConnectionTable {
  readonly #options: ConnectionTableOptions;
  readonly #now: () => number;
  readonly #entries = new Map<Socket, ConnectionEntry>();
  readonly #quiet = new QuietConnections();
  readonly #groups = new Map<string, AddressGroup>();
  #crowdedAt = -Infinity;

  constructor(options: ConnectionTableOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Adds a new connection, or closes it where no place is free and no other connection can go. */
  add(socket: Socket): void {
    const group = this.#groupOf(socket);
    if (!this.#hasPlace(group)) {
      socket.destroy();
      return this.#options.onFull('refused');
    }
    const entry: ConnectionEntry = {
      connection: {
        socket,
        open: 0,
        readBytes: -1,
        latest: undefined,
        wasUnproved: false,
        closing: false,
        flooded: false,
        closeSent: false,
        refused: undefined,
        failure: undefined,
      },
      group,
      since: this.#now(),
      quietBytes: 0,
      isStranger: true,
      proved: 0,
    };
    this.#entries.set(socket, entry);
    if (group !== undefined) this.#groups.set(group.name, group).get(group.name)!.count += 1;
    this.#quiet.add(entry);
    group?.add(entry);
    socket.once('close', () => this.#remove(entry));
  }

  /** Whether one more of the group can stay; where no place is free, another connection goes if one can. */
  #hasPlace(group: AddressGroup | undefined): boolean {
    const { limits } = this.#options;
    if (group !== undefined && group.count >= limits.perAddress && !this.#freePlace(group)) return false;
    return this.#entries.size < limits.connections || this.#freePlace(this.#quiet);
  }

  /** The connection of a socket; undefined where it was refused. */
  find(socket: Socket): HttpConnection | undefined {
    return this.#entries.get(socket)?.connection;
  }

  /** The sender of a request is proved: from the end of its body to its answer the connection stays. */
  proved({ socket }: HttpConnection): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    this.#list(entry, () => {
      entry.isStranger = false;
      entry.proved += 1;
    });
  }

  /** Whether no sender has proved itself on it so far. */
  isStranger({ socket }: HttpConnection): boolean {
    return this.#entries.get(socket)?.isStranger !== false;
  }

  /** A request was answered; `wasProved` says whether `proved` was called for it. */
  answered({ socket }: HttpConnection, wasProved: boolean): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    this.#list(entry, () => {
      if (wasProved) entry.proved -= 1;
      entry.since = this.#now();
      entry.quietBytes = socket.bytesRead;
    });
  }

  /**
   * Closes the connection of a stranger while places are short: one that has nothing else under way there. To answer
   * it would take as long as to take up another connection, and it would be the next that has to go.
   */
  cutOff({ socket, open, latest }: HttpConnection): void {
    const isCrowded = this.#now() - this.#crowdedAt < CROWDED_MS;
    if (!isCrowded || open > 1 || this.#entries.get(socket)?.isStranger !== true) return;
    socket.destroy();
    // Before the socket, node would make an error with its stack; without it, it would tell the request of one.
    latest?.req.destroy();
  }

  /** Closes strangers that have had their answer and rest, some at a time; to be called now and then. */
  sweep(): void {
    const before = this.#now() - this.#options.limits.strangerMs;
    let left = SWEPT_AT_ONCE;
    for (const entry of this.#quiet.strangers.quietSince(before)) {
      // Connections that never completed a request have the time limit of headers.
      if (entry.quietBytes === 0 || entry.connection.open > 0) continue;
      entry.connection.socket.destroy();
      left -= 1;
      if (left === 0) break;
    }
    for (const entry of this.#quiet.receiving) {
      if (isReceiving(entry)) continue;
      this.#quiet.receiving.delete(entry);
      entry.group?.receiving.delete(entry);
    }
  }

  /** Closes all strangers: what they have not sent by now is not waited for. */
  closeStrangers(): void {
    for (const entry of this.#quiet.strangers.quietSince(this.#now())) entry.connection.socket.destroy();
  }

  #groupOf({ remoteAddress = '' }: Socket): AddressGroup | undefined {
    if (this.#options.proxies.has(remoteAddress)) return undefined;
    const { own } = networksOf(remoteAddress);
    return this.#groups.get(own) ?? new AddressGroup(own);
  }

  /** Puts the connection at the end of the lists that it belongs to after the change. */
  #list(entry: ConnectionEntry, change: () => void): void {
    this.#quiet.remove(entry);
    entry.group?.remove(entry);
    change();
    this.#quiet.add(entry);
    entry.group?.add(entry);
  }

  #freePlace(quiet: QuietConnections): boolean {
    this.#crowdedAt = this.#now();
    const entry = quiet.pick(this.#crowdedAt - FRESH_MS);
    if (entry === undefined) return false;
    this.#remove(entry);
    entry.connection.socket.destroy();
    this.#options.onFull('closed');
    return true;
  }

  #remove(entry: ConnectionEntry): void {
    const { connection, group } = entry;
    if (!this.#entries.delete(connection.socket)) return;
    this.#options.onGone?.(connection);
    this.#quiet.remove(entry);
    if (group === undefined) return;
    group.remove(entry);
    group.count -= 1;
    if (group.count === 0) this.#groups.delete(group.name);
  }
}

/** Whether only a part of a request has come, or a request is not answered. */
function isIncomplete({ connection, quietBytes }: ConnectionEntry): boolean {
  return connection.open > 0 || connection.socket.bytesRead > quietBytes;
}

/** Whether the only request of a connection has a body that is not complete. */
function isReceiving({ connection: { open, latest } }: ConnectionEntry): boolean {
  return open === 1 && latest?.failBody !== undefined;
}
