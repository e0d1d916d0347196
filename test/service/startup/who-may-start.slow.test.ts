/**
 * A whole service whose mapping asks GitHub who may start it, with the token of `recover`: fifty strangers at once, somebody
 * who may, and a stranger whom people approve.
 */
import { createRequire } from 'node:module';
import { expect, onTestFinished, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { listIn } from '../../support/output-check.ts';

const ASK_TOKEN = 'github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz';
const WAIT = { timeout: 60_000, interval: 100 };

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly { readonly action?: string; readonly comment: object }[];
}[];
const created = examples
  .find(({ name }) => name === 'issue_comment')!
  .examples.find(({ action }) => action === 'created')!;

test('fifty strangers start nothing and ask five times, nobody waits for them, and who is approved begins', async () => {
  const github = await startPlatform(({ path }) => {
    const [, account] = /collaborators\/([^/]+)\/permission$/.exec(path) ?? [];
    const permission = account === 'owner' ? 'admin' : 'read';
    return { status: 200, body: account === undefined ? [] : { permission, role_name: permission } };
  });
  const chat = await startPlatform(() => ({ status: 201, body: { id: 'post' } }));
  onTestFinished(async () => void (await Promise.all([github.stop(), chat.stop()])));
  const bench = openBench({
    'ask-token': `${ASK_TOKEN}\n`,
    'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}}
server: {port: 0, publicUrl: 'https://hooks.example.com'}
channels: {mattermost: {baseUrl: '${chat.url}', botToken: 'a-token-of-the-chat'}}
gateway: {runner: echo, heartbeat: {everySeconds: 0}}
`,
    'mappings/hooks.yaml': `- id: comments
  match: {path: github}
  recover: {token: {file: ask-token}, api: '${github.url}', target: octocat/hello-world}
  dedupe: {key: '{{headers.x-github-delivery}}', ttlSeconds: 259200}
  startedBy: {permission: write, others: approve}
  approve: {channel: mattermost, to: 4xp9fdt77pncbef59f4k1qe83o}
  messageTemplate: 'about {{sender.login}}'
  deliver: false
- id: others
  match: {path: others}
  messageTemplate: 'about nobody'
  deliver: false
`,
  });
  const log: string[] = [];
  const { url } = await serveBench(bench, log);
  const post = async (path: string, login: string, delivery = login): Promise<number> => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-github-event': 'issue_comment',
      'x-github-delivery': delivery,
    };
    const body = JSON.stringify({ ...created, sender: { login, type: 'User' } });
    return (await fetch(`${url}/hooks/${path}`, { method: 'POST', headers, body })).status;
  };
  const runs = async (...flags: readonly string[]) =>
    listIn((await bench.run(['runs', '--json', '--limit', '200', ...flags])).out);
  const ended = async (about: string) =>
    (await runs()).find(({ message, outcome }) => String(message).endsWith(about) && outcome === 'ok');

  const strangers = Array.from({ length: 50 }, (_, index) => `stranger-${String(index)}`);
  const statuses = await Promise.all([
    ...strangers.map((login) => post('github', login)),
    post('others', 'anybody'),
    post('github', 'owner'),
  ]);
  expect(new Set(statuses)).toEqual(new Set([202]));
  await expect.poll(() => ended('about nobody'), WAIT).toBeDefined();
  await expect.poll(() => ended('about owner'), WAIT).toBeDefined();
  const refused = async () =>
    (await runs()).filter(
      ({ lastError }) => (lastError as { code?: string } | undefined)?.code === 'not_allowed',
    );
  await expect.poll(async () => (await refused()).length, WAIT).toBe(45);
  const questions = () => chat.requests.filter(({ path }) => path.endsWith('/posts'));
  await expect.poll(() => questions().length, WAIT).toBe(5);
  const asked = github.requests.filter(({ path }) => path.endsWith('/permission'));
  expect(asked).toHaveLength(51);
  expect(asked.every(({ headers }) => headers['authorization'] === `Bearer ${ASK_TOKEN}`)).toBe(true);
  // What GitHub said is kept: another event of one that was left out asks nobody.
  const [left] = (await refused()).map(
    ({ message }) => / about (\S+)/.exec(` ${String(message)}`)?.[1] ?? '',
  );
  expect(await post('github', left ?? '', 'another')).toBe(202);
  await expect.poll(async () => (await refused()).length, WAIT).toBe(46);
  expect(github.requests.filter(({ path }) => path.endsWith('/permission'))).toHaveLength(51);
  expect(questions()).toHaveLength(5);

  const text = String(questions()[0]?.body?.['message']);
  const [, login = ''] = /about (stranger-\d+)/.exec(text) ?? [];
  const [link = ''] = /https:\/\/hooks\.example\.com\/\S+/.exec(text) ?? [];
  const address = link.replace('https://hooks.example.com', url);
  expect(await (await fetch(address)).text()).toContain('May this run begin?');
  const answer = await fetch(address, { method: 'POST', body: new URLSearchParams({ decision: 'approve' }) });
  expect(await answer.text()).toContain('approved');
  await expect.poll(() => ended(`about ${login}`), WAIT).toBeDefined();
  expect(questions()).toHaveLength(5);
  const all = log.join('') + JSON.stringify(await runs());
  expect(all).not.toContain(ASK_TOKEN);
  expect(log.filter((line) => line.includes('is left out'))).toHaveLength(1);
});
