import { decodeExactly } from './encodings.ts';
import type { Diagnosis } from './diagnosis.ts';

/** A secret as it may have been meant. */
export interface SecretVariant {
  readonly bytes: Buffer;
  readonly diagnosis: Diagnosis;
}

/** The bytes each secret may have been meant as, where they differ from its text. */
export function secretVariants(secrets: readonly string[]): readonly SecretVariant[] {
  return secrets.flatMap((secret) =>
    variantsOf(secret).filter(({ bytes }) => bytes.length > 0 && !bytes.equals(Buffer.from(secret, 'utf8'))),
  );
}

function variantsOf(secret: string): readonly SecretVariant[] {
  const trimmed = secret.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  const bare = quoted ?? trimmed;
  const afterPrefix = /^[a-z]{2,8}_(.+)$/i.exec(bare)?.[1];
  return [
    text(
      trimmed,
      'secret-white-space',
      'the value of the secret has white space around it, and without it the signature fits: remove it where the value is set, in the environment or the file',
    ),
    text(
      quoted,
      'secret-white-space',
      'the value of the secret begins and ends with a quote, and without them the signature fits: remove the quotes where the value is set (an env file of docker keeps them), not those in the mapping',
    ),
    bytes(
      bare,
      'base64',
      'the secret is base64, and the sender signs with the bytes it stands for: set secretEncoding: base64 of the scheme hmac',
    ),
    bytes(
      bare,
      'hex',
      'the secret is hex, and the sender signs with the bytes it stands for: set secretEncoding: hex of the scheme hmac',
    ),
    text(
      afterPrefix,
      'secret-prefix',
      'the signature fits the secret without its prefix: write only what follows the underscore',
    ),
    bytes(
      afterPrefix,
      'base64',
      'the sender signs with the base64 that follows the prefix of the secret: that is the scheme standard-webhooks',
    ),
  ].filter((variant) => variant !== undefined);
}

function text(
  value: string | undefined,
  code: Diagnosis['code'],
  sentence: string,
): SecretVariant | undefined {
  return value === undefined
    ? undefined
    : { bytes: Buffer.from(value, 'utf8'), diagnosis: { code, text: sentence } };
}

function bytes(
  value: string | undefined,
  encoding: 'base64' | 'hex',
  sentence: string,
): SecretVariant | undefined {
  const decoded = value === undefined ? undefined : decodeExactly(value, encoding);
  return decoded === undefined
    ? undefined
    : { bytes: decoded, diagnosis: { code: 'secret-encoding', text: sentence } };
}
