/** The mailbox source: reads mailboxes and delivers what arrives to the hook `mail`. */
export { MailFailure } from './mail-failure.ts';
export { httpEndpoint, ownEndpoint } from './hook-endpoint.ts';
export { type MailboxStatus, mailboxReport, type MailboxReport } from './mailbox-health.ts';
export { MailProcess } from './mail-process.ts';
export { GOOGLE_ENDPOINTS, type GoogleEndpoints } from './gmail-api.ts';
export { writeOAuthFile, type OAuthFile, OAUTH_PROVIDERS, type OAuthScopes } from './oauth.ts';
export { loginWithBrowser, loginWithDevice, type OAuthLogin } from './oauth-login.ts';
export { tryMailbox, type MailboxFolder } from './open-source.ts';
export type { MailProof } from './mail-proof.ts';
