import type { RequestAdvisor } from './advisor.ts';
import type { RequestFacts } from './exchange.ts';
import { describeFault } from './problem.ts';
import type { ServerContext } from './server-context.ts';

/** What is known of mistakes; undefined where nothing is, or where it cannot be read: no answer depends on it. */
export async function loadAdvisor(
  { deps }: Pick<ServerContext, 'deps'>,
  { generation, ids }: Pick<RequestFacts, 'generation'> & { readonly ids: Pick<RequestFacts['ids'], 'id'> },
): Promise<RequestAdvisor | undefined> {
  try {
    return await generation.advisor?.();
  } catch (error) {
    const fault = describeFault(error);
    deps.log.error({ requestId: ids.id, fault }, 'what is known of mistakes could not be read');
    return undefined;
  }
}
