import type { Reservation } from '../prepared-request.ts';
import type { SqlQuestion } from './statements.ts';
import type { ReservedKey, Store } from './store.ts';

/** Keys that requests and actions have taken, as accepts find and take them. */

const FIND = `SELECT body_sha256 AS "bodySha256", result, expires_at AS "expiresAt" FROM idempotency
  WHERE scope = ? AND key = ?`;
/** Fails where the key has not expired: another process took it after it was looked for. Asked again, this one is a repeat. */
const RESERVE = `INSERT INTO idempotency (scope, key, body_sha256, result, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope, key) DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
    expires_at = CASE WHEN idempotency.expires_at <= ? THEN excluded.expires_at END`;
const FREE = 'DELETE FROM idempotency WHERE scope = ? AND key = ? AND expires_at = ?';

type TakenKey = Pick<Reservation, 'scope' | 'key'>;

/** The name of a key in `Store.reserved`. */
export const nameOf = ({ scope, key }: TakenKey): string => JSON.stringify([scope, key]);

export const reservationQuestion = ({ scope, key }: TakenKey): SqlQuestion => [FIND, scope, key];

export function findReserved(store: Store, reservation: TakenKey, nowMs: number): ReservedKey | undefined {
  const name = nameOf(reservation);
  if (!store.reserved.has(name)) {
    const { scope, key } = reservation;
    store.reserved.set(name, store.sql.find<ReservedKey>(FIND, scope, key));
  }
  const reserved = store.reserved.get(name);
  return reserved !== undefined && reserved.expiresAt > nowMs ? reserved : undefined;
}

export function reserve(
  { sql, reserved }: Store,
  reservation: Reservation,
  { bodySha256, result, nowMs }: Pick<ReservedKey, 'bodySha256' | 'result'> & { readonly nowMs: number },
): void {
  const { scope, key, expiresAt } = reservation;
  reserved.set(nameOf(reservation), { bodySha256, result, expiresAt });
  sql.post(RESERVE, scope, key, bodySha256, result, expiresAt, nowMs);
}

/** What has this key is no repeat any more. Once the key has expired, another request may have taken it: that one keeps it. */
export function free({ sql, reserved }: Store, reservation: Reservation): void {
  sql.post(FREE, reservation.scope, reservation.key, reservation.expiresAt);
  reserved.delete(nameOf(reservation));
}
