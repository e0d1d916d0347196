import type { NewDelivery } from '../../storage/storage.ts';
import type { GatewayConfiguration } from '../gateway-base.ts';

/**
 * What stands below a message that asks whether a run begins: the link, where the service has a public address, and the
 * command. It is made when the message is sent, so that no store holds the link.
 */
export function howToAnswer(
  asked: NonNullable<NewDelivery['asks']>,
  linkOf: GatewayConfiguration['approvalLink'],
): string {
  const until = new Date(asked.expiresAt).toISOString().replace(/\.\d+/, '');
  const command = `sluice approve ${asked.runId}, or with --deny`;
  return ['', '', `Answer until ${until}:`, linkOf?.(asked), command]
    .filter((line) => line !== undefined)
    .join('\n');
}
