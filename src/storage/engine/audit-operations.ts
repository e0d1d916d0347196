import type { AuditRecord } from '../records.ts';
import type { Store } from './store.ts';

const INSERT = 'INSERT INTO audit (at, who, source, what, about, changed) VALUES (?, ?, ?, ?, ?, ?)';

/** Notes a change that somebody made. */
export function recordAudit({ sql }: Store, { at, who, source, what, about, changed }: AuditRecord): void {
  sql.post(INSERT, Math.round(at), who, source, what, about, changed);
}
