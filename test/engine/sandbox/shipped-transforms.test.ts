import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sandbox, typecheckTransforms, type Transforms } from '../../../src/engine/sandbox/sandbox.ts';
import { callTransform, refTo } from '../../support/sandbox-fixture.ts';

const dir = path.resolve('transforms');
const modules = [
  'github-push-digest.ts',
  'stripe-amount.ts',
  'alertmanager-group.ts',
  'mail-dedupe.ts',
  'incident/incident.ts',
];
const refs = new Map(modules.map((module) => [module, refTo(module)]));
const format = refTo('stripe-amount.ts', { export: 'formatAmount' });
const sandbox = new Sandbox({ workers: 1, spare: 0 });
let transforms: Transforms;

beforeAll(async () => {
  transforms = await sandbox.loadTransforms(dir, [...refs.values(), format]);
});
afterAll(() => sandbox.stop());

async function resultOf(module: string, payload: unknown): Promise<unknown> {
  const reply = await callTransform(transforms, refs.get(module) ?? refTo(module), payload);
  if (reply.kind === 'failed') throw new Error(`${reply.failure} ${reply.message} ${reply.stack ?? ''}`);
  return reply.json === undefined ? undefined : JSON.parse(reply.json);
}

function fixture(file: string): unknown {
  return JSON.parse(readFileSync(path.join('test/fixtures/payloads', file), 'utf8'));
}

test('every example loads without a finding, and its types hold', async () => {
  expect(transforms.findings).toEqual([]);
  const { findings } = await typecheckTransforms(dir, [...refs.values()], {
    configDir: path.resolve('.'),
  });
  expect(findings).toEqual([]);
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:ts|json)$/.test(file),
  );
  expect(new Set(transforms.files.map((file) => path.relative(dir, file)))).toEqual(
    // Types alone leave nothing to load.
    new Set(files.filter((file) => file !== 'incident/incident-type.ts')),
  );
});

test('a push becomes a digest: merges and bots left out, types as titles, risks first', async () => {
  const commit = (message: string, more: object = {}): object => ({
    id: '1',
    message,
    author: { name: 'Ada' },
    ...more,
  });
  const push = {
    ref: 'refs/heads/main',
    forced: true,
    repository: { full_name: 'acme/app', default_branch: 'main' },
    pusher: { name: 'ada' },
    commits: [
      commit('feat(api): add search\n\nbody', { added: ['src/search.ts'] }),
      commit('fix: mend login', { modified: ['src/login.ts', '.github/workflows/ci.yml'] }),
      commit("Merge branch 'x'"),
      commit('chore: bump', { author: { username: 'renovate[bot]' } }),
    ],
  };
  expect(await resultOf('github-push-digest.ts', push)).toEqual({
    message: [
      'ada pushed 2 commit(s) to main of acme/app',
      'This was a force push.',
      'Look at: .github/workflows/ci.yml',
      'Features:',
      '- add search (Ada)',
      'Fixes:',
      '- mend login (Ada)',
      'Folders: src 2, .github 1',
    ].join('\n'),
    wakeMode: 'now',
  });
  expect(await resultOf('github-push-digest.ts', { ...push, commits: push.commits.slice(2) })).toBeNull();
});

test('amounts are written in their currency', async () => {
  const cases: [number, string, string][] = [
    [2000, 'eur', '20.00 EUR'],
    [123_456_789, 'usd', '1,234,567.89 USD'],
    [2000, 'jpy', '2,000 JPY'],
    [2000, 'KWD', '2.000 KWD'],
    [500, 'ugx', '5.00 UGX'],
  ];
  const source = cases.map(([amount, currency]) => ({
    type: 'charge.failed',
    livemode: true,
    data: { object: { object: 'charge', id: 'ch_1', amount, currency } },
  }));
  for (const [index, payload] of source.entries()) {
    expect(await resultOf('stripe-amount.ts', payload)).toEqual({
      message: `charge, failed: ${cases[index]?.[2]} from an unknown customer\ncharge ch_1`,
    });
  }
  expect(await resultOf('stripe-amount.ts', fixture('stripe/invoice.payment_failed.json'))).toMatchObject({
    message: expect.stringMatching(/^invoice, payment failed: [\d.,]+ [A-Z]{3} from /),
  });
  expect(await resultOf('stripe-amount.ts', { data: { object: { object: 'x' } } })).toBeUndefined();
});

test('a group of alerts becomes one action for each service, the worst first', async () => {
  const alert = (service: string, severity: string, status = 'firing'): object => ({
    status,
    labels: { service, severity, alertname: 'Down', instance: 'a:1' },
    annotations: { summary: 'it is down' },
    startsAt: '2001-09-09T01:00:00Z',
  });
  const alerts = [
    alert('web', 'warning'),
    alert('db', 'critical'),
    alert('db', 'info', 'resolved'),
    alert('old', 'info', 'resolved'),
  ];
  expect(await resultOf('alertmanager-group.ts', { status: 'firing', alerts })).toEqual([
    {
      kind: 'agent',
      name: 'Alerts of db',
      sessionKey: 'hook:alerts:db',
      thinking: 'high',
      message: 'db: 1 firing, 1 resolved\n- [critical] Down a:1, for 47 min: it is down',
    },
    expect.objectContaining({ name: 'Alerts of web', thinking: 'low' }),
    { kind: 'wake', text: 'old: 1 alert(s) resolved', mode: 'next-heartbeat' },
  ]);
  expect(await resultOf('alertmanager-group.ts', fixture('alertmanager/firing.json'))).toEqual(
    expect.any(Array),
  );
});

test('copies of a letter become one, threads are joined, machines left out', async () => {
  const mail = {
    id: '1',
    messageId: '<a@x>',
    threadId: 't1',
    from: 'Ada <ada@example.com>',
    subject: 'Plan',
    snippet: 'Hi',
  };
  const messages = [
    mail,
    { ...mail, id: '2', body: 'Hi, the whole text' },
    { ...mail, id: '3', messageId: '<b@x>', subject: 'Re: Plan', snippet: 'More' },
    { ...mail, id: '4', messageId: '<c@x>', from: 'no-reply@example.com', threadId: 't2' },
  ];
  expect(await resultOf('mail-dedupe.ts', { messages })).toEqual([
    {
      name: 'Mail from ada@example.com',
      sessionKey: 'hook:mail:t1',
      message:
        'From: Ada <ada@example.com>\nSubject: Plan\n\nHi, the whole text\n\n---\n\nFrom: Ada <ada@example.com>\nSubject: Re: Plan\n\nMore',
    },
  ]);
  expect(await resultOf('mail-dedupe.ts', { messages: messages.slice(3) })).toBeNull();
});

test('incidents of several tools come out alike', async () => {
  const pagerDuty = {
    event: {
      event_type: 'incident.triggered',
      data: {
        type: 'incident',
        id: 'P1',
        urgency: 'high',
        title: 'Slow',
        service: { summary: 'Checkout API' },
      },
    },
  };
  expect(await resultOf('incident/incident.ts', pagerDuty)).toMatchObject({
    name: 'PagerDuty high',
    sessionKey: 'hook:incident:pagerduty:P1',
    channel: 'slack',
    to: 'C0PAYMENTS',
    message: expect.stringContaining('On call: Payments'),
  });
  const closed = { action: 'Close', alert: { alertId: 'o1', message: 'Disk full', priority: 'P3' } };
  expect(await resultOf('incident/incident.ts', closed)).toEqual({
    kind: 'wake',
    text: 'Resolved: Disk full (Opsgenie)',
    mode: 'next-heartbeat',
  });
  const page = {
    page: { id: 'p' },
    incident: { id: 's1', impact: 'minor', status: 'investigating', name: 'API errors' },
  };
  expect(await resultOf('incident/incident.ts', page)).toMatchObject({
    name: 'Statuspage low',
    thinking: 'low',
  });
  await expect(resultOf('incident/incident.ts', { other: 1 })).rejects.toThrow('user-error');
});
