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
import { findStoredRequest, type StoredRequest } from '../../../engine/storage/facts.ts';

/** Requests that wait to be looked at; in a flood the others go without. */
const MAX_WAITING = 100;
/** Hints that are known to have been told. */
const MAX_TOLD = 1_000;
/** A run that has not ended is looked at again so often. */
const AGAIN_MS = 1_000;

export class DevHints {
  readonly #parts: Pick<ConsoleParts, 'storage' | 'live'>;
  readonly #tell: (mappingId: string, hint: Finding, requestId: string) => void;
  readonly #told = new Set<string>();
  readonly #waiting: string[] = [];
  readonly #running = new Set<string>();
  #work: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    parts: Pick<ConsoleParts, 'storage' | 'live'>,
    tell: (mappingId: string, hint: Finding, requestId: string) => void,
  ) {
    this.#parts = parts;
    this.#tell = tell;
  }

  see({ requestId, outcome }: DecisionRecord): void {
    if (outcome === 'accepted') this.#look(requestId);
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

  #look(requestId: string): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(requestId);
    this.#work ??= this.#workOff();
  }

  async #workOff(): Promise<void> {
    for (let id = this.#waiting.shift(); id !== undefined && !this.#isStopped; id = this.#waiting.shift())
      // One after the other, so that hints stand in the order of the requests.
      // oxlint-disable-next-line no-await-in-loop
      await this.#explain(id).catch(() => undefined);
    this.#work = undefined;
  }

  async #explain(id: string): Promise<void> {
    const { storage, live } = this.#parts;
    const stored = await findStoredRequest(storage, id);
    if (stored?.decision?.mappingId === undefined) return;
    // Told already, and nothing more is known before its run ends.
    if (this.#running.has(id) && !hasEnded(stored)) return this.#lookAgain(id);
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
    if (hasEnded(stored)) this.#running.delete(id);
    else this.#lookAgain(id);
  }

  #tellOnce({ mappingId = '', requestId }: DecisionRecord, hint: Finding): void {
    // The values in it are others each time.
    const key = `${mappingId} ${placeOf(hint) ?? ''} ${hint.subject?.setting ?? hint.code}`;
    if (this.#told.has(key) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(key);
    this.#tell(mappingId, hint, requestId);
  }

  #lookAgain(id: string): void {
    if (!this.#running.has(id) && this.#running.size >= MAX_WAITING) return;
    this.#running.add(id);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const each of this.#running) this.#look(each);
    }, AGAIN_MS).unref();
  }
}

/** Whether nothing more comes of it that could be told. */
const hasEnded = ({ runs }: StoredRequest): boolean =>
  runs.every(({ run: { state } }) => state === 'completed' || state === 'dead');
