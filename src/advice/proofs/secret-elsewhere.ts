/** The secret of the path itself stands in a header of the request, where its scheme does not look: which scheme does. */
import { say } from '../../finding.ts';
import { basicPair, bearerOf, isOneOf, isPlainHeaderName, schemesOfHeader } from '../../verify/facts.ts';
import type { Diagnosis, SignedRequest, VerifySettings } from '../../verify/verify.ts';
import { wholeVerify, writtenKey, replaceBy } from './written-verify.ts';

/** Headers that are looked through, but for those of providers, which have a scheme of their own: a sender chooses how many there are. */
const MAX_HEADERS = 50;

type Settings = Exclude<VerifySettings, { scheme: 'oidc' }>;

/** The whole verify that takes the secret where it stands; undefined where no header has it. */
export function explainElsewhere(
  settings: Settings,
  secrets: readonly string[],
  { rawHeaders }: Pick<SignedRequest, 'rawHeaders'>,
): Diagnosis | undefined {
  const found = carrierOf(secrets, rawHeaders);
  if (found === undefined || found.scheme.split(', ', 1)[0] === settings.scheme) return undefined;
  return {
    code: 'other-scheme',
    text: say`the secret is right and stands in ${found.where}, where scheme: ${settings.scheme} does not look: ${replaceBy(wholeVerify(found.scheme, settings))}`,
  };
}

function carrierOf(
  secrets: readonly string[],
  rawHeaders: readonly string[],
): { readonly scheme: string; readonly where: string } | undefined {
  const bearer = bearerOf(rawHeaders);
  if (bearer !== undefined && isOneOf(secrets, utf8(bearer)))
    return { scheme: 'token', where: 'Authorization: Bearer' };
  const [user = '', ...password] = basicPair(rawHeaders)?.bytes.toString('utf8').split(':') ?? [];
  if (/^[\w.@-]{1,60}$/.test(user) && isOneOf(secrets, password.join(':')))
    return { scheme: `basic, ${writtenKey('user', user)}`, where: 'Authorization: Basic' };
  const header = headerWith(secrets, rawHeaders);
  return header === undefined
    ? undefined
    : { scheme: `header, header: ${header}`, where: `the header ${header}` };
}

function headerWith(secrets: readonly string[], rawHeaders: readonly string[]): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length && i < 2 * MAX_HEADERS; i += 2) {
    const name = String(rawHeaders[i]).toLowerCase();
    const value = utf8(String(rawHeaders[i + 1]).trim());
    // In Authorization a word before the secret says of which scheme it is.
    const isOthers = name === 'authorization' ? /\s/.test(value) : schemesOfHeader(name).length > 0;
    if (!isOthers && isPlainHeaderName(name) && isOneOf(secrets, value)) return name;
  }
  return undefined;
}

/** Header values arrive as latin1, and secrets are written as UTF-8. */
const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');
