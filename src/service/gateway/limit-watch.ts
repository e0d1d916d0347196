/*
 * Runs that wait although agents are free, because their mapping is at its limit or paused. The claim itself passes
 * over them; this file looks once a second, and reports them to readiness, metrics and log; a limit is also reported
 * once to the main session. A mapping is well again when none of its runs has waited for an hour: the hour slides, so a
 * flood frees a place now and then, and each would otherwise be reported anew.
 */
import type { LimitedMapping, QueuePause } from '../../engine/storage/storage.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';
import { tellMainSession } from './alerts.ts';
import type { GatewayBase } from './gateway-base.ts';

const LOOK_EVERY_MS = 1_000;
/** How often the mark of a mapping that still waits is written anew. */
const MARK_EVERY_MS = 10_000;
const WELL_AFTER_MS = 3_600_000;
/** The store leaves out a repeat of the same alert within this time; the mark of the mapping is gone earlier. */
const ALERT_KEY_SECONDS = 2_592_000;

type LimitedRuns = LimitedMapping & { readonly reason: Exclude<LimitedMapping['reason'], 'paused'> };

interface MarkedMapping {
  readonly at: number;
  readonly since: number;
  readonly reason: string;
  /** Whether the main session was told; that it could not be is logged once. */
  readonly told: 'told' | 'not stored';
}

export class LimitWatch {
  readonly #context: GatewayBase;
  readonly #marked = new Map<string, MarkedMapping>();
  #isFailing = false;
  #lookedAt = -Infinity;
  #sweptAt = -Infinity;

  constructor(context: GatewayBase) {
    this.#context = context;
  }

  /** Makes the next pass look again, as something has changed. */
  lookSoon(): void {
    this.#lookedAt = -Infinity;
  }

  /** Never rejects: a later look tries again what failed, and the log has it once. */
  async look(): Promise<void> {
    const nowMs = this.#context.now();
    if (nowMs - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = nowMs;
    try {
      await this.#lookAt(nowMs);
      this.#isFailing = false;
    } catch (error) {
      const { log } = this.#context;
      if (!this.#isFailing)
        log.error({ code: codeOf(error) }, 'the limits of mappings could not be looked at');
      this.#isFailing = true;
    }
  }

  async #lookAt(nowMs: number): Promise<void> {
    const { storage, configuration } = this.#context;
    const { limits: rules, settings } = configuration();
    const defaultRunner = settings.gateway.runner;
    const pauses = await storage.listPauses();
    const mayWait = pauses.length > 0 || rules !== undefined;
    const found = mayWait ? await storage.listLimited({ nowMs, defaultRunner, ...(rules && { rules }) }) : [];
    this.#report(found, pauses);
    for (const one of found) if (isLimited(one)) await this.#follow(one, nowMs);
    await this.#sweep(nowMs);
  }

  async #follow(limited: LimitedRuns, nowMs: number): Promise<void> {
    const { mappingId, reason } = limited;
    const before = this.#marked.get(mappingId);
    if (before !== undefined && before.reason === reason && nowMs - before.at < MARK_EVERY_MS) return;
    const since = await this.#context.storage.markLimited(limited, nowMs);
    // Another service may have found the mapping well meanwhile: the mark is then a new one.
    const isTold = before?.told === 'told' && before.since === since;
    const told = isTold ? 'told' : await this.#tellMainSession(limited, since, before);
    this.#marked.set(mappingId, { at: nowMs, since, reason, told });
  }

  async #sweep(nowMs: number): Promise<void> {
    if (nowMs - this.#sweptAt < MARK_EVERY_MS) return;
    this.#sweptAt = nowMs;
    for (const mappingId of await this.#context.storage.unmarkLimited(nowMs - WELL_AFTER_MS)) {
      this.#marked.delete(mappingId);
      this.#context.log.info({ mappingId }, 'no run of the mapping has waited for its limit for an hour');
    }
  }

  #report(found: readonly LimitedMapping[], pauses: readonly QueuePause[]): void {
    const { health, metrics } = this.#context;
    const limited = found.filter(isLimited);
    health.replace(
      'mapping_limited',
      limited.map((one) => ({ name: one.mappingId, message: limitedText(one) })),
    );
    health.replace(
      'queue_paused',
      pauses.map(({ mappingId, runner, since }) => {
        const flag = runner === undefined ? '' : ` --runner ${runner}`;
        const message = `paused since ${isoTime(since)}; sluice queue resume${flag} ends it`;
        return { name: mappingId, message };
      }),
    );
    metrics?.setWaiting(
      found.map(({ mappingId, reason, waiting }) => ({ mappingId, reason, waiting })),
      pauses,
    );
  }

  /**
   * Tells it once, also over a kill after the mark: the store knows the time of the mark as a repeat. What could not be
   * stored is tried again with the next mark.
   */
  async #tellMainSession(
    limited: LimitedRuns,
    since: number,
    before: MarkedMapping | undefined,
  ): Promise<MarkedMapping['told']> {
    const { mappingId, reason, waiting } = limited;
    const { log } = this.#context;
    const text = `Mapping ${mappingId}: ${limitedText(limited)}. Nothing is lost: its runs wait in their order. "sluice queue list" shows them, "sluice queue retry ID" lets one begin now.`;
    const dedupe = { scope: 'gateway limits', key: `${mappingId}\n${since}`, ttlSeconds: ALERT_KEY_SECONDS };
    try {
      await tellMainSession(this.#context, text, { mappingId, dedupe });
    } catch (error) {
      if (before?.told === undefined)
        log.error({ mappingId, code: codeOf(error) }, 'an alert could not be stored');
      return 'not stored';
    }
    log.warn({ mappingId, reason, waiting }, 'runs of a mapping wait for its limit');
    return 'told';
  }
}

const isLimited = (one: LimitedMapping): one is LimitedRuns => one.reason !== 'paused';

function limitedText({ reason, waiting, until }: LimitedMapping): string {
  const runs = waiting === 1 ? '1 run waits' : `${waiting} runs wait`;
  const next = until === undefined ? '' : `, the next may begin at ${isoTime(until)}`;
  return `the limit ${reason} is reached; ${runs}${next}`;
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
