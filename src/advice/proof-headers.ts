/* What to write in place of a condition on a header that carries the secret or the signature of a sender. */
import type { Sentence } from '../finding.ts';
import { isSecretPath } from '../document/document.ts';
import { adviseVerify, generalScheme } from './proofs/written-verify.ts';
import { isCarried, oneOfEach } from './proofs/carried.ts';
import { isSureShape, shapesOf } from './proofs/signature-shapes.ts';
import { type Sender, shippedSenders } from '../senders/senders.ts';
import { waysOf } from './vocabulary/senders.ts';
export { writtenKey } from './proofs/written-verify.ts';
export { withoutSignature, withStandIn } from './proofs/removed-signature.ts';
export { deliveryHeaders } from './vocabulary/senders.ts';
import { schemesOfHeader } from '../verify/facts.ts';

/** The sender that is known by such a header; undefined for any other header. */
export const provider = (header: string): string | undefined => schemesOfHeader(header)[0];

/** The block that judges such a header, and what else is to be done; undefined for a header that proves nothing. */
export function verifyFor(header: string, place = 'beside match'): Sentence | undefined {
  const name = header.toLowerCase();
  const known = schemesOfHeader(name);
  if (known.length > 0) return adviseVerify(known, place);
  if (name === 'authorization') return adviseVerify(['token'], place);
  const isProof = /signature|hmac|api-?key/.test(name) || isSecretPath([name]);
  return isProof ? adviseVerify([generalScheme(name)], place) : undefined;
}

type Headers = Readonly<Record<string, string>>;

/**
 * The senders whose proof a request carries, by names and forms of headers; of several those whose other headers it
 * has, too. Those that prove themselves in the same way are one.
 */
export function sendersOf(headers: Headers): readonly Sender[] {
  const raw = Object.entries(headers).flat();
  const fitting = shippedSenders()
    .filter((sender) => waysOf(sender).some((way) => isCarried(way, raw)))
    .map((sender) => ({
      sender,
      score: ownHeaders(sender).filter((name) => headers[name] !== undefined).length,
    }));
  const best = Math.max(0, ...fitting.map(({ score }) => score));
  return oneOfEach(fitting.filter(({ score }) => score === best).map(({ sender }) => sender));
}

/** Headers of a sender beside its proof. */
const ownHeaders = ({ id, kind, deliveryHeaders: more = [] }: Sender): readonly string[] => [
  ...[id, kind].flatMap((field) => /^headers\.(.*)/.exec(field ?? '')?.[1] ?? []),
  ...more,
];

/** How a signature of nobody known is written, in keys of the general scheme; what is signed cannot be seen. */
export function unknownSignature(headers: Headers): Sender['verify'] {
  const shape = shapesOf({ rawHeaders: Object.entries(headers).flat() }).find(isSureShape);
  if (shape === undefined || !shape.algorithm.startsWith('hmac-')) return undefined;
  const { algorithm, signed: _signed, encoding, ...keys } = shape;
  const hash = algorithm.replace('hmac-', '') as 'sha1' | 'sha256' | 'sha384' | 'sha512';
  return {
    scheme: 'hmac',
    ...keys,
    ...(hash === 'sha256' ? {} : { algorithm: hash }),
    ...(encoding === 'hex' ? {} : { encoding }),
  };
}
