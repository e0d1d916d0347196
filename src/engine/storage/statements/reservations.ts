import type { PreparedRequest, Reservation } from '../prepared-request.ts';
import type { Question } from './statements.ts';
import type { Reserved, Store } from './store.ts';

/** Keys that requests and actions have taken, as accepts find and take them. */

const FIND_RESERVED = `SELECT body_sha256 AS "bodySha256", result, expires_at AS "expiresAt" FROM idempotency
  WHERE scope = ? AND key = ?`;
const RESERVE = `INSERT INTO idempotency (scope, key, body_sha256, result, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope, key) DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
    expires_at = excluded.expires_at`;

/** What `lookUpReservations` asks. */
export function reservationQuestions(requests: readonly PreparedRequest[]): readonly Question[] {
  return wantedBy(requests).map(({ scope, key }) => [FIND_RESERVED, scope, key]);
}

/** Looks up at once what all requests of a transaction will ask for; `reserve` keeps it true. */
export function lookUpReservations(store: Store, requests: readonly PreparedRequest[]): void {
  const wanted = wantedBy(requests);
  if (wanted.length === 0) return;
  const answers = store.sql.allOf<Reserved>(reservationQuestions(requests));
  for (const [index, reservation] of wanted.entries()) {
    store.reserved.set(nameOf(reservation), answers[index]?.[0]);
  }
}

function wantedBy(requests: readonly PreparedRequest[]): readonly Reservation[] {
  return requests.flatMap(({ reservation, actions }) => [
    ...(reservation === undefined ? [] : [reservation]),
    ...actions.flatMap(({ dedupe }) => dedupe ?? []),
  ]);
}

export function nameOf({ scope, key }: Reservation): string {
  return JSON.stringify([scope, key]);
}

export function findReserved(store: Store, reservation: Reservation, nowMs: number): Reserved | undefined {
  const name = nameOf(reservation);
  if (!store.reserved.has(name)) {
    const { scope, key } = reservation;
    store.reserved.set(name, store.sql.find<Reserved>(FIND_RESERVED, scope, key));
  }
  const reserved = store.reserved.get(name);
  return reserved !== undefined && reserved.expiresAt > nowMs ? reserved : undefined;
}

export function reserve(
  { sql, reserved }: Store,
  reservation: Reservation,
  { bodySha256, result }: Pick<Reserved, 'bodySha256' | 'result'>,
): void {
  const { scope, key, expiresAt } = reservation;
  reserved.set(nameOf(reservation), { bodySha256, result, expiresAt });
  sql.post(RESERVE, scope, key, bodySha256, result, expiresAt);
}
