/*
 * What shows only beside other requests, or when a run has ended, for the log of `sluice dev`: the hints of `explain` for
 * each request that was taken. Nothing here is on the way of an answer: it reads what the store has, one request at a time.
 */
import { allHints, explainStored, isOfRun } from '../../../authoring/explanation/explanation.ts';
import { placeOf } from '../../../authoring/advice/requests.ts';
import type { Finding } from '../../../base/finding.ts';
import type { ConsoleParts } from '../../../service/startup/startup.ts';
import { hasFailed } from '../../../service/operations/operations.ts';
import type { DecisionRecord } from '../../../engine/storage/storage.ts';
import { findStoredRequest } from '../../../engine/storage/facts.ts';

/** Requests that are looked at; in a flood the others go without. */
const MAX_WAITING = 100;
/** Hints that are known to have been told. */
const MAX_TOLD = 1_000;
/** A request is looked at so often until its run has ended. */
const LOOK_MS = 500;

type Tell = (mappingId: string, hint: Finding, requestId: string) => void;

export class DevHints {
  readonly #parts: Pick<ConsoleParts, 'storage' | 'live'>;
  readonly #tell: Tell;
  readonly #told = new Set<string>();
  /** Requests of which more may be told, and whether they were explained before. */
  readonly #open = new Map<string, boolean>();
  #work: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(parts: Pick<ConsoleParts, 'storage' | 'live'>, tell: Tell) {
    this.#parts = parts;
    this.#tell = tell;
  }

  see({ requestId, outcome }: DecisionRecord): void {
    if (outcome !== 'accepted' || this.#open.size >= MAX_WAITING) return;
    this.#open.set(requestId, false);
    this.#lookIn(0);
  }

  /** The files are others now: what is still wrong is told again. */
  replaced(): void {
    this.#told.clear();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  #lookIn(ms: number): void {
    if (this.#isStopped || this.#isLooking || this.#open.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#work = this.#look();
    }, ms).unref();
  }

  /** One after the other, so that hints stand in the order of the requests. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    for (const [id, isTold] of this.#open) {
      if (this.#isStopped) return;
      // oxlint-disable-next-line no-await-in-loop
      if (await this.#explain(id, isTold).catch(() => true)) this.#open.delete(id);
      else this.#open.set(id, true);
    }
    this.#isLooking = false;
    this.#lookIn(LOOK_MS);
  }

  /** Resolves to whether nothing more comes of it. */
  async #explain(id: string, isTold: boolean): Promise<boolean> {
    const { storage, live } = this.#parts;
    const stored = await findStoredRequest(storage, id);
    if (stored?.decision?.mappingId === undefined) return true;
    const hasEnded = stored.runs.every(({ run: { state } }) => state === 'completed' || state === 'dead');
    // Nothing more is known before its run ends.
    if (isTold && !hasEnded) return false;
    const generation = live.generation;
    const told = await explainStored(stored, {
      keepRequests: generation.config.settings.storage.keepRequests,
      explainer: { generation, findings: [] },
    });
    const again = told.findings.filter(({ code }) => code === 'new_event');
    const isNews = ({ subject: { setting = '' } = {} }: Finding): boolean =>
      // The line of a run that failed says what it needs.
      !isOfRun(setting) || !stored.runs.some(({ run }) => hasFailed(run));
    for (const hint of [...allHints(told), ...again].filter(isNews)) this.#tellOnce(stored.decision, hint);
    return hasEnded;
  }

  #tellOnce({ mappingId = '', requestId }: DecisionRecord, hint: Finding): void {
    // The values in it are others each time.
    const key = `${mappingId} ${placeOf(hint) ?? ''} ${hint.subject?.setting ?? hint.code}`;
    if (this.#told.has(key) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(key);
    this.#tell(mappingId, hint, requestId);
  }
}
