import * as z from 'zod';
import { HeaderName, HMAC_ALGORITHMS, signatureKeys } from './scheme.ts';
import { PROVIDER_NAMES, type ProviderName } from './schemes.ts';

/** A secret stands in the environment or in a file of its own, never in the mapping. */
export const SecretReference = z.union([
  z
    .string()
    .regex(/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/, { error: 'must be a reference: "${NAME}" or {file: PATH}' })
    .describe('${NAME}: the environment variable that holds the secret.'),
  z.strictObject({ file: z.string().min(1) }).describe('File that holds the secret and nothing else.'),
]);
export type SecretReference = z.output<typeof SecretReference>;

/** Where a secret comes from, in words: the name of its variable, or the file; never its value. */
export const nameOfSecret = (secret: SecretReference): string =>
  typeof secret === 'string' ? secret.replace(/^\$\{(.*)\}$/, '$1') : `the file ${secret.file}`;

/** The key `secrets` as a mapping writes it. */
export function secretsText(secrets: readonly SecretReference[]): string {
  const written = secrets.map((secret) =>
    typeof secret === 'string' ? `'${secret}'` : `{ file: ${JSON.stringify(secret.file)} }`,
  );
  return `secrets: [${written.join(', ')}]`;
}

const Secrets = z
  .array(SecretReference)
  .min(1)
  .max(8)
  .describe('The current secret first; those after it are retired and still taken, each use is logged.');

const Tolerance = z
  .int()
  .min(1)
  .max(604_800)
  .optional()
  .describe('Seconds the signed time may lie before or after now; default that of the scheme.');

const AcceptUncovered = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .optional()
  .describe(
    'Why it will do that the proof covers less than the path uses: PROOF_NOT_COVERING is then a warning.',
  );

const signing = { toleranceSeconds: Tolerance, acceptUncovered: AcceptUncovered };

const ProviderSettings = z.strictObject({
  scheme: z
    .enum(PROVIDER_NAMES as readonly [ProviderName, ...ProviderName[]])
    .describe('The provider that signs.'),
  secrets: Secrets,
  ...signing,
});

const HmacSettings = z.strictObject({
  scheme: z.literal('hmac').describe('A secret that both sides know.'),
  secrets: Secrets,
  algorithm: z.enum(HMAC_ALGORITHMS).optional().describe('Default sha256.'),
  ...signing,
  ...signatureKeys,
});

const PublicKeySettings = z.strictObject({
  scheme: z.enum(['ed25519', 'ecdsa']).describe('The sender signs with its private key; ecdsa with SHA-256.'),
  secrets: Secrets.describe('References to public keys: PEM, or raw or SPKI bytes in secretEncoding.'),
  ...signing,
  ...signatureKeys,
});

const OidcSettings = z.strictObject({
  scheme: z.literal('oidc').describe('A signed token (JWT) as Bearer: Google Pub/Sub, Microsoft.'),
  issuer: z.url({ protocol: /^https?$/ }).describe('The issuer, exact; its keys are found from there.'),
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(8)]).describe('Expected aud.'),
  jwksUri: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where the keys are; default found by issuer.'),
  claims: z
    .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Further claims, each exact; for Google the email of the service account.'),
  ...signing,
});

const BasicSettings = z.strictObject({
  scheme: z.literal('basic').describe('HTTP Basic.'),
  user: z.string().min(1).max(200).describe('User name.'),
  secrets: Secrets.describe('References to passwords.'),
});

const HeaderSettings = z.strictObject({
  scheme: z.literal('header').describe('The secret itself stands in a header.'),
  header: HeaderName.describe('Header that carries the secret.'),
  secrets: Secrets,
});

const TokenSettings = z.strictObject({
  scheme: z.literal('token').describe("A hook token of this path's own: a leaked one opens nothing else."),
  secrets: Secrets,
});

/** `verify` of a path, as it is written in a mapping. */
export const VerifySettings = z.discriminatedUnion('scheme', [
  ProviderSettings,
  HmacSettings,
  PublicKeySettings,
  OidcSettings,
  BasicSettings,
  HeaderSettings,
  TokenSettings,
]);
export type VerifySettings = z.output<typeof VerifySettings>;

const OF_OPERATOR = { acceptUncovered: true } as const;
const SECRETS = { secrets: true } as const;
const BOTH = { ...OF_OPERATOR, ...SECRETS };

/** The same without what an operator decides: how a sender proves itself, whoever has its secret. */
export const SenderProof = z.discriminatedUnion('scheme', [
  ProviderSettings.omit(BOTH),
  HmacSettings.omit(BOTH),
  PublicKeySettings.omit(BOTH),
  OidcSettings.omit(OF_OPERATOR),
  BasicSettings.omit(SECRETS),
  HeaderSettings.omit(SECRETS),
  TokenSettings.omit(SECRETS),
]);
export type SenderProof = z.output<typeof SenderProof>;
