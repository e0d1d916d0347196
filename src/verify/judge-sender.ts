import { diagnose } from './diagnose.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Proved, RefusalReason } from './proof.ts';
import { carriesSignature } from './signature-shapes.ts';
import type { ProofSettings, ReceivedRequest, Verifier } from './verifier.ts';

/** What a path with a proof of its own asks of its senders. */
export interface SenderDoor {
  readonly proof: ProofSettings;
  readonly verifier: Verifier;
}

/** A request before it is believed: each part is looked at only when its step is reached. */
export interface Arrival<TokenRefusal> {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly queryToken?: string;
  /** Whether the path takes requests from the sender's address. */
  readonly isAllowed: () => boolean;
  /** Why the hook token is refused; undefined where it is right or not asked for. */
  readonly refuseToken: () => TokenRefusal | undefined | Promise<TokenRefusal | undefined>;
  /** The address as the sender called it. */
  readonly url: () => string;
  readonly body: () => Promise<Buffer>;
  /** The body where it is small and can be read: only to say why a proof in another header than the path's does not count. */
  readonly bodyToTry: () => Promise<Buffer | undefined>;
}

export type SenderVerdict<TokenRefusal> =
  | Proved
  | { readonly kind: 'token-refused'; readonly refusal: TokenRefusal }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason | 'address';
      /** Costs as much as a hundred signatures. */
      readonly diagnose: () => Diagnosis | undefined;
    };

/**
 * The order in which a sender is judged, whether its request came or lies in a file: address, hook token, then the
 * proof. The body is read only where the headers show a proof, or a small one where they show one of another kind.
 */
export async function judgeSender<TokenRefusal>(
  { proof, verifier }: SenderDoor,
  arrival: Arrival<TokenRefusal>,
): Promise<SenderVerdict<TokenRefusal>> {
  if (!arrival.isAllowed()) return { kind: 'refused', reason: 'address', diagnose: () => undefined };
  const refusal = await arrival.refuseToken();
  if (refusal !== undefined) return { kind: 'token-refused', refusal };
  const { method, rawHeaders, queryToken } = arrival;
  const request: ReceivedRequest = {
    method,
    rawHeaders,
    url: verifier.signsUrl ? arrival.url() : '',
    body: await bodyFor(verifier, arrival),
    ...(queryToken === undefined ? {} : { queryToken }),
  };
  const judged = await verifier.prove(request);
  if (judged.kind === 'proved') return judged;
  return {
    ...judged,
    // A sender may have signed the address though the path does not ask for it.
    diagnose: () => diagnose(proof, verifier.signsUrl ? request : { ...request, url: arrival.url() }, judged),
  };
}

async function bodyFor(
  verifier: Verifier,
  { rawHeaders, body, bodyToTry }: Pick<Arrival<unknown>, 'rawHeaders' | 'body' | 'bodyToTry'>,
): Promise<Buffer> {
  if (verifier.presents(rawHeaders)) return body();
  return (carriesSignature({ rawHeaders }) ? await bodyToTry() : undefined) ?? Buffer.alloc(0);
}
