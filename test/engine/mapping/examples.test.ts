/** The mappings people copy: each one proven on a real payload, and each with a request that just misses it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { formatFindings } from '../../../src/base/document/facts.ts';
import { formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import { type Evaluation, type EvaluationSettings } from '../../../src/engine/hook/hook.ts';
import { loadMappings } from '../../../src/engine/mapping/mapping.ts';
import type { JsonObject, JsonValue } from '../../../src/base/request.ts';
import { actionOf, evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

interface GithubExamples {
  readonly name: string;
  readonly examples: readonly JsonObject[];
}

const github = createRequire(import.meta.url)(
  '@octokit/webhooks-examples/api.github.com/index.json',
) as readonly GithubExamples[];
let settings: EvaluationSettings;

beforeAll(async () => {
  const file = fileURLToPath(new URL('../../../sluice.yaml', import.meta.url));
  const { config, findings: found } = await loadConfig(file, { env: {}, needSecrets: true, dev: true });
  expect(formatFindings(found)).toBe('');
  const { mappingsDir, presets } = config!.settings.hooks;
  const { table, findings } = await loadMappings({ inline: [], mappingsDir, presets });
  expect(formatFindings(findings)).toBe('');
  settings = settingsWith({ table: table! });
});

/** The first of GitHub's own examples of a kind that a predicate takes. */
function githubExample(name: string, take: (payload: JsonObject) => boolean = () => true): JsonObject {
  const found = github.find((kind) => kind.name === name)?.examples.find(take);
  if (found === undefined) throw new Error(`there is no such example of ${name}`);
  return found;
}

function fixture(file: string): JsonObject {
  return JSON.parse(
    readFileSync(new URL(`../../fixtures/payloads/${file}.json`, import.meta.url), 'utf8'),
  ) as JsonObject;
}

function send(path: string, payload: JsonValue, headers: Record<string, string> = {}): Evaluation {
  return evaluateHook({ path, payload, headers }, settings).evaluation;
}

function sendGithub(kind: string, payload: JsonObject): Evaluation {
  return send('github', payload, { 'X-GitHub-Event': kind, 'X-GitHub-Delivery': 'd1' });
}

const isOpened = ({ action }: JsonObject) => action === 'opened';
const failedRun = (() => {
  const payload = githubExample('workflow_run', ({ action }) => action === 'completed');
  // The example has the run of one repository and the name of another.
  const run = { ...(payload['workflow_run'] as JsonObject), head_repository: payload['repository'] ?? null };
  return { ...payload, workflow_run: { ...run, conclusion: 'failure' } };
})();

describe('a real payload', () => {
  test.each<[string, () => Evaluation, string]>([
    [
      'github-push',
      () =>
        sendGithub(
          'push',
          githubExample('push', ({ commits }) => (commits as JsonValue[]).length > 0),
        ),
      'Codertocat pushed 1 commit(s) to refs/heads/master of Codertocat/Hello-World\n' +
        'This branch is new.\n- Initial commit (Codertocat; 1 added, 0 modified, 0 removed)\n' +
        'https://github.com/Codertocat/Hello-World/commit/6113728f27ae82c7b1a177c8d03f9e96e0adf246',
    ],
    [
      'github-issue',
      () => sendGithub('issues', githubExample('issues', isOpened)),
      'Issue #1 opened by Codertocat in Codertocat/Hello-World\nSpelling error in the README file\nLabels: bug\n' +
        "https://github.com/Codertocat/Hello-World/issues/1\n\nIt looks like you accidently spelled 'commit' with two 't's.",
    ],
    [
      'github-pull-request',
      () => sendGithub('pull_request', githubExample('pull_request', isOpened)),
      'Pull request #2 opened by Codertocat in Codertocat/Hello-World\nUpdate the README with new information.\n' +
        'changes into master: 1 commit(s), 1 file(s), +1 -1\nhttps://github.com/Codertocat/Hello-World/pull/2\n\n' +
        'This is a pretty simple change that we need to pull into master.',
    ],
    [
      'github-workflow-failed',
      () => sendGithub('workflow_run', failedRun),
      'Workflow "Manually triggered workflow" of Codertocat/Hello-World ended with failure\n' +
        'Run 36 on main, triggered by workflow_dispatch\nCommit 5779607b49aa… Update milestone-created.yml\n' +
        'https://github.com/octo-org/octo-repo/actions/runs/1589141559',
    ],
    [
      'github-release',
      () =>
        sendGithub(
          'release',
          githubExample('release', ({ action }) => action === 'published'),
        ),
      'Codertocat/Hello-World released 0.0.1: 0.0.1\nhttps://github.com/Codertocat/Hello-World/releases/tag/0.0.1',
    ],
    [
      'stripe-payment-failed',
      () => send('stripe', fixture('stripe/invoice.payment_failed')),
      'Payment of invoice F4B9D7A1-0007 failed (attempt 2)\nCustomer: Jenny Rosen jenny.rosen@example.com\n' +
        'Open: 4900 eur in the smallest unit\nNext attempt: 2026-03-04 12:00 UTC\n' +
        'https://invoice.stripe.com/i/acct_1M2JTkLkdIwHu7ix/test_YWNjdF8x',
    ],
    [
      'stripe-dispute',
      () => send('stripe', fixture('stripe/charge.dispute.created')),
      'Dispute du_1MtJUT2eZvKYlo2CNaw2HvEv of charge ch_1AZtxr2eZvKYlo2CJDX8whov: product_not_received\n' +
        '1000 usd in the smallest unit, status needs_response\nEvidence due by 2026-03-15',
    ],
    [
      'stripe-checkout',
      () => send('stripe', fixture('stripe/checkout.session.completed')),
      'Stripe: Jenny Rosen paid 2198 usd (smallest unit), session ' +
        'cs_test_a11YYufWQzNY63zpQ6QSNRQhkUpVph4WRmzW0zWJO2znZKdVujZ0N0S22u',
    ],
    [
      'alertmanager-firing',
      () => send('alertmanager', fixture('alertmanager/firing')),
      'Group NodeFilesystemAlmostOutOfSpace for sluice: 2 alert(s)\n' +
        '- [critical] NodeFilesystemAlmostOutOfSpace db1.example.com:9100 firing, since 2026-03-01 11:41 UTC\n' +
        '  Filesystem has less than 3% space left.\n' +
        '- [warning] NodeFilesystemAlmostOutOfSpace db2.example.com:9100 resolved, since 2026-03-01 11:20 UTC\n' +
        '  Filesystem on /dev/sda1 at db2.example.com:9100 has only 4.1% available space left.\n' +
        'http://alertmanager.example.com:9093',
    ],
    [
      'alertmanager-resolved',
      () => send('alertmanager', fixture('alertmanager/resolved')),
      'Resolved: 1 alert(s) of NodeFilesystemAlmostOutOfSpace',
    ],
    [
      'grafana-firing',
      () => send('grafana', fixture('grafana/firing')),
      '[FIRING:1] High memory usage Infrastructure (blue us-1)\n' +
        '- High memory usage firing, since 2026-03-01 07:51 UTC: This alert was triggered for zone us-1\n' +
        '  values {"B":44.23943737541908,"C":1}\n  https://play.grafana.org/alerting/1afz29v7z/edit',
    ],
    [
      'grafana-resolved',
      () => send('grafana', fixture('grafana/resolved')),
      '[RESOLVED] High memory usage Infrastructure (blue us-1)',
    ],
    [
      'sentry-issue',
      () =>
        send('sentry', fixture('sentry/issue.created'), {
          'Sentry-Hook-Resource': 'issue',
          'Request-ID': 'r',
        }),
      'SHOP-API-1A2 created in shop-api (error, node)\nReferenceError: heck is not defined\nat ?(runner)\n' +
        '3 time(s), 2 user(s), first seen 2026-03-01 11:59 UTC\nhttps://sentry.io/organizations/test-org/issues/1170820242/',
    ],
    [
      'sentry-alert',
      () =>
        send('sentry', fixture('sentry/event_alert.triggered'), {
          'Sentry-Hook-Resource': 'event_alert',
          'Request-ID': 'r',
        }),
      'Rule "Very important alert rule" was triggered (error)\nReferenceError: heck is not defined\n' +
        'at ?(runner), release shop-web@4.12.0, environment production\n' +
        'https://sentry.io/organizations/test-org/issues/1170820242/events/e4874d664c3540c1a32eab185f12c5ab/',
    ],
    [
      'home-door-open',
      () => send('home-assistant', fixture('home-assistant/door')),
      'Front door (Hall) was opened at 13:05; nobody is home.',
    ],
    [
      'home-cold',
      () => send('home-assistant', fixture('home-assistant/temperature')),
      'Greenhouse temperature is down to 14.1 °C in the greenhouse',
    ],
    [
      'backup-failed',
      () => send('events', fixture('events/backup-failed')),
      'Backup of db1.example.com ended with failed after 1834 s\nFatal: unable to save snapshot: Put ' +
        '"https://s3.example.com/backup/data/5c": net/http: timeout awaiting response headers\n' +
        'Last good one: 2026-02-28T02:21:09Z',
    ],
    [
      'ci-deployed',
      () => send('events', fixture('events/ci-deployed')),
      'shop-api 4.12.0 was deployed to production by maria',
    ],
  ])('is taken by %s, with every value it names', (id, evaluate, expected) => {
    const evaluation = evaluate();
    const action = actionOf(evaluation);
    expect(evaluation.mapping?.id).toBe(id);
    expect(action.kind === 'wake' ? action.text : action.message).toBe(expected);
    expect(
      evaluation.trace.templates.flatMap(({ empty }) => empty.map(({ expression }) => expression)),
    ).toEqual([]);
    expect(evaluation.warnings).toEqual([]);
    if (action.kind === 'agent') {
      expect(action.prompt).toContain(`---\n${expected}\n<<<END_EXTERNAL_CONTENT`);
      expect(action.prompt.startsWith(evaluation.mapping!.instructions!.trim())).toBe(true);
    }
  });
});

describe('a request that just misses', () => {
  test.each<[string, () => Evaluation, string]>([
    ['github-push, for a tag', () => sendGithub('push', githubExample('push')), 'payload.ref'],
    [
      'github-push, for a deleted branch',
      () =>
        sendGithub('push', {
          ...githubExample('push', ({ commits }) => (commits as JsonValue[]).length > 0),
          deleted: true,
        }),
      'payload.deleted',
    ],
    [
      'github-issue, for a label',
      () =>
        sendGithub(
          'issues',
          githubExample('issues', ({ action }) => action === 'labeled'),
        ),
      'payload.action',
    ],
    [
      'github-pull-request, for a draft',
      () => {
        const payload = githubExample('pull_request', isOpened);
        return sendGithub('pull_request', {
          ...payload,
          pull_request: { ...(payload['pull_request'] as JsonObject), draft: true },
        });
      },
      'payload.pull_request.draft',
    ],
    [
      'github-workflow-failed, for a run that succeeded',
      () =>
        sendGithub(
          'workflow_run',
          githubExample(
            'workflow_run',
            (each) => (each['workflow_run'] as JsonObject)['conclusion'] === 'success',
          ),
        ),
      'payload.workflow_run.conclusion',
    ],
    [
      'github-release, for one that was edited',
      () =>
        sendGithub(
          'release',
          githubExample('release', ({ action }) => action === 'edited'),
        ),
      'payload.action',
    ],
    [
      'stripe-payment-failed, for one that was paid',
      () => send('stripe', { ...fixture('stripe/invoice.payment_failed'), type: 'invoice.paid' }),
      'payload.type',
    ],
    [
      'stripe-checkout, for one that is not paid yet',
      () => {
        const payload = fixture('stripe/checkout.session.completed');
        const object = (payload['data'] as JsonObject)['object'] as JsonObject;
        return send('stripe', { ...payload, data: { object: { ...object, payment_status: 'unpaid' } } });
      },
      'payload.data.object.payment_status',
    ],
    [
      'stripe-dispute, for one that was closed',
      () => send('stripe', { ...fixture('stripe/charge.dispute.created'), type: 'charge.dispute.closed' }),
      'payload.type',
    ],
    ['alertmanager-firing, without a status', () => send('alertmanager', { alerts: [] }), 'payload.status'],
    ['alertmanager-resolved, without a status', () => send('alertmanager', { alerts: [] }), 'payload.status'],
    [
      'grafana-firing, with a status of its own',
      () => send('grafana', { status: 'pending' }),
      'payload.status',
    ],
    [
      'grafana-resolved, with a status of its own',
      () => send('grafana', { status: 'pending' }),
      'payload.status',
    ],
    [
      'sentry-issue, for a mere warning',
      () => {
        const payload = fixture('sentry/issue.created');
        const issue = (payload['data'] as JsonObject)['issue'] as JsonObject;
        return send(
          'sentry',
          { ...payload, data: { issue: { ...issue, level: 'warning' } } },
          {
            'Sentry-Hook-Resource': 'issue',
          },
        );
      },
      'payload.data.issue.level',
    ],
    [
      'sentry-alert, without the header',
      () => send('sentry', fixture('sentry/event_alert.triggered')),
      'headers.sentry-hook-resource',
    ],
    [
      'home-door-open, while somebody is home',
      () => send('home-assistant', { ...fixture('home-assistant/door'), anyone_home: true }),
      'payload.anyone_home',
    ],
    [
      'home-cold, for a sensor without a value',
      () => send('home-assistant', { device_class: 'temperature', to: 'unavailable' }),
      'payload.value',
    ],
    [
      'backup-failed, for one that went well',
      () => send('events', { ...fixture('events/backup-failed'), status: 'ok' }),
      'payload.status',
    ],
    [
      'ci-deployed, for another source',
      () => send('events', { ...fixture('events/ci-deployed'), source: 'CI' }),
      'source',
    ],
  ])('%s, is told which part failed', (title, evaluate, part) => {
    const id = /^[^,]+/.exec(title)![0];
    const evaluation = evaluate();
    expect(evaluation.mapping?.id).not.toBe(id);
    const miss = evaluation.trace.considered.find(({ mapping }) => mapping.id === id);
    expect(miss?.matched).toBe(false);
    const { failed } = miss!;
    expect(failed?.part === 'when' ? failed.node.expression : failed?.part).toContain(part);
    expect(formatEvaluation(evaluation)).toContain(`✗ ${id}: `);
  });
});

test('every example GitHub publishes is taken or left alone on purpose', () => {
  const counts: Record<string, number> = {};
  for (const { name, examples } of github) {
    for (const payload of examples) {
      const { outcome, mapping } = sendGithub(name, payload);
      const key = `${outcome.kind} ${mapping?.id}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  expect(counts).toEqual({
    'accepted github-push': 2,
    'accepted github-issue': 5,
    'accepted github-pull-request': 9,
    'accepted github-comment': 5,
    'accepted github-review-comment': 3,
    'accepted github-pull-request-closed': 2,
    'accepted github-release': 3,
    'skipped github-ping': 4,
    'skipped github-rest': 296,
  });
});
