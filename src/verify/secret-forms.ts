import type { VerifySettings } from './verify-settings.ts';

/** What is wrong with one secret of a path; it is never in it. */
export interface SecretFacts {
  readonly scheme: VerifySettings['scheme'];
  /** `form`: it can be used, and its form says that it is another one. */
  readonly wrong: 'quotes' | 'form' | 'unusable';
  /** Of `form` and `unusable`: what was found. */
  readonly what?: string;
  /** The user of verify, with whom a password begins. */
  readonly user?: string;
}

/** What is wrong, in one sentence. */
export function secretSentence({ wrong, what = '' }: SecretFacts): string {
  switch (wrong) {
    case 'quotes':
      return 'the value of this secret begins and ends with a quote, which is then a part of it';
    case 'form':
      return `the value of this secret ${what}`;
    case 'unusable':
      return `this secret of the path cannot be used: ${what}`;
  }
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

/** What shows in the text of a secret alone, though it can be used. */
export function doubtSecret(settings: VerifySettings, secret: string): SecretFacts | undefined {
  const { scheme } = settings;
  if (settings.scheme === 'basic') {
    const { user } = settings;
    return secret.startsWith(`${user}:`)
      ? { scheme, wrong: 'form', what: `begins with "${user}:", the user of verify`, user }
      : undefined;
  }
  // A text of the operator's own choice, which may be anything.
  if (scheme === 'token' || scheme === 'header' || scheme === 'gitlab' || scheme === 'oidc') return undefined;
  const what = FOREIGN.find(([form]) => form.test(secret))?.[1];
  return what === undefined
    ? undefined
    : { scheme, wrong: 'form', what: `has the form of ${what}, and is no signing secret` };
}
