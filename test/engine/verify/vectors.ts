/** One signed request of each provider, with the place its proof comes from. */
import type { ProofSettings, SignedRequest } from '../../../src/engine/verify/verify.ts';

export interface Vector {
  readonly name: string;
  /** Where the proof comes from: published by the provider, or made with the provider's own library. */
  readonly source: string;
  readonly proof: ProofSettings;
  readonly request: SignedRequest;
  /** Seconds since the epoch at which it was sent. */
  readonly sentAt: number;
  /** The header with the proof; absent where the proof stands in the body. */
  readonly header?: string;
  /** Further headers that are signed. */
  readonly signedHeaders?: readonly string[];
  /** False where the proof says nothing about the body. */
  readonly coversBody: boolean;
  readonly coversUrl?: boolean;
  readonly toleranceSeconds?: number;
  readonly signedId?: string;
}

interface Short extends Omit<Vector, 'proof' | 'request' | 'coversBody' | 'sentAt'> {
  readonly scheme: ProofSettings['settings']['scheme'];
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly url?: string;
  readonly sentAt?: number;
  readonly coversBody?: boolean;
}

function rawHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}

function vector(short: Short): Vector {
  const {
    scheme,
    secrets,
    headers,
    body,
    url = 'https://hooks.example.com/hooks/x',
    sentAt,
    ...rest
  } = short;
  return {
    coversBody: true,
    ...rest,
    sentAt: sentAt ?? 1_700_000_000,
    proof: { settings: { scheme, secrets: secrets.map(() => '${SECRET}') } as never, secrets },
    request: { method: 'POST', url, rawHeaders: rawHeaders(headers), body: Buffer.from(body, 'utf8') },
  };
}

const WEBSUB_SECRET = "It's a Secret to Everybody";
const NOTION_TOKEN = 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl';
const FORM = 'application/x-www-form-urlencoded';
/** The public key of RFC 8032 section 7.1, test 1; its private key made the Ed25519 vectors below. */
const RFC_8032_PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

const TWILIO_FORM =
  'Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE';
const TWILIO_URL = 'https://mycompany.com/myapp.php?foo=1&bar=2';

const PAGERDUTY_BODY =
  '{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}';

const SENDGRID_BODY =
  '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n';

const PADDLE_BODY =
  '{"data":{"id":"pri_01hsdn96k2hxjzsq5yerecdj9j","name":null,"status":"active","quantity":{"maximum":999999,"minimum":1},"tax_mode":"account_setting","product_id":"pro_01hsdn8qp7yydry3x1yeg6a9rv","unit_price":{"amount":"1000","currency_code":"USD"},"custom_data":null,"description":"testing","import_meta":null,"trial_period":null,"billing_cycle":{"interval":"month","frequency":1},"unit_price_overrides":[]},"event_id":"evt_01hsdn97563968dy0szkmgjwh3","event_type":"price.created","occurred_at":"2024-03-20T10:07:35.590857Z","notification_id":"ntf_01hsdn977e920kbgzt6r6c9rqc"}';

export const VECTORS: readonly Vector[] = [
  vector({
    name: 'github',
    source: 'GitHub docs, "Validating webhook deliveries", test values',
    scheme: 'github',
    secrets: [WEBSUB_SECRET],
    header: 'x-hub-signature-256',
    headers: {
      'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    body: 'Hello, World!',
  }),
  vector({
    name: 'gitlab (signing token)',
    source: 'made with npm standardwebhooks 1.1.1, which GitLab names as the judge of its signing token',
    scheme: 'gitlab',
    secrets: ['whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='],
    header: 'webhook-signature',
    signedHeaders: ['webhook-id', 'webhook-timestamp'],
    headers: {
      'webhook-id': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
      'webhook-timestamp': '1700000000',
      'webhook-signature': 'v1,hFp8242mhdkzdRLXnk/yms3p4ARCdE44TkTEYxAqXVI=',
    },
    body: '{"object_kind":"push","ref":"refs/heads/main"}',
    toleranceSeconds: 300,
    signedId: 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
  }),
  vector({
    name: 'gitlab (secret token)',
    source: 'GitLab docs, "Webhooks": the secret token is sent as it is in X-Gitlab-Token',
    scheme: 'gitlab',
    secrets: ['a-token-of-gitlab'],
    header: 'x-gitlab-token',
    headers: { 'X-Gitlab-Token': 'a-token-of-gitlab' },
    body: '{"object_kind":"push"}',
    coversBody: false,
  }),
  vector({
    name: 'bitbucket',
    source: 'Bitbucket Cloud docs, "Manage webhooks", testing the payload validation',
    scheme: 'bitbucket',
    secrets: [WEBSUB_SECRET],
    header: 'x-hub-signature',
    headers: { 'X-Hub-Signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9' },
    body: 'Hello World!',
  }),
  vector({
    name: 'stripe',
    source: 'made with npm stripe, webhooks.generateTestHeaderString',
    scheme: 'stripe',
    secrets: ['whsec_test_secret'],
    header: 'stripe-signature',
    headers: {
      'Stripe-Signature':
        't=1700000000,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=dfb4777aaaec4ea29ff455dd4df7fe6b2ef71096ad3a93a158db7e100109ea91',
    },
    body: '{"id":"evt_1","object":"event","type":"invoice.paid"}',
    toleranceSeconds: 300,
  }),
  vector({
    name: 'shopify',
    source: 'made with openssl, judged valid by npm @shopify/shopify-api, webhooks.validate',
    scheme: 'shopify',
    secrets: ['hush'],
    header: 'x-shopify-hmac-sha256',
    headers: { 'X-Shopify-Hmac-SHA256': 'D0UMXmhjwBRi4y66TmhJrDlhQABD7zI2fm3p6/QLMo8=' },
    body: '{"id":820982911946154508,"email":"jon@example.com"}',
  }),
  vector({
    name: 'slack',
    source: 'Slack docs, "Verifying requests from Slack", worked example',
    scheme: 'slack',
    secrets: ['8f742231b10e8888abcd99yyyzzz85a5'],
    header: 'x-slack-signature',
    signedHeaders: ['x-slack-request-timestamp'],
    headers: {
      'Content-Type': FORM,
      'X-Slack-Request-Timestamp': '1531420618',
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    sentAt: 1_531_420_618,
    toleranceSeconds: 300,
  }),
  vector({
    name: 'discord',
    source: 'made with the key of RFC 8032 section 7.1, judged valid by npm discord-interactions, verifyKey',
    scheme: 'discord',
    secrets: [RFC_8032_PUBLIC],
    header: 'x-signature-ed25519',
    signedHeaders: ['x-signature-timestamp'],
    headers: {
      'X-Signature-Ed25519':
        '227ac561b4a90894bbd2e5158c9e526c99b6b4d0f3f544b8c775dd9eefbb3a18d86712393a6cc311030cd9792ed3b9414feead4d1b66c3f3806e7e28fa55dc03',
      'X-Signature-Timestamp': '1700000000',
    },
    body: '{"type":2,"data":{"name":"deploy"}}',
    toleranceSeconds: 300,
  }),
  vector({
    name: 'linear',
    source: 'made with openssl, judged valid by npm @linear/sdk, LinearWebhookClient',
    scheme: 'linear',
    secrets: ['lin_wh_secret'],
    header: 'linear-signature',
    headers: { 'Linear-Signature': '5353781f054d8cd8611e4b14d83a43d9d7addf39ea2dc58c5fae252a2ba20fe1' },
    body: '{"action":"create","type":"Issue","data":{"title":"x"},"webhookTimestamp":1700000000000}',
    toleranceSeconds: 60,
  }),
  vector({
    name: 'sentry',
    source: 'made with openssl as the Sentry docs, "Webhooks", describe it; no vector is published',
    scheme: 'sentry',
    secrets: ['client_secret'],
    header: 'sentry-hook-signature',
    headers: {
      'Sentry-Hook-Signature': 'cd43c17bb11f4bb00f9b0eda65fcea9d312c493761374768db035bab329e01a4',
    },
    body: '{"action":"created","data":{"issue":{"id":"1"}}}',
  }),
  vector({
    name: 'twilio (form)',
    source: 'Twilio docs, "Security", worked example; also in the tests of the twilio libraries',
    scheme: 'twilio',
    secrets: ['12345'],
    header: 'x-twilio-signature',
    headers: {
      'Content-Type': `${FORM}; charset=UTF-8`,
      'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    },
    url: TWILIO_URL,
    body: TWILIO_FORM,
    coversUrl: true,
  }),
  vector({
    name: 'twilio (form, a name twice)',
    source: 'made with npm twilio, getExpectedTwilioSignature',
    scheme: 'twilio',
    secrets: ['12345'],
    header: 'x-twilio-signature',
    headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'IK+Dwps556ElfBT0I3Rgjkr1wJU=' },
    url: TWILIO_URL,
    body: 'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
    coversUrl: true,
  }),
  vector({
    name: 'twilio (signed with its port)',
    source: 'made with npm twilio, getExpectedTwilioSignature',
    scheme: 'twilio',
    secrets: ['12345'],
    header: 'x-twilio-signature',
    headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'kvajT1Ptam85bY51eRf/AJRuM3w=' },
    url: TWILIO_URL,
    body: TWILIO_FORM,
    coversUrl: true,
  }),
  vector({
    name: 'twilio (JSON)',
    source: 'tests of the twilio libraries: bodySHA256 in the address',
    scheme: 'twilio',
    secrets: ['12345'],
    header: 'x-twilio-signature',
    headers: { 'Content-Type': 'application/json', 'X-Twilio-Signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    url: `${TWILIO_URL}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
    body: '{"property": "value", "boolean": true}',
    coversUrl: true,
  }),
  vector({
    name: 'mandrill',
    source:
      'made with openssl as the Mandrill docs, "How to Authenticate Webhook Requests", describe it; no vector is published',
    scheme: 'mandrill',
    secrets: ['KfFuThPttL_KoUyDndHW3A'],
    header: 'x-mandrill-signature',
    headers: { 'Content-Type': FORM, 'X-Mandrill-Signature': 'gD8Pw6T4+hebQaLxjIOGKY7GDwk=' },
    url: 'https://hooks.example.com/hooks/mail?site=1',
    body: 'mandrill_events=%5B%7B%22event%22%3A%22send%22%2C%22msg%22%3A%7B%22subject%22%3A%22a+%26+b+%C3%A9%22%7D%7D%5D',
    coversUrl: true,
  }),
  vector({
    name: 'sendgrid',
    source: 'tests of the sendgrid libraries, event webhook (key, signature, time and payload)',
    scheme: 'sendgrid',
    secrets: [
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    ],
    header: 'x-twilio-email-event-webhook-signature',
    signedHeaders: ['x-twilio-email-event-webhook-timestamp'],
    headers: {
      'X-Twilio-Email-Event-Webhook-Signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      'X-Twilio-Email-Event-Webhook-Timestamp': '1600112502',
    },
    body: SENDGRID_BODY,
    sentAt: 1_600_112_502,
    toleranceSeconds: 300,
  }),
  vector({
    name: 'mailgun',
    source:
      'time and token of the Mailgun docs, "Securing webhooks"; signed with openssl, as its key is not published',
    scheme: 'mailgun',
    secrets: ['key-3ax6xnjp29jd6fds4gc373sgvjxteol0'],
    headers: { 'Content-Type': 'application/json' },
    body: '{"signature":{"timestamp":"1529006854","token":"a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0","signature":"b63c0701c4f4b614f272106a1b367c5c3369bcdca664ae73ebd52787e45eef07"},"event-data":{"event":"opened","timestamp":1529006854.329574,"id":"DACSsAdVSeGpLid7TN03WA"}}',
    sentAt: 1_529_006_854,
    coversBody: false,
    toleranceSeconds: 43_200,
    signedId: 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0',
  }),
  vector({
    name: 'typeform',
    source:
      'made with openssl as the Typeform docs, "Secure your webhooks", describe it; no vector is published',
    scheme: 'typeform',
    secrets: ['typeform_secret'],
    header: 'typeform-signature',
    headers: { 'Typeform-Signature': 'sha256=1iWiWTtWxgAz7x3mzPM4OVKj4u/srK+q0W0ezqDW2TI=' },
    body: '{"event_id":"LtWXD3crgy","event_type":"form_response"}',
  }),
  vector({
    name: 'calendly',
    source:
      'made with openssl as the Calendly docs, "Webhook signatures", describe it; no vector is published',
    scheme: 'calendly',
    secrets: ['calendly_key'],
    header: 'calendly-webhook-signature',
    headers: {
      'Calendly-Webhook-Signature':
        't=1700000000,v1=d8a515ff18be05366809b0d73f77f16756e685e7e884f6834633dd737d65ee8e',
    },
    body: '{"event":"invitee.created","payload":{"name":"John"}}',
    toleranceSeconds: 300,
  }),
  vector({
    name: 'zoom',
    source: 'made with openssl as the Zoom docs, "Using webhooks", describe it; no vector is published',
    scheme: 'zoom',
    secrets: ['zoom_secret_token'],
    header: 'x-zm-signature',
    signedHeaders: ['x-zm-request-timestamp'],
    headers: {
      'x-zm-request-timestamp': '1700000000',
      'x-zm-signature': 'v0=de0a6b1a899cde6602e0a52a43fde895cbcfbe9660d7ba2824d65781752bf57f',
    },
    body: '{"event":"meeting.started","event_ts":1700000000000,"payload":{"object":{"id":"123"}}}',
    toleranceSeconds: 300,
  }),
  vector({
    name: 'meta',
    source:
      'made with openssl as the Meta docs, "Webhooks: getting started", describe it; no vector is published',
    scheme: 'meta',
    secrets: ['app_secret'],
    header: 'x-hub-signature-256',
    headers: {
      'X-Hub-Signature-256': 'sha256=b0c18dcea59ed5c3696570708ef603031492cb472a6e3024359119b76745501f',
    },
    body: String.raw`{"object":"page","entry":[{"id":"0","changes":[{"field":"feed","value":{"message":"\u00e9t\u00e9"}}]}]}`,
  }),
  vector({
    name: 'pagerduty',
    source: 'tests of go-pagerduty, VerifySignature',
    scheme: 'pagerduty',
    secrets: ['lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK'],
    header: 'x-pagerduty-signature',
    headers: {
      'X-PagerDuty-Signature': 'v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd',
    },
    body: PAGERDUTY_BODY,
  }),
  vector({
    name: 'square',
    source: 'Square docs, "Validate an event notification", worked example',
    scheme: 'square',
    secrets: ['asdf1234'],
    header: 'x-square-hmacsha256-signature',
    headers: { 'x-square-hmacsha256-signature': '2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=' },
    url: 'https://example.com/webhook',
    body: '{"hello":"world"}',
    coversUrl: true,
  }),
  vector({
    name: 'paddle',
    source: 'paddle-go-sdk, example of its webhook verifier (secret, payload and signature)',
    scheme: 'paddle',
    secrets: ['pdl_ntfset_01hsdn8d43dt7mezr1ef2jtbaw_hKkRiCGyyRhbFwIUuqiTBgI7gnWoV0Gr'],
    header: 'paddle-signature',
    headers: {
      'Paddle-Signature': 'ts=1710929255;h1=6c05ef8fa83c44d751be6d259ec955ce5638e2c54095bf128e408e2fce1589c8',
    },
    body: PADDLE_BODY,
    sentAt: 1_710_929_255,
    toleranceSeconds: 300,
  }),
  vector({
    name: 'telegram',
    source: 'Telegram docs, setWebhook: secret_token is sent as it is in X-Telegram-Bot-Api-Secret-Token',
    scheme: 'telegram',
    secrets: ['A_secret-token-1'],
    header: 'x-telegram-bot-api-secret-token',
    headers: { 'X-Telegram-Bot-Api-Secret-Token': 'A_secret-token-1' },
    body: '{"update_id":1}',
    coversBody: false,
  }),
  vector({
    name: 'jira',
    source: 'Jira Cloud docs, "Webhooks", test values of the secured webhook',
    scheme: 'jira',
    secrets: [WEBSUB_SECRET],
    header: 'x-hub-signature',
    headers: { 'X-Hub-Signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9' },
    body: 'Hello World!',
  }),
  vector({
    name: 'notion',
    source: 'Notion docs, "Webhooks", validation of payloads: token and header of the example',
    scheme: 'notion',
    secrets: [NOTION_TOKEN],
    header: 'x-notion-signature',
    headers: {
      'X-Notion-Signature': 'sha256=461e8cbcba8a75c3edd866f0e71280f5a85cbf21eff040ebd10fe266df38a735',
    },
    body: `{"verification_token":"${NOTION_TOKEN}"}`,
  }),
  vector({
    name: 'hubspot',
    source: 'made with Signature of @hubspot/api-client, from the body of its tests',
    scheme: 'hubspot',
    secrets: ['yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy'],
    header: 'x-hubspot-signature-v3',
    signedHeaders: ['x-hubspot-request-timestamp'],
    headers: {
      'X-HubSpot-Signature-v3': 'DxmVAjFNa2xfF3YgQjdZP6TNcok9k1oaH7UXombPtvw=',
      'X-HubSpot-Request-Timestamp': '1564113600000',
    },
    url: 'https://www.example.com/webhook_uri',
    body: '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]',
    sentAt: 1_564_113_600,
    coversUrl: true,
    toleranceSeconds: 300,
  }),
  vector({
    name: 'zendesk',
    source:
      'made with openssl as the Zendesk docs, "Verifying webhook authenticity", describe it, with their test secret',
    scheme: 'zendesk',
    secrets: ['dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=='],
    header: 'x-zendesk-webhook-signature',
    signedHeaders: ['x-zendesk-webhook-signature-timestamp'],
    headers: {
      'X-Zendesk-Webhook-Signature': 'l3lNGL36dKOolDHkxU6rvJcFcQPMHxo9Opy7MlXyFqA=',
      'X-Zendesk-Webhook-Signature-Timestamp': '2022-09-05T09:52:10Z',
    },
    body: '{"ticket_id":"1","subject":"A test"}',
    sentAt: 1_662_371_530,
    toleranceSeconds: 300,
  }),
  vector({
    name: 'intercom',
    source:
      'made with openssl as the Intercom docs, "Signed notifications", describe it; no vector is published',
    scheme: 'intercom',
    secrets: ['intercom-client-secret'],
    header: 'x-hub-signature',
    headers: { 'X-Hub-Signature': 'sha1=da032da123bd5016b98d17396f0758e82cf48c8c' },
    body: '{"type":"notification_event","app_id":"a86dr8yl","data":{"type":"notification_event_data","item":{"type":"ping","message":"something something interzen"}},"id":null,"topic":"ping","delivery_status":null,"delivery_attempts":1,"delivered_at":0,"first_sent_at":1700000000,"created_at":1700000000,"links":{},"self":null}',
  }),
  vector({
    name: 'standard-webhooks (v1)',
    source: 'tests of the standardwebhooks libraries',
    scheme: 'standard-webhooks',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    header: 'webhook-signature',
    signedHeaders: ['webhook-id', 'webhook-timestamp'],
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    sentAt: 1_614_265_330,
    toleranceSeconds: 300,
    signedId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  }),
  vector({
    name: 'standard-webhooks (v1, headers of Svix)',
    source: 'tests of the svix libraries: the same values under svix- names',
    scheme: 'standard-webhooks',
    secrets: ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    header: 'svix-signature',
    signedHeaders: ['svix-id', 'svix-timestamp'],
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    sentAt: 1_614_265_330,
    toleranceSeconds: 300,
    signedId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  }),
  vector({
    name: 'standard-webhooks (v1a)',
    source:
      'made with the key of RFC 8032 section 7.1 as the specification describes v1a; no vector is published',
    scheme: 'standard-webhooks',
    secrets: ['whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
    header: 'webhook-signature',
    signedHeaders: ['webhook-id', 'webhook-timestamp'],
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature':
        'v1a,fldxM4gAKugP6nnt1hdz3sgGfZ6d99nzrMFnZOELIxbzEHoVmAb2ADpkJK7zgPePmPsle0zV9jSeGlHFG2NVAw==',
    },
    body: '{"test": 2432232314}',
    sentAt: 1_614_265_330,
    toleranceSeconds: 300,
    signedId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  }),
];
