import type { Alerts } from './alerts.ts';
import type { GatewayBase } from './gateway-base.ts';
import type { RunnerHolds } from './runner-holds.ts';

export interface GatewayContext extends GatewayBase {
  readonly holds: RunnerHolds;
  readonly alerts: Alerts;
}
