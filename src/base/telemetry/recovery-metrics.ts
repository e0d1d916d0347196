import type { Counter, Gauge } from '@prometheus-io/client';

/** How the recovery of one path goes. Totals since it was begun. */
export interface RecoveryFigures {
  readonly path: string;
  readonly missed: number;
  readonly asked: number;
  readonly came: number;
  readonly gaveUp: number;
  /** When the log was last read to its end; 0 where it never was. */
  readonly lookedAt: number;
  /** Whether the sender still sends. */
  readonly isWell: boolean;
}

interface RecoveryMetrics {
  readonly sluice_recovery_events_total: Counter<string>;
  readonly sluice_recovery_look_age_seconds: Gauge<string>;
  readonly sluice_webhook_active: Gauge<string>;
}

/** Returns what reads the figures anew, for each scrape. */
export const recoveryMetrics =
  (of: RecoveryMetrics, figures: () => readonly RecoveryFigures[]) => (): void => {
    for (const metric of Object.values(of)) metric.reset();
    for (const { path, missed, asked, came, gaveUp, lookedAt, isWell } of figures()) {
      for (const [result, count] of Object.entries({ missed, asked, came, given_up: gaveUp }))
        of.sluice_recovery_events_total.inc({ path, result }, count);
      if (lookedAt > 0)
        of.sluice_recovery_look_age_seconds.set({ path }, Math.max(0, Date.now() - lookedAt) / 1000);
      of.sluice_webhook_active.set({ path }, isWell ? 1 : 0);
    }
  };
