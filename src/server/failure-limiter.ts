import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts failed authentications per sender. */
export interface FailureLimiter {
  /** Records one failure; resolves to the seconds to wait where the limit is passed, else undefined. */
  fail(address: string): Promise<number | undefined>;
}

const WINDOW_SECONDS = 60;
/** Addresses counted one by one within a window; later ones share one count, so that memory stays bounded. */
const MAX_ADDRESSES = 10_000;

/** `perMinute` failures are let through per address and minute; 0 turns the limit off. */
export function createFailureLimiter(perMinute: number, clock: () => number): FailureLimiter {
  if (perMinute === 0) return { fail: () => Promise.resolve(undefined) };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  let counted = new Set<string>();
  let windowStart = clock();
  const keyOf = (address: string): string => {
    const now = clock();
    if (now - windowStart >= WINDOW_SECONDS * 1000) {
      counted = new Set();
      windowStart = now;
    }
    const key = networkOf(address);
    if (counted.size < MAX_ADDRESSES) counted.add(key);
    return counted.has(key) ? key : 'others';
  };
  return {
    async fail(address) {
      try {
        await limiter.consume(keyOf(address));
        return undefined;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      }
    },
  };
}

/** An IPv6 sender owns at least a /64 and could count anew with every address in it. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}

/** Finds the sender's address; `X-Forwarded-For` counts only as far as trusted proxies wrote it. */
export type AddressFinder = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/** `trustedProxies` are addresses or CIDR ranges; anything else in it matches nothing. */
export function createAddressFinder(trustedProxies: readonly string[]): AddressFinder {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [network = '', prefix] = entry.split('/');
    if (isIP(network) === 0) continue;
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) trusted.addAddress(network, family);
    else trusted.addSubnet(network, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return (remoteAddress, forwardedFor) => {
    let address = plainAddress(remoteAddress ?? '');
    if (forwardedFor === undefined || trustedProxies.length === 0) return address;
    const hops = forwardedFor.split(',');
    // The last entry was written by the proxy that spoke to us, the one before by whoever spoke to it.
    for (let i = hops.length - 1; i >= 0 && isTrusted(address); i -= 1) {
      const hop = plainAddress((hops[i] as string).trim());
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}

function plainAddress(address: string): string {
  const bare = address.startsWith('[') ? address.slice(1, address.indexOf(']')) : address;
  return bare.toLowerCase().startsWith('::ffff:') && isIPv4(bare.slice(7)) ? bare.slice(7) : bare;
}
