/** What became of runs and events, and what somebody has to look at. */
import { hash } from 'node:crypto';
import { defined } from '../../base/json.ts';
import { formatSpan } from '../../base/telemetry/telemetry.ts';
import { isoTime, isSkipped } from '../../engine/storage/facts.ts';
import {
  DROPPED,
  type AuditRecord,
  type Backlog,
  type CostRecord,
  type DecisionRecord,
  type FailedHour,
  type RunRecord,
  type Storage,
} from '../../engine/storage/storage.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import { readState } from '../recovery/recovery.ts';
import { findObstacles, findWaits, reasonsToWait, runnerOf, waitsOf, type Pausable } from './waits.ts';

/** Most runs and events of one question. */
const MAX_IDS = 200;

export interface End {
  readonly id: string;
  /** `skipped`: its conversation had ended, or it found none; `dead`: given up; `unsent`: it ended well, and its reply or callback did not go out. */
  readonly end:
    'done' | 'running' | 'queued' | 'sending' | 'dropped' | 'skipped' | 'unsent' | 'failed' | 'dead';
  /** The code of the error, what the run waits for, or which worker has it. */
  readonly why?: string;
}

export const hasFailed = ({ outcome }: Pick<RunRecord, 'outcome'>): boolean =>
  outcome === 'error' || outcome === 'timeout';

export function endOf(run: Pick<RunRecord, 'state' | 'outcome' | 'lastError'>): End['end'] {
  if (run.state !== 'completed') return run.state === 'active' ? 'running' : run.state;
  if (run.lastError?.code === DROPPED.code) return 'dropped';
  if (isSkipped(run.lastError)) return 'skipped';
  return hasFailed(run) ? 'failed' : 'done';
}

/**
 * What queued runs wait for, in two words or as an ISO time; absent where a place becomes free by itself. Of runs under way,
 * which worker has them.
 */
export async function whyQueued(
  storage: Storage,
  gateway: GatewaySettings,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<string, string>> {
  const queued = runs.filter(({ state }) => state === 'queued');
  const waits = queued.length === 0 ? undefined : await findWaits(storage, gateway);
  const carried = runs.filter(({ state, carried: { until = 0 } = {} }) => state === 'active' && until > 0);
  const workers = carried.length === 0 ? [] : await storage.listWorkers(gateway.runner);
  const now = Date.now();
  const seen = (run: RunRecord): string => {
    const { carried: { worker = '' } = {} } = run;
    // One machine may have workers of several runners, each under its name.
    const runner = runnerOf(run, gateway);
    const found = workers.find((each) => each.name === worker && each.runner === runner);
    return `on ${worker}${found === undefined ? '' : `, last seen ${formatSpan(now - found.seenAt)} ago`}`;
  };
  return new Map([
    ...queued.flatMap((run) => {
      const [reason] = waits === undefined ? [] : reasonsToWait(run, waits, now);
      const why = reason?.short ?? (run.dueAt > now ? isoTime(run.dueAt) : undefined);
      return why === undefined ? [] : [[run.id, why] as const];
    }),
    ...carried.map((run) => [run.id, seen(run)] as const),
  ]);
}

export async function endsOf(
  storage: Storage,
  gateway: GatewaySettings,
  ids: readonly string[],
): Promise<readonly End[]> {
  const asked = ids.slice(0, MAX_IDS);
  const found = await Promise.all(asked.map((id) => storage.findRun(id)));
  const runs = found.flatMap((run) => run ?? []);
  const reasons = await whyQueued(storage, gateway, runs);
  const done = runs.filter((run) => endOf(run) === 'done').map(({ id }) => id);
  const unsent = new Map((await storage.findUnsent(done)).map(({ runId, end }) => [runId, end]));
  const events = await Promise.all(
    asked.filter((_, index) => found[index] === undefined).map((id) => eventEnd(storage, id)),
  );
  const ends = runs.map((run): End => {
    const { id, lastError } = run;
    const end = unsent.get(id) ?? endOf(run);
    const why = end === 'failed' || end === 'dead' || end === 'skipped' ? lastError?.code : reasons.get(id);
    return { id, end, ...(why === undefined ? {} : { why }) };
  });
  return [...ends, ...events.flat()];
}

const EVENT_ENDS = { pending: 'queued', claimed: 'running', consumed: 'done', dead: 'dead' } as const;

async function eventEnd(storage: Storage, id: string): Promise<readonly End[]> {
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? [] : [{ id, end: EVENT_ENDS[event.state] }];
}

/** How the recovery of a path goes, since it was begun. */
export interface RecoveredPath {
  readonly path: string;
  /** When the log of the sender was last read to its end; 0 where it never was. */
  readonly lookedAt: number;
  readonly missed: number;
  readonly came: number;
  readonly gaveUp: number;
  /** What the sender says of the webhook, where that is not well, or why the sender could not be asked. */
  readonly trouble?: string;
}

/** How much work there is, what somebody has to look at, and when the service started or its files changed. */
export interface Overview {
  readonly backlog: Backlog;
  readonly causes: readonly Cause[];
  readonly marks: readonly AuditRecord[];
  readonly spent: Spent;
  readonly recoveries: readonly RecoveredPath[];
}

/** What agents reported, in US dollars. */
export interface Spent {
  readonly today: number;
  /** The average of the days before that had any; absent where none had. */
  readonly usual?: number;
  /** The mapping that cost most today. */
  readonly most?: { readonly mappingId: string; readonly usd: number };
}

function spentOf(costs: readonly CostRecord[]): Spent {
  const day = isoTime(Date.now()).slice(0, 10);
  const today = costs.filter((cost) => cost.day === day);
  const before = costs.filter((cost) => cost.day !== day);
  const usdOf = (some: readonly CostRecord[]): number => some.reduce((total, { usd }) => total + usd, 0);
  const days = new Set(before.map((cost) => cost.day)).size;
  const [most] = today.toSorted((a, b) => b.usd - a.usd);
  return { today: usdOf(today), ...(days > 0 && { usual: usdOf(before) / days }), ...defined({ most }) };
}

/** `recovered`: paths whose sender is asked for what it could not deliver. */
export async function overview(
  storage: Storage,
  looking: CauseOptions,
  recovered: Iterable<string>,
): Promise<Overview> {
  const audited = storage.listAudit(MAX_AUDIT);
  const [backlog, causes, audit, costs, rows] = await Promise.all([
    storage.backlog(),
    findCauses(storage, looking, audited),
    audited,
    storage.listCosts({ limit: MAX_COSTS }),
    storage.listRecoveries(),
  ]);
  const recoveries = [...recovered].map((path): RecoveredPath => {
    const { lookedAt, totals, unwell, last } = readState(rows.find((row) => row.path === path)?.state ?? '');
    const { missed, came, gaveUp } = totals;
    const trouble = unwell === undefined ? last.trouble : `the sender says "${unwell}" of the webhook`;
    return { path, lookedAt, missed, came, gaveUp, ...defined({ trouble }) };
  });
  const marks = audit.filter(({ what }) => what === 'start' || what === 'reload');
  return { backlog, causes, marks, spent: spentOf(costs), recoveries };
}

const HOUR_MS = 3_600_000;
/** As much failed work of each kind is looked at, by the store. */
const MAX_WORK = 10_000;
/** As many refused requests are looked at, here: more would make hooks wait. */
const MAX_REFUSED = 2_000;
const MAX_AUDIT = 1_000;
const MAX_COSTS = 200;
/** A request that was refused before its sender had proved itself does not concern the operator's mappings. */
const STRANGERS: readonly number[] = [401, 403, 405, 408, 429];
/** What has the status of a stranger's request, and comes after the proof. */
const OF_SENDERS: readonly string[] = ['rate_limited'];

/** What somebody has to look at, by its cause. */
export interface Cause {
  /** The same for the same cause, whenever it is looked for. */
  readonly id: string;
  /** `wait`: runs that do not begin before something else has happened. */
  readonly kind: 'request' | 'wait' | FailedHour['kind'];
  readonly count: number;
  readonly says: string;
  /** The request, run or event that shows it; absent for what waits. */
  readonly example?: string;
  readonly path?: string;
  readonly mappingId?: string;
  /** The code of the error of what failed. */
  readonly errorCode?: string;
  /** What somebody has paused, where that is the cause. */
  readonly paused?: Pausable;
  /** When it began to come as often as it does. */
  readonly since: number;
  readonly lastAt: number;
  /** How many came before that. */
  readonly before: number;
  /** What somebody said of it who meant it to be so; absent since it has grown. */
  readonly aside?: { readonly who: string; readonly at: number; readonly reason: string };
}

type Hour = Pick<FailedHour, 'count' | 'firstAt' | 'lastAt'>;
type Found = Pick<Cause, 'kind' | 'says' | 'example' | 'path' | 'mappingId' | 'errorCode' | 'paused'> & {
  readonly hours: Hour[];
};

export interface CauseOptions {
  readonly gateway: Pick<GatewaySettings, 'runner'>;
  /** Says in a line why a request was refused. */
  readonly describe: (decision: DecisionRecord) => string;
}

/**
 * A thousand refusals of one condition are one thing to mend. Only what is kept is counted, so a cause may be older and
 * larger than is said.
 */
export async function findCauses(
  storage: Storage,
  { gateway, describe }: CauseOptions,
  audited: Promise<readonly AuditRecord[]> = storage.listAudit(MAX_AUDIT),
): Promise<readonly Cause[]> {
  const [decisions, failed, audit, obstacles] = await Promise.all([
    storage.listDecisions({ limit: MAX_REFUSED, state: 'rejected' }),
    storage.failedByHour(MAX_WORK),
    audited,
    findObstacles(storage, gateway),
  ]);
  const found = new Map<string, Found>();
  const add = (key: readonly unknown[], hour: Hour, cause: () => Omit<Found, 'hours'>): void => {
    const name = key.join('\n');
    const known = found.get(name) ?? { ...cause(), hours: [] };
    known.hours.push(hour);
    found.set(name, known);
  };
  for (const decision of decisions.filter(isLost)) {
    const { path, code, mappingId, missed = [], findings = [], receivedAt: at } = decision;
    const leaves = missed.map((miss) => [miss.mappingId, miss.part, miss.leaf, miss.why].join(' '));
    const key = ['request', path, code, mappingId, ...leaves, ...findings.map((finding) => finding.code)];
    add(key, { count: 1, firstAt: at, lastAt: at }, () => ({
      kind: 'request',
      says: `${path}, ${[code, describe(decision)].filter(Boolean).join(': ')}`,
      example: decision.requestId,
      ...defined({ path, mappingId }),
    }));
  }
  for (const { kind, mappingId, place, why, example, ...hour } of failed) {
    const where = kind === 'run' ? place || gateway.runner : place;
    const says = `${[mappingId, where].filter(Boolean).join(', ')}: ${why || 'it failed'}`;
    add([kind, mappingId, where, why], hour, () => ({
      kind,
      says,
      example,
      mappingId,
      ...(why !== '' && { errorCode: why }),
    }));
  }
  for (const { key, count, since, ...cause } of waitsOf(obstacles)) {
    const hour = { count, firstAt: since, lastAt: Date.now() };
    add(['wait', ...key], hour, () => ({ kind: 'wait', ...cause }));
  }
  const asides = audit.filter(({ what }) => what === 'put aside');
  const causes = [...found].map(([name, { hours, ...cause }]): Cause => {
    const id = hash('sha256', name).slice(0, 12);
    const aside = asides.find(({ about }) => about.startsWith(`${id} `));
    // Where older ones are not kept any more, those that came since tell it alone.
    const since = sum(hours.filter(({ firstAt }) => firstAt > (aside?.at ?? 0)));
    const grown = aside && Math.max(since, sum(hours) - aside.changed) > aside.changed;
    const reason = aside?.about.slice(id.length + 1) ?? '';
    const said = aside && grown === false ? { aside: { who: aside.who, at: aside.at, reason } } : {};
    return { id, ...cause, ...risen(hours), ...said };
  });
  const weight = ({ count, lastAt, aside }: Cause): number =>
    aside === undefined ? count / (1 + (Date.now() - lastAt) / HOUR_MS) : -1;
  return causes.toSorted((a, b) => weight(b) - weight(a));
}

/** What was taken when it was replayed is lost no more. */
const isLost = ({ status, code = '', replays = [] }: DecisionRecord): boolean =>
  (!STRANGERS.includes(status) || OF_SENDERS.includes(code)) &&
  !replays.some(({ outcome }) => outcome !== 'rejected');

const sum = (hours: readonly Hour[]): number => hours.reduce((total, { count }) => total + count, 0);

/** Finds the hour in which a cause began to rise: the first one with a quarter of the highest count. */
function risen(all: readonly Hour[]): Pick<Cause, 'count' | 'since' | 'lastAt' | 'before'> {
  const hours = new Map<number, Hour>();
  for (const { count, firstAt, lastAt } of all) {
    const hour = Math.floor(firstAt / HOUR_MS);
    const known = hours.get(hour) ?? { count: 0, firstAt, lastAt };
    hours.set(hour, {
      count: known.count + count,
      firstAt: Math.min(known.firstAt, firstAt),
      lastAt: Math.max(known.lastAt, lastAt),
    });
  }
  const sorted = [...hours.values()].toSorted((a, b) => a.firstAt - b.firstAt);
  const most = Math.max(...sorted.map(({ count }) => count));
  const from = sorted.findIndex(({ count }) => count >= most / 4);
  const [first] = sorted.slice(from);
  const before = sum(sorted.slice(0, from));
  return { count: sum(sorted), since: first?.firstAt ?? 0, lastAt: sorted.at(-1)?.lastAt ?? 0, before };
}
