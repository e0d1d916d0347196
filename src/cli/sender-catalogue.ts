/** The senders that `sluice add` knows. Their mappings and recorded requests are files of the package. */
export const SENDER_NAMES = [
  'github',
  'gitlab',
  'stripe',
  'shopify',
  'slack',
  'sentry',
  'alertmanager',
  'grafana',
  'home-assistant',
  'twilio',
] as const;
export type SenderName = (typeof SENDER_NAMES)[number];

/** What a person reads after the files were written. */
export interface SetupFacts {
  /** Address of the hook. */
  readonly url: string;
  /** Where the secret is, as a person here would type it. */
  readonly secretFile: string;
}

export interface Sender {
  readonly title: string;
  /** `scheme` of `verify`, and its further keys as they stand in the mapping. */
  readonly scheme: string;
  readonly secret:
    /** Made here and given to the sender. */
    | { readonly kind: 'made' }
    /** The sender issues it: what it is called there, and where it is found. */
    | { readonly kind: 'issued'; readonly what: string };
  /** Golden cases as `<group>/<name>`, each from a payload of the sender. */
  readonly cases: readonly [string, ...string[]];
  /** Mappings whose replies can be comments where the event happened: recipient by mapping id. */
  readonly comments?: Readonly<Record<string, string>>;
  /** Mappings whose replies have no place where comments are all there is. */
  readonly silent?: readonly string[];
  /** True where the sender signs the address that it calls. */
  readonly signsAddress?: true;
  setUp(facts: SetupFacts): readonly string[];
}

export const SENDERS: Readonly<Record<SenderName, Sender>> = {
  github: {
    title: 'GitHub',
    scheme: 'github',
    secret: { kind: 'made' },
    cases: ['github/push', 'github/issue-opened', 'github/pull-request-opened'],
    comments: {
      'github-issue': '{{repository.full_name}}#{{issue.number}}',
      'github-pull-request': '{{repository.full_name}}#{{pull_request.number}}',
    },
    silent: ['github-push', 'github-workflow-failed'],
    setUp: ({ url, secretFile }) => [
      'On GitHub, open the repository: Settings, Webhooks, Add webhook.',
      `Payload URL: ${url}`,
      'Content type: application/json',
      `Secret: what "cat ${secretFile}" prints.`,
      'Events: "Let me select individual events", then Pushes, Issues, Pull requests.',
    ],
  },
  gitlab: {
    title: 'GitLab',
    scheme: 'gitlab',
    secret: { kind: 'made' },
    cases: ['gitlab/push', 'gitlab/merge-request-opened'],
    setUp: ({ url, secretFile }) => [
      'In GitLab, open the project: Settings, Webhooks, Add new webhook.',
      `URL: ${url}`,
      `Secret token: what "cat ${secretFile}" prints.`,
      'Trigger: Push events, Issues events, Merge request events.',
    ],
  },
  stripe: {
    title: 'Stripe',
    scheme: 'stripe',
    secret: { kind: 'issued', what: 'the signing secret of the endpoint (whsec_…)' },
    cases: ['stripe/payment-failed', 'stripe/dispute', 'stripe/checkout-paid'],
    setUp: ({ url }) => [
      'In the Stripe dashboard, open Developers, Webhooks, Add endpoint.',
      `Endpoint URL: ${url}`,
      'Events: invoice.payment_failed, charge.dispute.created, checkout.session.completed.',
      'Then "Reveal" shows the signing secret.',
    ],
  },
  shopify: {
    title: 'Shopify',
    scheme: 'shopify',
    secret: { kind: 'issued', what: 'the secret that signs the webhooks' },
    cases: ['shopify/order'],
    setUp: ({ url }) => [
      'In the Shopify admin, open Settings, Notifications, Webhooks, Create webhook.',
      'Event: Order creation (and Refund create). Format: JSON.',
      `URL: ${url}`,
      'The secret stands below the list: "Your webhooks will be signed with …".',
    ],
  },
  slack: {
    title: 'Slack',
    scheme: 'slack',
    secret: { kind: 'issued', what: 'the signing secret of the app' },
    cases: ['slack/mention'],
    setUp: ({ url }) => [
      'On api.slack.com/apps, open the app. Basic Information shows the signing secret.',
      'Start Sluice before the next step: Slack asks the address at once.',
      `Event Subscriptions: turn them on. Request URL: ${url}`,
      'Subscribe to bot events: app_mention, message.im. Then install the app again.',
    ],
  },
  sentry: {
    title: 'Sentry',
    scheme: 'sentry',
    secret: { kind: 'issued', what: 'the client secret of the integration' },
    cases: ['sentry/issue-created', 'sentry/alert-triggered'],
    setUp: ({ url }) => [
      'In Sentry, open Settings, Custom Integrations, Create New Integration, Internal Integration.',
      `Webhook URL: ${url}`,
      'Permissions: Issue & Event, Read. Webhooks: issue. Turn on "Alert Rule Action".',
      'After you saved it, the page shows the client secret.',
    ],
  },
  alertmanager: {
    title: 'Alertmanager',
    scheme: 'token',
    secret: { kind: 'made' },
    cases: ['alertmanager/firing', 'alertmanager/resolved'],
    setUp: ({ url, secretFile }) => [
      `Copy ${secretFile} to the machine of Alertmanager, readable for it alone.`,
      'Add a receiver to alertmanager.yml:',
      '  receivers:',
      '    - name: sluice',
      '      webhook_configs:',
      `        - url: ${url}`,
      '          http_config: { authorization: { credentials_file: /etc/alertmanager/sluice } }',
      'Name the receiver in a route, and reload Alertmanager.',
    ],
  },
  grafana: {
    title: 'Grafana',
    scheme: 'token',
    secret: { kind: 'made' },
    cases: ['grafana/firing', 'grafana/resolved'],
    setUp: ({ url, secretFile }) => [
      'In Grafana, open Alerting, Contact points, Add contact point, Integration: Webhook.',
      `URL: ${url}`,
      'Optional settings: Authorization Header, scheme: Bearer.',
      `Authorization Header, credentials: what "cat ${secretFile}" prints.`,
      'Name the contact point in a notification policy.',
    ],
  },
  'home-assistant': {
    title: 'Home Assistant',
    scheme: 'token',
    secret: { kind: 'made' },
    cases: ['home-assistant/door-open', 'home-assistant/cold'],
    setUp: ({ url, secretFile }) => [
      `Add to secrets.yaml:  sluice_header: "Bearer …", with what "cat ${secretFile}" prints in place of the dots.`,
      'Add to configuration.yaml:',
      '  rest_command:',
      '    sluice:',
      `      url: ${url}`,
      '      method: POST',
      '      headers: { authorization: !secret sluice_header }',
      '      content_type: application/json',
      '      payload: "{{ data | tojson }}"',
      'Call rest_command.sluice from an automation, with "data": device_class, entity_id, name, to, value, anyone_home, at.',
    ],
  },
  twilio: {
    title: 'Twilio',
    scheme: 'twilio',
    secret: { kind: 'issued', what: 'the auth token of the account' },
    cases: ['twilio/message'],
    signsAddress: true,
    setUp: ({ url }) => [
      'The Twilio console shows the auth token on its first page.',
      'Open Phone Numbers, Manage, Active numbers, the number, "A message comes in".',
      `Webhook, HTTP POST: ${url}`,
      'Twilio signs the address it calls: "server.publicUrl" of the configuration has to be its beginning.',
    ],
  },
};
