import type { Incident } from './incident-type';
import table from './on-call.json' with { type: 'json' };

export interface Route {
  team: string;
  /** Absent: as the mapping says. */
  channel?: string;
  to?: string;
}

/** The first row whose service the incident's begins with; the last row takes the rest. */
export function routeOf(incident: Incident): Route {
  const service = incident.service.toLowerCase();
  const row = table.find((one) => service.startsWith(one.service)) ?? table.at(-1);
  if (row === undefined) return { team: 'nobody' };
  return incident.severity === 'high' && row.channel !== undefined
    ? { team: row.team, channel: row.channel, to: row.to }
    : { team: row.team };
}
