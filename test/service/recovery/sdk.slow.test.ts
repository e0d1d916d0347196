/** Each request of a recovery is one that the SDK of the provider makes for the same: the same method, path and parameters. */
import { expect, test } from 'vitest';
import { Gitlab } from '@gitbeaker/rest';
import { Octokit } from '@octokit/core';
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods';
import { Stripe } from 'stripe';
import { openRecovery, type RecoveryBench } from '../../support/recovery-fixture.ts';
import { ASK_TOKEN, type Asked } from '../../support/sender-log.ts';

const plain = ({ method, path }: Asked): string => {
  const { pathname, searchParams } = new URL(path, 'http://x');
  searchParams.sort();
  return `${method} ${decodeURIComponent(pathname)}?${searchParams.toString()}`;
};

/** Has one event missed and recovered over two pages, and then asks the same by `bySdk`. */
async function compare(
  bench: RecoveryBench,
  path: string,
  bySdk: (cursor: string | undefined, id: string) => Promise<unknown>,
  flags: readonly string[] = [],
): Promise<void> {
  const { sender } = bench;
  sender.pageSize = 2;
  await bench.start();
  await bench.run('recover');
  const { target } = sender;
  sender.target = undefined;
  await sender.happen({ n: 'first' });
  sender.target = target;
  for (const n of ['a', 'b']) await sender.happen({ n });
  const [, , missed] = sender.log;
  sender.asked.length = 0;
  expect((await bench.run('recover', ...flags)).err).toBe('');
  const ours = new Set(sender.asked.map(plain));
  expect(await bench.started()).toContain('first');
  const cursor = sender.asked
    .map((each) => new URL(each.path, 'http://x').searchParams.get('cursor'))
    .find(Boolean);
  sender.asked.length = 0;
  await bySdk(cursor ?? undefined, missed?.id ?? '');
  const theirs = new Set(sender.asked.map(plain));
  expect(theirs.size).toBeGreaterThan(1);
  expect([...ours].toSorted()).toEqual([...theirs].toSorted());
  expect(path).not.toBe('');
}

test.each(['octocat/hello-world', 'acme'])('GitHub is asked about %s as Octokit asks', async (where) => {
  const bench = await openRecovery('github', { target: where });
  await compare(bench, where, async (cursor, id) => {
    const { repos, orgs } = new (Octokit.plugin(restEndpointMethods))({
      baseUrl: bench.sender.api,
      auth: ASK_TOKEN,
    }).rest;
    const [owner = '', repo] = where.split('/');
    // Ids of deliveries are beyond what a double holds; in a path they are texts.
    const of = { hook_id: 12, per_page: 100 };
    const delivery_id = id as unknown as number;
    if (repo === undefined) {
      await orgs.listWebhooks({ org: owner, per_page: 100 });
      await orgs.listWebhookDeliveries({ org: owner, ...of });
      await orgs.listWebhookDeliveries({ org: owner, ...of, cursor: cursor ?? '' });
      await orgs.redeliverWebhookDelivery({ org: owner, hook_id: 12, delivery_id });
      return;
    }
    await repos.listWebhooks({ owner, repo, per_page: 100 });
    await repos.listWebhookDeliveries({ owner, repo, ...of });
    await repos.listWebhookDeliveries({ owner, repo, ...of, cursor: cursor ?? '' });
    await repos.redeliverWebhookDelivery({ owner, repo, hook_id: 12, delivery_id });
  });
});

test('GitLab is asked as Gitbeaker asks for what it knows, and as the documentation says for the rest', async () => {
  const bench = await openRecovery('gitlab');
  await compare(bench, 'gitlab', async (_, id) => {
    const { ProjectHooks } = new Gitlab({ host: bench.sender.api, token: ASK_TOKEN });
    await ProjectHooks.all('group/project', { perPage: 100, maxPages: 1 });
    // Gitbeaker has no method for events of a webhook: its own requester, with the paths of GitLab's documentation.
    const base = `${bench.sender.api}/api/v4/projects/group%2Fproject/hooks/12/events`;
    const headers = { 'private-token': ASK_TOKEN };
    await fetch(`${base}?per_page=20`, { headers });
    await fetch(`${base}?per_page=20&page=2`, { headers });
    await fetch(`${base}/${id}/resend`, { method: 'POST', headers });
  });
});

test('Stripe is asked as its SDK asks', async () => {
  const bench = await openRecovery('stripe');
  const { sender } = bench;
  await compare(
    bench,
    'stripe',
    async () => {
      const { hostname: host, port } = new URL(sender.api);
      const stripe = new Stripe(ASK_TOKEN, { host, port: Number(port), protocol: 'http' });
      await stripe.webhookEndpoints.list({ limit: 100 });
      await stripe.events.list({ delivery_success: false, limit: 100, created: { gte: SINCE } });
    },
    ['--since', new Date(SINCE * 1000).toISOString()],
  );
});

const SINCE = Math.floor(Date.now() / 1000) - 3_600;
