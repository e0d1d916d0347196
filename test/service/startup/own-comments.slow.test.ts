/** A GitHub that tells the hook of every comment, ours too, as the real one does. */
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { markComment } from '../../../src/base/marks.ts';
import { type Bench, openBench, serveBench, TOKEN } from '../../support/cli-service.ts';
import { type PlatformServer, startPlatform } from '../../support/platform-server.ts';
import { listIn } from '../../support/output-check.ts';

const GITHUB_TOKEN = 'github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz';

interface Example {
  readonly name: string;
  readonly examples: readonly { readonly action?: string; readonly comment: object }[];
}
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
const created = examples
  .find(({ name }) => name === 'issue_comment')!
  .examples.find(({ action }) => action === 'created')!;

/** Comments are kept; the hook hears of each, as `login` wrote it. */
async function startGithub(
  tell: (body: string) => Promise<unknown>,
): Promise<PlatformServer & { readonly told: readonly Promise<unknown>[] }> {
  const told: Promise<unknown>[] = [];
  const server = await startPlatform(({ method, path, body }) => {
    if (path.endsWith('/reactions')) return { status: 201, body: { id: 1 } };
    if (method !== 'POST' || !path.endsWith('/comments')) return { status: 200, body: { login: 'bot' } };
    told.push(tell(String(body?.['body'])));
    return { status: 201, body: { id: told.length } };
  });
  onTestFinished(server.stop);
  return { ...server, told };
}

async function open(more = '') {
  let url = '';
  const tell = async (body: string, login = 'octocat'): Promise<number> => {
    const response = await fetch(`${url}/hooks/github`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...created, comment: { ...created.comment, body }, sender: { login } }),
    });
    return response.status;
  };
  const github = await startGithub((body) => tell(body, 'sluice-bot'));
  const bench = openBench({
    'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}}
server: {port: 0}
channels: {github: {token: ${GITHUB_TOKEN}, baseUrl: "${github.url}"}}
gateway: {heartbeat: {everySeconds: 0}}
`,
    'mappings/github.yaml': `id: comments
match: {path: github}
messageTemplate: "{{comment.body}}"
channel: github
to: "{{repository.full_name}}#{{issue.number}}"
trust: [to]
${more}`,
  });
  const log: string[] = [];
  const service = await serveBench(bench, log);
  url = service.url;
  return { bench, github, tell, log };
}

/** Decisions are written a little after the answer. */
async function skippedOf(bench: Bench, least: number): Promise<readonly Record<string, unknown>[]> {
  const list = async () => listIn((await bench.run(['requests', '--state', 'skipped', '--json'])).out);
  await expect.poll(async () => (await list()).length).toBeGreaterThanOrEqual(least);
  return list();
}

test('a comment of ours starts no run; one that quotes or forges its mark does', async () => {
  const { bench, github, tell, log } = await open();
  expect(await tell('please review')).toBe(202);
  await expect.poll(() => github.told.length).toBe(1);
  // The loop ends here.
  expect(await github.told[0]).toBe(204);

  const ours = String(github.requests.at(-1)?.body?.['body']);
  const runId = /run=([\w-]+)/.exec(ours)?.[1] ?? '';
  expect(await tell(ours)).toBe(204);
  expect(await tell(`I agree.\n\n${ours.replaceAll(/^/gm, '> ')}`)).toBe(202);
  expect(await tell(`What is this?\n\n\`\`\`\n${ours}\n\`\`\``)).toBe(202);
  expect(await tell(markComment('ours', { runId: randomUUID(), secret: 'another token' }))).toBe(202);
  expect(await tell(ours.replace(runId, randomUUID()))).toBe(202);

  const said = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said.filter(({ skippedBy }) => skippedBy === 'ownComment').length).toBeGreaterThanOrEqual(2);
  const [first] = await skippedOf(bench, 2);
  expect(first).toMatchObject({ skippedBy: 'ownComment', mapping: 'comments', status: 204 });
  const explained = await bench.run(['explain', String(first?.['id'])]);
  expect(explained.out).toMatch(/skipped by the mark of our own comment, which run [\w-]{36} wrote/);
});

test('an account in ignoreSenders starts no run, wherever its sender names it', async () => {
  const { bench, tell } = await open("ignoreSenders: [Sluice-Bot, '@renovate']\n");
  expect(await tell('hello', 'sluice-bot')).toBe(204);
  expect(await tell('hello', 'renovate')).toBe(204);
  expect(await tell('hello', 'renovate2')).toBe(202);
  expect(await skippedOf(bench, 2)).toContainEqual(
    expect.objectContaining({
      findings: [{ code: 'skipped', facts: { by: 'ignoreSenders', sender: 'Sluice-Bot' } }],
    }),
  );
});

test('people see on their comment that it was heard, once, and then how it ended', async () => {
  const { bench, github, tell } = await open("dedupe: body\nreaction: {seen: eyes, done: '+1'}\n");
  const signs = () =>
    github.requests
      .filter(({ path }) => path.endsWith('/reactions'))
      .map(({ path, body }) => [path, body?.['content']]);
  // The second is a repeat of the first.
  for (const _ of [1, 2]) expect(await tell('please review')).toBe(202);
  const url = new URL((created.comment as { readonly url: string }).url);
  const path = `${url.pathname}/reactions`;
  await expect.poll(signs).toEqual([
    [path, 'eyes'],
    [path, '+1'],
  ]);
  const [run] = listIn<{ readonly id: string }>(
    (await bench.run(['runs', '--mapping', 'comments', '--json'])).out,
  );
  await expect
    .poll(async () => (await bench.run(['explain', String(run?.id)])).out)
    .toMatch(/reaction \+1 on github to Codertocat\/Hello-World#1: completed after 1 attempt/);
});
