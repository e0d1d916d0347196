/* What a change does, in words: which conversations part or join, what counts as a repeat, what goes elsewhere. */
import type { Action, RunAction } from '../../base/action.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';

/** One thing that a change does, with the requests that show it. */
export interface Effect {
  /** Stays the same: `splits-conversations`, `widens-dedupe`. */
  readonly code: string;
  readonly text: string;
  /** Names of recorded requests. */
  readonly requests: readonly string[];
}

/** A recorded request, and what becomes of it before and after. */
export interface Compared {
  readonly name: string;
  readonly before: readonly Evaluation[];
  readonly after: readonly Evaluation[];
}

/** What a change does to all requests that were compared. */
export function effectsOf(compared: readonly Compared[]): readonly Effect[] {
  const { length } = compared;
  const of = (
    code: Effect['code'],
    says: string,
    changed: (each: Compared) => boolean,
  ): readonly Effect[] => {
    const requests = compared.filter(changed).map(({ name }) => name);
    return requests.length === 0
      ? []
      : [{ code, text: `${says} ${requests.length} of ${length} requests`, requests }];
  };
  const isOther = (read: (evaluations: readonly Evaluation[]) => string) => (each: Compared) =>
    isAccepted(each.before) && isAccepted(each.after) && read(each.before) !== read(each.after);
  return [
    ...pairsThat(compared, conversationsOf, {
      parted: ['splits-conversations', 'splits the conversations of'],
      joined: ['joins-conversations', 'joins the conversations of'],
    }),
    ...pairsThat(compared, repeatsOf, {
      parted: ['narrows-dedupe', 'narrows dedupe: no longer repeats of each other are'],
      joined: ['widens-dedupe', 'widens dedupe: repeats of each other now are'],
    }),
    ...of('refuses', 'no longer takes', (each) => isAccepted(each.before) && !isAccepted(each.after)),
    ...of('accepts', 'newly takes', (each) => !isAccepted(each.before) && isAccepted(each.after)),
    ...of('takes-otherwise', 'has another mapping take', isOther(mappingsOf)),
    ...of('sends-elsewhere', 'sends elsewhere', isOther(targetsOf)),
    ...of('other-text', 'changes the text of', isOther(textsOf)),
  ];
}

const isAccepted = (evaluations: readonly Evaluation[]): boolean =>
  evaluations.some(({ outcome }) => outcome.kind === 'accepted');

const actionsOf = (evaluations: readonly Evaluation[]): readonly Action[] =>
  evaluations.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? outcome.actions : []));

const runsOf = (evaluations: readonly Evaluation[]): readonly RunAction[] =>
  actionsOf(evaluations).filter((action) => action.kind !== 'wake');

const mappingsOf = (evaluations: readonly Evaluation[]): string =>
  evaluations.map(({ mapping }) => mapping?.id ?? '').join('\n');

/** Where a reply goes, and who takes the turn. */
const targetsOf = (evaluations: readonly Evaluation[]): string =>
  JSON.stringify(
    runsOf(evaluations).map((run) => [run.channel, run.to, run.kind === 'agent' && [run.runner, run.model]]),
  );

const textsOf = (evaluations: readonly Evaluation[]): string =>
  JSON.stringify(
    actionsOf(evaluations).map((action) => (action.kind === 'wake' ? action.text : action.message)),
  );

/** Keys of conversations that go on; one of its own ends with its run. */
const conversationsOf = (evaluations: readonly Evaluation[]): readonly string[] =>
  runsOf(evaluations).flatMap((run) =>
    run.kind === 'agent' && !run.oneShot ? [`${run.owner}\n${run.sessionKey}`] : [],
  );

const repeatsOf = (evaluations: readonly Evaluation[]): readonly string[] =>
  actionsOf(evaluations).flatMap(({ dedupe }) =>
    dedupe === undefined ? [] : [`${dedupe.scope}\n${dedupe.key}`],
  );

/** Pairs that are looked at; more of them say nothing new. */
const MAX_PAIRS = 2_000_000;
/** Requests that are named of one effect. */
const MAX_NAMED = 4;

/** Requests that shared a key and no longer do, and those that now share one. */
function pairsThat(
  compared: readonly Compared[],
  keysOf: (evaluations: readonly Evaluation[]) => readonly string[],
  words: Readonly<Record<'parted' | 'joined', readonly [string, string]>>,
): readonly Effect[] {
  const keyed = compared.map((each) => ({
    each,
    before: new Set(keysOf(each.before)),
    after: new Set(keysOf(each.after)),
  }));
  const found = { parted: new Set<Compared>(), joined: new Set<Compared>() };
  let pairs = 0;
  for (const [at, one] of keyed.entries())
    for (const other of keyed.slice(at + 1)) {
      pairs += 1;
      if (pairs > MAX_PAIRS) break;
      const shares = (side: 'before' | 'after'): boolean =>
        [...one[side]].some((key) => other[side].has(key));
      const [was, is] = [shares('before'), shares('after')];
      // What makes nothing on one side shares nothing there.
      const isThere = (side: 'before' | 'after'): boolean => one[side].size > 0 && other[side].size > 0;
      if (was === is || !isThere('before') || !isThere('after')) continue;
      const changed = was ? found.parted : found.joined;
      changed.add(one.each).add(other.each);
    }
  return (['joined', 'parted'] as const).flatMap((kind): readonly Effect[] => {
    const requests = [...found[kind]].map(({ name }) => name);
    const [code, text] = words[kind];
    return requests.length === 0 ? [] : [{ code, text: `${text} ${named(requests)}`, requests }];
  });
}

const named = (names: readonly string[]): string =>
  names.length > MAX_NAMED
    ? `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`
    : names.join(' and ');
