import { say, todo, type Sentence } from '../../finding.ts';
import type {
  Diagnosis,
  ProofSettings,
  Refused,
  SignedRequest,
  VerifySettings,
} from '../../verify/verify.ts';
import { basicPair, isOneOf, presentedToken, trimMarks } from '../../verify/facts.ts';
import { PASSWORD_ALONE } from '../vocabulary/secrets.ts';
import { secretVariants } from './secret-variants.ts';

type Credentials = Extract<VerifySettings, { scheme: 'oidc' | 'basic' | 'token' }>;

/** Why credentials in the headers do not fit. */
export function explainCredential(
  settings: Credentials,
  { secrets }: Pick<ProofSettings, 'secrets'>,
  { request, refusal }: { readonly request: SignedRequest; readonly refusal: Refused },
): Diagnosis {
  if (refusal.reason === 'wrong-proof') {
    const found =
      settings.scheme === 'basic'
        ? explainBasic(settings.user, secrets, request)
        : settings.scheme === 'token'
          ? explainPresented(textOf(presentedToken(request.rawHeaders)), secrets)
          : undefined;
    if (found !== undefined) return found;
  }
  return plainCredential(settings.scheme, refusal);
}

/** Which half of user and password is right, and what the secret holds in place of the password. */
function explainBasic(
  user: string,
  secrets: readonly string[],
  { rawHeaders }: SignedRequest,
): Diagnosis | undefined {
  const presented = basicPair(rawHeaders);
  if (presented === undefined) return undefined;
  const pair = presented.bytes.toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  const [name, password] = [pair.slice(0, colon), pair.slice(colon + 1)];
  if (name !== user) return otherUser(user, isOneOf(secrets, password));
  if (isOneOf(secrets, pair)) {
    return {
      code: 'secret-prefix',
      text: say`the password is right, but the value of the secret begins with "${user}:", the user of verify; ${PASSWORD_ALONE}`,
    };
  }
  const bare = secrets.map((secret) => secret.replace(/^basic\s+/i, ''));
  if (isOneOf(bare, presented.encoded)) {
    return {
      code: 'secret-encoding',
      text: say`the value of the secret is the whole header in base64: a secret of the scheme basic is the password alone, as it was typed at the sender`,
    };
  }
  return (
    explainWritten(password, secrets) ?? {
      code: 'wrong-proof',
      text: say`the user is right, and the password is wrong: it is not the one that the secret holds`,
    }
  );
}

function otherUser(user: string, isPassword: boolean): Diagnosis {
  return {
    code: 'wrong-proof',
    text: isPassword
      ? say`the password is right, but the user is another one than "${user}", which verify names: ${todo}write the user of the sender at verify.user, or "${user}" at the sender`
      : say`the user is wrong, and so is the password: verify names "${user}"; ${todo}compare both with what was typed at the sender`,
  };
}

/** A secret that was written with more around it than was meant. */
function explainWritten(presented: string, secrets: readonly string[]): Diagnosis | undefined {
  return secretVariants(secrets).find(
    ({ diagnosis, bytes }) => diagnosis.code === 'secret-white-space' && isOneOf([bytes], presented),
  )?.diagnosis;
}

const WORD = /^(bearer|token|basic|apikey|key)\s+/i;

/** A secret that is sent as it is: one side has quotes, white space or a word before it, and the other has not. */
export function explainPresented(
  presented: string | undefined,
  secrets: readonly string[],
): Diagnosis | undefined {
  if (presented === undefined) return undefined;
  const written = explainWritten(presented, secrets);
  if (written !== undefined) return written;
  const word = WORD.exec(presented)?.[1];
  if (word !== undefined && isOneOf(secrets, presented.replace(WORD, ''))) {
    return {
      code: 'secret-prefix',
      text: say`the header carries the secret behind the word ${word}, which the value of the secret does not have: where that value is set, write the word ${word} and a blank before it`,
    };
  }
  const afterWord = secrets.filter((secret) => WORD.test(secret)).map((secret) => secret.replace(WORD, ''));
  if (isOneOf(afterWord, presented)) {
    return {
      code: 'secret-prefix',
      text: say`the value of the secret begins with a word such as Bearer, and the secret is what follows it: ${todo}remove the word where the value is set`,
    };
  }
  return isOneOf(secrets, trimMarks(presented, `"'`))
    ? {
        code: 'wrong-secret',
        text: say`the sender sends the secret in quotes: ${todo}remove them in its settings`,
      }
    : undefined;
}

/** Header values arrive as latin1, and secrets are written as UTF-8. */
function textOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : Buffer.from(header, 'latin1').toString('utf8');
}

const NOT_THERE: Readonly<Record<Credentials['scheme'], Sentence>> = {
  oidc: say`the request carries no credentials: Authorization: Bearer is not there`,
  basic: say`the request carries no credentials: Authorization: Basic is not there: ${todo}set user and password at the sender`,
  token: say`the request carries no credentials: Authorization: Bearer is not there: ${todo}let the sender send the secret so, or let its address end in ?token=SECRET (unless hooks.queryToken is reject)`,
};

function plainCredential(scheme: Credentials['scheme'], { reason, detail }: Refused): Diagnosis {
  const texts: Readonly<Partial<Record<Refused['reason'], Sentence>>> = {
    'no-proof': NOT_THERE[scheme],
    'malformed-proof':
      scheme === 'oidc'
        ? say`the Bearer value is no signed token (JWT)`
        : say`the Authorization header is not of the form Basic BASE64`,
    'too-old': say`the token has expired`,
    'too-new': say`the token is not valid yet: ${todo}set the clock of this machine`,
    'wrong-claims': say`the token is signed by the issuer, but its claim ${detail ?? ''} is missing or not the one that this path asks for`,
    'no-keys': say`the issuer's keys could not be fetched (${detail ?? 'not tried yet'}): ${todo}look at the issuer, and whether this machine reaches it`,
    'wrong-proof':
      scheme === 'oidc'
        ? say`the token is not signed by a key of the issuer${detail === undefined ? '' : `: ${detail}`}`
        : say`the credentials are there and are wrong`,
  };
  return { code: reason, text: texts[reason] ?? say`the request was refused: ${reason}` };
}
