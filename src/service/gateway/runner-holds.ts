/*
 * Waiting for an agent that is away.
 *
 * A turn that could not even begin says whom else it would happen to: every run of that runner (nothing listens, the
 * command is missing), or those that ask it for the same model (429, 503). Such a hold is written down with the time
 * it began. The run goes back to its place in the queue and its attempt does not count. One run at a time then tries,
 * after pauses that grow to a minute; the first that starts, whoever it belongs to, ends the hold. Where an agent
 * began, and then said that it is logged out or at its limit, a process that starts proves nothing: there a turn ends
 * the hold when it ends, or has gone on for minutes.
 *
 * A claim passes over a runner on hold, so its runs keep their order. It knows no models: a run whose model is on hold
 * is put back after it was claimed, each a little later than the one before, so that thousands of them cost little.
 */
import { defined } from '../../base/json.ts';
import type { RunnerHold } from '../../engine/storage/storage.ts';
import type { TurnResult } from '../runners/runners.ts';
import { tellMainSession } from './alerts.ts';
import type { GatewayBase } from './gateway-base.ts';
import { repeatDelay } from './retry.ts';
import { armTimer } from '../../base/timers/timers.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';

/** The code of a hold of a runner for which no worker asks. */
export const NO_WORKER = 'no_worker';

export interface RunTarget {
  readonly runner: string;
  readonly model: string | undefined;
}

/** Why nothing could be started, and for whom that holds. */
export interface HoldReason {
  readonly code: string;
  readonly message: string;
  readonly affects: 'runner' | 'model';
  readonly retryAfterMs?: number | undefined;
  /** Since when, where that is not now. */
  readonly since?: number;
}

/** A connection that is refused is refused at once: a turn that goes on longer has begun. */
const STARTED_AFTER_MS = 5_000;
/** Reasons that a command finds only after it started, when its own tries are over: claude needs 4 minutes. */
const FOUND_LATE: ReadonlySet<string> = new Set(['login_needed', 'limit_reached']);
const SURE_AFTER_MS = 300_000;
/** The time between runs that are put back for one model, and how late they may get by it. */
const PUT_BACK_STEP_MS = 20;
const MAX_PUT_BACK_MS = 600_000;
/** A model that asks for a pause is reported to the main session only when it keeps asking. */
const TRIES_UNTIL_REPORTED = 5;

interface HoldState {
  hold: RunnerHold;
  /** True while a run tries the runner. */
  isTried: boolean;
  /** When the run that was put back last is due. */
  putBackAt: number;
}

export class RunnerHolds {
  readonly #context: GatewayBase;
  readonly #onReleased: () => void;
  readonly #holds = new Map<string, HoldState>();

  constructor(context: GatewayBase, onReleased: () => void) {
    this.#context = context;
    this.#onReleased = onReleased;
  }

  /** Takes up the holds that an earlier process wrote down, and tries each runner at once. */
  async load(): Promise<void> {
    await this.share();
    this.retryNow();
  }

  /** Takes up the holds that other processes wrote down, and lets go of those that one of them has ended. */
  async share(): Promise<void> {
    // What begins or ends here while the store is asked is not in its answer.
    const before = [...this.#holds.keys()];
    const stored = await this.#context.storage.listHolds('');
    const keys = new Set(stored.map(keyOf));
    const ended = before.filter((key) => !keys.has(key));
    for (const key of ended) this.#holds.delete(key);
    for (const { waiting: _, ...hold } of stored)
      if (!before.includes(keyOf(hold)) && !this.#holds.has(keyOf(hold))) this.#set(hold);
    this.#report();
    if (ended.length > 0) this.#onReleased();
  }

  /** How many runs of each runner on hold may be active: one more than now where it is to be tried, else no more. */
  limits(activeOf: (runner: string) => number): ReadonlyMap<string, number> {
    const nowMs = this.#context.now();
    const limits = new Map<string, number>();
    for (const { hold, isTried } of this.#holds.values()) {
      if (hold.model !== undefined) continue;
      const more = isTried || nowMs < hold.retryAt ? 0 : 1;
      limits.set(hold.runner, activeOf(hold.runner) + more);
    }
    return limits;
  }

  /** When a claimed run is to be looked at again, because its model is on hold; undefined where it may go on. */
  putBackUntil({ runner, model }: RunTarget): number | undefined {
    const state = model === undefined ? undefined : this.#holds.get(keyOf({ runner, model }));
    const nowMs = this.#context.now();
    if (state === undefined || (!state.isTried && state.hold.retryAt <= nowMs)) return undefined;
    const earliest = Math.max(state.hold.retryAt, nowMs + PUT_BACK_STEP_MS);
    state.putBackAt = Math.max(state.putBackAt + PUT_BACK_STEP_MS, earliest);
    if (state.putBackAt > earliest + MAX_PUT_BACK_MS) state.putBackAt = earliest;
    return state.putBackAt;
  }

  /** Takes a turn and follows it: `started` is called once it has begun for sure, and ends its holds. */
  async followTurn(
    target: RunTarget,
    take: (started: () => void) => Promise<TurnResult>,
  ): Promise<TurnResult> {
    const keys = new Set([keyOf(target), keyOf({ runner: target.runner })]);
    const tried = [...keys].flatMap((key) => this.#holds.get(key) ?? []);
    for (const state of tried) state.isTried = true;
    const release = (which: readonly HoldState[]): void => {
      for (const state of which) void this.#release(state.hold);
    };
    const started = (): void => release(tried.filter(({ hold }) => !FOUND_LATE.has(hold.code)));
    const ended = (): void => release(tried);
    const cancels =
      tried.length === 0 ? [] : [armTimer(STARTED_AFTER_MS, started), armTimer(SURE_AFTER_MS, ended)];
    try {
      const result = await take(started);
      if (result.kind === 'completed') ended();
      return result;
    } finally {
      for (const cancel of cancels) cancel();
      for (const state of tried) state.isTried = false;
    }
  }

  /** Notes that nothing could be started, and resolves to the hold. */
  async hold(target: RunTarget, reason: HoldReason): Promise<RunnerHold> {
    const { runner } = target;
    const model = reason.affects === 'model' ? target.model : undefined;
    const before = this.#holds.get(keyOf({ runner, model }))?.hold;
    const nowMs = this.#context.now();
    // Runs that began together fail together, which is one try.
    if (before !== undefined && nowMs < before.retryAt) return before;
    const { code, message, retryAfterMs } = reason;
    const tries = (before?.tries ?? 0) + 1;
    const delayMs = repeatDelay(this.#context.retry.holds, tries, {
      retryAfterMs,
      random: this.#context.random(),
    });
    const since = before?.since ?? reason.since ?? nowMs;
    const hold = { runner, ...defined({ model }), since, code, message, retryAt: nowMs + delayMs, tries };
    this.#set(hold);
    await this.#write(() => this.#context.storage.saveHold(hold));
    this.#report();
    if (tries === (model === undefined ? 1 : TRIES_UNTIL_REPORTED)) await this.#tellMainSession(hold);
    return hold;
  }

  /** Whether the runner as a whole is on hold. */
  isAway(runner: string): boolean {
    return this.#holds.has(keyOf({ runner }));
  }

  /** A worker has asked: returns whether nobody had for long. */
  async endAway(runner: string): Promise<boolean> {
    const state = this.#holds.get(keyOf({ runner }));
    if (state?.hold.code !== NO_WORKER) return false;
    await this.#release(state.hold);
    return true;
  }

  /** A turn was taken elsewhere, and so nothing keeps its runner and model from others. */
  worked(target: RunTarget): void {
    for (const key of new Set([keyOf(target), keyOf({ runner: target.runner })])) {
      const state = this.#holds.get(key);
      if (state !== undefined) void this.#release(state.hold);
    }
  }

  /** Reads from the store whether somebody asked for a try at once. */
  async readRetries(): Promise<void> {
    if (this.#holds.size === 0) return;
    for (const { retryAt, ...stored } of await this.#context.storage.listHolds('')) {
      const state = this.#holds.get(keyOf(stored));
      // What is stored may be behind; a later try has another number.
      if (state === undefined || state.hold.tries !== stored.tries || state.hold.retryAt <= retryAt) continue;
      state.hold = { ...state.hold, retryAt };
      state.putBackAt = 0;
    }
  }

  /** Tries every runner soon: another configuration may have mended it, or a run was given up. */
  retryNow(): void {
    for (const state of this.#holds.values()) state.hold = { ...state.hold, retryAt: this.#context.now() };
  }

  /** A run has started: the runs that waited for it go on. */
  async #release(hold: RunnerHold): Promise<void> {
    if (!this.#holds.delete(keyOf(hold))) return;
    this.#report();
    await this.#write(() => this.#context.storage.removeHold(hold.runner, hold.model));
    this.#onReleased();
  }

  #report(): void {
    const holds = [...this.#holds.values()].map(({ hold }) => hold).toSorted((a, b) => a.since - b.since);
    const troubles = holds.map(({ runner, model, code, message }) => {
      const name = model === undefined ? runner : `${runner} (${model})`;
      return { name, message: `${code}: ${message.split('\n', 1)[0] ?? ''}; its runs wait` };
    });
    this.#context.health.replace('runner_away', troubles);
    this.#context.metrics?.setAway(troubles.map(({ name }) => name));
  }

  #set(hold: RunnerHold): void {
    // A try that is under way ends on what it began with.
    const state = this.#holds.get(keyOf(hold)) ?? { hold, isTried: false, putBackAt: 0 };
    this.#holds.set(keyOf(hold), Object.assign(state, { hold }));
  }

  /** The hold is in memory whatever the store says: a restart would only ask the runner again. */
  async #write(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#context.log.error({ code: codeOf(error) }, 'the waiting of a runner could not be stored');
    }
  }

  async #tellMainSession(hold: RunnerHold): Promise<void> {
    const { holdHours } = this.#context.configuration().settings.gateway;
    const who =
      hold.model === undefined ? `Agent ${hold.runner} is away` : `Model ${hold.model} is not available`;
    const long = hold.code === NO_WORKER ? '' : ` for up to ${holdHours} hours`;
    const text = `${who} (${hold.code}: ${hold.message}). Its runs wait in their order${long}.`;
    await this.#write(() => tellMainSession(this.#context, text, { isFailure: true }));
  }
}

function keyOf({ runner, model }: { readonly runner: string; readonly model?: string | undefined }): string {
  return `${runner}\n${model ?? ''}`;
}
