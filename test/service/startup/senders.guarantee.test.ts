/**
 * Real payloads of six senders, signed as their documentation says it (with node:crypto alone, not with our own
 * signing), through a fresh service: each becomes a run, and each with one byte changed becomes nothing.
 */
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

const PUBLIC_URL = 'https://hooks.example.com';
const FORM = 'application/x-www-form-urlencoded';
const ENV = {
  GITHUB_SECRET: 'github-secret-of-the-test',
  GITLAB_SIGNING_TOKEN: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
  STRIPE_SECRET: 'whsec_stripe-secret-of-the-test',
  SHOPIFY_SECRET: 'shopify-secret-of-the-test',
  TWILIO_AUTH_TOKEN: 'twilio-token-of-the-test',
  SLACK_SIGNING_SECRET: 'slack-secret-of-the-test',
};
const MAPPINGS = `
- id: github
  match: {path: github, when: {"===": [{var: headers.x-github-event}, push]}}
  verify: {scheme: github, secrets: ["\${GITHUB_SECRET}"]}
  messageTemplate: "{{pusher.name}} pushed to {{repository.full_name}}"
  deliver: false
- id: gitlab
  match: {path: gitlab}
  verify: {scheme: gitlab, secrets: ["\${GITLAB_SIGNING_TOKEN}"]}
  messageTemplate: "{{user_name}} pushed to {{project.path_with_namespace}}"
  deliver: false
- id: stripe
  match: {path: stripe}
  verify: {scheme: stripe, secrets: ["\${STRIPE_SECRET}"]}
  messageTemplate: "{{type}}: {{data.object.amount_due}} {{data.object.currency}}"
  deliver: false
- id: shopify
  match: {path: shopify}
  verify: {scheme: shopify, secrets: ["\${SHOPIFY_SECRET}"]}
  messageTemplate: "order {{id}} of {{email}}"
  deliver: false
- id: sms
  match: {path: sms}
  verify: {scheme: twilio, secrets: ["\${TWILIO_AUTH_TOKEN}"]}
  bodyFormat: form
  answer: {body: "<Response/>", contentType: text/xml}
  messageTemplate: "{{From}}: {{Body}}"
  sessionKey: "sms:{{From}}"
  deliver: false
- id: slack
  match: {path: slack}
  verify: {scheme: slack, secrets: ["\${SLACK_SIGNING_SECRET}"]}
  challenge: slack
  messageTemplate: "{{event.user}}: {{event.text}}"
  deliver: false
- id: everything-else
  messageTemplate: "{{json payload}}"
  deliver: false
`;

interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the agent reads. */
  readonly message: string;
}

const hmac = (secret: string, text: string, encoding: 'hex' | 'base64' = 'hex', hash = 'sha256'): string =>
  createHmac(hash, secret).update(text).digest(encoding);
const now = (): string => String(Math.floor(Date.now() / 1000));

/** The push of GitHub's own examples. */
function githubPush(): string {
  const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly {
    readonly name: string;
    readonly examples: readonly unknown[];
  }[];
  return JSON.stringify(examples.find(({ name }) => name === 'push')?.examples[0]);
}

function github(): Delivery {
  const body = githubPush();
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-hub-signature-256': `sha256=${hmac(ENV.GITHUB_SECRET, body)}`,
  };
  return { path: 'github', headers, body, message: 'Codertocat pushed to Codertocat/Hello-World' };
}

function gitlab(): Delivery {
  const body =
    '{"object_kind":"push","event_name":"push","before":"95790bf891e76fee5e1747ab589903a6a1f80f22","after":"da1560886d4f094c3e6c9ef40349f7d38b5d27d7","ref":"refs/heads/master","user_id":4,"user_name":"John Smith","user_username":"jsmith","project_id":15,"project":{"id":15,"name":"Diaspora","web_url":"http://example.com/mike/diaspora","path_with_namespace":"mike/diaspora","default_branch":"master"},"commits":[],"total_commits_count":4}';
  const id = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f';
  const at = now();
  const key = Buffer.from(ENV.GITLAB_SIGNING_TOKEN.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'x-gitlab-event': 'Push Hook',
    'idempotency-key': id,
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  };
  return { path: 'gitlab', headers, body, message: 'John Smith pushed to mike/diaspora' };
}

function stripe(): Delivery {
  const body = `{
  "id": "evt_1MqqbKLt4dXK03v5qaIbiNCC",
  "object": "event",
  "api_version": "2024-06-20",
  "created": 1680064028,
  "data": {"object": {"id": "in_1MtHbELkdIwHu7ixl4OzzPMv", "object": "invoice", "amount_due": 2500, "currency": "usd"}},
  "type": "invoice.payment_failed"
}`;
  const at = now();
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': `t=${at},v1=${hmac(ENV.STRIPE_SECRET, `${at}.${body}`)},v0=00`,
  };
  return { path: 'stripe', headers, body, message: 'invoice.payment_failed: 2500 usd' };
}

function shopify(): Delivery {
  const body =
    '{"id":820982911946154508,"email":"jon@example.com","created_at":"2021-12-31T19:00:00-05:00","currency":"USD","total_price":"403.00","line_items":[{"id":866550311766439020,"title":"IPod Nano - 8GB","quantity":1}]}';
  const headers = {
    'content-type': 'application/json',
    'x-shopify-topic': 'orders/create',
    'x-shopify-hmac-sha256': hmac(ENV.SHOPIFY_SECRET, body, 'base64'),
  };
  return { path: 'shopify', headers, body, message: 'order 820982911946154508 of jon@example.com' };
}

function twilio(): Delivery {
  const fields = {
    ToCountry: 'US',
    SmsMessageSid: 'SMd1e2b8a1f0c3d4e5f6a7b8c9d0e1f2a3',
    NumMedia: '0',
    Body: 'Hello there & good day, 1+1=2 – ä',
    To: '+15558675310',
    From: '+14017122661',
    ApiVersion: '2010-04-01',
  };
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = `${PUBLIC_URL}/hooks/sms${sorted.map(([name, value]) => name + value).join('')}`;
  const headers = {
    'content-type': `${FORM}; charset=UTF-8`,
    'x-twilio-signature': hmac(ENV.TWILIO_AUTH_TOKEN, text, 'base64', 'sha1'),
  };
  const body = new URLSearchParams(fields).toString();
  return { path: 'sms', headers, body, message: '+14017122661: Hello there & good day, 1+1=2 – ä' };
}

function slackHeaders(body: string): Record<string, string> {
  const at = now();
  return {
    'content-type': 'application/json',
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${hmac(ENV.SLACK_SIGNING_SECRET, `v0:${at}:${body}`)}`,
  };
}

function slack(): Delivery {
  const body =
    '{"token":"XXYYZZ","team_id":"TXXXXXXXX","api_app_id":"AXXXXXXXXX","event":{"type":"message","channel":"C123ABC456","user":"U123ABC456","text":"Live long and prospect.","ts":"1355517523.000005"},"type":"event_callback","event_id":"Ev123ABC456","event_time":1234567890}';
  return { path: 'slack', headers: slackHeaders(body), body, message: 'U123ABC456: Live long and prospect.' };
}

describe('six senders through the service', () => {
  let service: Service;
  let folder: string;
  let logged = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-senders-'));
    mkdirSync(join(folder, 'mappings'));
    writeFileSync(join(folder, 'mappings', 'senders.yaml'), MAPPINGS);
    const config = {
      hooks: { enabled: true, token: 'hook-token-of-the-test', mappingsDir: 'mappings' },
      server: { port: 0, publicUrl: PUBLIC_URL },
      storage: { url: `sqlite:${join(folder, 'sluice.db')}` },
      gateway: { runner: 'echo' },
    };
    const configFile = join(folder, 'sluice.json');
    writeFileSync(configFile, JSON.stringify(config));
    const log = createLogger({ destination: { write: (line: string) => void (logged += line) } });
    service = await startService({ ...serviceAdvice, configFile, env: ENV, log });
  });

  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function send({ path, headers, body }: Delivery): Promise<Response> {
    return fetch(`${service.url}/hooks/${path}`, {
      method: 'POST',
      headers: { prefer: 'wait=20', ...headers },
      body,
    });
  }

  async function listRuns(): Promise<readonly Record<string, unknown>[]> {
    const { out } = await cli(['runs', '--json', '--config', 'sluice.json'], { cwd: folder });
    // The main session has turns of its own.
    return listIn(out).filter(({ kind }) => kind === 'hook');
  }

  test.each([
    ['GitHub', github],
    ['GitLab', gitlab],
    ['Stripe', stripe],
    ['Shopify', shopify],
    ['Slack', slack],
  ])('%s', async (_name, make) => {
    const delivery = make();
    const answer = await send(delivery);
    const result = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, result['outcome']]).toEqual([200, 'ok']);
    expect(result['reply']).toContain(delivery.message);
  });

  test('Twilio, which gets its own answer', async () => {
    const delivery = twilio();
    const answer = await send(delivery);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'text/xml',
      '<Response/>',
    ]);
    await expect
      .poll(async () => (await listRuns()).find(({ mapping }) => mapping === 'sms')?.['message'], {
        timeout: 60_000,
      })
      .toContain(delivery.message);
  });

  test('the challenge of Slack', async () => {
    const body =
      '{"token":"Jhj5dZrVaK7ZwHHjRyZWjbDl","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}';
    const answer = await send({ path: 'slack', headers: slackHeaders(body), body, message: '' });
    expect([answer.status, await answer.text()]).toEqual([
      200,
      '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    ]);
  });

  test('a delivery of GitLab that is sent again gets the first answer', async () => {
    const [first, again] = [await send(gitlab()), await send(gitlab())];
    const [a, b] = [await first.json(), await again.json()] as Record<string, unknown>[];
    expect(b).toMatchObject({ duplicate: true, runId: a?.['runId'] });
  });

  test.each([
    ['GitHub', github],
    ['GitLab', gitlab],
    ['Stripe', stripe],
    ['Shopify', shopify],
    ['Twilio', twilio],
    ['Slack', slack],
  ])('%s with one byte changed becomes nothing, and the operator sees why', async (_name, make) => {
    const before = (await listRuns()).length;
    const delivery = make();
    const changed = delivery.body.replace(/[0-9](?=[^0-9]*$)/, (digit) => String((Number(digit) + 1) % 10));
    expect(changed).not.toBe(delivery.body);
    const answer = await send({ ...delivery, body: changed });
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(answer.status).toBe(401);
    expect((await listRuns()).length).toBe(before);
    const explained = async (): Promise<string> =>
      (await cli(['explain', String(problem['requestId']), '--config', 'sluice.json'], { cwd: folder })).out;
    await expect.poll(explained).toContain('✗ proof of');
  });

  test('no secret and no signature is in the log', () => {
    for (const secret of Object.values(ENV)) expect(logged).not.toContain(secret);
    expect(logged).toContain('"reason":"wrong-proof"');
    expect(logged).not.toContain('sha256=');
    expect(logged).not.toContain('Live long');
  });
});
