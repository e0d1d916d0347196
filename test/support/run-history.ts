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
  /** `done`: the store said that this holder ended it. */
  readonly ends: readonly (Step & {
    readonly runId: string;
    readonly holder: string;
    readonly done: boolean;
  })[];
  /** Ids of all runs that the store has in the end. */
  readonly stored: ReadonlySet<string>;
}

/** Faults in words, each beginning with its kind: lost, doubled, side by side, out of order. */
export function judge(history: History): readonly string[] {
  return [...lost(history), ...doubled(history), ...sideBySide(history), ...outOfOrder(history)];
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
    ends.filter((end) => end.done),
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

interface Active {
  readonly runId: string;
  readonly from: number;
  readonly to: number;
}

/** From when to when a run was certainly under way: from the answer to its claim to the question of its end. */
function activeOf(history: History): ReadonlyMap<string, readonly Active[]> {
  const lines = new Map(history.accepts.map(({ runId, line }) => [runId, line]));
  const active = history.claims.filter(isAnswered).flatMap(({ runId, holder, answered }) => {
    const end = history.ends.find(
      (one) => one.runId === runId && one.holder === holder && one.asked > answered && one.done,
    );
    return end === undefined ? [] : [{ runId, from: answered, to: end.asked }];
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
