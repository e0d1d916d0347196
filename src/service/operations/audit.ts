import type { SetAsideSelection, Storage } from '../../engine/storage/storage.ts';

/** Who changes something, as the audit names them. */
export interface Actor {
  readonly who: string;
  /** Where from: a machine, or an address. */
  readonly source: string;
}

/** What a change is called, and what it was about. */
interface Change {
  readonly what: string;
  readonly about: string;
}

/** Makes a change and writes its one line of the audit, also where it failed. */
export async function audited<Result>(
  { storage, who, source }: Actor & { readonly storage: Pick<Storage, 'recordAudit'> },
  { what, about }: Change,
  make: () => Promise<Result>,
): Promise<Result> {
  const note = (changed: number): Promise<void> =>
    storage.recordAudit({ at: Date.now(), who, source, what, about, changed });
  let result: Result;
  try {
    result = await make();
  } catch (error) {
    await note(0).catch(() => undefined);
    throw error;
  }
  await note(countOf(result));
  return result;
}

/** The store as somebody changes it who changes one thing at a time: each change is noted there. */
export function auditedStorage(storage: Storage, actor: Actor): Storage {
  const note = <Result>(what: string, about: string, make: () => Promise<Result>): Promise<Result> =>
    audited({ storage, ...actor }, { what, about }, make);
  return {
    ...storage,
    pauseRuns: (mappingId, nowMs) => note('pause', mappingId, () => storage.pauseRuns(mappingId, nowMs)),
    resumeRuns: (mappingId) => note('resume', mappingId, () => storage.resumeRuns(mappingId)),
    decideApproval: (id, answer) =>
      note(answer.decision === 'denied' ? 'deny' : 'approve', id, () => storage.decideApproval(id, answer)),
    prune: (limits, nowMs) => note('prune', '', () => storage.prune(limits, nowMs)),
    // Its key may hold what was sent.
    clearSession: (session) => note('clear session', session.owner, () => storage.clearSession(session)),
    saveLastTarget: (target, nowMs) =>
      note('use channel', target.channel, () => storage.saveLastTarget(target, nowMs)),
    retrySetAsideMail: (selection) =>
      note('retry mail', textOf(selection), () => storage.retrySetAsideMail(selection)),
    dropSetAsideMail: (selection) =>
      note('drop mail', textOf(selection), () => storage.dropSetAsideMail(selection)),
  };
}

const textOf = (selection: SetAsideSelection): string =>
  selection.kind === 'ids' ? selection.ids.join(' ') : '*';

/** How much changed: a number, whether anything did, or counts by kind. */
function countOf(result: unknown): number {
  if (typeof result !== 'object' || result === null) return result === undefined ? 1 : Number(result);
  const parts: readonly unknown[] =
    'runs' in result && 'isFirst' in result ? [result.runs] : Object.values(result);
  return parts.reduce<number>((sum, part) => sum + Number(part), 0);
}
