import type { VerifySettings } from './verify-settings.ts';

/** What is wrong with the text of a secret, though it can be used; it is never in the words. */
export interface SecretDoubt {
  readonly what: string;
  readonly remedy: string;
}

/** Credentials whose form tells them: keys to somebody's interface, with which no sender signs its webhooks. */
const FOREIGN: readonly (readonly [form: RegExp, what: string])[] = [
  [/^\d{6,12}:[\w-]{30,60}$/, 'the token of a Telegram bot'],
  [/^xox[abeoprs]-|^xapp-/, 'a token of a Slack app'],
  [/^re_[A-Za-z0-9]{6}/, 'an API key of Resend'],
  [/^sk-[\w-]{16}/, 'an API key of a model provider (OpenAI, Anthropic)'],
  [/^AIza[\w-]{30}/, 'an API key of Google'],
  [/^glpat-/, 'an access token of GitLab'],
  [/^ntn_[A-Za-z0-9]{16}/, 'the token of a Notion integration'],
  [/^pat-(?:na|eu)\d-/, 'the access token of a HubSpot app'],
  [/^xkeysib-/, 'an API key of Brevo'],
  [/^cal_(?:live_)?[A-Za-z0-9]{16}/, 'an API key of Cal.com'],
  [/^[prs]k_(?:live|test)_/, 'an API key (Stripe, Clerk and others have keys that begin so)'],
  [/^gh[opsur]_[A-Za-z0-9]{20}|^github_pat_/, 'an access token of GitHub'],
  [/^shp(?:at|ca|pa)_/, 'an access token of Shopify'],
  [/^SG\.[\w-]{16,}\./, 'an API key of SendGrid'],
  [/^(?:AC|SK)[0-9a-f]{32}$/, 'the SID of a Twilio account or key'],
  [/^lin_(?:api|oauth)_/, 'an API key of Linear'],
  [/^sntr(?:ys|yu)_/, 'an auth token of Sentry'],
  [/^tfp_/, 'a personal token of Typeform'],
  [/^pdl_(?:live_|sdbx_)?apikey_/, 'an API key of Paddle'],
];

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

/** What the secrets of a scheme look like, where all of them do. */
const FORMS: Readonly<Record<string, RegExp>> = {
  stripe: /^whsec_/,
  'standard-webhooks': /^whsec_/,
  linear: /^lin_wh_/,
  paddle: /^pdl_ntfset_/,
  slack: /^[\da-f]{32}$/,
  twilio: /^[\da-f]{32}$/,
};

/** Whether the value of a variable may well be the secret of a scheme: by its form, or else by its name. */
export function mayBeSecret({ scheme }: VerifySettings, name: string, secret: string): boolean {
  const form = Object.hasOwn(FORMS, scheme) ? FORMS[scheme] : undefined;
  if (form !== undefined) return form.test(secret);
  return /HOOK|SIGN/i.test(name) && !FOREIGN.some(([foreign]) => foreign.test(secret));
}

/** Doubts about a secret that show in its form alone. */
export function doubtSecret(settings: VerifySettings, secret: string): SecretDoubt | undefined {
  const { scheme } = settings;
  if (settings.scheme === 'basic') {
    return secret.startsWith(`${settings.user}:`) ? userAndPassword(settings.user) : undefined;
  }
  // A text of the operator's own choice, which may be anything.
  if (scheme === 'token' || scheme === 'header' || scheme === 'gitlab' || scheme === 'oidc') return undefined;
  const what = FOREIGN.find(([form]) => form.test(secret))?.[1];
  if (what === undefined) return undefined;
  const shown = shownAs(scheme) ?? 'the secret that the sender shows for its webhook';
  return {
    what: `has the form of ${what}, and is no signing secret`,
    remedy: `set it to ${shown}`,
  };
}

export function userAndPassword(user: string): SecretDoubt {
  return {
    what: `begins with "${user}:", the user of verify`,
    remedy:
      'a secret of the scheme basic is the password alone: remove the user and the colon from its value',
  };
}
