/** Twelve hex digits, then the 13th to 32nd of others, as a UUID of version 8 (RFC 9562). */
export function toUuid(first: string, digits: string): string {
  const variant = '89ab'[Number.parseInt(digits[16]!, 16) & 3];
  return `${first.slice(0, 8)}-${first.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
