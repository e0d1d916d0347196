import type { SignatureColumns } from '../../verify/facts.ts';

/** A sender that has no scheme of its own here, and signs in a way that the general scheme `hmac` describes. */
export interface KnownSender {
  /** As people may write it, without anything but small letters and digits. */
  readonly names: readonly string[];
  /** As it writes itself. */
  readonly provider: string;
  /** Where it documents its signature. */
  readonly source: string;
  readonly columns: SignatureColumns;
}

const PLAIN = { algorithm: 'hmac-sha256', encoding: 'hex', signed: '{body}' } as const;
const BASE64 = { ...PLAIN, encoding: 'base64' } as const;
const LIST = { ...PLAIN, separator: ',', timestampField: 't', signed: '{timestamp}.{body}' } as const;

function sender(names: string, provider: string, source: string, columns: SignatureColumns): KnownSender {
  return { names: names.split(' '), provider, source: `https://${source}`, columns };
}

/** What advice is given from; nothing is judged by these rows. */
export const KNOWN_SENDERS: readonly KnownSender[] = [
  sender('airtable', 'Airtable', 'airtable.com/developers/web/api/webhooks-overview', {
    ...PLAIN,
    header: 'x-airtable-content-mac',
    prefix: 'hmac-sha256=',
    secretEncoding: 'base64',
  }),
  sender('asana', 'Asana', 'developers.asana.com/docs/webhooks-guide', {
    ...PLAIN,
    header: 'x-hook-signature',
  }),
  sender('box', 'Box', 'developer.box.com/guides/webhooks/v2/signatures-v2', {
    ...BASE64,
    header: 'box-signature-primary',
    timestampHeader: 'box-delivery-timestamp',
    timestampUnit: 'iso8601',
    signed: '{body}{timestamp}',
  }),
  sender('buildkite', 'Buildkite', 'buildkite.com/docs/apis/webhooks', {
    ...LIST,
    header: 'x-buildkite-signature',
    signatureField: 'signature',
    timestampField: 'timestamp',
  }),
  sender('calcom cal', 'Cal.com', 'cal.com/docs/developing/guides/automation/webhooks', {
    ...PLAIN,
    header: 'x-cal-signature-256',
  }),
  sender('circleci circle', 'CircleCI', 'circleci.com/docs/webhooks', {
    ...PLAIN,
    header: 'circleci-signature',
    separator: ',',
    signatureField: 'v1',
  }),
  sender('clickup', 'ClickUp', 'developer.clickup.com/docs/webhooksignature', {
    ...PLAIN,
    header: 'x-signature',
  }),
  sender('coinbase coinbasecommerce', 'Coinbase', 'docs.cloud.coinbase.com/commerce/docs/webhooks-security', {
    ...PLAIN,
    header: 'x-cc-webhook-signature',
  }),
  sender('customerio', 'Customer.io', 'customer.io/docs/journeys/webhooks-action', {
    ...PLAIN,
    header: 'x-cio-signature',
    timestampHeader: 'x-cio-timestamp',
    signed: 'v0:{timestamp}:{body}',
  }),
  sender(
    'discourse',
    'Discourse',
    'meta.discourse.org/t/configure-webhooks-that-trigger-on-discourse-events/49045',
    { ...PLAIN, header: 'x-discourse-event-signature', prefix: 'sha256=' },
  ),
  sender('docusign', 'DocuSign', 'developers.docusign.com/platform/webhooks/connect/hmac', {
    ...BASE64,
    header: 'x-docusign-signature-1',
  }),
  sender('dropbox', 'Dropbox', 'www.dropbox.com/developers/reference/webhooks', {
    ...PLAIN,
    header: 'x-dropbox-signature',
  }),
  sender('elevenlabs', 'ElevenLabs', 'elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks', {
    ...LIST,
    header: 'elevenlabs-signature',
    signatureField: 'v0',
  }),
  sender('helpscout', 'Help Scout', 'developer.helpscout.com/webhooks', {
    ...BASE64,
    algorithm: 'hmac-sha1',
    header: 'x-helpscout-signature',
  }),
  sender('heroku', 'Heroku', 'devcenter.heroku.com/articles/app-webhooks', {
    ...BASE64,
    header: 'heroku-webhook-hmac-sha256',
  }),
  sender('hubspot', 'HubSpot', 'developers.hubspot.com/docs/api/webhooks/validating-requests', {
    ...BASE64,
    header: 'x-hubspot-signature-v3',
    timestampHeader: 'x-hubspot-request-timestamp',
    timestampUnit: 'milliseconds',
    signed: '{method}{url}{body}{timestamp}',
  }),
  sender(
    'intercom',
    'Intercom',
    'developers.intercom.com/intercom-api-reference/v1.0/reference/signed-notifications',
    { ...PLAIN, algorithm: 'hmac-sha1', header: 'x-hub-signature', prefix: 'sha1=' },
  ),
  sender('launchdarkly', 'LaunchDarkly', 'docs.launchdarkly.com/home/connecting/webhooks', {
    ...PLAIN,
    header: 'x-ld-signature',
  }),
  sender('lemonsqueezy', 'Lemon Squeezy', 'docs.lemonsqueezy.com/help/webhooks/signing-requests', {
    ...PLAIN,
    header: 'x-signature',
  }),
  sender('line', 'LINE', 'developers.line.biz/en/docs/messaging-api/verify-webhook-signature', {
    ...BASE64,
    header: 'x-line-signature',
  }),
  sender('mux', 'Mux', 'docs.mux.com/guides/video/verify-webhook-signatures', {
    ...LIST,
    header: 'mux-signature',
    signatureField: 'v1',
  }),
  sender('notion', 'Notion', 'developers.notion.com/reference/webhooks', {
    ...PLAIN,
    header: 'x-notion-signature',
    prefix: 'sha256=',
  }),
  sender('paystack', 'Paystack', 'paystack.com/docs/payments/webhooks', {
    ...PLAIN,
    algorithm: 'hmac-sha512',
    header: 'x-paystack-signature',
  }),
  sender('quickbooks intuit', 'QuickBooks', 'developer.intuit.com/app/developer/qbo/docs/develop/webhooks', {
    ...BASE64,
    header: 'intuit-signature',
  }),
  sender('razorpay', 'Razorpay', 'razorpay.com/docs/webhooks/validate-test', {
    ...PLAIN,
    header: 'x-razorpay-signature',
  }),
  sender('sonarqube sonar sonarcloud', 'SonarQube', 'docs.sonarsource.com/sonarqube-server/webhooks', {
    ...PLAIN,
    header: 'x-sonar-webhook-hmac-sha256',
  }),
  sender(
    'terraform terraformcloud hcpterraform tfe tfc',
    'HCP Terraform',
    'developer.hashicorp.com/terraform/cloud-docs/api-docs/notification-configurations',
    { ...PLAIN, algorithm: 'hmac-sha512', header: 'x-tfe-notification-signature' },
  ),
  sender('todoist', 'Todoist', 'developer.todoist.com/sync/v9', {
    ...BASE64,
    header: 'x-todoist-hmac-sha256',
  }),
  sender('twitch', 'Twitch', 'dev.twitch.tv/docs/eventsub/handling-webhook-events', {
    ...PLAIN,
    header: 'twitch-eventsub-message-signature',
    prefix: 'sha256=',
    timestampHeader: 'twitch-eventsub-message-timestamp',
    timestampUnit: 'iso8601',
    idHeader: 'twitch-eventsub-message-id',
    signed: '{id}{timestamp}{body}',
  }),
  sender('vercel', 'Vercel', 'vercel.com/docs/webhooks/webhooks-api', {
    ...PLAIN,
    algorithm: 'hmac-sha1',
    header: 'x-vercel-signature',
  }),
  sender('webflow', 'Webflow', 'developers.webflow.com/data/docs/working-with-webhooks', {
    ...PLAIN,
    header: 'x-webflow-signature',
    timestampHeader: 'x-webflow-timestamp',
    timestampUnit: 'milliseconds',
    signed: '{timestamp}:{body}',
  }),
  sender('woocommerce woo wc', 'WooCommerce', 'woocommerce.com/document/webhooks', {
    ...BASE64,
    header: 'x-wc-webhook-signature',
  }),
  sender('workos', 'WorkOS', 'workos.com/docs/events/data-syncing/webhooks', {
    ...LIST,
    header: 'workos-signature',
    signatureField: 'v1',
    timestampUnit: 'milliseconds',
  }),
  sender('xero', 'Xero', 'developer.xero.com/documentation/guides/webhooks/configuring-your-server', {
    ...BASE64,
    header: 'x-xero-signature',
  }),
  sender('zendesk', 'Zendesk', 'developer.zendesk.com/documentation/webhooks/verifying', {
    ...BASE64,
    header: 'x-zendesk-webhook-signature',
    timestampHeader: 'x-zendesk-webhook-signature-timestamp',
    timestampUnit: 'iso8601',
    signed: '{timestamp}{body}',
  }),
];

/** The sender of this name, however it is written. */
export function findKnownSender(name: string): KnownSender | undefined {
  const plain = name.toLowerCase().replaceAll(/[^a-z\d]/g, '');
  return KNOWN_SENDERS.find(({ names }) => names.includes(plain));
}
