import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Finds the sender's address; `X-Forwarded-For` counts only as far as trusted proxies wrote it. */
export type AddressFinder = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/** Addresses and networks, such as those of `server.trustedProxies`. */
export interface AddressList {
  has(address: string): boolean;
}

/** `entries` are addresses or CIDR ranges; anything else in it matches nothing. */
export function createAddressList(entries: readonly string[]): AddressList {
  const trusted = new BlockList();
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/');
    if (isIP(network) === 0) continue;
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) trusted.addAddress(network, family);
    else trusted.addSubnet(network, Number(prefix), family);
  }
  return {
    has: (address) => {
      if (entries.length === 0) return false;
      const plain = plainAddress(address);
      return isIP(plain) !== 0 && trusted.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
    },
  };
}

export function createAddressFinder(proxies: AddressList): AddressFinder {
  return (remoteAddress, forwardedFor) => {
    let judged = plainAddress(remoteAddress ?? '');
    const hops = forwardedFor === undefined ? [] : forwardedFor.split(',');
    // The last entry was written by the proxy that spoke to us, the one before by whoever spoke to it.
    for (let i = hops.length - 1; i >= 0 && proxies.has(judged); i -= 1) {
      const hop = plainAddress((hops[i] as string).trim());
      if (isIP(hop) === 0) break;
      judged = hop;
    }
    return judged;
  };
}

const PLAIN_IPV4 = /^[\d.]+$/;

/** The address without brackets and zone; an IPv4 address written as IPv6 is that IPv4 address. */
function plainAddress(address: string): string {
  // Most connections come from IPv4, so that this check saves time for each.
  if (PLAIN_IPV4.test(address)) return address;
  const bare =
    (address.startsWith('[') ? address.slice(1, address.indexOf(']')) : address).split('%', 1)[0] ?? '';
  if (!isIPv6(bare)) return bare;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return bare;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The networks that an address counts for: an IPv4 address for itself, an IPv6 one for its /64 and its /48. */
export interface SenderNetworks {
  /** The smallest network that one sender surely owns. */
  readonly own: string;
  /** What one customer of a provider can own at most; absent for IPv4. */
  readonly site?: string;
}

export function networksOf(address: string): SenderNetworks {
  const plain = plainAddress(address);
  if (PLAIN_IPV4.test(plain) || !isIPv6(plain)) return { own: plain };
  const groups = groupsOf(plain).map((group) => group.toString(16));
  return { own: `${groups.slice(0, 4).join(':')}::/64`, site: `${groups.slice(0, 3).join(':')}::/48` };
}

/** The eight groups of an IPv6 address (RFC 4291 section 2.2): `::` stands for zeros, the end may be dotted. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const front = groupsIn(head);
  if (tail === undefined) return front;
  const back = groupsIn(tail);
  return [...front, ...Array<number>(Math.max(0, 8 - front.length - back.length)).fill(0), ...back];
}

function groupsIn(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
