import { codeOf } from '../../base/telemetry/telemetry.ts';
import { armTimer, within } from '../../base/timers/timers.ts';
import { CutOff } from './cut-off.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeartbeatTurns } from './heartbeat-turns.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';

/** Requests within this time share one turn. */
const COALESCE_MS = 250;

/**
 * Says when the main session takes a turn: one at a time, in parallel with the hooks' runs, in the process that leads;
 * periodically, and soon after somebody asked.
 */
export class Heartbeat {
  readonly #context: GatewayContext;
  readonly #turns: HeartbeatTurns;
  readonly #cutOff = new CutOff();
  #isTurnTaken = false;
  #state: 'stopped' | 'idle' | 'coalescing' | 'busy' = 'stopped';
  #isEnded = false;
  /** True where a turn was asked for while another one was under way. */
  #askedAgain = false;
  #cancelCoalescing = (): void => {};
  #cancelPeriod = (): void => {};
  #turn: Promise<void> = Promise.resolve();

  constructor(context: GatewayContext) {
    this.#context = context;
    this.#turns = new HeartbeatTurns(context, this.#cutOff.ended);
  }

  /** Whether a turn is under way, or one that was asked to end has not ended yet. */
  get isTurnTaken(): boolean {
    return this.#isTurnTaken;
  }

  /** Begins where this process leads, and ends where another one does. */
  async lead(isLeader: boolean): Promise<void> {
    if (this.#cutOff.ended.aborted || this.#isEnded || isLeader === (this.#state !== 'stopped')) return;
    if (!isLeader) return this.lapse();
    // A turn that was ended may take a moment to end, in which the lease may be lost again.
    const { signal } = this.#cutOff;
    await this.#turn;
    if (signal.aborted || this.#isEnded) return;
    this.#state = 'idle';
    this.#arm();
    // A turn that a process that died left behind is taken up at once.
    const left = await this.#context.storage.listEvents({ state: 'claimed', limit: 1 });
    if (left.length > 0) this.ask();
  }

  /** Ends the turn under way and begins no other: another process may lead from now on. */
  lapse(): void {
    this.#state = 'stopped';
    this.#cancelPeriod();
    this.#cancelCoalescing();
    this.#cutOff.lapse();
  }

  #arm(): void {
    this.#cancelPeriod();
    const { everySeconds } = this.#context.configuration().settings.gateway.heartbeat;
    if (everySeconds <= 0 || this.#state === 'stopped') return;
    this.#cancelPeriod = armTimer(everySeconds * 1000, () => {
      const { activeHours } = this.#context.configuration().settings.gateway.heartbeat;
      if (isActiveAt(activeHours, this.#context.now())) this.ask();
      this.#arm();
    });
  }

  /** Asks for a turn soon; whoever asks within the coalescing time shares it. */
  ask(): void {
    if (this.#state === 'busy') this.#askedAgain = true;
    if (this.#state !== 'idle') return;
    this.#state = 'coalescing';
    const delayMs = Math.max(COALESCE_MS, this.#turns.pauseMs);
    this.#cancelCoalescing = armTimer(delayMs, () => this.#begin());
  }

  /** Takes up another configuration: the period begins again, and what failed may work now. */
  reconfigure(): void {
    this.resume();
    this.#arm();
  }

  resume(): void {
    const wasPaused = this.#turns.endPause();
    if (this.#state === 'coalescing') {
      this.#cancelCoalescing();
      this.#state = 'idle';
      this.ask();
    } else if (wasPaused) this.ask();
  }

  /** Looks whether somebody asked through the store: a wake, a summary, a failed turn whose time has come. */
  async check(): Promise<void> {
    if (this.#state !== 'idle') return;
    if (await this.#context.storage.heartbeatRequested(this.#context.now())) this.ask();
  }

  /** Waits for the turn; one that is left after the grace is ended and taken up again at the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#isEnded = true;
    this.#state = 'stopped';
    this.#cancelPeriod();
    this.#cancelCoalescing();
    await within(this.#turn, graceMs);
    this.abort();
    await this.#turn;
  }

  abort(): void {
    this.#cutOff.abort();
  }

  #begin(): void {
    this.#state = 'busy';
    this.#isTurnTaken = true;
    this.#askedAgain = false;
    this.#turn = this.#turns
      .take(this.#cutOff.signal)
      .catch((error: unknown) => {
        this.#context.log.error({ code: codeOf(error) }, 'a heartbeat failed');
        return false;
      })
      .then((more) => {
        this.#isTurnTaken = false;
        if (this.#state !== 'busy') return;
        this.#state = 'idle';
        if (more || this.#askedAgain) this.ask();
        this.#context.wake();
      });
  }
}

type ActiveHours = NonNullable<GatewaySettings['heartbeat']['activeHours']>;

/**
 * Says whether a moment lies in the active hours of its time zone: from the first minute (included) to the last
 * (excluded). Hours that end before they begin span midnight; equal ones mean the whole day.
 */
export function isActiveAt(hours: ActiveHours | undefined, atMs: number): boolean {
  if (hours === undefined) return true;
  const from = minutesOf(hours.from);
  const to = minutesOf(hours.to);
  const now = minutesOf(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: hours.timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(atMs),
  );
  if (from === to) return true;
  return from < to ? from <= now && now < to : now >= from || now < to;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
