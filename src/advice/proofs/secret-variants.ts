import { say, todo } from '../../finding.ts';
import { decodeExactly } from '../../verify/facts.ts';
import type { FoundKeys } from './written-verify.ts';

/** A secret as it may have been meant. */
export interface SecretVariant {
  readonly bytes: Buffer;
  readonly diagnosis: FoundKeys;
}

/** The bytes each secret may have been meant as, where they differ from its text. */
export function secretVariants(secrets: readonly string[]): readonly SecretVariant[] {
  return secrets.flatMap((secret) =>
    variantsOf(secret).filter(({ bytes }) => bytes.length > 0 && !bytes.equals(Buffer.from(secret, 'utf8'))),
  );
}

interface SecretReading {
  readonly part: 'trimmed' | 'quoted' | 'named' | 'bare' | 'afterPrefix';
  readonly encoding: 'utf8' | 'base64' | 'hex';
  readonly diagnosis: FoundKeys;
}

/** Which part of a secret's text may have been meant, and as what; the first that fits is told. */
const READINGS: readonly SecretReading[] = [
  {
    part: 'trimmed',
    encoding: 'utf8',
    diagnosis: {
      code: 'secret-white-space',
      text: say`the value of the secret has white space around it, and without it the proof is right: ${todo}remove it where the value is set, in the environment or the file`,
    },
  },
  {
    part: 'quoted',
    encoding: 'utf8',
    diagnosis: {
      code: 'secret-white-space',
      text: say`the value of the secret begins and ends with a quote, and without them the proof is right: ${todo}remove the quotes where the value is set (an env file of docker keeps them), not those in the mapping`,
    },
  },
  {
    part: 'named',
    encoding: 'utf8',
    diagnosis: {
      code: 'secret-white-space',
      text: say`the value of the secret begins with a name and "=", as a line of an env file, and what follows fits: ${todo}write only what follows`,
    },
  },
  {
    part: 'bare',
    encoding: 'base64',
    diagnosis: {
      code: 'secret-encoding',
      text: say`the secret is base64, and the sender signs with the bytes it stands for`,
      change: { secretEncoding: 'base64' },
    },
  },
  {
    part: 'bare',
    encoding: 'hex',
    diagnosis: {
      code: 'secret-encoding',
      text: say`the secret is hex, and the sender signs with the bytes it stands for`,
      change: { secretEncoding: 'hex' },
    },
  },
  {
    part: 'afterPrefix',
    encoding: 'utf8',
    diagnosis: {
      code: 'secret-prefix',
      text: say`the signature fits the secret without its prefix: ${todo}write only what follows the underscore`,
    },
  },
  {
    part: 'afterPrefix',
    encoding: 'base64',
    diagnosis: {
      code: 'secret-encoding',
      text: say`the sender signs with the base64 that follows the prefix of the secret: that is the scheme standard-webhooks`,
    },
  },
];

function variantsOf(secret: string): readonly SecretVariant[] {
  const trimmed = secret.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  const bare = quoted ?? trimmed;
  const afterPrefix = /^[a-z]{2,8}_(.+)$/i.exec(bare)?.[1];
  const named = /^[A-Z_][A-Z0-9_]*=["']?(.+?)["']?$/s.exec(bare)?.[1];
  const parts = { trimmed, quoted, named, bare, afterPrefix };
  const read = READINGS.flatMap(({ part, encoding, diagnosis }) => {
    const bytes = bytesOf(parts[part] ?? '', encoding);
    return bytes === undefined ? [] : [{ bytes, diagnosis }];
  });
  return [...read, ...listedIn(bare)];
}

const MAX_LISTED = 4;
const LISTED: FoundKeys = {
  code: 'secret-white-space',
  text: say`the value of the secret holds several, and one of them fits: ${todo}give each a variable of its own, and write all of them: secrets: ['\${NEW}', '\${OLD}']`,
};

/** Several secrets in one text. */
function listedIn(text: string): readonly SecretVariant[] {
  const items = text.split(/[\s,;|]+/, MAX_LISTED);
  return items.length < 2
    ? []
    : items.map((item) => ({ bytes: Buffer.from(item, 'utf8'), diagnosis: LISTED }));
}

function bytesOf(text: string, encoding: SecretReading['encoding']): Buffer | undefined {
  return encoding === 'utf8' ? Buffer.from(text, 'utf8') : decodeExactly(text, encoding);
}
