import { FALLBACK_CHANNEL, LAST_CHANNEL, type DeliveryTarget } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import type { Settings } from '../../engine/config/config.ts';
import type { NewDelivery, Storage } from '../../engine/storage/storage.ts';

export type ResolvedTarget =
  | { readonly kind: 'target'; readonly channel: string; readonly to: string }
  | { readonly kind: 'no-channel' }
  | {
      readonly kind: 'problem';
      /** Undefined where `last` leads to none. */
      readonly channel: string | undefined;
      readonly code: 'not_configured' | 'no_recipient';
      readonly message: string;
    };

export type TargetSettings = Pick<Settings, 'gateway' | 'channels'>;

/**
 * Resolves a delivery's channel and recipient. `last` is the channel the main session used last (`gateway.main` until
 * it has used one), then the only configured channel, then whatsapp. The recipient is the delivery's own, else the
 * last one on that same channel, else the channel's `to`.
 */
export function resolveTarget(
  wanted: DeliveryTarget & Partial<Pick<NewDelivery, 'fromMain'>>,
  last: DeliveryTarget | undefined,
  settings: TargetSettings,
): ResolvedTarget {
  const configured = Object.keys(settings.channels);
  if (configured.length === 0) return { kind: 'no-channel' };
  const { main: written } = settings.gateway;
  // The place of the main session before it has delivered anything itself.
  const standing =
    written.channel === undefined ? undefined : { channel: written.channel, ...defined({ to: written.to }) };
  const main = last ?? standing;
  const [first = '', ...others] = configured;
  const usual = main?.channel ?? (others.length === 0 ? first : FALLBACK_CHANNEL);
  const channel = wanted.channel === LAST_CHANNEL ? usual : wanted.channel;
  if (!configured.includes(channel) && wanted.channel === LAST_CHANNEL && main === undefined) {
    // The default channel is not set up.
    const or = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
    const message = `the channel "last" leads nowhere: the main session has used no channel yet, and gateway.main names none; write channel: ${first}${or} in the mapping, or set gateway.main: {channel: ${first}}`;
    return { kind: 'problem', channel: undefined, code: 'not_configured', message };
  }
  if (!configured.includes(channel)) {
    const message = `channel ${channel} has no settings: add channels.${channel}`;
    return { kind: 'problem', channel, code: 'not_configured', message };
  }
  const to = wanted.to ?? recipientOn(channel, main) ?? defaultRecipient(channel, settings);
  if (to === undefined || to.trim() === '') {
    const message =
      wanted.fromMain === true
        ? `the main session has no recipient on ${channel} for its replies: write main: {channel: ${channel}, to: RECIPIENT} in gateway`
        : `there is no recipient on ${channel}: give the mapping a "to", or set channels.${channel}.to`;
    return { kind: 'problem', channel, code: 'no_recipient', message };
  }
  return { kind: 'target', channel, to };
}

function recipientOn(
  channel: string,
  target: Partial<Record<'channel' | 'to', string | undefined>> | undefined,
): string | undefined {
  return target?.channel === channel ? target.to : undefined;
}

/** Fixes where `last` leads now, so that all messages of a reply go to one place; unresolved it stays as it is. */
export async function pinTarget(
  delivery: NewDelivery,
  settings: TargetSettings,
  storage: Pick<Storage, 'findLastTarget'>,
): Promise<NewDelivery> {
  try {
    const target = resolveTarget(delivery, await storage.findLastTarget(), settings);
    return target.kind === 'target' ? { ...delivery, channel: target.channel, to: target.to } : delivery;
  } catch {
    return delivery;
  }
}

function defaultRecipient(
  channel: string,
  { channels, gateway: { main } }: TargetSettings,
): string | undefined {
  const to = channels[channel]?.['to'];
  if (typeof to === 'string' || typeof to === 'number') return String(to);
  return recipientOn(channel, main);
}
