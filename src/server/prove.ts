import { HookError } from '../errors.ts';
import type { PathSettings } from '../mapping/mapping.ts';
import { type Authentication, authenticate, isSecret } from './authenticate.ts';
import type { Exchange } from './exchange.ts';
import { derivedFrom, type ServerContext } from './server-context.ts';
import type { RequestTarget } from './target.ts';

/** A request to a hook before anything in it is believed: what a proof may look at beside the headers. */
export interface IncomingHook {
  /** As the sender wrote it, but for tokens, which are masked; not to be logged or kept before the proof. */
  readonly name: string;
  readonly target: RequestTarget;
  /** What the hook's path sets; looked up before the proof, because it may say which proof is wanted. */
  readonly settings: PathSettings;
  /**
   * The raw body: read on the first call, within the limits of the path; later calls give the same bytes.
   * @throws HookError `body_too_large`, `body_timeout`, `request_aborted`
   */
  readonly body: () => Promise<Buffer>;
}

/** How a sender proved itself. */
export interface Proof {
  readonly kind: 'proved';
  readonly by: 'token';
  readonly carrier: 'bearer' | 'header' | 'query';
  /** 0 for the current token, n for the n-th of `hooks.previousTokens`. */
  readonly retired: number;
}

/** Why a sender was not believed. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** The sender's address, as far as trusted proxies vouch for it. */
  readonly address: string;
  /** What the sender is told: `unauthorized`, or `too_many_failures` past the limit of failures. */
  readonly error: HookError;
}

type RefusalReason = Extract<Authentication, { kind: 'refused' }>['reason'];

/**
 * Asks a sender for the proof that its path wants. Nothing is logged or counted here but the failures of the address:
 * the rest follows from the value. Before a proof no part of the body may reach mappings or the store.
 */
export function prove(
  context: ServerContext,
  exchange: Exchange,
  hook: IncomingHook,
): Proof | Promise<Proof | Refusal> {
  const { tokens } = derivedFrom(context, exchange.generation.hooks);
  const judged = authenticate(tokens, exchange.headers, hook.target);
  if (judged.kind === 'refused') return refuse(context, exchange, judged.reason);
  return { kind: 'proved', by: 'token', carrier: judged.carrier, retired: judged.retired };
}

/** Whether the sender knows `gateway.token`, which opens nothing but details of the service's health. */
export function isOperator({ generation, headers }: Pick<Exchange, 'generation' | 'headers'>): boolean {
  const { gatewayToken } = generation;
  return gatewayToken !== undefined && headers.bearer !== undefined && isSecret(gatewayToken, headers.bearer);
}

/** Counts the failure against the sender's address; past the limit the sender is told to wait. */
async function refuse(context: ServerContext, exchange: Exchange, reason: RefusalReason): Promise<Refusal> {
  const { req, headers, generation } = exchange;
  const { limiter } = derivedFrom(context, generation.hooks);
  const address = context.findAddress(req.socket.remoteAddress, headers.values['x-forwarded-for']);
  const retryAfterSeconds = await limiter.fail(address);
  const error =
    retryAfterSeconds === undefined
      ? new HookError('unauthorized', REFUSALS[reason])
      : new HookError('too_many_failures', 'too many requests without a valid hook token', {
          retryAfterSeconds,
        });
  return { kind: 'refused', reason, address, error };
}

const REFUSALS: Readonly<Record<RefusalReason, string>> = {
  missing: 'the request carries no hook token; send it as "Authorization: Bearer"',
  wrong: 'the hook token is wrong',
  'query-rejected': 'the hook token is not taken from the query here; send it as "Authorization: Bearer"',
};
