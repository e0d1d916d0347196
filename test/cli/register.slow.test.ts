/** `--register` and `--remove`, against servers that hold a request to what the provider's interface description asks. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { cli, type CliRun } from '../support/cli-terminal.ts';

const TOKEN = 'token-of-the-test-0123456789';
const URL_OF = (name: string): string => `https://hooks.example.com/hooks/${name}`;

/** What a provider's description says of one operation. */
interface Operation {
  readonly method: string;
  readonly path: string;
  /** The body; absent where it has none. */
  readonly body?: z.ZodType;
  readonly answer: (state: State) => readonly [status: number, body: unknown];
}

interface State {
  /** The bodies that were taken. */
  readonly made: unknown[];
  removed: number;
}

interface Provider {
  readonly name: string;
  readonly target?: string;
  readonly header?: readonly [name: string, value: string];
  readonly operations: readonly Operation[];
  /** The secret that the provider makes. */
  readonly issued?: string;
}

const hook = (state: State, shown: object): object[] => (state.made.length > state.removed ? [shown] : []);

const PROVIDERS: readonly Provider[] = [
  {
    // github/rest-api-description: repos/create-webhook, repos/list-webhooks, repos/delete-webhook.
    name: 'github',
    target: 'octocat/hello-world',
    header: ['authorization', `Bearer ${TOKEN}`],
    operations: [
      {
        method: 'GET',
        path: '/repos/octocat/hello-world/hooks?per_page=100',
        answer: (state) => [
          200,
          hook(state, { id: 12, type: 'Repository', config: { url: URL_OF('github') } }),
        ],
      },
      {
        method: 'POST',
        path: '/repos/octocat/hello-world/hooks',
        body: z.strictObject({
          name: z.literal('web'),
          active: z.boolean(),
          events: z.array(z.enum(['push', 'issues', 'pull_request', 'workflow_run', 'release'])),
          config: z.strictObject({
            url: z.url(),
            content_type: z.enum(['json', 'form']),
            secret: z.string().min(32),
            insecure_ssl: z.literal('0'),
          }),
        }),
        answer: () => [201, { id: 12 }],
      },
      { method: 'DELETE', path: '/repos/octocat/hello-world/hooks/12', answer: () => [204, undefined] },
    ],
  },
  {
    // GitLab's OpenAPI description: POST, GET and DELETE /api/v4/projects/{id}/hooks.
    name: 'gitlab',
    target: 'group/sub/project',
    header: ['private-token', TOKEN],
    operations: [
      {
        method: 'GET',
        path: '/api/v4/projects/group%2Fsub%2Fproject/hooks?per_page=100',
        answer: (state) => [200, hook(state, { id: 3, url: URL_OF('gitlab') })],
      },
      {
        method: 'POST',
        path: '/api/v4/projects/group%2Fsub%2Fproject/hooks',
        body: z.strictObject({
          url: z.url(),
          token: z.string().min(32),
          push_events: z.boolean(),
          issues_events: z.boolean(),
          merge_requests_events: z.boolean(),
          enable_ssl_verification: z.literal(true),
        }),
        answer: () => [201, { id: 3 }],
      },
      {
        method: 'DELETE',
        path: '/api/v4/projects/group%2Fsub%2Fproject/hooks/3',
        answer: () => [204, undefined],
      },
    ],
  },
  {
    // Telegram Bot API: getWebhookInfo, setWebhook, deleteWebhook.
    name: 'telegram',
    operations: [
      {
        method: 'GET',
        path: `/bot${TOKEN}/getWebhookInfo`,
        answer: (state) => [
          200,
          {
            ok: true,
            result: hook(state, { url: URL_OF('telegram'), pending_update_count: 0 })[0] ?? { url: '' },
          },
        ],
      },
      {
        method: 'POST',
        path: `/bot${TOKEN}/setWebhook`,
        body: z.strictObject({
          url: z.url(),
          secret_token: z.string().regex(/^[A-Za-z0-9_-]{1,256}$/),
          allowed_updates: z.array(z.enum(['message', 'callback_query'])),
        }),
        answer: () => [200, { ok: true, result: true }],
      },
      { method: 'POST', path: `/bot${TOKEN}/deleteWebhook`, answer: () => [200, { ok: true, result: true }] },
    ],
  },
  {
    // stripe/openapi: PostWebhookEndpoints (a form), GetWebhookEndpoints, DeleteWebhookEndpointsWebhookEndpoint.
    name: 'stripe',
    header: ['authorization', `Bearer ${TOKEN}`],
    issued: 'whsec_of_the_test_0123456789',
    operations: [
      {
        method: 'GET',
        path: '/v1/webhook_endpoints?limit=100',
        answer: (state) => [
          200,
          { object: 'list', data: hook(state, { id: 'we_1', url: URL_OF('stripe') }) },
        ],
      },
      {
        method: 'POST',
        path: '/v1/webhook_endpoints',
        body: z.strictObject({
          url: z.url(),
          'enabled_events[]': z.array(z.string().regex(/^[a-z_.]+$/)).min(1),
        }),
        answer: () => [200, { id: 'we_1', secret: 'whsec_of_the_test_0123456789' }],
      },
      {
        method: 'DELETE',
        path: '/v1/webhook_endpoints/we_1',
        answer: () => [200, { id: 'we_1', object: 'webhook_endpoint', deleted: true }],
      },
    ],
  },
];

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString('utf8');
  if (text === '') return undefined;
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded'))
    return JSON.parse(text);
  const form = new URLSearchParams(text);
  const keys = [...new Set(form.keys())];
  return Object.fromEntries(keys.map((key) => [key, key.endsWith('[]') ? form.getAll(key) : form.get(key)]));
}

/** A server of the provider; what its description does not have is an error of the test. */
async function serve({
  header,
  operations,
}: Provider): Promise<{ readonly api: string; readonly state: State; readonly wrong: string[] }> {
  const state: State = { made: [], removed: 0 };
  const wrong: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request);
      const operation = operations.find(
        ({ method, path }) => method === request.method && path === request.url,
      );
      const isAllowed = header === undefined || request.headers[header[0]] === header[1];
      const parsed = operation?.body?.safeParse(body);
      if (operation === undefined) wrong.push(`${request.method ?? ''} ${request.url ?? ''}`);
      if (parsed?.success === false) wrong.push(parsed.error.message);
      const [status, answer] =
        isAllowed && operation !== undefined
          ? operation.answer(state)
          : [401, { message: 'Bad credentials' }];
      if (status < 300 && operation?.body !== undefined) state.made.push(body);
      if (status < 300 && (request.method === 'DELETE' || request.url?.endsWith('deleteWebhook') === true))
        state.removed += 1;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answer === undefined ? '' : JSON.stringify(answer));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { api: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, state, wrong };
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
  { timeout: 60_000 },
  async (name, provider) => {
    const { api, state, wrong } = await serve(provider);
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
    expect([asked.exitCode, state.made.length]).toEqual([2, 0]);
    expect(asked.out).toContain(URL_OF(name));

    const made = await run(['--register', ...target, ...token, '--yes']);
    expect([made.exitCode, made.err, wrong]).toEqual([0, '', []]);
    const file = join(folder, '.sluice/secrets', name);
    const secret = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    if (provider.issued === undefined) expect(JSON.stringify(state.made[0])).toContain(secret);
    else expect(secret).toBe(provider.issued);
    for (const { out, err } of [asked, made]) {
      expect(out + err).not.toContain(TOKEN);
      expect(out + err).not.toContain(secret);
    }

    const again = await run(['--register', ...target, ...token, '--yes']);
    expect(again.err).toContain('has a webhook for');
    expect(state.made.length).toBe(1);
    const refused = await run(['--remove', ...target, '--token-file', 'other-token', '--yes']);
    expect([refused.exitCode, refused.err]).toEqual([
      3,
      expect.stringMatching(/answered 401: the token is wrong|status 404|answered 40/),
    ]);
    const removed = await run(['--remove', ...target, ...token, '--yes']);
    expect([removed.exitCode, state.removed]).toEqual([0, 1]);
  },
);

test('what is missing is said before anything is written', async () => {
  const folder = folderOf();
  const run = (...args: string[]): Promise<CliRun> => cli(['add', ...args], { cwd: folder, env: {} });
  expect((await run('github', '--register')).err).toContain('add --url');
  const url = ['--url', 'https://hooks.example.com'];
  expect((await run('github', '--register', ...url)).err).toContain('it needs the repository, as owner/name');
  expect((await run('github', '--register', 'x', ...url)).err).toContain('found "x"');
  expect((await run('github', '--register', 'a/b', ...url)).err).toContain('--token-file');
  expect((await run('linear', '--register', ...url)).err).toContain('not known of linear');
});
