/**
 * Prints the hints of `explain` for accepted requests in the log of `sluice dev`, where they show only beside other
 * requests, or when a run has ended. It delays no answer: it reads what the store has, one request at a time.
 */
import { allHints, explainStored, isOfRun } from '../../../authoring/explanation/explanation.ts';
import { placeOf } from '../../../authoring/advice/requests.ts';
import type { Finding } from '../../../base/finding.ts';
import type { ConsoleParts } from '../../../service/startup/startup.ts';
import { hasFailed } from '../../../service/operations/operations.ts';
import type { DecisionRecord } from '../../../engine/storage/storage.ts';
import { findStoredRequest } from '../../../engine/storage/facts.ts';

/** In a flood the requests beyond this get no hints. */
const MAX_WAITING = 100;
const MAX_PRINTED = 1_000;
/** A request is looked at so often until its run has ended. */
const LOOK_MS = 500;

type Tell = (mappingId: string, hint: Finding, requestId: string) => void;

export class DevHints {
  readonly #parts: Pick<ConsoleParts, 'storage' | 'live'>;
  readonly #tell: Tell;
  readonly #printed = new Set<string>();
  /** Requests with possible further hints, and whether they were explained before. */
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

  /** The files have changed, so a hint that is still right is printed again. */
  replaced(): void {
    this.#printed.clear();
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

  /** Requests are explained one after the other, so that hints stand in their order. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    for (const [id, isExplained] of this.#open) {
      if (this.#isStopped) return;
      // oxlint-disable-next-line no-await-in-loop
      if (await this.#explain(id, isExplained).catch(() => true)) this.#open.delete(id);
      else this.#open.set(id, true);
    }
    this.#isLooking = false;
    this.#lookIn(LOOK_MS);
  }

  /** Resolves to whether no further hint can follow. */
  async #explain(id: string, isExplained: boolean): Promise<boolean> {
    const { storage, live } = this.#parts;
    const stored = await findStoredRequest(storage, id);
    if (stored?.decision?.mappingId === undefined) return true;
    const hasEnded = stored.runs.every(({ run: { state } }) => state === 'completed' || state === 'dead');
    // Nothing more is known before its run ends.
    if (isExplained && !hasEnded) return false;
    const generation = live.generation;
    const explanation = await explainStored(stored, {
      keepRequests: generation.config.settings.storage.keepRequests,
      explainer: { generation, findings: [] },
    });
    const again = explanation.findings.filter(({ code }) => code === 'new_event');
    const isNews = ({ subject: { setting = '' } = {} }: Finding): boolean =>
      // The line of a failed run says what it needs.
      !isOfRun(setting) || !stored.runs.some(({ run }) => hasFailed(run));
    for (const hint of [...allHints(explanation), ...again].filter(isNews))
      this.#printOnce(stored.decision, hint);
    return hasEnded;
  }

  #printOnce({ mappingId = '', requestId }: DecisionRecord, hint: Finding): void {
    // The values in a hint differ each time, so the key leaves them out.
    const key = `${mappingId} ${placeOf(hint) ?? ''} ${hint.subject?.setting ?? hint.code}`;
    if (this.#printed.has(key) || this.#printed.size >= MAX_PRINTED) return;
    this.#printed.add(key);
    this.#tell(mappingId, hint, requestId);
  }
}
