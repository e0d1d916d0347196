const NO_NAME = 'no such host name is known here; between containers it is the name of the service';
const NO_WAY = 'no way leads to that address from here';
const UNTRUSTED =
  'its certificate is not trusted here: name the file of its authority in NODE_EXTRA_CA_CERTS';

/** Codes of a connection that was never made, so that no byte of the request left, and what they mean. */
const UNSENT: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'nothing listens on that host and port; within a container, localhost and 127.0.0.1 are the container itself',
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
  EADDRNOTAVAIL: NO_WAY,
  UND_ERR_CONNECT_TIMEOUT: 'no answer from that host and port, as where a firewall stands between',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'that port speaks http: write http:// in place of https://',
  'blocked port': 'no client calls that port by the Fetch standard: let the receiver listen on another one',
};

/** A code of `connectionCode` with what it means. */
export function connectionText(code: string): string {
  const meaning = Object.hasOwn(UNSENT, code) ? UNSENT[code] : undefined;
  return meaning === undefined ? code : `${code}: ${meaning}`;
}

/** The system's code where an error proves that no connection was made, so that no byte left; else undefined. */
export function connectionCode(error: unknown): string | undefined {
  for (const link of errorChain(error)) {
    const { code } = link as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(UNSENT, code)) return code;
    // Ports that the Fetch standard blocks; undici gives no code.
    if (link.message === 'bad port') return 'blocked port';
  }
  return undefined;
}

/** An error and what it wraps under the names SDKs use, outermost first. */
export function errorChain(error: unknown): Error[] {
  const chain: Error[] = [];
  let link: unknown = error;
  while (link instanceof Error && chain.length < 8) {
    chain.push(link);
    const {
      cause,
      error: inner,
      original,
    } = link as { cause?: unknown; error?: unknown; original?: unknown };
    link = cause ?? inner ?? original;
  }
  return chain;
}
