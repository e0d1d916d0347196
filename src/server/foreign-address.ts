import type { Diagnosis } from '../verify/verify.ts';
import { type AddressList, forwardedHops, judgedHop } from './addresses.ts';

/** Addresses named at most: the header is as long as its sender likes. */
const MAX_NAMED = 3;

/** What a request says of the way it came. */
export interface ForwardedWay {
  readonly remoteAddress: string | undefined;
  readonly forwardedFor: string | undefined;
}

/** Why an address that `allowFrom` does not have was the one judged, and which proxy is not trusted. */
export function explainForeignAddress(way: ForwardedWay, proxies: AddressList): Diagnosis {
  const hops = [...forwardedHops(way.remoteAddress, way.forwardedFor)];
  const { at, address: judged } = judgedHop(hops, proxies);
  const text = `the address that was judged is ${judged}, and allowFrom of this path does not have it`;
  return {
    code: 'address',
    text: `${text}: ${remedy({ hops, at, judged, isSent: way.forwardedFor !== undefined }, proxies)}`,
  };
}

interface JudgedHop {
  readonly hops: readonly string[];
  readonly at: number;
  readonly judged: string;
  /** Whether the request has `X-Forwarded-For`. */
  readonly isSent: boolean;
}

function remedy({ hops, at, judged, isSent }: JudgedHop, proxies: AddressList): string {
  const behind = hops.slice(at + 1, at + 1 + MAX_NAMED);
  const trusted = hops.slice(0, at).slice(-MAX_NAMED);
  if (behind.length > 0) {
    const trust =
      trusted.length === 0
        ? 'it called this service and is not in server.trustedProxies'
        : `${named(trusted)} in server.trustedProxies, the next one, ${judged}, is not`;
    return `${trust}, so what stands in X-Forwarded-For before it does not count (${behind.join(', ')}: anyone can write that). If ${judged} is a proxy of yours or of your CDN, add the addresses of that proxy to server.trustedProxies (a CDN publishes its ranges); if not, it is a stranger`;
  }
  if (!isSent && proxies.has(judged)) {
    return 'it is in server.trustedProxies, but sent no X-Forwarded-For: let this proxy write the address of its caller there (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for)';
  }
  const via =
    trusted.length === 0
      ? 'it called this service itself'
      : `X-Forwarded-For names it, and ${named(trusted)} in server.trustedProxies`;
  const proxy = isSent
    ? ''
    : '; if it is a proxy, let it write X-Forwarded-For, and add it to server.trustedProxies';
  return `${via}; if it is the sender, add it to allowFrom${proxy}`;
}

function named(addresses: readonly string[]): string {
  return `${addresses.join(', ')} ${addresses.length === 1 ? 'is' : 'are'}`;
}
