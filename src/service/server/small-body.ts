import { MAX_TRIED_BYTES } from '../../engine/verify/verify.ts';
import type { Exchange, IncomingHook } from './exchange.ts';

/** Its sender is refused whatever the body holds, so nobody waits for a slow one. */
const MAX_WAIT_MS = 1000;

/**
 * The body of a request that is refused whatever it is, only to say why; undefined where it is long, slow or cannot be
 * read, or where its sender waits to be told whether to send it.
 */
export async function smallBody(
  { req, hasBody, expectsContinue }: Exchange,
  { body }: Pick<IncomingHook, 'body'>,
  maxBytes = MAX_TRIED_BYTES,
): Promise<Buffer | undefined> {
  const bytes = hasBody ? Number(req.headers['content-length']) : 0;
  // NaN where the sender does not say how much comes.
  if (expectsContinue || !(bytes <= maxBytes)) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), MAX_WAIT_MS);
  });
  try {
    return await Promise.race([body(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
