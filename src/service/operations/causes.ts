/** What somebody has to look at, by its cause, and how much work there is. */
import { hash } from 'node:crypto';
import { defined, isScalar, type JsonValue } from '../../base/json.ts';
import { clearLine, namesSecret } from '../../base/telemetry/telemetry.ts';
import { within } from '../../base/timers/timers.ts';
import { readKeptRequest } from '../../engine/hook/hook.ts';
import { isoTime } from '../../engine/storage/facts.ts';
import type {
  AuditRecord,
  Backlog,
  CostRecord,
  DecisionRecord,
  FailedHour,
  KeptRequest,
  Storage,
} from '../../engine/storage/storage.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import { readState } from '../recovery/recovery.ts';
import { findObstacles, waitsOf, type Pausable } from './waits.ts';

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
  /** Requests are still counted: what they are the cause of is not among the causes yet. */
  readonly isCounting?: true;
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
  const [backlog, found, marks, costs, rows] = await Promise.all([
    storage.backlog(),
    findCauses(storage, looking),
    storage.listAudit(MAX_MARKS, ['start', 'reload']),
    storage.listCosts({ limit: MAX_COSTS }),
    storage.listRecoveries(),
  ]);
  const recoveries = [...recovered].map((path): RecoveredPath => {
    const { lookedAt, totals, unwell, last } = readState(rows.find((row) => row.path === path)?.state ?? '');
    const { missed, came, gaveUp } = totals;
    const trouble = unwell === undefined ? last.trouble : `the sender says "${unwell}" of the webhook`;
    return { path, lookedAt, missed, came, gaveUp, ...defined({ trouble }) };
  });
  return { backlog, ...found, marks, spent: spentOf(costs), recoveries };
}

const HOUR_MS = 3_600_000;
/** As much failed work of each kind is looked at, by the store. */
const MAX_WORK = 10_000;
const MAX_ASIDES = 1_000;
const MAX_MARKS = 100;
const MAX_COSTS = 200;
/** Causes of which the last request is looked at, and the characters of one that is read. */
const MAX_QUOTED = 50;
const MAX_QUOTED_CHARS = 256 * 1024;
/** Characters of what is said of a failure. */
const MAX_SAID = 200;

/** What somebody has to look at, by its cause. */
export interface Cause {
  /** The same for the same cause, whenever it is looked for. */
  readonly id: string;
  /** `wait`: runs that do not begin before something else has happened; `flood`: far more comes than before. */
  readonly kind: 'request' | 'wait' | 'flood' | FailedHour['kind'];
  readonly count: number;
  readonly says: string;
  /** The request, run or event that shows it; absent for what waits, and for a flood. */
  readonly example?: string;
  readonly path?: string;
  readonly mappingId?: string;
  /** The code of why it was refused, or of the error of what failed. */
  readonly errorCode?: string;
  /** What somebody has paused, where that is the cause. */
  readonly paused?: Pausable;
  readonly firstAt: number;
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
  /** What is said is of the last one. */
  readonly saidAt: number;
  /** Makes `saysFound`: what `says` says, with the values that the failing conditions found. Payload-derived. */
  readonly sayWith?: (values: FoundValues) => string;
  readonly saysFound?: string;
};
/** Requests that a mapping took within a day, and how many of them were refused. */
export interface MappingHits {
  readonly hits: number;
  readonly refusals: number;
  readonly lastHitAt: number;
}

/** All that was decided and is kept. */
export interface Decided {
  readonly found: ReadonlyMap<string, Found>;
  readonly hits: ReadonlyMap<string, MappingHits>;
  /** The time of the oldest. */
  readonly since: number;
}

/** What has one name is one cause. */
type FoundCauses = Map<string, Found>;

function add(
  found: FoundCauses,
  key: readonly unknown[],
  { count, firstAt, lastAt }: Hour,
  cause: () => Omit<Found, 'hours' | 'saidAt'>,
): void {
  const name = key.join('\n');
  const { hours = [], saidAt = -Infinity } = found.get(name) ?? {};
  hours.push({ count, firstAt, lastAt });
  if (lastAt >= saidAt) found.set(name, { ...cause(), hours, saidAt: lastAt });
}

export interface CauseOptions {
  readonly gateway: Pick<GatewaySettings, 'runner'>;
  /** Nothing where it takes longer than somebody waits for it. */
  readonly decided: () => Promise<Decided | undefined>;
  /** With what errors said and conditions found, which may come from payloads. */
  readonly text: boolean;
}

/**
 * A thousand refusals of one condition are one thing to mend. Only what is kept is counted, so a cause may be older and
 * larger than is said.
 */
async function findCauses(
  storage: Storage,
  { gateway, decided, text }: CauseOptions,
): Promise<Pick<Overview, 'causes' | 'isCounting'>> {
  const [ofRequests, failed, asides, obstacles] = await Promise.all([
    decided(),
    storage.failedByHour(MAX_WORK),
    storage.listAudit(MAX_ASIDES, ['put aside']),
    findObstacles(storage, gateway),
  ]);
  const found = new Map(ofRequests?.found);
  for (const { kind, mappingId, why, example, message, ...hour } of failed) {
    const where = hour.where || (kind === 'run' ? gateway.runner : '');
    const said = [why || 'it failed', ...(text ? message.split('\n').filter(Boolean) : [])];
    add(found, [kind, mappingId, where, why], hour, () => ({
      kind,
      says: clearLine(`${[mappingId, where].filter(Boolean).join(', ')}: ${said.join(': ')}`).slice(
        0,
        MAX_SAID,
      ),
      example,
      mappingId,
      ...(why !== '' && { errorCode: why }),
    }));
  }
  for (const { key, count, since, ...cause } of waitsOf(obstacles, text)) {
    const hour = { count, firstAt: since, lastAt: Date.now() };
    add(found, ['wait', ...key], hour, () => ({ kind: 'wait', ...cause }));
  }
  const causes = [...found].map(
    ([name, { hours, saidAt: _saidAt, sayWith: _sayWith, saysFound, ...cause }]): Cause => {
      const id = hash('sha256', name).slice(0, 12);
      const aside = asides.find(({ about }) => about.startsWith(`${id} `));
      // Where older ones are not kept any more, those that came since tell it alone.
      const since = sum(hours.filter(({ firstAt }) => firstAt > (aside?.at ?? 0)));
      const grown = aside && Math.max(since, sum(hours) - aside.changed) > aside.changed;
      const reason = aside?.about.slice(id.length + 1) ?? '';
      const said = aside && grown === false ? { aside: { who: aside.who, at: aside.at, reason } } : {};
      const says = (text ? saysFound : undefined) ?? cause.says;
      return { id, ...cause, says, ...risen(hours), ...said };
    },
  );
  const weight = ({ count, lastAt, aside }: Cause): number =>
    aside === undefined ? count / (1 + (Date.now() - lastAt) / HOUR_MS) : -1;
  return {
    causes: causes.toSorted((a, b) => weight(b) - weight(a)),
    ...(ofRequests === undefined && { isCounting: true }),
  };
}

/** Counting rests so many times as long as it took: it is asked for again and again, and others need the store. */
const REST = 20;

type CountedStorage = Pick<Storage, 'flush' | 'countDecided' | 'findKeptRequest'>;
/** What the failing leaf of each mapping found. */
type FoundValues = ReadonlyMap<string, JsonValue>;
/** Says in a line why a request was refused. */
type Describe = (decision: DecisionRecord, found?: FoundValues) => string;

/** A count holds no longer than that after its rest. */
const OLD_MS = 60_000;

/**
 * Counts all decisions that are kept, and again after a rest, when the last count holds a while longer. Who asks where
 * there is none gets nothing after `waitMs`; default: waits.
 */
export function decidedCounter(
  storage: CountedStorage,
  describe: Describe,
  waitMs?: number,
): CauseOptions['decided'] {
  let last: Decided | undefined;
  let counting: Promise<Decided> | undefined;
  let restsUntil = 0;
  return async () => {
    const now = performance.now();
    if (now > restsUntil + OLD_MS) last = undefined;
    if (now >= restsUntil && counting === undefined) {
      counting = countDecided(storage, describe)
        .then((found) => {
          restsUntil = performance.now() + REST * (performance.now() - now);
          return (last = found);
        })
        .finally(() => (counting = undefined));
      // Who waits for it hears of it.
      counting.catch(() => undefined);
    }
    return last ?? (waitMs === undefined || counting === undefined ? counting : within(counting, waitMs));
  };
}

async function countDecided(storage: CountedStorage, describe: Describe): Promise<Decided> {
  const found: FoundCauses = new Map();
  const came = new Map<string, CameOfPath>();
  const hits = new Map<string, MappingHits>();
  let since = Date.now();
  await storage.flush();
  for (let after: number | undefined = 0; after !== undefined;) {
    const { groups, next }: Awaited<ReturnType<Storage['countDecided']>> = await storage.countDecided(after);
    for (const { path, mappingId, refused, ...hour } of groups) {
      const decision = refused === null ? undefined : (JSON.parse(refused) as DecisionRecord);
      since = Math.min(since, hour.firstAt);
      if (mappingId !== null && hour.lastAt > Date.now() - 24 * HOUR_MS) {
        const { hits: before = 0, refusals = 0, lastHitAt = 0 } = hits.get(mappingId) ?? {};
        hits.set(mappingId, {
          hits: before + hour.count,
          refusals: refusals + (decision === undefined ? 0 : hour.count),
          lastHitAt: Math.max(lastHitAt, hour.lastAt),
        });
      }
      const ofPath = came.get(path) ?? { hours: [] };
      ofPath.hours.push(hour);
      came.set(path, { ...ofPath, ...(mappingId !== null && { mappingId }) });
      if (decision === undefined || isTaken(decision)) continue;
      const { code, missed = [], findings = [] } = decision;
      const leaves = missed.map((miss) => [miss.mappingId, miss.part, miss.leaf, miss.why].join(' '));
      const key = ['request', path, code, decision.mappingId, ...leaves, ...findings.map((one) => one.code)];
      const sayWith = (values?: FoundValues): string =>
        `${path}, ${[code, describe(decision, values)].filter(Boolean).join(': ')}`;
      add(found, key, hour, () => ({
        kind: 'request',
        says: sayWith(),
        ...(missed.length > 0 && { sayWith }),
        example: decision.requestId,
        path,
        ...defined({ mappingId: decision.mappingId, errorCode: code }),
      }));
    }
    after = next;
  }
  addFlood(found, came, since);
  await quoteFound(found, storage);
  return { found, hits, since };
}

/** A decision has no value of a request. What the conditions found stands beside the last request, where that is kept. */
async function quoteFound(found: FoundCauses, storage: CountedStorage): Promise<void> {
  const newest = [...found].toSorted(([, a], [, b]) => b.saidAt - a.saidAt).slice(0, MAX_QUOTED);
  for (const [name, cause] of newest) {
    const { example = '', sayWith } = cause;
    // One after the other: a service at work has other things to do.
    const kept = sayWith && (await storage.findKeptRequest(example));
    if (kept !== undefined && kept.json.length <= MAX_QUOTED_CHARS)
      found.set(name, { ...cause, saysFound: sayWith?.(foundIn(kept)) ?? cause.says });
  }
}

/** What the failing leaf of each mapping found: a text, a number or a flag, and nothing under the name of a secret. */
function foundIn(kept: KeptRequest): FoundValues {
  const { judged } = readKeptRequest(kept);
  const values = (judged?.considered ?? []).flatMap(({ id, failed }) => {
    const { part, expression = '', found } = failed ?? {};
    const paths = [...expression.matchAll(/"var":\s*\[?"([^"]+)"/g)];
    const names = paths.flatMap(([, path = '']) => path.split('.'));
    const isOpen = part === 'source' || (names.length > 0 && !names.some(namesSecret));
    return isOpen && (isScalar(found) || found === null) ? [[id, found] as const] : [];
  });
  return new Map(values);
}

/** What was taken when it was replayed is lost no more. */
const isTaken = ({ replays = [] }: DecisionRecord): boolean =>
  replays.some(({ outcome }) => outcome !== 'rejected');

const RECENT_MS = HOUR_MS / 6;
/** A path floods that has so many in that time, and so many times as many as before. */
const MANY = 100;
const TIMES = 5;

interface CameOfPath {
  readonly hours: Hour[];
  readonly mappingId?: string;
}

/** Adds the path of which most has come lately, where that is far more than before. */
function addFlood(found: FoundCauses, came: ReadonlyMap<string, CameOfPath>, since: number): void {
  const from = Date.now() - RECENT_MS;
  const recentOf = ({ hours }: CameOfPath): readonly Hour[] => hours.filter(({ firstAt }) => firstAt >= from);
  const [first] = [...came].toSorted(([, a], [, b]) => sum(recentOf(b)) - sum(recentOf(a)));
  if (first === undefined) return;
  const [path, { hours, mappingId }] = first;
  const recent = recentOf(first[1]);
  const windows = (from - since) / RECENT_MS;
  const before = (sum(hours) - sum(recent)) / windows;
  if (windows < 1 || sum(recent) < Math.max(MANY, TIMES * before)) return;
  const usual = Math.round(before * (HOUR_MS / RECENT_MS)).toLocaleString('en');
  for (const hour of recent)
    add(found, ['flood', path], hour, () => ({
      kind: 'flood',
      says: `${path}: far more in ten minutes than before, when ${usual} came in an hour`,
      path,
      ...defined({ mappingId }),
    }));
}

const sum = (hours: readonly Hour[]): number => hours.reduce((total, { count }) => total + count, 0);

/** Finds when a cause began to rise: from then on an hour brought a quarter of the most that an hour ever brought. */
function risen(hours: readonly Hour[]): Pick<Cause, 'count' | 'firstAt' | 'since' | 'lastAt' | 'before'> {
  const sorted = hours.toSorted((a, b) => a.firstAt - b.firstAt);
  let end = 0;
  let count = 0;
  const inAnHour = sorted.map((from) => {
    for (; (sorted[end]?.firstAt ?? Infinity) < from.firstAt + HOUR_MS; end++)
      count += sorted[end]?.count ?? 0;
    count -= from.count;
    return count + from.count;
  });
  const most = inAnHour.reduce((highest, one) => Math.max(highest, one), 0);
  const rise = inAnHour.findIndex((one) => one >= most / 4);
  return {
    count: sum(sorted),
    firstAt: sorted[0]?.firstAt ?? 0,
    since: sorted[rise]?.firstAt ?? 0,
    lastAt: sorted.reduce((last, { lastAt }) => Math.max(last, lastAt), 0),
    before: sum(sorted.slice(0, rise)),
  };
}
