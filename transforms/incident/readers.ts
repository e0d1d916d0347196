import type { Incident } from './incident-type';

/** What a tool sends, and how to read it. */
export interface Reader {
  readonly name: string;
  recognises(payload: any, headers: Readonly<Record<string, string | undefined>>): boolean;
  read(payload: any): Incident;
}

const pagerDuty: Reader = {
  name: 'PagerDuty',
  recognises: (payload) =>
    typeof payload?.event?.event_type === 'string' && payload.event.data?.type === 'incident',
  read: ({ event }) => ({
    key: `pagerduty:${event.data.id}`,
    state: event.event_type === 'incident.resolved' ? 'resolved' : 'open',
    severity: event.data.urgency === 'high' ? 'high' : 'low',
    service: event.data.service?.summary ?? 'unknown service',
    title: event.data.title,
    details: event.data.body?.details ?? '',
    link: event.data.html_url,
  }),
};

const opsgenie: Reader = {
  name: 'Opsgenie',
  recognises: (payload) => typeof payload?.alert?.alertId === 'string',
  read: ({ action, alert }) => ({
    key: `opsgenie:${alert.alertId}`,
    state: action === 'Close' ? 'resolved' : 'open',
    severity: alert.priority === 'P1' || alert.priority === 'P2' ? 'high' : 'low',
    service: alert.entity || alert.source || 'unknown service',
    title: alert.message,
    details: alert.description ?? '',
  }),
};

const statusPage: Reader = {
  name: 'Statuspage',
  recognises: (payload) =>
    typeof payload?.incident?.impact === 'string' && typeof payload?.page?.id === 'string',
  read: ({ incident }) => ({
    key: `statuspage:${incident.id}`,
    state: incident.status === 'resolved' ? 'resolved' : 'open',
    severity: incident.impact === 'critical' || incident.impact === 'major' ? 'high' : 'low',
    service: incident.components?.[0]?.name ?? 'unknown service',
    title: incident.name,
    details: incident.incident_updates?.[0]?.body ?? '',
    link: incident.shortlink,
  }),
};

export const readers: readonly Reader[] = [pagerDuty, opsgenie, statusPage];
