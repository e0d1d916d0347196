/* What is not sent, though it could be. */
import type { DeliveryTarget } from '../../../base/action.ts';
import { resolveTarget } from '../delivery-target.ts';
import type { GatewayConfiguration } from '../gateway-base.ts';

export interface AttemptError {
  readonly code: string;
  readonly message: string;
}

export const TO_A_MACHINE: AttemptError = {
  code: 'auto_submitted',
  message: 'not sent: what it answers is mail that no machine is to answer (autoSubmitted)',
};
export const ANSWERED: AttemptError = {
  code: 'answered',
  message: 'not sent: nobody has to answer it any more',
};

export const OF_A_FAILURE: AttemptError = {
  code: 'of_a_failure',
  message:
    'not sent: it answers what failed, and mappings deliver to the only channel there is; the console and sluice queue show it, and gateway.alerts.replies: true sends such replies to the operator',
};

/**
 * Whether a message of the main session would go to the only channel, which mappings deliver to, and nobody has said by
 * `gateway.main` or `channels use` that its place is another one than everybody's.
 */
export function isOfSenders(
  { channel, to }: { readonly channel: string; readonly to: string },
  last: DeliveryTarget | undefined,
  { settings, sharedChannel }: GatewayConfiguration,
): boolean {
  if (channel !== sharedChannel) return false;
  const usual = resolveTarget({ channel, fromMain: true }, undefined, settings);
  return last?.to === undefined || (usual.kind === 'target' && usual.to === to);
}
