import type { AgentAction, ConversationOwner } from '../../../base/action.ts';
import type { FoundMark } from '../../../base/conversation.ts';
import { conversationMark, proofOf, proves } from '../../../base/marks.ts';
import type { AgentAccess, AgentKeyAnswer } from '../records.ts';
import { addKey, MAX_KEYS } from './conversation-rows.ts';
import { recordAudit } from './journal-statements.ts';
import { RUN } from './rows.ts';
import type { Store } from './store.ts';

/*
 * Keys that agents add to the conversations of their runs: by a mark in what they open, or by a command with a token. Both
 * are proved with the secret of the store, and name a run. The run says which conversation it is, and with what its
 * agent's keys begin.
 */

const SECRET = 'SELECT secret FROM store_identity';
const FIND = `SELECT id, state, attempts, marked, owner, action FROM runs
  JOIN run_actions ON run_actions.seq = runs.seq WHERE id = ?`;
const COUNT_ADDED = "SELECT count(*) AS count FROM audit WHERE who = ? AND what = 'add key'";
const USE = 'UPDATE runs SET marked = ? WHERE id = ?';
const TOKEN = /^([\w.:-]{1,128})\/(\d{1,9})\/([\w-]{32})$/;

interface AgentsRun {
  readonly id: string;
  readonly state: number;
  readonly attempts: number;
  /** The key of the object that used its mark first. */
  readonly marked: string | null;
  readonly owner: ConversationOwner;
  readonly action: string;
}

const secretOf = ({ sql }: Store): string => sql.find<{ secret: string }>(SECRET)?.secret ?? '';
const findRun = ({ sql }: Store, runId: string): AgentsRun | undefined => sql.find(FIND, runId);

/** What the agent of a run adds keys with; null where its mapping names none that it may add. */
export function findAgentAccess(store: Store, runId: string): AgentAccess | null {
  const run = findRun(store, runId);
  if (run === undefined || conversationOf(run).may.length === 0) return null;
  const secret = secretOf(store);
  const of = `${runId}/${run.attempts}`;
  return {
    mark: conversationMark(runId, secret),
    token: `${of}/${proofOf('conversation token', of, secret)}`,
  };
}

function conversationOf({ action }: AgentsRun) {
  const { sessionKey, conversation } = JSON.parse(action) as AgentAction;
  const { agentKeys: may = [], keySeconds = 0 } = conversation ?? {};
  return { sessionKey, may, keySeconds };
}

interface WantedKey {
  readonly key: string;
  readonly nowMs: number;
}

interface AgentKey extends AgentKeyAnswer {
  /** Whose conversation it is; absent where nothing was looked for. */
  readonly owner?: ConversationOwner;
}

/** Whether a token was made here, whatever became of its run. */
export function isAgentToken(store: Store, token: string): boolean {
  const [, runId = '', attempt = '', mac = ''] = TOKEN.exec(token) ?? [];
  return proves(mac, 'conversation token', `${runId}/${attempt}`, secretOf(store));
}

/** Adds a key for who has the token of a run whose turn has not ended. */
export function addKeyByToken(store: Store, token: string, wanted: WantedKey): AgentKey {
  const [runId = '', attempt] = token.split('/');
  const run = isAgentToken(store, token) ? findRun(store, runId) : undefined;
  if (run?.state !== RUN.active || run.attempts !== Number(attempt)) return { result: 'over' };
  return addFor(store, run, { ...wanted, source: 'command' });
}

function addFor(
  store: Store,
  run: AgentsRun,
  { key, nowMs, source }: WantedKey & { readonly source: 'command' | 'mark' },
): AgentKey {
  const { id: runId, owner } = run;
  const { sessionKey, may, keySeconds } = conversationOf(run);
  if (!may.some((start) => key.startsWith(start))) return { result: 'not_allowed', may };
  const addedBy = `agent in run ${runId}`;
  // Each is a line of the audit, which has room for so many.
  const { count = 0 } = store.sql.find<{ count: number }>(COUNT_ADDED, addedBy) ?? {};
  if (count >= MAX_KEYS) return { result: 'full' };
  const addition = { addedBy, runId, nowMs, until: nowMs + keySeconds * 1000 };
  const result = addKey(store, { owner, conversation: sessionKey, key, ...addition });
  if (result === 'added')
    recordAudit(store, { at: nowMs, who: addedBy, source, what: 'add key', about: owner, changed: 1 });
  return { result, owner };
}

/**
 * Adds the key of an object to the conversation of the run whose mark the object carries; the first object that uses a
 * mark keeps it. Returns why none of the marks counts; undefined where one does.
 */
export function adoptMarked(
  store: Store,
  marks: readonly FoundMark[],
  { owner, ...wanted }: WantedKey & { readonly owner: string },
): string | undefined {
  const secret = secretOf(store);
  let why = 'it was not made here';
  for (const { runId, mac } of marks) {
    if (!proves(mac, 'conversation mark', runId, secret)) continue;
    const run = findRun(store, runId);
    if (run?.owner !== owner) why = 'its run is not known any more, or is of another owner';
    else if (run.marked !== null && run.marked !== wanted.key) why = `${run.marked} used it first`;
    else {
      const { result } = addFor(store, run, { ...wanted, source: 'mark' });
      if (result === 'added' || result === 'known') {
        store.sql.post(USE, wanted.key, runId);
        return undefined;
      }
      if (result in WHY_NOT) why = WHY_NOT[result as keyof typeof WHY_NOT];
    }
  }
  return why;
}

const WHY_NOT = {
  taken: 'another conversation has its key',
  none: 'its conversation has ended',
  full: 'its agent has added as many keys as one run may',
  not_allowed: 'its agent may add no such key (conversation.agentKeys of its mapping)',
} as const;
