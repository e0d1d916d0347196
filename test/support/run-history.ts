/**
 * What a fleet was asked and answered, in the order of one clock, and a judge of it. What is between a question and its
 * answer may have happened at any time in between; only what is certain is called a fault.
 */
export interface Step {
  readonly asked: number;
  /** Absent where no answer came: it may have happened or not. */
  readonly answered?: number;
}

export interface History {
  readonly accepts: readonly (Step & {
    readonly runId: string;
    readonly line: string;
    readonly key?: string;
  })[];
  readonly claims: readonly (Step & { readonly runId: string; readonly holder: string })[];
  /** `done`: the store said that this holder ended it, or where `isBack`, put it back or gave it up. */
  readonly ends: readonly (Step & {
    readonly runId: string;
    readonly holder: string;
    readonly done: boolean;
    readonly isBack?: boolean;
  })[];
  /** Ids of all runs that the store has in the end. */
  readonly stored: ReadonlySet<string>;
}

/** Faults in words, each beginning with its kind: lost, doubled, stolen, side by side, out of order. */
export function judge(history: History): readonly string[] {
  return [
    ...lost(history),
    ...doubled(history),
    ...stolen(history),
    ...sideBySide(history),
    ...outOfOrder(history),
  ];
}

const isAnswered = <One extends Step>(step: One): step is One & { readonly answered: number } =>
  step.answered !== undefined;

function lost({ accepts, stored }: History): readonly string[] {
  return accepts
    .filter((accept) => isAnswered(accept) && !stored.has(accept.runId))
    .map(({ runId }) => `lost: ${runId} was answered`);
}

function doubled({ accepts, ends, stored }: History): readonly string[] {
  const done = Map.groupBy(
    ends.filter((end) => end.done && end.isBack !== true),
    ({ runId }) => runId,
  );
  const keys = Map.groupBy(
    accepts.filter(({ key, runId }) => key !== undefined && stored.has(runId)),
    ({ key }) => key,
  );
  return [
    ...[...done].filter(([, all]) => all.length > 1).map(([runId]) => `doubled: ${runId} ended twice`),
    ...[...keys].flatMap(([key, all]) => {
      const runs = new Set(all.map(({ runId }) => runId));
      return runs.size > 1 ? [`doubled: ${[...runs].join(' and ')} have the key ${key}`] : [];
    }),
  ];
}

/** Who ended a run that another one had certainly taken over since. */
function stolen({ claims, ends }: History): readonly string[] {
  return ends.flatMap(({ runId, holder, asked, done }) => {
    const last = claims.findLast((claim) => claim.runId === runId && (claim.answered ?? Infinity) < asked);
    if (!done || last === undefined || last.holder === holder) return [];
    return [`stolen: ${runId} was ended by ${holder}, and ${last.holder} had it`];
  });
}

interface Active {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
}

/** From when to when a run was certainly under way: from the answer to its claim to the first question of its end. */
function activeOf(history: History): ReadonlyMap<string, readonly Active[]> {
  const lines = new Map(history.accepts.map(({ runId, line }) => [runId, line]));
  const active = history.claims.filter(isAnswered).flatMap(({ runId, holder, answered }) => {
    const ends = history.ends.filter(
      (one) => one.runId === runId && one.holder === holder && one.asked > answered,
    );
    // One whose answer was lost may have been done.
    const first = ends.find((one) => one.done || !isAnswered(one));
    return first === undefined || !ends.some(({ done }) => done)
      ? []
      : [{ runId, from: answered, to: first.asked }];
  });
  return Map.groupBy(active, ({ runId }) => lines.get(runId) ?? runId);
}

function sideBySide(history: History): readonly string[] {
  return [...activeOf(history)].flatMap(([line, all]) =>
    all.flatMap((one, index) =>
      all
        .slice(index + 1)
        .filter(({ from, to }) => from < one.to && one.from < to)
        .map(({ runId }) => `side by side: ${one.runId} and ${runId} of ${line}`),
    ),
  );
}

function outOfOrder({ accepts, claims }: History): readonly string[] {
  const first = new Map<string, Step>();
  for (const claim of claims) if (!first.has(claim.runId)) first.set(claim.runId, claim);
  return [...Map.groupBy(accepts, ({ line }) => line)].flatMap(([line, all]) =>
    all
      .filter(isAnswered)
      .flatMap((early) =>
        all
          .filter(
            ({ runId, asked }) =>
              asked > early.answered && isBefore(first.get(runId), first.get(early.runId)),
          )
          .map(({ runId }) => `out of order: ${runId} before ${early.runId} of ${line}`),
      ),
  );
}

function isBefore(one: Step | undefined, other: Step | undefined): boolean {
  if (one?.answered === undefined) return false;
  return other === undefined || one.answered < other.asked;
}
