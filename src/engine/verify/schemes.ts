import { defined } from '../../base/json.ts';
import type { Scheme, SignatureColumns } from './scheme.ts';
import { TWILIO_HEADER } from './own-ways.ts';

/** HMAC over the body, as most sign. */
const PLAIN = {
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  signed: '{body}',
} as const satisfies Partial<SignatureColumns>;

const BASE64 = { ...PLAIN, encoding: 'base64' } as const;

/** The signature header of GitHub, which several providers took over. */
const HUB_SIGNATURE = { ...PLAIN, prefix: 'sha256=' } as const satisfies Partial<SignatureColumns>;

/** `t=<seconds>,v1=<hex>`, as Stripe made it known. */
const STRIPE_LIST = {
  ...PLAIN,
  separator: ',',
  signatureField: 'v1',
  timestampField: 't',
  signed: '{timestamp}.{body}',
} as const satisfies Partial<SignatureColumns>;

/** `v0=<hex>` over `v0:<seconds>:<body>`, as Slack made it known. */
const SLACK_V0 = {
  ...PLAIN,
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

function signature(columns: SignatureColumns, toleranceSeconds?: number): Scheme {
  return { ways: [{ way: { kind: 'signature', columns } }], ...defined({ toleranceSeconds }) };
}

/**
 * How providers prove themselves, as data; what else is known of them stands in `senders/`. Each row is tested against a
 * vector of the provider's documentation or SDK.
 */
export const SCHEMES = {
  github: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature-256' }),
  gitlab: {
    ways: [
      {
        beginsWith: ['whsec_'],
        way: { kind: 'signature', columns: standardWebhooks('webhook', 'v1') },
      },
      { notWith: ['whsec_'], way: { kind: 'secret', header: 'x-gitlab-token' } },
    ],
  },
  bitbucket: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature' }),
  stripe: signature({ ...STRIPE_LIST, header: 'stripe-signature' }),
  shopify: signature({ ...BASE64, header: 'x-shopify-hmac-sha256' }),
  slack: signature({
    ...SLACK_V0,
    header: 'x-slack-signature',
    timestampHeader: 'x-slack-request-timestamp',
  }),
  discord: signature({
    algorithm: 'ed25519',
    header: 'x-signature-ed25519',
    encoding: 'hex',
    timestampHeader: 'x-signature-timestamp',
    signed: '{timestamp}{body}',
    secretEncoding: 'hex',
  }),
  linear: signature(
    {
      ...PLAIN,
      header: 'linear-signature',
      timestampMember: 'webhookTimestamp',
      timestampUnit: 'milliseconds',
    },
    60,
  ),
  sentry: signature({ ...PLAIN, header: 'sentry-hook-signature' }),
  twilio: { ways: [{ way: { kind: 'twilio', header: TWILIO_HEADER } }] },
  mandrill: { ways: [{ way: { kind: 'twilio', header: 'x-mandrill-signature' } }] },
  sendgrid: signature({
    algorithm: 'ecdsa-sha256',
    header: 'x-twilio-email-event-webhook-signature',
    encoding: 'base64',
    timestampHeader: 'x-twilio-email-event-webhook-timestamp',
    signed: '{timestamp}{body}',
    secretEncoding: 'base64',
  }),
  mailgun: {
    ways: [{ way: { kind: 'mailgun' } }],
    // Mailgun sends a failed event again for eight hours with the time of its first attempt; its token is signed.
    toleranceSeconds: 43_200,
  },
  typeform: signature({ ...BASE64, header: 'typeform-signature', prefix: 'sha256=' }),
  calendly: signature({ ...STRIPE_LIST, header: 'calendly-webhook-signature' }),
  zoom: signature({ ...SLACK_V0, header: 'x-zm-signature', timestampHeader: 'x-zm-request-timestamp' }),
  meta: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature-256' }),
  pagerduty: signature({ ...PLAIN, header: 'x-pagerduty-signature', separator: ',', signatureField: 'v1' }),
  square: signature({ ...BASE64, header: 'x-square-hmacsha256-signature', signed: '{url}{body}' }),
  paddle: signature({
    ...PLAIN,
    header: 'paddle-signature',
    separator: ';',
    signatureField: 'h1',
    timestampField: 'ts',
    signed: '{timestamp}:{body}',
  }),
  telegram: {
    ways: [{ way: { kind: 'secret', header: 'x-telegram-bot-api-secret-token' } }],
  },
  jira: signature({ ...HUB_SIGNATURE, header: 'x-hub-signature' }),
  notion: signature({ ...HUB_SIGNATURE, header: 'x-notion-signature' }),
  hubspot: signature({
    ...BASE64,
    header: 'x-hubspot-signature-v3',
    timestampHeader: 'x-hubspot-request-timestamp',
    timestampUnit: 'milliseconds',
    signed: '{method}{url}{body}{timestamp}',
  }),
  zendesk: signature({
    ...BASE64,
    header: 'x-zendesk-webhook-signature',
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
    timestampUnit: 'iso8601',
    signed: '{timestamp}{body}',
  }),
  intercom: signature({
    ...HUB_SIGNATURE,
    algorithm: 'hmac-sha1',
    prefix: 'sha1=',
    header: 'x-hub-signature',
  }),
  'standard-webhooks': {
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
  },
} as const satisfies Record<string, Scheme>;

export type ProviderName = keyof typeof SCHEMES;

export const PROVIDER_NAMES = Object.keys(SCHEMES) as readonly ProviderName[];
