import { setImmediate as immediate } from 'node:timers/promises';
import type { Action, RunAction } from '../../base/action.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import type { GoldenCase } from './case-file.ts';
import { formatDifference } from './reporters.ts';
import { runCase, type GoldenEngine } from './run-cases.ts';

interface OutcomeChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Line by line, for people. */
  readonly difference: string;
}

/** Makes a case without expectation of a request that is not in a file. */
export function caseOfRequest(request: HookRequest): GoldenCase {
  const { id: name } = request;
  const deliveries = [{ request, isTimed: true }];
  return { name, requestFile: '', expectedFile: '', deliveries, isList: false, files: [] };
}

export interface ImpactReport {
  readonly compared: number;
  readonly changes: readonly OutcomeChange[];
  /** What the change does, in words. */
  readonly effects: readonly ImpactEffect[];
}

/**
 * Evaluates every recorded request with both sides (a base revision's mappings and transforms, and the
 * working tree's) and lists which outcomes change. Expectation files play no part. `signal` ends it with its reason.
 */
export async function compareOutcomes(
  cases: readonly GoldenCase[],
  before: GoldenEngine,
  { after, signal }: { readonly after: GoldenEngine; readonly signal?: AbortSignal },
): Promise<ImpactReport> {
  const changes: OutcomeChange[] = [];
  const compared: RequestComparison[] = [];
  for (const golden of cases) {
    signal?.throwIfAborted();
    // Other work in this process gets a turn.
    await immediate();
    const { actualText: old, evaluations: was } = await runCase(golden, before);
    const { actualText: current, evaluations: is } = await runCase(golden, after);
    compared.push({ name: golden.name, before: was, after: is });
    if (old === current) continue;
    const difference = formatDifference(old, current, false);
    changes.push({ name: golden.name, before: old, after: current, difference });
  }
  return { compared: cases.length, changes, effects: effectsOf(compared) };
}

/** Prints the changes for people: the request, one line of what it means, the difference. */
export function formatImpact(report: ImpactReport, color: boolean): string {
  const blocks = report.changes.map(
    (change) =>
      `~ ${change.name}\n${formatDifference(change.before, change.after, color).replaceAll(/^(?=.)/gm, '  ')}\n`,
  );
  const words = report.effects.map(({ text }) => `this change ${text}`);
  return `${[...blocks, ...words, `${report.changes.length} of ${report.compared} recorded requests change outcome`].join('\n')}\n`;
}

/** An effect says in words what the change does, with the requests that show it. */
interface ImpactEffect {
  /** A stable code: `splits-conversations`, `widens-dedupe`. */
  readonly code: string;
  readonly text: string;
  /** Names of recorded requests. */
  readonly requests: readonly string[];
}

interface RequestComparison {
  readonly name: string;
  readonly before: readonly Evaluation[];
  readonly after: readonly Evaluation[];
}

/** What joins requests parts them once both sides are exchanged. */
const JOINED = ['after', 'before'] as const;
const PARTED = ['before', 'after'] as const;

/** Says what a change does to all compared requests: what it splits or joins, and what goes elsewhere. */
export function effectsOf(compared: readonly RequestComparison[]): readonly ImpactEffect[] {
  const where = (changed: (each: RequestComparison) => boolean): readonly string[] =>
    compared.filter(changed).map(({ name }) => name);
  const isOther = (read: (evaluations: readonly Evaluation[]) => string) => (each: RequestComparison) =>
    isAccepted(each.before) && isAccepted(each.after) && read(each.before) !== read(each.after);
  const counted = (requests: readonly string[]): string =>
    `${requests.length} of ${compared.length} requests`;
  const effects: readonly (readonly [
    code: string,
    says: string,
    requests: readonly string[],
    typeof named,
  ])[] = [
    ['joins-conversations', 'joins the conversations of', apart(compared, JOINED, conversationsOf), named],
    ['splits-conversations', 'splits the conversations of', apart(compared, PARTED, conversationsOf), named],
    [
      'widens-dedupe',
      'widens dedupe: repeats of each other now are',
      apart(compared, JOINED, repeatsOf),
      named,
    ],
    [
      'narrows-dedupe',
      'narrows dedupe: no longer repeats of each other are',
      apart(compared, PARTED, repeatsOf),
      named,
    ],
    [
      'refuses',
      'no longer takes',
      where((each) => isAccepted(each.before) && !isAccepted(each.after)),
      counted,
    ],
    ['accepts', 'newly takes', where((each) => !isAccepted(each.before) && isAccepted(each.after)), counted],
    ['takes-otherwise', 'has another mapping take', where(isOther(mappingsOf)), counted],
    ['sends-elsewhere', 'sends elsewhere', where(isOther(targetsOf)), counted],
    ['other-text', 'changes the text of', where(isOther(textsOf)), counted],
  ];
  return effects.flatMap(([code, says, requests, shown]) =>
    requests.length === 0 ? [] : [{ code, text: `${says} ${shown(requests)}`, requests }],
  );
}

const isAccepted = (evaluations: readonly Evaluation[]): boolean =>
  evaluations.some(({ outcome }) => outcome.kind === 'accepted');

const actionsOf = (evaluations: readonly Evaluation[]): readonly Action[] =>
  evaluations.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? outcome.actions : []));

const runsOf = (evaluations: readonly Evaluation[]): readonly RunAction[] =>
  actionsOf(evaluations).filter((action) => action.kind !== 'wake');

const mappingsOf = (evaluations: readonly Evaluation[]): string =>
  evaluations.map(({ mapping }) => mapping?.id ?? '').join('\n');

const targetsOf = (evaluations: readonly Evaluation[]): string =>
  JSON.stringify(
    runsOf(evaluations).map((run) => [run.channel, run.to, run.kind === 'agent' && [run.runner, run.model]]),
  );

const textsOf = (evaluations: readonly Evaluation[]): string =>
  JSON.stringify(
    actionsOf(evaluations).map((action) => (action.kind === 'wake' ? action.text : action.message)),
  );

/** A conversation of its own ends with its run, so its key does not count. */
const conversationsOf = (evaluations: readonly Evaluation[]): readonly string[] =>
  runsOf(evaluations).flatMap((run) =>
    run.kind === 'agent' && !run.oneShot ? [`${run.owner}\n${run.sessionKey}`] : [],
  );

const repeatsOf = (evaluations: readonly Evaluation[]): readonly string[] =>
  actionsOf(evaluations).flatMap(({ dedupe }) =>
    dedupe === undefined ? [] : [`${dedupe.scope}\n${dedupe.key}`],
  );

const MAX_NAMED = 4;

/** Finds requests that share a key on the side `from`, where no key is that of all of them on the side `to`. */
function apart(
  compared: readonly RequestComparison[],
  [from, to]: typeof JOINED | typeof PARTED,
  keysOf: (evaluations: readonly Evaluation[]) => readonly string[],
): readonly string[] {
  const keyed = compared.map((each) => ({ name: each.name, from: keysOf(each[from]), to: keysOf(each[to]) }));
  const sharing = new Map<string, typeof keyed>();
  for (const each of keyed.filter((one) => one.to.length > 0))
    for (const key of new Set(each.from)) sharing.set(key, [...(sharing.get(key) ?? []), each]);
  const parted = [...sharing.values()].filter(
    ([first, ...others]) => first?.to.some((key) => others.every((one) => one.to.includes(key))) === false,
  );
  return [...new Set(parted.flat().map(({ name }) => name))];
}

const named = (names: readonly string[]): string =>
  names.length > MAX_NAMED
    ? `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`
    : names.join(' and ');
