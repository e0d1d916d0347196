/**
 * One path for the incidents of several tools. Each tool's dialect has its own file, the on-call table is JSON that
 * people edit without touching code, and what comes out looks the same whatever sent it.
 */
import { defineTransform } from 'sluice';
import { readers } from './readers';
import { routeOf } from './route';

export default defineTransform(({ payload, headers }) => {
  const reader = readers.find((one) => one.recognises(payload, headers));
  if (reader === undefined)
    throw new Error('this is no incident of a tool that transforms/incident/readers.ts knows');
  const incident = reader.read(payload);
  const route = routeOf(incident);
  if (incident.state === 'resolved') {
    return { kind: 'wake', text: `Resolved: ${incident.title} (${reader.name})`, mode: 'next-heartbeat' };
  }
  return {
    name: `${reader.name} ${incident.severity}`,
    sessionKey: `hook:incident:${incident.key}`.slice(0, 200),
    thinking: incident.severity === 'high' ? 'high' : 'low',
    to: route.to,
    channel: route.channel,
    message: [
      `${incident.severity} incident of ${incident.service}: ${incident.title}`,
      `On call: ${route.team}`,
      ...(incident.link === undefined ? [] : [incident.link]),
      '',
      incident.details.slice(0, 4000),
    ].join('\n'),
  };
});
