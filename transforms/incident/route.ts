import type { Incident } from './incident-type';
import table from './on-call.json' with { type: 'json' };

export interface Route {
  team: string;
  /** Absent: as the mapping says. */
  channel?: string;
  to?: string;
}

/** The first row whose service the incident's begins with; the last row's is empty, so it takes the rest. */
export function routeOf(incident: Incident): Route {
  const service = incident.service.toLowerCase();
  const { team, channel, to } = table.find((one) => service.startsWith(one.service))!;
  return incident.severity === 'high' ? { team, channel, to } : { team };
}
