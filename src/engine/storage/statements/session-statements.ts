import type { Conversation } from '../records.ts';
import { REMOVE_SESSION } from './session-rows.ts';
import type { Store } from './store.ts';

export function clearSession({ sql, counters }: Store, { owner, key }: Conversation): boolean {
  const [removeTurns, remove] = REMOVE_SESSION;
  sql.post(removeTurns, owner, key);
  const isRemoved = sql.run(remove, owner, key) > 0;
  if (isRemoved) counters.sessions -= 1;
  return isRemoved;
}

export { saveLastTarget } from './outbox-rows.ts';
