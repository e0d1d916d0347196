import { SIGNATURE_NAME } from '../../base/telemetry/telemetry.ts';
import { findHeadersLike } from './find-header.ts';
import { bestOf, type Proved, type RefusalReason, type Refused } from './proof.ts';
import type { SignedRequest } from './scheme.ts';
import type { ProofSettings, ReceivedRequest, Verifier } from './verifier.ts';

/** What a path with a proof of its own asks of its senders. */
export interface SenderCheck {
  readonly proof: ProofSettings;
  readonly verifier: Verifier;
}

/** A request before it is believed: each part is looked at only when its step is reached. */
export interface Arrival<TokenRefusal> {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly queryToken?: () => string | undefined;
  /** Whether the path takes requests from the sender's address. */
  readonly isAllowed: () => boolean;
  /** Why the hook token is refused; undefined where it is right or not asked for. */
  readonly refuseToken: () => TokenRefusal | undefined | Promise<TokenRefusal | undefined>;
  /** The address as the sender called it. */
  readonly url: () => string;
  readonly body: () => Promise<Buffer>;
  /** What the body unpacks to: the same buffer where it is not packed, undefined where that cannot be read. */
  readonly unpacked: () => Promise<Buffer | undefined>;
  /** The body where it is small and can be read: only to say why a proof in another header than the path's does not count. */
  readonly bodyToTry: () => Promise<Buffer | undefined>;
}

export type SenderVerdict<TokenRefusal> =
  | Proved
  | { readonly kind: 'token-refused'; readonly refusal: TokenRefusal }
  | { readonly kind: 'refused'; readonly reason: 'address' }
  | RefusedProof;

/** A proof that was refused, with what it takes to say why. */
export interface RefusedProof {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  readonly proof: ProofSettings;
  readonly refusal: Refused;
  /** With its address, as a sender may have signed that though the path does not ask for it. */
  readonly request: () => SignedRequest;
}

/** Larger bodies are not looked at to say why a proof was refused. */
export const MAX_TRIED_BYTES = 65_536;

/**
 * The order in which a sender is judged, whether its request came or lies in a file: address, hook token, then the
 * proof. The body is read only where the headers show a proof, or a small one where they show one of another kind.
 * A proof that does not fit the bytes as they came is judged once more over what they unpack to: some sign before they
 * pack (Stream, QuickNode), and what is read is the same.
 */
export async function judgeSender<TokenRefusal>(
  { proof, verifier }: SenderCheck,
  arrival: Arrival<TokenRefusal>,
): Promise<SenderVerdict<TokenRefusal>> {
  if (!arrival.isAllowed()) return { kind: 'refused', reason: 'address' };
  const refusal = await arrival.refuseToken();
  if (refusal !== undefined) return { kind: 'token-refused', refusal };
  const { method, rawHeaders, queryToken } = arrival;
  const request: ReceivedRequest = {
    method,
    rawHeaders,
    url: arrival.url(),
    body: await bodyFor(verifier, arrival),
    ...(queryToken === undefined ? {} : { queryToken }),
  };
  const asCame = await verifier.prove(request);
  if (asCame.kind === 'proved') return asCame;
  const body = verifier.readsBody && verifier.presents(rawHeaders) ? await arrival.unpacked() : undefined;
  const other = body === undefined || body === request.body ? undefined : { ...request, body };
  const judged = other === undefined ? asCame : bestOf([asCame, await verifier.prove(other)]);
  if (judged.kind === 'proved') return judged;
  const told = judged === asCame || other === undefined ? request : other;
  return {
    kind: 'refused',
    reason: judged.reason,
    proof,
    refusal: judged,
    request: () => told,
  };
}

async function bodyFor(
  verifier: Verifier,
  { rawHeaders, body, bodyToTry }: Pick<Arrival<unknown>, 'rawHeaders' | 'body' | 'bodyToTry'>,
): Promise<Buffer> {
  if (verifier.presents(rawHeaders)) return body();
  return (
    (findHeadersLike(rawHeaders, SIGNATURE_NAME, /./).length > 0 ? await bodyToTry() : undefined) ??
    Buffer.alloc(0)
  );
}
