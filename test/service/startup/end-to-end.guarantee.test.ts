import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startPlatform, type PlatformServer } from '../../support/platform-server.ts';
import { cli } from '../../support/cli-terminal.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';
import { listIn } from '../../support/output-check.ts';

const TOKEN = 'e2e-token-0123456789abcdef';
const BOT = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

const SECRETS = { SLUICE_HOOK_TOKEN: TOKEN, TELEGRAM_BOT: BOT };

let folder: string;
let platform: PlatformServer;
let service: ServiceProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(async () => {
  await service?.end('SIGKILL');
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const config = (baseUrl: string): string => `
hooks:
  enabled: true
  token: "\${SLUICE_HOOK_TOKEN}"
  mappings:
    - id: push
      match: {path: github, when: {"===": [{var: headers.x-github-event}, push]}}
      name: GitHub
      instructions: Summarise this push.
      messageTemplate: "{{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}"
      channel: telegram
      to: -1001234567890
gateway:
  runner: {kind: command, argv: [sh, -c, 'env > env.txt; cat > prompt.txt; sleep 1; echo "A push to Hello-World."'], cwd: ${JSON.stringify(folder)}}
  heartbeat: {everySeconds: 0, runner: echo}
channels:
  telegram: {botToken: "\${TELEGRAM_BOT}", baseUrl: ${JSON.stringify(baseUrl)}}
storage: {url: "sqlite:./store.db"}
`;

test('a GitHub push becomes one Telegram message, though the service is killed in between', async () => {
  platform = await startPlatform((request) =>
    request.path.endsWith('/sendMessage')
      ? {
          status: 200,
          body: { ok: true, result: { message_id: 1, date: 1, chat: { id: 1, type: 'private' } } },
        }
      : { status: 404, body: { ok: false, error_code: 404, description: 'Not Found' } },
  );
  await writeFile(join(folder, 'sluice.yaml'), config(platform.url));
  service = await startServiceProcess(folder, SECRETS);
  const answer = await fetch(`http://127.0.0.1:${service.port}/hooks/github`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'x-github-event': 'push' },
    body: await readFile('test/lab/bench/push.json', 'utf8'),
  });
  expect(answer.status).toBe(202);
  const { runId } = (await answer.json()) as { runId: string };
  await until('the agent to read its prompt', () =>
    readFile(join(folder, 'prompt.txt'), 'utf8').then(
      (text) => text || undefined,
      () => undefined,
    ),
  );
  await service.end('SIGKILL');
  expect(platform.requests).toHaveLength(0);

  service = await startServiceProcess(folder, SECRETS);
  await until('the message', () => (platform.requests.length > 0 ? true : undefined));
  const runs = await until('the run to be listed as completed', async () => {
    const list = listIn((await cli(['runs', '--json'], { cwd: folder, env: SECRETS })).out);
    return list.find((run) => run['id'] === runId && run['state'] === 'completed');
  });
  expect(runs).toMatchObject({
    mapping: 'push',
    outcome: 'ok',
    attempts: 2,
    reply: 'A push to Hello-World.',
  });
  const sent = platform.requests.map((request) => request.body);
  expect(sent).toEqual([
    expect.objectContaining({
      chat_id: expect.anything() as unknown,
      text: expect.stringContaining('A push to Hello-World.') as unknown,
    }),
  ]);
  const environment = await readFile(join(folder, 'env.txt'), 'utf8');
  expect(environment).toContain(`SLUICE_RUN_ID=${runId}`);
  for (const secret of Object.values(SECRETS)) expect(environment).not.toContain(secret);
  expect(service.log.join('\n')).not.toContain(BOT);
  const prompt = await readFile(join(folder, 'prompt.txt'), 'utf8');
  expect(prompt).toMatch(/^Summarise this push\./);
  expect(prompt).toContain('Codertocat pushed 1 commit(s) to Codertocat/Hello-World');
  const events = listIn<{ kind: string; text: string }>(
    (await cli(['events', '--json'], { cwd: folder, env: SECRETS })).out,
  );
  expect(events.filter((event) => event.kind === 'summary').map((event) => event.text)).toEqual([
    'Hook GitHub: A push to Hello-World. (its reply is sent to telegram: nothing is left to do)',
  ]);
});

test('a reply of several messages goes on where it was when the service was killed', async () => {
  const texts = (): unknown[] => platform.requests.map((request) => request.body?.['text']);
  let isHanging = true;
  platform = await startPlatform((_, index) => {
    if (isHanging && index === 1) return 'hang';
    return { status: 200, body: { ok: true, result: { message_id: index, date: 1, chat: { id: 1 } } } };
  });
  const long = `node -e 'console.log(Array.from({ length: 2500 }, (_, i) => "w" + i).join(" "))'`;
  const command = `argv: [sh, -c, ${JSON.stringify(long)}]`;
  await writeFile(
    join(folder, 'sluice.yaml'),
    config(platform.url).replace(/argv: \[.*\], cwd/, () => `${command}, cwd`),
  );
  service = await startServiceProcess(folder, SECRETS);
  await fetch(`http://127.0.0.1:${service.port}/hooks/github`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'x-github-event': 'push' },
    body: await readFile('test/lab/bench/push.json', 'utf8'),
  });
  await until('the second message', () => (platform.requests.length === 2 ? true : undefined));
  await service.end('SIGKILL');
  isHanging = false;

  service = await startServiceProcess(folder, SECRETS);
  await until('the last word', () => (String(texts().at(-1)).endsWith('w2499') ? true : undefined));
  const [first, cut, again, ...rest] = texts();
  // Nobody knows of the message that was under way; it alone is sent again.
  expect(again).toBe(cut);
  const words = Array.from({ length: 2500 }, (_, index) => `w${index}`);
  expect([first, again, ...rest].join(' ').split(' ')).toEqual(words);
});
