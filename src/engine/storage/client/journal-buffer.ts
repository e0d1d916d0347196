import {
  type DecisionRecord,
  KEPT_DECISIONS,
  KEPT_LIMITS,
  type KeptLimits,
  type KeptRequest,
} from '../records.ts';
import {
  type DecisionRow,
  type KeptRow,
  MAX_DECISIONS_PER_WRITE,
  MAX_STRANGERS,
} from '../request-records.ts';
import type { RemoteOperations } from '../statements/statement-table.ts';

/** Decisions gather this long, then join the next commit: a burst of them costs no commit of its own. */
const GATHER_MS = 100;
/** Least time between two writes: under load most decisions would be written only to be forgotten at once. */
const PAUSE_MS = 500;
/** The same while more wait than one write takes: short writes hold up nobody. */
const BUSY_PAUSE_MS = 125;
/** While writes follow each other, only each fourth looks for what the ring forgets: looking is half of a write. */
const WRITES_PER_LOOK = 4;
/** The same for requests of strangers, who choose how many there are. */
const STRANGERS_PAUSE_MS = 1_000;
/** Writes without an answer at most: what is written to a store that hangs waits in memory. */
const MAX_UNANSWERED = 16;
/** A longer decision is kept without its lists. */
const MAX_DECISION_LENGTH = 32 * 1024;

/** Requests that wait at most where nothing says how many are kept, and of which a part is forgotten at once. */
const MANY_REQUESTS = 10_000;
/** The part of the space that is filled between two looks for what is too much: a look costs more than what is kept. */
const ROOM_PER_LOOK = 0.05;

/** Losing these is allowed; a store that fails says so to those who wait for it. */
const ignore = () => undefined;

type JournalOperations = Pick<
  RemoteOperations,
  'recordDecisions' | 'recordStrangers' | 'keepRequests' | 'freeKeptSpace'
>;

/** Gathers decisions and failed requests; what a ring would forget at once is never sent. */
export class JournalBuffer {
  readonly #operations: JournalOperations;
  /** Oldest first. */
  #decisions: DecisionRecord[] = [];
  #keepDecisions: number = KEPT_DECISIONS;
  #kept: KeptRow[] = [];
  /** How many of each kind wait, and their bytes. */
  #waiting = noRequests();
  /** The same of those that were written since it was looked for what is too much. */
  readonly #unlooked = { whole: { count: Infinity, bytes: 0 }, shape: { count: Infinity, bytes: 0 } };
  /** The first waiting request of each kind and cause, and their number. */
  readonly #causes = new Map<string, { readonly first: KeptRow; count: number }>();
  #keptLimits: KeptLimits = KEPT_LIMITS;
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = -Infinity;
  #writes = 0;
  #unanswered = 0;
  readonly #strangers = new StrangerRing();
  #strangersTimer: NodeJS.Timeout | undefined;

  constructor(operations: JournalOperations) {
    this.#operations = operations;
  }

  recordDecision(decision: DecisionRecord, keep: number = KEPT_DECISIONS): void {
    this.#keepDecisions = keep;
    this.#decisions.push(decision);
    if (this.#decisions.length >= keep + MAX_DECISIONS_PER_WRITE)
      this.#decisions = this.#decisions.slice(-keep);
    this.#schedule();
  }

  /** A request that proved nothing, and who sent it: gathered in memory, written at most once a second. */
  recordStranger(decision: DecisionRecord, sender: string): void {
    this.#strangers.add(decision, sender);
    this.#strangersTimer ??= setTimeout(() => this.#writeStrangers(), STRANGERS_PAUSE_MS);
  }

  keepRequest(request: KeptRequest, limits: KeptLimits = KEPT_LIMITS): void {
    const { kind, cause = '' } = request;
    const capacity = kind === 'whole' ? limits : limits.shapes;
    const bytes = Buffer.byteLength(request.json);
    if (bytes > capacity.bytes) return;
    this.#keptLimits = limits;
    const row = { ...request, cause, bytes };
    this.#kept.push(row);
    const ofCause = this.#causes.get(kind + cause) ?? { first: row, count: 0 };
    this.#causes.set(kind + cause, ofCause);
    ofCause.count += 1;
    const waiting = this.#waiting[kind];
    waiting.count += 1;
    waiting.bytes += bytes;
    while (waiting.count > (capacity.count ?? MANY_REQUESTS) || waiting.bytes > capacity.bytes)
      this.#forgetWaiting(kind);
    this.#schedule();
  }

  /** As the store does it: of each cause the first and the last go after all others. */
  #forgetWaiting(kind: KeptRow['kind']): void {
    const between = this.#kept.findIndex((each) => {
      const ofCause = this.#causes.get(each.kind + each.cause);
      return each.kind === kind && ofCause !== undefined && ofCause.first !== each && ofCause.count > 2;
    });
    const oldest = between >= 0 ? between : this.#kept.findIndex((each) => each.kind === kind);
    const [gone] = this.#kept.splice(oldest, 1);
    if (gone === undefined) return;
    const { bytes, cause } = gone;
    const ofCause = this.#causes.get(kind + cause);
    if (ofCause !== undefined) ofCause.count -= 1;
    this.#waiting[kind].count -= 1;
    this.#waiting[kind].bytes -= bytes;
  }

  write(): void {
    this.#writeOwn(Infinity);
    this.#writeStrangers();
  }

  #schedule(pauseMs = PAUSE_MS): void {
    this.#timer ??= setTimeout(
      () => this.#writeOwn(MAX_DECISIONS_PER_WRITE),
      Math.max(GATHER_MS, this.#writtenAt + pauseMs - performance.now()),
    );
  }

  /** Hands over all but the strangers: all that has gathered or, from the timer, what one write may hold. */
  #writeOwn(mostDecisions: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writtenAt = performance.now();
    if (this.#unanswered >= MAX_UNANSWERED) return this.#schedule();
    // First, so that who finds a decision finds its request, too.
    this.#writeKept();
    this.#writeDecisions(mostDecisions);
    if (this.#decisions.length > 0) this.#schedule(BUSY_PAUSE_MS);
  }

  #writeKept(): void {
    if (this.#kept.length === 0) return;
    this.#send(this.#operations.keepRequests(this.#kept));
    this.#kept = [];
    this.#causes.clear();
    for (const kind of ['whole', 'shape'] as const) {
      const { count = Infinity, bytes } = kind === 'whole' ? this.#keptLimits : this.#keptLimits.shapes;
      const [waiting, unlooked] = [this.#waiting[kind], this.#unlooked[kind]];
      unlooked.count += waiting.count;
      unlooked.bytes += waiting.bytes;
      const most = Math.floor(Math.min(count, MANY_REQUESTS) * ROOM_PER_LOOK);
      const isFew = unlooked.count < most && unlooked.bytes < Math.floor(bytes * ROOM_PER_LOOK);
      if (waiting.count === 0 || isFew) continue;
      Object.assign(unlooked, { count: 0, bytes: 0 });
      const rest = 1 - ROOM_PER_LOOK;
      const capacity = { count: Math.ceil(count * rest), bytes: Math.ceil(bytes * rest) };
      this.#send(this.#operations.freeKeptSpace(kind, capacity));
    }
    this.#waiting = noRequests();
  }

  #writeDecisions(most: number): void {
    const rows = this.#decisions.splice(0, most).map(toDecisionRow);
    if (rows.length === 0) return;
    this.#writes += 1;
    const looks = this.#decisions.length === 0 || this.#writes % WRITES_PER_LOOK === 0;
    this.#send(this.#operations.recordDecisions(rows, looks ? this.#keepDecisions : undefined));
  }

  #writeStrangers(): void {
    clearTimeout(this.#strangersTimer);
    this.#strangersTimer = undefined;
    if (this.#unanswered >= MAX_UNANSWERED) return;
    const { decisions, forgotten } = this.#strangers.take();
    if (decisions.length > 0)
      this.#send(this.#operations.recordStrangers(decisions.map(toDecisionRow), forgotten));
  }

  #send(written: Promise<unknown>): void {
    this.#unanswered += 1;
    void written.catch(ignore).finally(() => (this.#unanswered -= 1));
  }
}

const noRequests = (): Record<KeptRequest['kind'], { count: number; bytes: number }> => ({
  whole: { count: 0, bytes: 0 },
  shape: { count: 0, bytes: 0 },
});

function toDecisionRow(decision: DecisionRecord): DecisionRow {
  const { requestId, outcome } = decision;
  const json = JSON.stringify(decision);
  return {
    requestId,
    outcome,
    mappingId: decision.mappingId ?? null,
    generation: decision.generation,
    json: json.length <= MAX_DECISION_LENGTH ? json : JSON.stringify(withoutLists(decision)),
  };
}

function withoutLists(decision: DecisionRecord): DecisionRecord {
  const { missed: _missed, empty: _empty, findings: _findings, ...rest } = decision;
  return { ...rest, actionIds: decision.actionIds.slice(0, 200) };
}

/** Requests of one sender that were refused alike and are kept: a burst of them must not push out those of others. */
const MAX_ALIKE = 10;

interface GatheredDecision {
  readonly decision: DecisionRecord;
  /** Who was refused, and why. */
  readonly like: string;
  readonly order: number;
}

/** What is to be written: new decisions, the oldest first, and the ids of older ones that are removed for them. */
interface NewStrangers {
  readonly decisions: readonly DecisionRecord[];
  readonly forgotten: readonly string[];
}

/** Requests of strangers between two writes. Adding one takes the same time however many there are. */
class StrangerRing {
  /** Decisions by sender and reason, the newest last. */
  readonly #gathered = new Map<string, GatheredDecision[]>();
  /** What this process wrote and the store still holds, the oldest first. */
  #written: readonly { readonly like: string; readonly id: string }[] = [];
  #order = 0;

  /** `sender` is the network that it came from. */
  add(decision: DecisionRecord, sender: string): void {
    const { path, code, refusal } = decision;
    const like = [sender, path, code, refusal?.scheme, refusal?.code].join('\n');
    const alike = this.#gathered.get(like) ?? [];
    this.#gathered.delete(like);
    this.#gathered.set(like, alike);
    alike.push({ decision, like, order: (this.#order += 1) });
    if (alike.length > MAX_ALIKE) alike.shift();
    if (this.#gathered.size <= MAX_STRANGERS) return;
    const [oldest = like] = this.#gathered.keys();
    this.#gathered.delete(oldest);
  }

  /** Takes what has gathered. */
  take(): NewStrangers {
    const gathered = [...this.#gathered.values()]
      .flat()
      .toSorted((a, b) => a.order - b.order)
      .slice(-MAX_STRANGERS);
    this.#gathered.clear();
    const all = [
      ...this.#written,
      ...gathered.map(({ like, decision }) => ({ like, id: decision.requestId })),
    ];
    const counts = new Map<string, number>();
    const forgotten: string[] = [];
    const left = all.toReversed().filter(({ like, id }) => {
      const count = (counts.get(like) ?? 0) + 1;
      counts.set(like, count);
      if (count > MAX_ALIKE) forgotten.push(id);
      return count <= MAX_ALIKE;
    });
    this.#written = left.slice(0, MAX_STRANGERS).toReversed();
    return { decisions: gathered.map(({ decision }) => decision), forgotten };
  }
}
