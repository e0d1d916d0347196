/** What the system says of connections that wait to be taken up, from Linux' /proc: no figure where it says nothing. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const SAMPLE_MS = 50;
/** State of a socket that listens, in `/proc/net/tcp`. */
const LISTENS = '0A';

export interface QueueReport {
  /** Connections that waited at once, at most, in samples. */
  readonly longest: number;
  /** Connections that found the queue full, of all listeners of the machine. */
  readonly overflows: number;
  /** First packets of connections that were sent again, after a second or more; of the whole machine. */
  readonly sentAgain: number;
}

/** Watches the queue of the listener on this port until it is asked. */
export function watchQueue(port: number): () => QueueReport | undefined {
  const before = readCounters();
  let longest = 0;
  const sampling = setInterval(() => {
    longest = Math.max(longest, queueOf(port) ?? 0);
  }, SAMPLE_MS);
  return () => {
    clearInterval(sampling);
    const after = readCounters();
    if (before === undefined || after === undefined) return undefined;
    const grown = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
    return { longest, overflows: grown('ListenOverflows'), sentAgain: grown('TCPSynRetrans') };
  };
}

function queueOf(port: number): number | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of firstSockets()) {
    const [, local = '', , state, queues = ''] = line.trim().split(/\s+/);
    if (state === LISTENS && local.endsWith(suffix)) return Number.parseInt(queues.split(':')[1] ?? '', 16);
  }
  return undefined;
}

/**
 * The first lines of `/proc/net/tcp`, where those that listen stand. All lines of 20,000 connections would take the
 * system a tenth of a second, and the good sender, who lives in this process, would wait for it.
 */
function firstSockets(): readonly string[] {
  try {
    const file = openSync('/proc/net/tcp', 'r');
    try {
      const page = Buffer.alloc(16_384);
      return page.toString('latin1', 0, readSync(file, page)).split('\n').slice(1);
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}

/** `/proc/net/netstat` has a line of names and a line of values for each family. */
function readCounters(): Readonly<Record<string, number>> | undefined {
  const found = lines('/proc/net/netstat').filter((line) => line.startsWith('TcpExt:'));
  const [names, values] = found.map((line) => line.split(' ').slice(1));
  if (names === undefined || values === undefined) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, Number(values[index])]));
}

function lines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
