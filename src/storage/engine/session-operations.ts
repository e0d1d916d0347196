import type { DeliveryTarget } from '../../action.ts';
import type { Conversation } from '../records.ts';
import { writeLastTarget } from './outbox-rows.ts';
import { removeSession } from './session-rows.ts';
import type { Store } from './store.ts';

export function clearSession(store: Store, conversation: Conversation): boolean {
  return removeSession(store, conversation);
}

export function saveLastTarget(store: Store, target: DeliveryTarget, nowMs: number): void {
  writeLastTarget(store, target, nowMs);
}
