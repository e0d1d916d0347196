/**
 * One delivery of Alertmanager holds all alerts of a group. An agent per service is what helps, so this makes one
 * action for each, the worst first; what only resolved becomes a quiet wake.
 */
import { defineTransform } from 'sluice';

interface Alert {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  startsAt: string;
}

interface Delivery {
  status: 'firing' | 'resolved';
  alerts: Alert[];
  externalURL?: string;
}

const SEVERITIES = ['critical', 'error', 'warning', 'info'];
const MOST_ALERTS = 10;

export default defineTransform<Delivery>(({ payload, now }) => {
  const services = Object.groupBy(
    payload.alerts,
    ({ labels }) => labels['service'] ?? labels['job'] ?? 'unknown',
  );
  return Object.entries(services)
    .map(([service, alerts = []]) => ({ service, alerts, rank: Math.min(...alerts.map(rankOf)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ service, alerts }) => {
      const firing = alerts.filter(({ status }) => status === 'firing').sort((a, b) => rankOf(a) - rankOf(b));
      if (firing.length === 0) {
        return {
          kind: 'wake' as const,
          text: `${service}: ${alerts.length} alert(s) resolved`,
          mode: 'next-heartbeat' as const,
        };
      }
      const isCritical = firing.some((alert) => severityOf(alert) === 'critical');
      return {
        kind: 'agent' as const,
        name: `Alerts of ${service}`,
        // One conversation per service: what was said about it yesterday is known today.
        sessionKey: `hook:alerts:${service}`,
        thinking: isCritical ? 'high' : 'low',
        message: [
          `${service}: ${firing.length} firing, ${alerts.length - firing.length} resolved`,
          ...firing.slice(0, MOST_ALERTS).map((alert) => describe(alert, now)),
          ...(firing.length > MOST_ALERTS ? [`and ${firing.length - MOST_ALERTS} more`] : []),
          ...(payload.externalURL === undefined ? [] : [payload.externalURL]),
        ].join('\n'),
      };
    });
});

function severityOf(alert: Alert): string {
  return alert.labels['severity'] ?? 'none';
}

/** 0 is the worst; unknown words come last. */
function rankOf(alert: Alert): number {
  const rank = SEVERITIES.indexOf(severityOf(alert));
  return (rank < 0 ? SEVERITIES.length : rank) + (alert.status === 'resolved' ? 100 : 0);
}

function describe(alert: Alert, now: string): string {
  const minutes = Math.max(0, Math.round((Date.parse(now) - Date.parse(alert.startsAt)) / 60_000));
  const age = Number.isNaN(minutes)
    ? ''
    : minutes < 120
      ? `, for ${minutes} min`
      : `, for ${Math.round(minutes / 60)} h`;
  const words = alert.annotations?.['summary'] ?? alert.annotations?.['description'] ?? '';
  return `- [${severityOf(alert)}] ${alert.labels['alertname'] ?? 'alert'} ${alert.labels['instance'] ?? ''}${age}: ${words.slice(0, 300)}`;
}
