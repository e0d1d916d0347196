import type { DecisionRecord } from '../records.ts';

/** Characters of a UUID: the id of the request, and that of its action. */
const ID_CHARS = 36;
/** Both ids of a decision. */
const IDS_BYTES = 2 * ID_CHARS;

/** What decisions of one mapping share: the same object for all of them. */
type Shared = Pick<DecisionRecord, 'path' | 'status' | 'outcome' | 'mappingId' | 'generation'>;

type Own = 'requestId' | 'receivedAt' | 'actionIds' | 'tookMs' | 'bodyBytes';

/** All else that a decision can say: one that says any of it is not plain. */
const MORE: Readonly<Record<Exclude<keyof DecisionRecord, Own | keyof Shared>, true>> = {
  method: true,
  code: true,
  keepRequests: true,
  findings: true,
  isOlder: true,
  skippedBy: true,
  missed: true,
  empty: true,
  warnings: true,
  bodyUnread: true,
  refusal: true,
  replayOf: true,
  replays: true,
};
const MORE_KEYS = Object.keys(MORE) as (keyof typeof MORE)[];

/**
 * Decisions that say no more than which mapping made which action, as bytes and numbers in a ring: under load some
 * thousand wait to be written, and as objects they would fill V8's old generation, for a full collection every few
 * seconds. A place is free again after as many further ones as the ring is large.
 */
export class PlainDecisions {
  readonly #size: number;
  readonly #ids: Buffer;
  readonly #receivedAt: Float64Array;
  readonly #tookMs: Float64Array;
  readonly #bodyBytes: Float64Array;
  readonly #shared: Shared[] = [];
  /** The latest of each mapping. */
  readonly #known = new Map<string, Shared>();
  #next = 0;

  constructor(size: number) {
    this.#size = size;
    this.#ids = Buffer.alloc(size * IDS_BYTES);
    this.#receivedAt = new Float64Array(size);
    this.#tookMs = new Float64Array(size);
    this.#bodyBytes = new Float64Array(size);
  }

  /** The place of the decision; undefined where it says more than fits. */
  put(decision: DecisionRecord): number | undefined {
    const { requestId, actionIds } = decision;
    const [actionId] = actionIds;
    if (!isPlain(decision) || actionId?.length !== ID_CHARS || requestId.length !== ID_CHARS)
      return undefined;
    const at = this.#next;
    this.#next = at + 1 === this.#size ? 0 : at + 1;
    this.#ids.write(requestId, at * IDS_BYTES, ID_CHARS, 'latin1');
    this.#ids.write(actionId, at * IDS_BYTES + ID_CHARS, ID_CHARS, 'latin1');
    this.#receivedAt[at] = decision.receivedAt;
    this.#tookMs[at] = decision.tookMs;
    this.#bodyBytes[at] = decision.bodyBytes;
    this.#shared[at] = this.#sharedBy(decision);
    return at;
  }

  /** Forgets all, and begins with the first place again: no more memory is touched than as many as waited at once. */
  clear(): void {
    this.#next = 0;
  }

  get(at: number): DecisionRecord {
    const start = at * IDS_BYTES;
    return {
      requestId: this.#ids.toString('latin1', start, start + ID_CHARS),
      receivedAt: this.#receivedAt[at] as number,
      actionIds: [this.#ids.toString('latin1', start + ID_CHARS, start + IDS_BYTES)],
      tookMs: this.#tookMs[at] as number,
      bodyBytes: this.#bodyBytes[at] as number,
      ...(this.#shared[at] as Shared),
    };
  }

  #sharedBy({ path, status, outcome, mappingId, generation }: DecisionRecord): Shared {
    const known = this.#known.get(mappingId ?? path);
    const isSame =
      known?.path === path &&
      known.status === status &&
      known.outcome === outcome &&
      known.mappingId === mappingId &&
      known.generation === generation;
    if (isSame) return known;
    const shared = { path, status, outcome, mappingId, generation };
    this.#known.set(mappingId ?? path, shared);
    return shared;
  }
}

/** Whether a request was accepted as one action, and nothing else is to be said of it. */
function isPlain(decision: DecisionRecord): boolean {
  return decision.actionIds.length === 1 && MORE_KEYS.every((key) => decision[key] === undefined);
}
