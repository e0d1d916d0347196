import { describe, expect, test } from 'vitest';
import { suggestPaths } from '../../../src/authoring/advice/requests/near-paths.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { receivedAt } from '../../support/hook-fixture.ts';

/** Bodies in the shapes of the providers, with the fields that their documentation shows. */
const BODIES = {
  pagerduty: {
    event: {
      id: '01DEN1',
      event_type: 'incident.triggered',
      occurred_at: '2026-11-22',
      agent: null,
      client: { name: 'Monitoring' },
      data: {
        id: 'PGR0VU2',
        type: 'incident',
        title: 'Slow',
        html_url: 'https://p',
        service: { id: 'PF9', summary: 'Shop' },
        priority: null,
        urgency: 'high',
        assignees: [{ id: 'PU', summary: 'Ada' }],
      },
    },
  },
  github: {
    action: 'opened',
    number: 7,
    pull_request: {
      number: 7,
      title: 'Fix',
      merged: false,
      html_url: 'https://g/7',
      user: { login: 'ada' },
      head: { ref: 'fix', sha: 'c0ffee' },
      labels: [{ name: 'bug' }, { name: 'ui' }],
      assignee: null,
    },
    repository: { full_name: 'acme/shop', owner: { login: 'acme' } },
    sender: { login: 'ada' },
  },
  stripe: {
    id: 'evt_1',
    type: 'invoice.paid',
    created: 1795346000,
    data: {
      object: {
        id: 'in_1',
        object: 'invoice',
        amount_paid: 500,
        customer: 'cus_1',
        customer_email: 'a@b.example',
        lines: { data: [{ description: 'Plan', price: { id: 'pr' } }] },
      },
    },
  },
  jira: {
    webhookEvent: 'jira:issue_created',
    user: { displayName: 'Mia' },
    issue: {
      key: 'OPS-1',
      fields: { summary: 'Printer', status: { name: 'Open' }, creator: { displayName: 'Bo' } },
    },
  },
  sentry: {
    action: 'created',
    data: {
      issue: {
        id: '9',
        title: 'TypeError',
        level: 'fatal',
        project: { slug: 'web' },
        metadata: { filename: 'a.js' },
      },
    },
    actor: { type: 'application', name: 'Sentry' },
  },
  grafana: {
    status: 'firing',
    externalURL: 'https://g',
    commonLabels: { alertname: 'Disk' },
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'Disk', instance: 'a' },
        annotations: { summary: 'full' },
        startsAt: 'x',
      },
    ],
  },
  calendly: {
    event: 'invitee.created',
    payload: {
      name: 'Lea',
      email: 'l@b.example',
      scheduled_event: { start_time: '2026-12-03', location: { type: 'zoom' } },
    },
  },
  shopify: {
    id: 820982911946154,
    order_number: 1001,
    total_price: '10.00',
    customer: { id: 5, first_name: 'Ann', email: 'ann@b.example' },
    billing_address: { city: 'Graz', zip: '8010' },
    shipping_address: { city: 'Wien', zip: '1010' },
    line_items: [{ title: 'Cup', quantity: 2, sku: 'C' }],
  },
  slack: { team_id: 'T1', event: { type: 'app_mention', user: 'U1', text: 'hi', channel: 'C1', ts: '1.2' } },
  linear: {
    action: 'create',
    type: 'Issue',
    data: { identifier: 'E-1', title: 'x', state: { name: 'Todo' }, team: { key: 'E' } },
    actor: { name: 'Kim' },
  },
  azure: { resource: { fields: { 'System.State': { newValue: 'Approved' }, 'System.Title': 'Idea' } } },
  auth0: [{ log_id: '9', data: { user_name: 'eva', ip: '::1' } }],
} as const satisfies Record<string, JsonValue>;

const suggest = (provider: keyof typeof BODIES, missing: string): readonly string[] => {
  const request = createHookRequest({ path: 'x', receivedAt, payload: BODIES[provider], headers: {} });
  return suggestPaths(missing, request).map(({ path }) => path);
};

describe('a path that finds nothing', () => {
  test.each([
    // One step too many.
    ['pagerduty', 'event.data.incident.id', 'event.data.id'],
    ['pagerduty', 'event.data.incident.title', 'event.data.title'],
    ['pagerduty', 'payload.event.data.incident.html_url', 'payload.event.data.html_url'],
    ['github', 'pull_request.head.branch.ref', 'pull_request.head.ref'],
    ['shopify', 'order.customer.email', 'customer.email'],
    ['sentry', 'data.issue.project.metadata.filename', 'data.issue.metadata.filename'],
    ['stripe', 'data.object.customer.customer_email', 'data.object.customer_email'],
    // One step too few.
    ['pagerduty', 'event.title', 'event.data.title'],
    ['pagerduty', 'event.service.summary', 'event.data.service.summary'],
    ['stripe', 'data.customer_email', 'data.object.customer_email'],
    ['jira', 'issue.summary', 'issue.fields.summary'],
    ['jira', 'issue.status.name', 'issue.fields.status.name'],
    ['sentry', 'issue.project.slug', 'data.issue.project.slug'],
    ['linear', 'team.key', 'data.team.key'],
    // A step that is written otherwise.
    ['github', 'pull.user.login', 'pull_request.user.login'],
    // Another spelling.
    ['jira', 'user.display_name', 'user.displayName'],
    ['jira', 'webhook_event', 'webhookEvent'],
    ['github', 'pullRequest.htmlUrl', 'pull_request.html_url'],
    ['grafana', 'common-labels.alertname', 'commonLabels.alertname'],
    ['github', 'pull_request.titel', 'pull_request.title'],
    ['stripe', 'data.object.amount', 'data.object.amount_paid'],
    ['github', 'pull_request_number', 'pull_request.number'],
    ['slack', 'eventType', 'event.type'],
    // One and many, a list without a position, another position.
    ['grafana', 'alert.labels.instance', 'alerts.0.labels.instance'],
    ['grafana', 'alerts.annotations.summary', 'alerts.0.annotations.summary'],
    ['github', 'pull_request.label.name', 'pull_request.labels.0.name'],
    ['shopify', 'line_items.title', 'line_items.0.title'],
    ['shopify', 'line_items.4.sku', 'line_items.0.sku'],
    ['stripe', 'data.object.lines.description', 'data.object.lines.data.0.description'],
    ['auth0', 'data.user_name', 'payload.0.data.user_name'],
    // A key with dots in its name.
    ['azure', 'resource.fields.System.State.newValue', 'resource.fields.[System.State].newValue'],
    ['azure', 'payload.resource.fields.System.Title', 'payload.resource.fields.[System.Title]'],
    // A sign of JavaScript.
    ['jira', 'issue?.fields?.summary', 'issue.fields.summary'],
    // A wrapper of another tool, or of another provider.
    ['jira', 'body.issue.key', 'issue.key'],
    ['jira', '$json.body.issue.fields.status.name', 'issue.fields.status.name'],
    ['slack', 'payload.text', 'payload.event.text'],
    ['calendly', 'scheduled_event.location.type', 'payload.payload.scheduled_event.location.type'],
  ] as const)('of %s: %s is %s', (provider, missing, expected) => {
    expect(suggest(provider, missing)).toEqual([expected]);
  });

  test.each([
    ['path.name', 'payload.path.name'],
    ['query.term', 'payload.query.term'],
    ['payload.title', 'payload.payload.title'],
  ])('%s, where the body has such a field, is %s', (missing, expected) => {
    const payload = { path: { name: 'a' }, query: { term: 'b' }, payload: { title: 'c' } };
    const request = createHookRequest({
      path: 'x',
      receivedAt,
      payload,
      headers: {},
      query: { env: 'live' },
    });
    expect(suggestPaths(missing, request).map(({ path }) => path)).toEqual([expected]);
  });

  test('two that are as near are both named', () => {
    expect(suggest('shopify', 'address.zip')).toEqual(['billing_address.zip', 'shipping_address.zip']);
  });

  test.each([
    // What is null is not set, and no other thing is meant.
    ['pagerduty', 'event.agent.id'],
    ['pagerduty', 'event.data.priority.summary'],
    ['github', 'pull_request.assignee.login'],
    // Another thing beside one that is not there.
    ['jira', 'issue.fields.assignee.displayName'],
    ['linear', 'data.assignee.email'],
    ['slack', 'event.files.url'],
    // The last element is another one in each request.
    ['grafana', 'alerts[-1].labels.instance'],
    ['grafana', 'alerts.last.labels.instance'],
    // A step with another name is another thing.
    ['linear', 'issue.identifier'],
    ['github', 'pr.head.sha'],
    ['stripe', 'data.invoice.amount_paid'],
    ['slack', 'data.text'],
    ['stripe', 'resource.customer'],
  ] as const)('of %s: nothing is said of %s', (provider, missing) => {
    expect(suggest(provider, missing)).toEqual([]);
  });
});
