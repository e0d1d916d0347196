import type { Diagnosis } from '../../verify/verify.ts';
import type { AddressFacts } from '../../server/server.ts';

/** Addresses named at most: the header is as long as its sender likes. */
const MAX_NAMED = 3;

/** Why an address that `allowFrom` does not have was the one judged, and which proxy is not trusted. */
export function explainForeignAddress(facts: AddressFacts): Diagnosis {
  const text = `the address that was judged is ${facts.judged}, and allowFrom of this path does not have it`;
  return { code: 'address', text: `${text}: ${remedy(facts)}` };
}

function remedy({ hops, at, judged, isSent, isTrusted }: AddressFacts): string {
  const behind = hops.slice(at + 1, at + 1 + MAX_NAMED);
  const trusted = hops.slice(0, at).slice(-MAX_NAMED);
  if (behind.length > 0) {
    const trust =
      trusted.length === 0
        ? 'it called this service and is not in server.trustedProxies'
        : `${named(trusted)} in server.trustedProxies, the next one, ${judged}, is not`;
    return `${trust}, so what stands in X-Forwarded-For before it does not count (${behind.join(', ')}: anyone can write that). If ${judged} is a proxy of yours or of your CDN, add the addresses of that proxy to server.trustedProxies (a CDN publishes its ranges); if not, it is a stranger`;
  }
  if (!isSent && isTrusted) {
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
