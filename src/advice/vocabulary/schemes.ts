/* Names of schemes elsewhere, and senders that sign as another one does. */

const AS_STANDARD = 'signs as Standard Webhooks says';
const AS_META = 'signs as all of Meta does';
const AS_GITHUB = 'signs as GitHub does, in x-hub-signature-256';

/** Who signs with the scheme of another, and what schemes are called elsewhere; each with the reason where it is none of a name. */
const SCHEME_WORDS: Readonly<Record<string, readonly [scheme: string, why?: string]>> = {
  signature: ['hmac'],
  bearer: ['token'],
  'bearer-token': ['token'],
  apikey: ['header'],
  'api-key': ['header'],
  jwt: ['oidc'],
  oauth: ['oidc'],
  'basic-auth': ['basic'],
  svix: ['standard-webhooks', AS_STANDARD],
  resend: ['standard-webhooks', AS_STANDARD],
  clerk: ['standard-webhooks', AS_STANDARD],
  openai: ['standard-webhooks', AS_STANDARD],
  facebook: ['meta', AS_META],
  instagram: ['meta', AS_META],
  whatsapp: ['meta', AS_META],
  atlassian: ['jira'],
  gitea: ['github', AS_GITHUB],
  forgejo: ['github', AS_GITHUB],
};

/** The scheme that is meant by a name that is none, with the reason. */
export const schemeWord = (name: string): readonly [scheme: string, why?: string] | undefined =>
  Object.hasOwn(SCHEME_WORDS, name) ? SCHEME_WORDS[name] : undefined;
