import { hostname, userInfo } from 'node:os';
import type { QueueSelection, SetAsideSelection, Storage } from '../storage/storage.ts';

/** The store as a command changes it: each change is noted there with the user of the operating system. */
export function auditedStorage(storage: Storage): Storage {
  const note = async <Result>(what: string, about: string, change: Promise<Result>): Promise<Result> => {
    const result = await change;
    const who = { who: userName(), source: hostname() };
    await storage.recordAudit({ at: Date.now(), ...who, what, about, changed: countOf(result) });
    return result;
  };
  return {
    ...storage,
    retry: (selection, ...rest) => note('retry', textOf(selection), storage.retry(selection, ...rest)),
    drop: (selection, ...rest) => note('drop', textOf(selection), storage.drop(selection, ...rest)),
    pauseRuns: (mappingId, nowMs) => note('pause', mappingId, storage.pauseRuns(mappingId, nowMs)),
    resumeRuns: (mappingId) => note('resume', mappingId, storage.resumeRuns(mappingId)),
    decideApproval: (id, answer) =>
      note(answer.decision === 'denied' ? 'deny' : 'approve', id, storage.decideApproval(id, answer)),
    prune: (limits, nowMs) => note('prune', '', storage.prune(limits, nowMs)),
    // Its key may hold what was sent.
    clearSession: (session) => note('clear session', session.owner, storage.clearSession(session)),
    saveLastTarget: (target, nowMs) =>
      note('use channel', target.channel, storage.saveLastTarget(target, nowMs)),
    retrySetAsideMail: (selection) =>
      note('retry mail', textOf(selection), storage.retrySetAsideMail(selection)),
    dropSetAsideMail: (selection) =>
      note('drop mail', textOf(selection), storage.dropSetAsideMail(selection)),
  };
}

function textOf(selection: QueueSelection | SetAsideSelection): string {
  switch (selection.kind) {
    case 'ids':
      return selection.ids.join(' ');
    case 'mapping':
      return selection.mappingId;
    case 'all':
      return '*';
  }
}

/** How much changed: a number, whether anything did, or counts by kind. */
function countOf(result: unknown): number {
  if (typeof result !== 'object' || result === null) return result === undefined ? 1 : Number(result);
  const parts: readonly unknown[] =
    'runs' in result && 'isFirst' in result ? [result.runs] : Object.values(result);
  return parts.reduce<number>((sum, part) => sum + Number(part), 0);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have no name for its user.
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}
