import type { Scheme, SignatureColumns } from './scheme.ts';

/** Five minutes: what most providers name as the age at which a signed request is refused. */
const FIVE_MINUTES = 300;

/** The signature header of GitHub, which several providers took over. */
const HUB_SIGNATURE = {
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  signed: '{body}',
} as const satisfies Partial<SignatureColumns>;

/** `t=<seconds>,v1=<hex>`, as Stripe made it known. */
const STRIPE_LIST = {
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  separator: ',',
  signatureField: 'v1',
  timestampField: 't',
  signed: '{timestamp}.{body}',
} as const satisfies Partial<SignatureColumns>;

/** `v0=<hex>` over `v0:<seconds>:<body>`, as Slack made it known. */
const SLACK_V0 = {
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  prefix: 'v0=',
  signed: 'v0:{timestamp}:{body}',
} as const satisfies Partial<SignatureColumns>;

/** Standard Webhooks: a list of `v1,<base64>` over `id.seconds.body`; `svix-` is the older name of its headers. */
function standardWebhooks(names: 'webhook' | 'svix', version: 'v1' | 'v1a'): SignatureColumns {
  return {
    algorithm: version === 'v1' ? 'hmac-sha256' : 'ed25519',
    header: `${names}-signature`,
    encoding: 'base64',
    separator: ' ',
    assign: ',',
    signatureField: version,
    timestampHeader: `${names}-timestamp`,
    idHeader: `${names}-id`,
    signed: '{id}.{timestamp}.{body}',
    secretEncoding: 'base64',
    secretPrefix: version === 'v1' ? 'whsec_' : 'whpk_',
  };
}

function signature(columns: SignatureColumns): Scheme['ways'] {
  return [{ way: { kind: 'signature', columns } }];
}

/** The providers, as data. Each row is tested against a vector of the provider's documentation or SDK. */
export const SCHEMES = {
  github: {
    provider: 'GitHub',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    ways: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature-256' }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-github-delivery',
  },
  gitlab: {
    provider: 'GitLab',
    source: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    ways: [
      {
        beginsWith: ['whsec_'],
        way: { kind: 'signature', columns: standardWebhooks('webhook', 'v1') },
      },
      { notWith: ['whsec_'], way: { kind: 'secret', header: 'x-gitlab-token' } },
    ],
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-gitlab-event-uuid',
  },
  bitbucket: {
    provider: 'Bitbucket',
    source: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
    ways: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature' }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-request-uuid',
  },
  stripe: {
    provider: 'Stripe',
    source: 'https://docs.stripe.com/webhooks/signature',
    ways: signature({ ...STRIPE_LIST, header: 'stripe-signature' }),
    toleranceSeconds: FIVE_MINUTES,
  },
  shopify: {
    provider: 'Shopify',
    source: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'x-shopify-hmac-sha256',
      encoding: 'base64',
      signed: '{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-shopify-event-id',
  },
  slack: {
    provider: 'Slack',
    source: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    ways: signature({
      ...SLACK_V0,
      header: 'x-slack-signature',
      timestampHeader: 'x-slack-request-timestamp',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  discord: {
    provider: 'Discord',
    source: 'https://docs.discord.com/developers/interactions/overview',
    ways: signature({
      algorithm: 'ed25519',
      header: 'x-signature-ed25519',
      encoding: 'hex',
      timestampHeader: 'x-signature-timestamp',
      signed: '{timestamp}{body}',
      secretEncoding: 'hex',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  linear: {
    provider: 'Linear',
    source: 'https://linear.app/developers/webhooks',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'linear-signature',
      encoding: 'hex',
      timestampMember: 'webhookTimestamp',
      timestampUnit: 'milliseconds',
      signed: '{body}',
    }),
    toleranceSeconds: 60,
    deliveryHeader: 'linear-delivery',
  },
  sentry: {
    provider: 'Sentry',
    source: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'sentry-hook-signature',
      encoding: 'hex',
      signed: '{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'request-id',
  },
  twilio: {
    provider: 'Twilio',
    source: 'https://www.twilio.com/docs/usage/security#validating-requests',
    ways: [{ way: { kind: 'twilio' } }],
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'i-twilio-idempotency-token',
  },
  sendgrid: {
    provider: 'SendGrid',
    source:
      'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
    ways: signature({
      algorithm: 'ecdsa-sha256',
      header: 'x-twilio-email-event-webhook-signature',
      encoding: 'base64',
      timestampHeader: 'x-twilio-email-event-webhook-timestamp',
      signed: '{timestamp}{body}',
      secretEncoding: 'base64',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  mailgun: {
    provider: 'Mailgun',
    source: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
    ways: [{ way: { kind: 'mailgun' } }],
    // Mailgun sends a failed event again for eight hours with the time of its first attempt; its token is signed.
    toleranceSeconds: 43_200,
  },
  typeform: {
    provider: 'Typeform',
    source: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'typeform-signature',
      encoding: 'base64',
      prefix: 'sha256=',
      signed: '{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  calendly: {
    provider: 'Calendly',
    source: 'https://developer.calendly.com/api-docs/ZG9jOjE2OTQ2MDMw-webhook-signatures',
    ways: signature({ ...STRIPE_LIST, header: 'calendly-webhook-signature' }),
    toleranceSeconds: FIVE_MINUTES,
  },
  zoom: {
    provider: 'Zoom',
    source: 'https://developers.zoom.us/docs/api/webhooks/',
    ways: signature({ ...SLACK_V0, header: 'x-zm-signature', timestampHeader: 'x-zm-request-timestamp' }),
    toleranceSeconds: FIVE_MINUTES,
  },
  meta: {
    provider: 'Meta',
    source: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    ways: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature-256' }),
    toleranceSeconds: FIVE_MINUTES,
  },
  pagerduty: {
    provider: 'PagerDuty',
    source: 'https://developer.pagerduty.com/docs/verifying-signatures',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'x-pagerduty-signature',
      encoding: 'hex',
      separator: ',',
      signatureField: 'v1',
      signed: '{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-webhook-id',
  },
  square: {
    provider: 'Square',
    source: 'https://developer.squareup.com/docs/webhooks/step3validate',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'x-square-hmacsha256-signature',
      encoding: 'base64',
      signed: '{url}{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  paddle: {
    provider: 'Paddle',
    source: 'https://developer.paddle.com/webhooks/signature-verification',
    ways: signature({
      algorithm: 'hmac-sha256',
      header: 'paddle-signature',
      encoding: 'hex',
      separator: ';',
      signatureField: 'h1',
      timestampField: 'ts',
      signed: '{timestamp}:{body}',
    }),
    toleranceSeconds: FIVE_MINUTES,
  },
  telegram: {
    provider: 'Telegram',
    source: 'https://core.telegram.org/bots/api#setwebhook',
    ways: [{ way: { kind: 'secret', header: 'x-telegram-bot-api-secret-token' } }],
    toleranceSeconds: FIVE_MINUTES,
  },
  jira: {
    provider: 'Jira',
    source: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    ways: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature' }),
    toleranceSeconds: FIVE_MINUTES,
    deliveryHeader: 'x-atlassian-webhook-identifier',
  },
  'standard-webhooks': {
    provider: 'Standard Webhooks',
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    ways: [
      {
        notWith: ['whpk_'],
        way: { kind: 'signature', columns: standardWebhooks('webhook', 'v1') },
      },
      {
        notWith: ['whpk_'],
        way: { kind: 'signature', columns: standardWebhooks('svix', 'v1') },
      },
      {
        beginsWith: ['whpk_'],
        way: { kind: 'signature', columns: standardWebhooks('webhook', 'v1a') },
      },
      {
        beginsWith: ['whpk_'],
        way: { kind: 'signature', columns: standardWebhooks('svix', 'v1a') },
      },
    ],
    toleranceSeconds: FIVE_MINUTES,
  },
} as const satisfies Record<string, Scheme>;

export type ProviderName = keyof typeof SCHEMES;

export const PROVIDER_NAMES = Object.keys(SCHEMES) as readonly ProviderName[];
