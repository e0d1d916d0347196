import { say } from '../../finding.ts';
import { createSecretKey } from 'node:crypto';
import type { Diagnosis, SignedRequest } from '../../verify/verify.ts';
import {
  decodeExactly,
  findHeader,
  signedFields,
  TWILIO_HEADER,
  twilioSignature,
  withAndWithoutPort,
} from '../../verify/facts.ts';
import { secretVariants } from './secret-variants.ts';
import { type UrlVariant, urlVariants } from './url-variants.ts';

/** Which other address or form of the secret Twilio's signature fits. */
export function explainTwilio(secrets: readonly string[], request: SignedRequest): Diagnosis | undefined {
  const header = findHeader(request.rawHeaders, TWILIO_HEADER);
  const presented = typeof header === 'string' ? decodeExactly(header, 'base64') : undefined;
  const fields = signedFields(request);
  if (presented === undefined || fields.kind === 'reason') return undefined;
  const fits = (secret: Buffer, url: string): boolean =>
    withAndWithoutPort(url).some((each) =>
      twilioSignature(createSecretKey(secret), each, fields.text).equals(presented),
    );
  for (const variant of secretVariants(secrets)) {
    if (fits(variant.bytes, request.url)) return variant.diagnosis;
  }
  const found = urlVariants(request.url, request.rawHeaders).find(({ url }) =>
    secrets.some((secret) => fits(Buffer.from(secret, 'utf8'), url)),
  );
  return found === undefined ? undefined : otherUrl(found);
}

export function otherUrl({ how, remedy }: UrlVariant): Diagnosis {
  return {
    code: 'other-url',
    text: say`the secret is right, and the sender signed the address ${how}: ${remedy}`,
  };
}
