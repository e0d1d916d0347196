/** Headers and fields by which senders tell deliveries and events apart. */

/** Headers that senders make anew each time they send an event, the same one included: times and signatures over them. */
export const RETRY_HEADERS: ReadonlySet<string> = new Set(
  `x-slack-request-timestamp x-slack-signature x-slack-retry-num x-slack-retry-reason stripe-signature
  webhook-timestamp webhook-signature svix-timestamp svix-signature calendly-webhook-signature
  paddle-signature x-zm-request-timestamp x-zm-signature x-twilio-email-event-webhook-timestamp
  x-twilio-email-event-webhook-signature x-signature-timestamp x-signature-ed25519 date traceparent
  x-amzn-trace-id cf-ray`.split(/\s+/),
);

/** Headers with the id of one delivery: no two events have the same. */
export const DELIVERY_HEADERS: ReadonlySet<string> = new Set(
  `x-github-delivery x-gitlab-event-uuid x-gitea-delivery x-request-uuid x-request-id
  x-shopify-event-id x-shopify-webhook-id linear-delivery webhook-id svix-id x-amzn-trace-id`.split(/\s+/),
);

/** The id of an event or delivery, which a repeat has again, by the scheme of the proof. */
export const EVENT_IDS: Readonly<Record<string, string>> = {
  slack: '{{event_id}}',
  github: '{{headers.x-github-delivery}}',
  stripe: '{{id}}',
  'standard-webhooks': '{{headers.webhook-id}}',
  svix: '{{headers.svix-id}}',
};
