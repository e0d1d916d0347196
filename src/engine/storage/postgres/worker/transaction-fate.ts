import type { BlockingConnection } from './blocking-connection.ts';

/** How a transaction ended whose connection broke; unknown where the database cannot be asked, or knows it no more. */
export type Fate = 'committed' | 'aborted' | 'unknown';

const STATUS = 'SELECT pg_xact_status($1::text::xid8) AS status';
/** A server that does not see at once that its client is gone ends an idle transaction after 5 s (`connect.ts`). */
const MAX_WAIT_MS = 7_000;
const LOOK_EVERY_MS = 50;

/** Asks, on a new connection, what has become of a transaction. */
export function findFate(connection: BlockingConnection, transaction: string): Fate {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const deadline = performance.now() + MAX_WAIT_MS; performance.now() < deadline;) {
    const status = statusOf(connection, transaction);
    if (status !== 'in progress') return status;
    Atomics.wait(pause, 0, 0, LOOK_EVERY_MS);
  }
  return 'unknown';
}

function statusOf(connection: BlockingConnection, transaction: string): Fate | 'in progress' {
  try {
    const [answer] = connection.ask([{ text: STATUS, values: [transaction] }], { mayConnect: true });
    const [row] = (answer?.rows ?? []) as readonly { readonly status: Fate | 'in progress' | null }[];
    return row?.status ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
