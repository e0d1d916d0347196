/** Codes of a connection that was never made: no byte of the request left. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** The system's code where an error proves that no connection was made, so that no byte left; else undefined. */
export function connectionCode(error: unknown): string | undefined {
  for (const link of errorChain(error)) {
    const { code } = link as { code?: unknown };
    if (typeof code === 'string' && UNSENT.has(code)) return code;
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
