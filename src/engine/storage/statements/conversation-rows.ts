import { type AgentAction } from '../../../base/action.ts';
import type { ConversationKey, FoundConversation } from '../../../base/conversation.ts';
import { type Conversation, type KeyResult, type NewConversationKey, SUPERSEDED } from '../records.ts';
import { RUN, UNBEGUN } from './rows.ts';
import { adoptNamesake, queueOf } from './session-queue.ts';
import { both, listed } from './statements.ts';
import type { Store } from './store.ts';

/** By which keys conversations are known (`conversation` of a mapping), and how one ends. */

/** Keys of one conversation at most, beside the one that it began with; and keys that one run adds. */
export const MAX_KEYS = 50;

const FIND = both`SELECT key, conversation, added_by AS "addedBy", expires_at AS until FROM conversation_keys
  WHERE owner = ? AND key IN ${listed('?')} AND expires_at > ?`;
/** What is there already has expired. */
const ADD = `INSERT INTO conversation_keys (owner, key, conversation, added_by, run_id, added_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, key) DO UPDATE SET conversation = excluded.conversation,
    added_by = excluded.added_by, run_id = excluded.run_id, added_at = excluded.added_at, expires_at = excluded.expires_at`;
/** The keys of one, the oldest first. */
export const KEYS_OF = `SELECT key, added_by AS "addedBy", expires_at AS until FROM conversation_keys
  WHERE owner = ? AND conversation = ? ORDER BY added_at, key`;
const RENEW = both`UPDATE conversation_keys SET expires_at = ?1 WHERE owner = ?2 AND conversation = ?3
  AND key IN ${listed('?4')} AND expires_at < ?1`;
export const REMOVE_CONVERSATION_KEY = 'DELETE FROM conversation_keys WHERE owner = ? AND key = ?';
const REMOVE_ALL = 'DELETE FROM conversation_keys WHERE owner = ? AND conversation = ?';
const REMOVE_ADDED = `DELETE FROM conversation_keys WHERE owner = (SELECT owner FROM runs WHERE id = ?1)
  AND conversation = (SELECT session_key FROM runs WHERE id = ?1) AND run_id = ?1`;
/** Makes runs due in a way that no claim takes: the service that leads ends them (`endUnbegun`). */
const SUPERSEDE = `UPDATE runs SET state = ${RUN.waiting}, due_at = 0, gather_key = '${UNBEGUN}', gather_until = NULL,
  error_code = '${SUPERSEDED.code}', error_message = '${SUPERSEDED.message}' WHERE line = ? AND state <= ${RUN.waiting}
  AND (gather_key IS NULL OR gather_key <> '${UNBEGUN}')`;
/** A worker that carries one is asked to end it. */
const CUT_OFF = `UPDATE runs SET gather_key = '${UNBEGUN}',
  worker_end = coalesce(worker_end, CASE WHEN worker_until > 0 THEN '${SUPERSEDED.code}' END) WHERE line = ? AND state = ${RUN.active}`;

/** A key of an owner, and the conversation that has it. */
export interface KnownKey extends ConversationKey {
  readonly conversation: string;
}

/** The keys among some that conversations of an owner have. */
export function findKeys(
  { sql }: Store,
  owner: string,
  keys: readonly string[],
  nowMs: number,
): readonly KnownKey[] {
  return sql.all<KnownKey>(FIND, owner, JSON.stringify(keys), nowMs);
}

/** Who adds keys, and until when they are known. */
type KeyAddition = Pick<NewConversationKey, 'addedBy' | 'runId' | 'nowMs' | 'until'>;

/**
 * Makes a conversation known by keys, some of which conversations have already: these keep them. Where there are too
 * many, the oldest give way. Returns what was added, and what was not.
 */
function keepKeys(
  { sql }: Store,
  { owner, key: own }: Conversation,
  {
    keys,
    known,
    ...addition
  }: KeyAddition & { readonly keys: readonly string[]; readonly known: readonly KnownKey[] },
): Required<Pick<FoundConversation, 'taken' | 'forgotten'>> & { readonly added: readonly string[] } {
  const { addedBy, runId, nowMs, until } = addition;
  sql.post(RENEW, until, owner, own, JSON.stringify([own, ...keys]));
  const taken = known.filter(({ conversation }) => conversation !== own).map(({ key }) => key);
  const added = keys.filter((key) => !known.some((each) => each.key === key));
  if (added.length === 0) return { taken, added, forgotten: [] };
  const before = sql.all<ConversationKey>(KEYS_OF, owner, own).flatMap(({ key }) => (key === own ? [] : key));
  const forgotten = before.slice(0, Math.max(0, before.length + added.length - MAX_KEYS));
  for (const key of forgotten) sql.post(REMOVE_CONVERSATION_KEY, owner, key);
  for (const key of added) sql.post(ADD, owner, key, own, addedBy, runId, nowMs, until);
  return { taken, added, forgotten };
}

interface Joining {
  readonly keys: readonly string[];
  readonly known: readonly KnownKey[];
  readonly found: KnownKey | undefined;
  readonly nowMs: number;
  readonly markNot: string | undefined;
}

/** The action as one of its conversation, which is known by the keys of the event from now on. */
export function join(
  store: Store,
  action: AgentAction,
  { found, markNot, ...keys }: Joining,
): { readonly action: AgentAction; readonly added: readonly string[] } {
  const { owner, id: runId, origin, conversation } = action;
  if (conversation === undefined) return { action, added: [] };
  const sessionKey = found?.conversation ?? action.sessionKey;
  const until = keys.nowMs + conversation.keySeconds * 1000;
  const addedBy = `mapping ${origin.mappingId ?? ''}`;
  const of = { owner, key: sessionKey };
  const { taken, forgotten, added } = keepKeys(store, of, { ...keys, addedBy, runId, until });
  const by = found && { key: found.key, addedBy: found.addedBy, until };
  const seen = {
    ...(markNot !== undefined && { markNot }),
    ...(by && { by }),
    ...(taken.length > 0 && { taken }),
    ...(forgotten.length > 0 && { forgotten }),
  };
  return { action: { ...action, sessionKey, conversation: { ...conversation, found: seen } }, added };
}

/** Takes the keys away that the event of a run added, as nobody approved it. */
export const forgetAdded = ({ sql }: Store, runId: string): void => sql.post(REMOVE_ADDED, runId);

/** Makes a conversation known by one more key; others may wait for it. */
export function addKey(
  store: Store,
  { owner, conversation: name, key, ...addition }: NewConversationKey,
): KeyResult {
  const found = findKeys(store, owner, [name, key], addition.nowMs);
  const conversation = found.find((each) => each.key === name)?.conversation;
  if (conversation === undefined) return 'none';
  const known = found.filter((each) => each.key === key);
  const { taken, added } = keepKeys(store, { owner, key: conversation }, { keys: [key], known, ...addition });
  if (taken.length > 0) return 'taken';
  return added.length > 0 ? 'added' : 'known';
}

/**
 * Ends a conversation: nothing comes to it any more, and its runs that have not begun end as superseded. With `now` the
 * one under way does, too.
 */
export function endConversation(store: Store, { owner, key }: Conversation, end: 'after' | 'now'): void {
  const { sql } = store;
  const queue = queueOf(owner, key);
  adoptNamesake(store, { id: '', owner, sessionKey: key }, queue);
  sql.post(REMOVE_ALL, owner, key);
  sql.post(SUPERSEDE, queue);
  if (end === 'now') sql.post(CUT_OFF, queue);
}
