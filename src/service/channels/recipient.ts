/**
 * A phone number with its country code as `+` and digits: spaces, dots, dashes and brackets are dropped, the plus
 * sign may be missing, as may the channel's own name before a colon. Undefined where it is none.
 */
export function parsePhone(to: string, channel: string): string | undefined {
  const bare = to.trim().replace(new RegExp(`^${channel}:`), '');
  if (!/^\+?\d[\d ().-]{5,24}$/.test(bare)) return undefined;
  const digits = bare.replaceAll(/\D/g, '');
  // E.164: at most 15 digits, and no country code starts with 0.
  return digits.length >= 7 && digits.length <= 15 && !digits.startsWith('0') ? `+${digits}` : undefined;
}
