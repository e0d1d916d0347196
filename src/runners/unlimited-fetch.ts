type DispatcherClass = new (options: {
  headersTimeout: number;
  bodyTimeout: number;
  pipelining: number;
}) => object;

/**
 * `fetch` without its own limit of 300 s until the headers of an answer: a model may think for longer before it says
 * the first byte, and the run's deadline is the only one that counts. The limit belongs to the connection pool
 * (undici), whose class Node shows only through the process-wide pool; where that is gone, `fetch` is used as it is.
 * A redirect is not followed, since the key would go along to an address that the configuration does not name.
 * No connection is used twice, since one closed for being idle as a prompt leaves would end the run.
 */
export function createUnlimitedFetch(): typeof fetch {
  const pool = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')];
  if (typeof pool !== 'object' || pool === null)
    return (input, init) => fetch(input, { ...init, redirect: 'manual' });
  const dispatcher = new (pool.constructor as DispatcherClass)({
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 0,
  });
  return (input, init) => fetch(input, { ...init, redirect: 'manual', dispatcher } as RequestInit);
}
