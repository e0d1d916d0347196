/** Whether only this machine reaches a host. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/**
 * Whether an address has a password with `/`, `?` or `#` in it, which ends before it for whoever reads the address: what is
 * behind would be shown as its host or path.
 */
export const cutsPassword = (address: string): boolean => /^\w+:\/\/[^/?#]*[/?#].*@/.test(address);
