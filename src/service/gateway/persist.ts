import { codeOf } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import type { GatewayContext } from './gateway-context.ts';

/** Between two tries. */
const PERSIST_PAUSE_MS = 250;
const MAX_PERSIST_PAUSE_MS = 5_000;

/**
 * Writes down what has already happened, however often the store refuses: a result that is not on disk would be
 * brought about a second time. Reads that decide about it are tried again likewise. Gives up only when the service stops; recovery then finds the work as it was.
 */
export async function persist<T>(
  context: Pick<GatewayContext, 'log'>,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = PERSIST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PERSIST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      context.log.error({ what, code: codeOf(error) }, 'the store refused; trying again');
      if (signal.aborted) throw error;
      await pause(pauseMs, signal);
    }
  }
}
