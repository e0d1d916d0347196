/**
 * `--register` and `--remove`. What they send is compared with what the SDK of the provider sends for the same webhook: its
 * calls and types are made from the published description of the interface (grammy's are written after that of Telegram).
 */
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Gitlab } from '@gitbeaker/rest';
import { Octokit } from '@octokit/core';
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods';
import { Api } from 'grammy';
import { Stripe } from 'stripe';
import { placeOf, shippedSenders } from '../../../src/engine/senders/senders.ts';
import { changeWebhook } from '../../../src/frontends/cli/setup/register.ts';
import { cli, type CliRun } from '../../support/cli-terminal.ts';

const TOKEN = 'token-of-the-test-0123456789';
const URL_OF = (name: string): string => `https://hooks.example.com/hooks/${name}`;

/** One request to the interface of a provider. */
interface Asked {
  readonly method: string;
  readonly path: string;
  /** Absent where it has none. */
  readonly body: unknown;
}

interface State {
  readonly asked: Asked[];
  made: number;
  removed: number;
}

interface Provider {
  readonly name: string;
  readonly target?: string;
  readonly header?: readonly [name: string, value: string];
  /** Whether a request makes the webhook, or takes it away. */
  readonly makes: string;
  readonly removes: string;
  /** What is answered to one that makes it, and to one that asks for it while it is there. */
  readonly answer: unknown;
  readonly listed: (hook: object | undefined) => unknown;
  readonly shown: object;
  /** The secret that the provider makes. */
  readonly issued?: string;
  /** Asks for the webhooks, makes ours, and takes it away, with the SDK of the provider. */
  readonly bySdk: (api: string, secret: string) => Promise<unknown>;
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'github',
    target: 'octocat/hello-world',
    header: ['authorization', `Bearer ${TOKEN}`],
    makes: 'POST /repos/octocat/hello-world/hooks',
    removes: 'DELETE /repos/octocat/hello-world/hooks/12',
    answer: { id: 12 },
    listed: (hook) => (hook === undefined ? [] : [hook]),
    shown: { id: 12, type: 'Repository', config: { url: URL_OF('github') } },
    bySdk: async (baseUrl, secret) => {
      const { repos } = new (Octokit.plugin(restEndpointMethods))({ baseUrl, auth: TOKEN }).rest;
      const where = { owner: 'octocat', repo: 'hello-world' };
      await repos.listWebhooks({ ...where, per_page: 100 });
      const config = { url: URL_OF('github'), content_type: 'json', secret, insecure_ssl: '0' };
      const pulls = ['pull_request', 'pull_request_review', 'pull_request_review_comment', 'check_run'];
      const events = ['push', 'issues', 'issue_comment', ...pulls, 'workflow_run', 'release'];
      await repos.createWebhook({ ...where, name: 'web', active: true, events, config });
      await repos.deleteWebhook({ ...where, hook_id: 12 });
    },
  },
  {
    name: 'gitlab',
    target: 'group/sub/project',
    header: ['private-token', TOKEN],
    makes: 'POST /api/v4/projects/group%2Fsub%2Fproject/hooks',
    removes: 'DELETE /api/v4/projects/group%2Fsub%2Fproject/hooks/3',
    answer: { id: 3 },
    listed: (hook) => (hook === undefined ? [] : [hook]),
    shown: { id: 3, url: URL_OF('gitlab') },
    bySdk: async (host, token) => {
      const { ProjectHooks } = new Gitlab({ host, token: TOKEN });
      await ProjectHooks.all('group/sub/project', { perPage: 100, maxPages: 1 });
      const said = { issuesEvents: true, mergeRequestsEvents: true, noteEvents: true };
      const events = { pushEvents: true, pipelineEvents: true, ...said };
      const more = { token, enableSslVerification: true };
      await ProjectHooks.add('group/sub/project', URL_OF('gitlab'), { ...events, ...more });
      await ProjectHooks.remove('group/sub/project', 3);
    },
  },
  {
    name: 'telegram',
    makes: `POST /bot${TOKEN}/setWebhook`,
    removes: `POST /bot${TOKEN}/deleteWebhook`,
    answer: { ok: true, result: true },
    listed: (hook) => ({ ok: true, result: hook ?? { url: '' } }),
    shown: { url: URL_OF('telegram'), pending_update_count: 0 },
    bySdk: async (apiRoot, secret_token) => {
      // It asks for the webhook with POST; Telegram takes GET as well.
      const bot = new Api(TOKEN, { apiRoot });
      await bot.setWebhook(URL_OF('telegram'), {
        secret_token,
        allowed_updates: ['message', 'callback_query'],
      });
      await bot.deleteWebhook();
    },
  },
  {
    name: 'stripe',
    header: ['authorization', `Bearer ${TOKEN}`],
    makes: 'POST /v1/webhook_endpoints',
    removes: 'DELETE /v1/webhook_endpoints/we_1',
    answer: { id: 'we_1', secret: 'whsec_of_the_test_0123456789' },
    listed: (hook) => ({ object: 'list', data: hook === undefined ? [] : [hook] }),
    shown: { id: 'we_1', url: URL_OF('stripe') },
    issued: 'whsec_of_the_test_0123456789',
    bySdk: async (api) => {
      const { hostname: host, port } = new URL(api);
      const stripe = new Stripe(TOKEN, { host, port: Number(port), protocol: 'http' });
      await stripe.webhookEndpoints.list({ limit: 100 });
      await stripe.webhookEndpoints.create({
        url: URL_OF('stripe'),
        enabled_events: ['invoice.payment_failed', 'charge.dispute.created', 'checkout.session.completed'],
      });
      await stripe.webhookEndpoints.del('we_1');
    },
  },
];

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString('utf8');
  if (text === '' || text === '{}') return undefined;
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded'))
    return JSON.parse(text);
  // A list is repeated, with or without the places of its values.
  const entries = [...new URLSearchParams(text)].map(([key, value]) => [
    key.replace(/\[\d+\]$/, '[]'),
    value,
  ]);
  const keys = [...new Set(entries.map(([key = '']) => key))];
  return Object.fromEntries(
    keys.map((key) => [key, entries.flatMap(([name, value]) => (name === key ? value : []))]),
  );
}

/** A server of the provider, which has one webhook at most. */
async function serve({
  header,
  makes,
  removes,
  answer,
  listed,
  shown,
}: Provider): Promise<{ readonly api: string; readonly state: State }> {
  const state: State = { asked: [], made: 0, removed: 0 };
  const take = (call: string): readonly [status: number, body: unknown] => {
    if (call === makes) state.made += 1;
    if (call === removes) state.removed += 1;
    if (call === makes) return [201, answer];
    if (call === removes) return [200, { ok: true, result: true }];
    return [200, listed(state.made > state.removed ? shown : undefined)];
  };
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url: path = '', headers } = request;
      const isAllowed =
        header === undefined
          ? path.includes(TOKEN)
          : [header[1], `token ${TOKEN}`].includes(String(headers[header[0]]));
      const [status, body] = isAllowed ? take(`${method} ${path}`) : [401, { message: 'Bad credentials' }];
      state.asked.push({ method, path, body: await readBody(request) });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { api: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, state };
}

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-register-'));
  writeFileSync(join(folder, 'sluice.yaml'), 'hooks: { enabled: true, token: "${SLUICE_HOOK_TOKEN}" }\n');
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  writeFileSync(join(folder, 'other-token'), 'another\n');
  return folder;
}

test.each(PROVIDERS.map((provider) => [provider.name, provider] as const))(
  'a webhook of %s is shown, made, found again and taken away',
  async (name, provider) => {
    const { api, state } = await serve(provider);
    const folder = folderOf();
    const target = provider.target === undefined ? [] : [provider.target];
    const run = (flags: readonly string[], answers?: readonly string[]): Promise<CliRun> =>
      cli(['add', name, '--url', 'https://hooks.example.com', '--api', api, ...flags], {
        cwd: folder,
        env: { SLUICE_HOOK_TOKEN: 'hook-token-of-the-test-0123456789' },
        ...(answers === undefined ? {} : { answers }),
      });
    const token = ['--token-file', 'token'];
    const asked = await run(['--register', ...target, ...token], ['no']);
    expect([asked.exitCode, state.asked]).toEqual([2, []]);
    expect(asked.out).toContain(URL_OF(name));
    expect(asked.out).toContain(`GET ${api}/`);
    const unasked = await run(['--remove', ...target, ...token], ['no']);
    expect([unasked.exitCode, state.asked]).toEqual([2, []]);

    const made = await run(['--register', ...target, ...token, '--yes']);
    expect([made.exitCode, made.err]).toEqual([0, '']);
    if (name === 'github' || name === 'gitlab') {
      expect(made.out).toContain(`recover: { token: { file: 'token' }, target: ${String(provider.target)} }`);
      expect(made.out).toContain('startedBy of the path then asks with it');
    }
    const file = join(folder, '.sluice/secrets', name);
    const secret = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    if (provider.issued === undefined) expect(JSON.stringify(state.asked)).toContain(secret);
    else expect(secret).toBe(provider.issued);
    for (const { out, err } of [asked, made]) {
      expect(out + err).not.toContain(TOKEN);
      expect(out + err).not.toContain(secret);
    }

    const again = await run(['--register', ...target, ...token, '--yes']);
    expect(again.err).toContain('has a webhook for');
    expect(state.made).toBe(1);
    const refused = await run(['--remove', ...target, '--token-file', 'other-token', '--yes']);
    expect([refused.exitCode, refused.err]).toEqual([3, expect.stringMatching(/answered 40/)]);
    const removed = await run(['--remove', ...target, ...token, '--yes']);
    expect([removed.exitCode, state.removed]).toEqual([0, 1]);

    const ours = [...state.asked];
    state.asked.length = 0;
    await provider.bySdk(api, secret);
    expect(state.asked.length).toBeGreaterThan(1);
    for (const each of state.asked) expect(ours).toContainEqual(each);
  },
);

const MOVES: readonly (readonly [string, (api: string, secret: string) => Promise<unknown>])[] = [
  [
    'github',
    (baseUrl, secret) => {
      const data = { url: URL_OF('github'), content_type: 'json', secret, insecure_ssl: '0' };
      const where = { owner: 'octocat', repo: 'hello-world', hook_id: 12 };
      const route = 'PATCH /repos/{owner}/{repo}/hooks/{hook_id}/config';
      // Its method takes "url" for the address of the request.
      return new Octokit({ baseUrl, auth: TOKEN }).request(route, { ...where, data });
    },
  ],
  [
    'gitlab',
    (host, token) => {
      const { ProjectHooks } = new Gitlab({ host, token: TOKEN });
      return ProjectHooks.edit('group/sub/project', 12, URL_OF('gitlab'), { token });
    },
  ],
];

test.each(MOVES)('a webhook of %s gets another address as its SDK gives it one', async (name, bySdk) => {
  const { api, state } = await serve(PROVIDERS.find((each) => each.name === name) as Provider);
  const sender = shippedSenders().find((each) => each.name === name);
  const { register, webhooks, interface: face } = sender ?? {};
  if (sender === undefined || register === undefined || webhooks === undefined || face === undefined)
    throw new Error('it is one of those that have it');
  const target = PROVIDERS.find((each) => each.name === name)?.target;
  const of = { target, place: placeOf(face, target) ?? '', api: new URL(api), token: TOKEN };
  const given = { title: sender.title, interface: face, sender, register, webhooks, isSure: true, ...of };
  const secret = 'secret-of-the-test-0123456789';
  await changeWebhook({ ...given, url: URL_OF(name), secret }, 'move', '12');
  await bySdk(api, secret);
  const [ours, theirs] = state.asked;
  expect(ours).toEqual(theirs);
});

test('what is missing is said before anything is written', async () => {
  const folder = folderOf();
  const run = (...args: string[]): Promise<CliRun> => cli(['add', ...args], { cwd: folder, env: {} });
  expect((await run('github', '--register')).err).toContain('add --url');
  const url = ['--url', 'https://hooks.example.com'];
  expect((await run('github', '--register', ...url)).err).toContain('it needs a repository as owner/name');
  expect((await run('github', '--register', 'x/y/z', ...url)).err).toContain('found "x/y/z"');
  expect((await run('github', '--register', 'a/b', ...url)).err).toContain('--token-file');
  expect((await run('linear', '--register', ...url)).err).toContain('not known of linear');
});

/** A sender of a user or of a package, whose interface is where `api` and the path of its list say. */
const senderFile = (api: string, path: string, header = '{authorization: "Bearer {token}"}'): string =>
  `title: "GitHub\\nGET https://api.github.com"
interface:
  token: a token
  api: ${JSON.stringify(api)}
  headers: ${header}
webhooks: {path: ${JSON.stringify(path)}, url: url}
register:
  create: {path: /hooks, body: {url: "{url}"}}
  remove: {method: DELETE, path: "/hooks/{id}"}
`;

test('a package takes no name of ours, and no token before a person knows where it goes', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const api = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const host = new URL(api).host;
  const folder = folderOf();
  const inPackage = join(folder, 'node_modules/friendly/senders');
  mkdirSync(inPackage, { recursive: true });
  mkdirSync(join(folder, 'senders'));
  writeFileSync(
    join(folder, 'sluice.yaml'),
    'hooks: { enabled: true, token: "${SLUICE_HOOK_TOKEN}", senders: [friendly] }\n',
  );
  const run = (name: string, answers: readonly string[], ...flags: readonly string[]): Promise<CliRun> =>
    cli(
      ['add', name, '--register', '--url', 'https://hooks.example.com', '--token-file', 'token', ...flags],
      {
        cwd: folder,
        env: { SLUICE_HOOK_TOKEN: 'hook-token-of-the-test-0123456789' },
        answers,
      },
    );
  // Ours asks for a target, which the file of the package does not.
  for (const name of ['github', 'gitlab']) {
    writeFileSync(join(inPackage, `${name}.yaml`), senderFile(api, '/hooks'));
    expect((await run(name, ['yes'])).err).toMatch(/it needs a (?:repository|project)/);
  }
  const examples = 'examples: [{name: a, body: {url: a}}]\n';
  const write = (text: string): void => writeFileSync(join(inPackage, 'ghub.yaml'), text + examples);
  write(senderFile(api, '/hooks'));
  const refused = await run('ghub', ['no']);
  expect(refused.exitCode).toBe(2);
  expect(refused.out).toContain(`GET ${api}/hooks\nPOST ${api}/hooks\n`);
  expect(asked).toEqual([]);
  // One of a user comes before ours.
  writeFileSync(join(folder, 'senders/gitlab.yaml'), senderFile(api, '/hooks') + examples);
  expect((await run('gitlab', ['no'])).out).toContain(`GET ${api}/hooks\n`);
  const elsewhere = [
    ['http://api.example.com', '/hooks'],
    [`http://localhost.example.com`, '/hooks'],
    [`https://api.github.com@${host}?x`, '/hooks'],
    [`https://user:pass@api.github.com`, '/hooks'],
    ['https://api.github.com', `@${host}/hooks`],
    ['https://api.github.com', '.{token}.example.com/hooks'],
    ['https://api.github.com', `\t@${host}/hooks`],
    ['https://api.github.com', ':8443/hooks'],
    [api, '9/hooks'],
    [api, '@example.com'],
  ] as const;
  for (const [where, path] of elsewhere) {
    write(senderFile(where, path));
    const { exitCode, err, out } = await run('ghub', [], '--yes');
    expect([exitCode, asked, `${path}: ${err}`]).toEqual([
      2,
      [],
      expect.stringMatching(/https:\/\/ only|leaves/),
    ]);
    expect(out + err).not.toContain(TOKEN);
  }
  const other = await run('ghub', ['yes'], '--api', 'http://api.example.com');
  expect(other.err).toContain('https:// only');
  write(senderFile(api, '/hooks'));
  expect((await run('ghub', ['yes'])).exitCode).toBe(0);
  expect(asked).toEqual(['/hooks', '/hooks']);
});
