/* What providers call the secrets with which they sign, and what to do about one that is wrong. */
import type { SecretFacts } from '../../verify/verify.ts';

/** Where a provider shows what it signs with. */
const SHOWN: Readonly<Record<string, string>> = {
  telegram: 'the secret_token that was given to setWebhook',
  slack: 'the Signing Secret on the page Basic Information of the app',
  stripe:
    'the signing secret of this endpoint, which begins with whsec_ (each endpoint has its own, and so has stripe listen)',
  'standard-webhooks': 'the signing secret of the webhook endpoint, which begins with whsec_',
  github: 'the text that was entered as Secret of the webhook',
  shopify: 'the client secret of the app, or the secret on the page Notifications > Webhooks',
  sendgrid: 'the verification key of the event webhook',
  twilio: 'the Auth Token of the account',
  linear: 'the signing secret on the page of the webhook, which begins with lin_wh_',
  sentry: 'the Client Secret of the integration',
  typeform: 'the secret of the webhook',
  paddle: 'the secret key of the notification destination',
  square: 'the Signature Key of the subscription',
  meta: 'the App Secret of the app',
};

/** What a secret of this scheme is to be, where its provider shows it under a name. */
export const shownAs = (scheme: string): string | undefined =>
  Object.hasOwn(SHOWN, scheme) ? SHOWN[scheme] : undefined;

export const PASSWORD_ALONE =
  'a secret of the scheme basic is the password alone: remove the user and the colon from its value';

/** What to do about it. */
export function secretHint({ scheme, wrong, user }: SecretFacts): string {
  if (wrong === 'quotes')
    return 'remove the quotes where the value is set (an env file of docker keeps them), not those in the mapping';
  if (user !== undefined) return PASSWORD_ALONE;
  if (wrong === 'form')
    return `set it to ${shownAs(scheme) ?? 'the secret that the sender shows for its webhook'}`;
  return `${scheme === 'discord' ? DISCORD : 'set what it refers to'}; without a good secret the path refuses every request`;
}

const DISCORD =
  'set it to what Discord shows as "Public Key" on the page General Information of the application; it is not the token of the bot';
