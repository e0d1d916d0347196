import { HookError } from '../../base/errors.ts';
import type { HookRequest } from '../../base/request.ts';
import { concludeRequest, findAdvisor, logRequest } from './account.ts';
import { tooLarge } from './body.ts';
import type { Ending, RequestFacts } from './exchange.ts';
import { SOURCE_TTL_SECONDS } from './idempotency.ts';
import { failedEnding } from './problem.ts';
import type { ServerContext } from './server-context.ts';
import { bodyLimit, canTake, takeHook, traceHook } from './take-hook.ts';

/** A hook that a part of this process makes itself, such as the reader of a mailbox. */
export interface OwnHook {
  readonly name: string;
  /** JSON, or the body of a replayed request in the format of its path. */
  readonly body: Buffer;
  readonly idempotencyKey: string;
  /** Headers and query of a replayed request. */
  readonly again?: Pick<HookRequest, 'headers' | 'query'>;
  /** No decision is kept where no mapping takes it. */
  readonly isQuiet?: boolean;
}

export interface OwnAnswer {
  readonly requestId: string;
  readonly status: number;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Takes a hook from inside the process by the way every request goes: mappings, dedupe, store, decision, log and
 * metrics are the same. Only what proves a stranger is left out: proof, and limits of connections and addresses.
 */
export async function deliver(context: ServerContext, hook: OwnHook): Promise<OwnAnswer> {
  const facts = factsOf(context, hook);
  const ending = await handle(context, facts, hook);
  const isLeft = ending.outcome === 'skipped' || ending.error?.code === 'no_mapping_matched';
  if (hook.isQuiet !== true || !isLeft) {
    const advisor = await findAdvisor(context, facts, ending);
    concludeRequest(context, facts, ending, advisor);
    logRequest(context, facts, ending, advisor);
  }
  const { status, body = '', headers = [] } = ending.answer;
  const retryAfter = headers[headers.indexOf('retry-after') + 1];
  return {
    requestId: facts.ids.id,
    status,
    body,
    ...(headers.includes('retry-after') ? { retryAfterSeconds: Number(retryAfter) } : {}),
  };
}

function factsOf(context: ServerContext, { body, again }: OwnHook): RequestFacts {
  const values = Object.create(null) as Record<string, string>;
  Object.assign(values, { 'content-type': 'application/json' }, again?.headers);
  return {
    generation: context.deps.generation(),
    ids: context.ids(),
    receivedAt: context.clock(),
    startedAt: performance.now(),
    headers: { values, bearer: undefined, serviceToken: undefined, hosts: 1 },
    bodyBytes: body.length,
  };
}

async function handle(context: ServerContext, facts: RequestFacts, hook: OwnHook): Promise<Ending> {
  const known = { hookName: hook.name };
  const { name, body, idempotencyKey: key, again } = hook;
  const { generation } = facts;
  try {
    if (!generation.hooks.enabled) throw new HookError('not_found', 'hooks are switched off');
    if (context.stopping.signal.aborted) throw new HookError('stopping', 'the service is stopping');
    if (!canTake(facts, name)) throw new HookError('no_mapping_matched', 'no mapping takes this hook name');
    traceHook(context, facts, { name });
    const maxBytes = bodyLimit(generation, name).bytes;
    if (body.length > maxBytes) throw tooLarge(maxBytes);
    const query = again?.query ?? {};
    const search = new URLSearchParams(query).toString();
    const target = { url: `${generation.hooks.path}/${name}${search && `?${search}`}`, query };
    const taken = { name, target, body, keyOf: () => key, ttlSeconds: SOURCE_TTL_SECONDS };
    const received = again === undefined ? taken : { ...taken, settings: generation.settingsOf(name) };
    return { ...(await takeHook(context, facts, received)), ...known };
  } catch (error) {
    return failedEnding(facts, error, { ...known, judged: {} });
  }
}
