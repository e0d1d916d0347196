/* What to write in place of a condition on a header that carries the secret or the signature of a sender. */
import { isSecretPath } from '../document/document.ts';
import { schemesOfHeader } from '../verify/verify.ts';

/** The sender that is known by such a header; undefined for any other header. */
export const provider = (header: string): string | undefined => schemesOfHeader(header)[0];

/** The block that judges such a header, and what else is to be done; undefined for a header that proves nothing. */
export function verifyInstead(header: string): string | undefined {
  const name = header.toLowerCase();
  const [scheme, ...others] = schemesOfHeader(name);
  const or = others.length === 0 ? '' : ` (or scheme: ${others.join(' or ')}, as the sender is)`;
  const written = scheme ?? generalScheme(name);
  if (written === undefined) return undefined;
  const variable = `${scheme?.toUpperCase().replaceAll('-', '_') ?? 'WEBHOOK'}_SECRET`;
  return `write verify: {scheme: ${written}, secrets: ['\${${variable}}']} beside match${or}, and set ${variable} in the environment of the service to the secret that the sender has`;
}

/** A header of a sender that is not known. */
function generalScheme(name: string): string | undefined {
  if (name === 'authorization') return 'token';
  if (/signature|hmac/.test(name)) return `hmac, header: ${name}`;
  return isSecretPath([name]) || /api-?key/.test(name) ? `header, header: ${name}` : undefined;
}
