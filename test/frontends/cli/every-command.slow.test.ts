/** Every command of the command line is run with something real and does what it says: none is only a promise. */
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createProgram } from '../../../src/frontends/cli/cli.ts';
import { processTerminal } from '../../../src/frontends/cli/terminal.ts';
import type { Service } from '../../../src/service/startup/startup.ts';
import { openBench, serveBench, startBench, TOKEN, waitFor, type Bench } from '../../support/cli-service.ts';
import type { CliOptions, CliRun } from '../../support/cli-terminal.ts';
import { commandNames } from '../../support/docs.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { listIn } from '../../support/output-check.ts';

const ENV = { SLUICE_HOOK_TOKEN: TOKEN };
const COMMANDS = commandNames(createProgram(processTerminal(), () => undefined));
const seen = new Set<string>();

/** The command that a command line runs; a group alone runs its default command. */
function note(args: readonly string[]): void {
  const words = args.join(' ');
  const name = COMMANDS.find((command) => words === command || words.startsWith(`${command} `));
  if (name !== undefined) seen.add(name);
}

/** A bench that notes which commands have run. */
function open(files: Readonly<Record<string, string>> = {}): Bench {
  const bench = openBench(files);
  return {
    ...bench,
    run: (args, options: Omit<CliOptions, 'cwd'> = {}) => {
      note(args);
      return bench.run(args, { env: ENV, ...options });
    },
  };
}

const rows = (run: CliRun) => listIn(run.out);
const fine = (run: CliRun): CliRun => {
  expect(run, run.err).toMatchObject({ exitCode: 0 });
  return run;
};

/** `test/frontends/lsp` asks it everything; the others are in `demo.slow.test.ts` and `running.slow.test.ts`. */
note(['lsp']);
note(['demo']);
note(['serve']);
note(['dev']);

afterAll(() => {
  expect([...seen].toSorted(), 'a new command needs a step in this file').toEqual(COMMANDS.toSorted());
});

test('init, add, check, routes, test, explain, replay, transform run, diff, mcp, config and completion', async () => {
  const bench = open();
  fine(await bench.run(['init']));
  expect(fine(await bench.run(['check'])).out).toContain('no findings');
  expect(fine(await bench.run(['routes'])).out).toContain('hook name hello');
  expect(listIn(fine(await bench.run(['routes', '--json'])).out)).toHaveLength(1);
  const [found] = readdirSync(join(bench.folder, 'test/golden'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((file) => file.endsWith('.request.yaml'));
  const file = join('test/golden', found ?? '');
  expect(fine(await bench.run(['test'])).out).toContain('1 passed');
  expect(existsSync(join(bench.folder, file.replace('.request.', '.expected.')))).toBe(true);
  expect(fine(await bench.run(['explain', file])).out).toContain('Ada says: Good morning');
  expect(fine(await bench.run(['replay', file])).out).toContain('Ada says: Good morning');

  bench.put(
    'transforms/loud.ts',
    'export default ({ payload }) => ({ message: payload.text.toUpperCase() });\n',
  );
  const loud = await bench.run(['transform', 'run', 'transforms/loud.ts', '--request', file]);
  expect(fine(loud).out).toContain('GOOD MORNING');

  const before = open({ 'sluice.yaml': readFileSync(join(bench.folder, 'sluice.yaml'), 'utf8') });
  const diff = await bench.run(['diff', before.folder]);
  expect(fine(diff).out).toContain('1 of 1 recorded requests change outcome');

  expect(fine(await bench.run(['add', 'github'])).out).toContain('Set up GitHub:');
  // It is interrupted at once; test/frontends/mcp asks it.
  fine(await bench.run(['mcp']));

  expect(fine(await bench.run(['config', 'show'])).out).toContain('hooks.path');
  expect(fine(await bench.run(['completion', 'bash'])).out).toContain('complete -o default');
  expect(fine(await bench.run(['types', 'hello'])).out).toContain('export type HelloPayload = {');
});

test('import openclaw', async () => {
  const bench = open({
    'openclaw.json': `{
      hooks: { enabled: true, token: "\${HOOK}", mappings: [
        { match: { path: "ci" }, action: "agent", messageTemplate: "Build {{payload.id}}" },
      ] },
    }`,
  });
  const made = await bench.run(['import', 'openclaw', 'openclaw.json', '--into', 'made'], {
    env: { HOOK: TOKEN },
  });
  expect(made.out + made.err).toContain('sluice.yaml');
  const files = readdirSync(join(bench.folder, 'made'), { recursive: true, encoding: 'utf8' });
  expect(files).toContain('sluice.yaml');
});

test('verify', async () => {
  const body = '{"zen":"Design for failure."}';
  const signature = createHmac('sha256', 'a-secret-of-the-sender').update(body).digest('hex');
  const bench = open({
    'sluice.yaml': `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - match: {path: github}
      verify: {scheme: github, secrets: ["\${SENDER}"]}
      messageTemplate: "{{zen}}"
`,
    'body.json': body,
    'good.yaml': `path: github\nheaders: {x-hub-signature-256: sha256=${signature}}\nbodyFile: body.json\n`,
    'bad.yaml': `path: github\nheaders: {x-hub-signature-256: sha256=${'0'.repeat(64)}}\nbodyFile: body.json\n`,
  });
  const env = { ...ENV, SENDER: 'a-secret-of-the-sender' };
  expect(rows(fine(await bench.run(['verify', 'good.yaml', '--json'], { env })))).toMatchObject([
    { path: 'github', proved: true },
  ]);
  expect(await bench.run(['verify', 'bad.yaml'], { env })).toMatchObject({ exitCode: 1 });
});

test('doctor', async () => {
  const bench = open({
    'sluice.yaml':
      'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}"}\ngateway: {runner: {kind: command, argv: [/bin/cat]}}\n',
  });
  const looked = await bench.run(['doctor']);
  expect(looked.out).toContain('is made at the first start');
  expect(looked.out).toContain('signed times are compared with that');
  const report = await bench.run(['doctor', '--json']);
  const findings = listIn(report.out);
  expect(findings).toContainEqual(expect.objectContaining({ area: 'listener', ok: true }));
});

test('record and send', async () => {
  const args = ['record', '--into', 'recorded'];
  const bench = open({
    'sluice.yaml': 'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}"}\nserver: {port: 0}\n',
    'wake.yaml': 'path: wake\nbody: {text: Hello}\n',
  });
  note(args);
  const running = await startBench(bench, args, ENV);
  const sent = fine(await bench.run(['send', 'wake.yaml', '--against', running.url]));
  expect(sent.out).toMatch(/^200 /);
  await waitFor(() => (existsSync(join(bench.folder, 'recorded/wake')) ? true : undefined));
  expect(await running.end()).toBe(0);
});

const STORE_CONFIG = `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: order, match: {path: order}, sessionKey: "hook:order", conversation: {}, deliver: false, messageTemplate: "Order {{id}}"}
    - {id: lost, match: {path: lost}, runner: busy, deliver: false, messageTemplate: "{{text}}"}
    - {id: asked, match: {path: asked}, deliver: false, messageTemplate: hi, approve: {channel: slack, to: C0123456}}
server: {port: 0}
gateway:
  runners:
    busy: {kind: command, argv: [/bin/sh, -c, exit 75], retryExitCodes: [75]}
`;

async function send(bench: Bench, service: Service, request: string): Promise<void> {
  bench.put('request.yaml', request);
  fine(await bench.run(['send', 'request.yaml', '--against', service.url]));
}

test('requests, runs, events, sessions, conversation, queue and storage', async () => {
  const bench = open({ 'sluice.yaml': STORE_CONFIG });
  const service = await serveBench(bench);
  await send(bench, service, 'path: order\nbody: {id: 7}\n');
  await waitFor(async () =>
    rows(await bench.run(['runs', '--json', '--state', 'completed'])).find(({ kind }) => kind === 'hook'),
  );
  expect(fine(await bench.run(['runs'])).out).toContain('order');
  expect(fine(await bench.run(['events'])).out).toContain('order');
  await waitFor(async () => rows(await bench.run(['requests', '--json']))[0]);
  expect(fine(await bench.run(['requests'])).out).toMatch(/order +202/);
  expect(fine(await bench.run(['requests', '--grouped'])).err).toContain('nothing needs attention');
  expect(listIn(fine(await bench.run(['requests', '--grouped', '--json'])).out)).toEqual([]);
  expect(await bench.run(['recover'])).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('no path asks its sender') as string,
  });

  expect(fine(await bench.run(['sessions', 'list'])).out).toContain('hook:order');
  const further = ['conversation', 'add', 'hook:order:7', '--conversation', 'hook:order'];
  expect(fine(await bench.run(further)).out).toBe('added\n');
  const turns = fine(await bench.run(['sessions', 'list', 'hook:order'])).out;
  expect(turns).toContain('known by hook:order:7');
  expect(turns).toContain('Order 7');
  expect(fine(await bench.run(['sessions', 'clear', 'hook:order'])).out).toBe('cleared\n');

  await send(bench, service, 'path: lost\nbody: {text: Nobody reads this}\n');
  const entry = await waitFor(async () => rows(await bench.run(['queue', 'list', '--json']))[0]);
  const id = String(entry['id']);
  expect(fine(await bench.run(['queue', 'list', id])).out).toContain('Nobody reads this');
  await waitFor(async () =>
    (await bench.run(['queue', 'retry', id])).out === '1 due now\n' ? true : undefined,
  );
  await waitFor(async () =>
    (await bench.run(['queue', 'drop', id, '--yes'])).out === '1 dropped\n' ? true : undefined,
  );
  await send(bench, service, 'path: asked\nbody: {}\n');
  // The question about it may stand in the queue, too, as long as it has not gone.
  const asked = await waitFor(async () =>
    rows(await bench.run(['runs', '--json', '--mapping', 'asked'])).find(({ kind }) => kind === 'hook'),
  );
  expect(fine(await bench.run(['approve', String(asked['id'])])).out).toContain('approved run');
  fine(await bench.run(['queue', 'pause']));
  const waiting = async (): Promise<string> =>
    (await bench.run(['queue'])).out + (await bench.run(['queue'])).err;
  expect(await waiting()).toContain('paused');
  fine(await bench.run(['queue', 'resume']));
  expect(await waiting()).not.toContain('paused');
  expect(fine(await bench.run(['queue', 'pause', '--runner', 'busy'])).out).toBe('paused runner busy\n');
  expect(await waiting()).toContain('runner busy has been paused');
  expect(await bench.run(['queue', 'pause', '--runner', 'bussy'])).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('no runner has the name bussy') as string,
  });
  fine(await bench.run(['queue', 'resume', '--runner', 'busy']));
  expect(fine(await bench.run(['costs', '--json'])).out).toContain('"costs":[]');
  const changes = rows(await bench.run(['audit', '--json']));
  expect(changes[0]).toMatchObject({
    what: 'resume',
    about: 'runner busy',
    changed: 1,
    who: userInfo().username,
  });
  expect(new Set(changes.map(({ what }) => what))).toEqual(
    new Set(['start', 'resume', 'pause', 'approve', 'drop', 'retry', 'clear session', 'add key']),
  );
  expect(fine(await bench.run(['audit'])).out).toContain('runner busy');

  fine(await bench.run(['storage', 'backup', 'copy.db']));
  expect(readFileSync(join(bench.folder, 'copy.db')).subarray(0, 15).toString()).toBe('SQLite format 3');
  expect(fine(await bench.run(['storage', 'verify'])).out).toBe('the store is intact\n');
  expect(fine(await bench.run(['storage', 'status'])).out).toMatch(/up to date\nservice {3}performer/);
  expect((await bench.run(['storage', 'migrate'])).err).toContain(
    'another Sluice service is using this store',
  );
  // On PostgreSQL it is tried in test/engine/storage/postgres-faults.slow.test.ts.
  expect(await bench.run(['storage', 'migrate', '--accept'])).toMatchObject({
    exitCode: 3,
    err: expect.stringContaining('a SQLite file, which needs no such command') as string,
  });
  const moved = fine(await bench.run(['storage', 'copy', 'sqlite:copy.db', 'sqlite:moved.db', '--json']));
  expect(JSON.parse(moved.out)).toMatchObject({ wasResumed: false, rows: { counters: 1 } });
  const missing = await bench.run(['storage', 'restore', 'cpoy.db']);
  expect(missing).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('there is no file cpoy.db') as string,
  });
  expect(await bench.run(['storage', 'restore', 'copy.db'])).toMatchObject({
    exitCode: 3,
    err: expect.stringContaining('another Sluice service is using this store; stop it first'),
  });
  await service.stop();
  expect(fine(await bench.run(['storage', 'migrate'])).out).toContain('already up to date');
  const restored = fine(await bench.run(['storage', 'restore', 'copy.db']));
  expect(restored.out).toMatch(/^restored copy\.db[^]*kept as .*before-restore-/);
});

test('worker', async () => {
  const bench = open({
    'sluice.yaml': `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: order, match: {path: order}, runner: laptop, deliver: false, messageTemplate: "Order {{id}}"}
server: {port: 0}
gateway: {runners: {laptop: {kind: worker, tokens: [{file: token}]}}}
`,
    token: '0f1e2d3c4b5a69788796a5b4c3d2e1f0\n',
  });
  const service = await serveBench(bench);
  const { promise: interrupt, resolve: stop } = Promise.withResolvers<void>();
  const env = { ...ENV, PATH: process.env['PATH'], XDG_STATE_HOME: join(bench.folder, 'state') };
  const line = ['worker', service.url, '--token-file', 'token', '--', 'cat'];
  const working = bench.run(line, { env, interrupt });
  await send(bench, service, 'path: order\nbody: {id: 7}\n');
  const run = await waitFor(async () =>
    rows(await bench.run(['runs', '--json', '--state', 'completed'])).find(({ kind }) => kind === 'hook'),
  );
  expect(run).toMatchObject({ outcome: 'ok', reply: expect.stringContaining('Order 7') as string });
  stop();
  fine(await working);
});

test('runners check and channels check, send and use', async () => {
  const platform = await startPlatform(({ path }) => ({
    status: 200,
    body: {
      ok: true,
      result: path.endsWith('/getMe')
        ? { id: 1, is_bot: true, username: 'sluice_bot' }
        : { message_id: 7, date: 1, chat: { id: 1, type: 'private' } },
    },
  }));
  onTestFinished(platform.stop);
  const bot = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
  const config = `
channels: {telegram: {botToken: "${bot}", baseUrl: "${platform.url}", to: -1001234567890}}
gateway: {runners: {parrot: {kind: command, argv: [cat]}}}
server: {port: 0}
`;
  const bench = open({ 'sluice.yaml': config });
  expect(fine(await bench.run(['runners', 'check'], { env: { PATH: process.env['PATH'] } })).out).toMatch(
    /parrot +command +ok/,
  );
  await (await serveBench(bench)).stop();
  expect(fine(await bench.run(['channels', 'check'])).out).toMatch(/telegram +ok +@sluice_bot/);
  expect((await bench.run(['doctor'])).out).toContain('telegram knows this account: @sluice_bot');
  expect(fine(await bench.run(['channels', 'send', 'telegram', 'Hello'])).out).toContain('sent to telegram');
  fine(await bench.run(['channels', 'use', 'telegram', '42']));
  expect(fine(await bench.run(['channels', 'check'])).out).toContain('last: telegram to 42');
});

test('webhooks mail setup, run, status, list, retry and drop', async () => {
  const mail = (subject: string, text: string): string =>
    `From: Ada <ada@example.org>\r\nTo: testuser\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.org>\r\n\r\n${text}\r\n`;
  const server = await startMailServer([mail('fits', 'Hello'), mail('large', 'x'.repeat(5000))]);
  onTestFinished(server.stop);
  const bench = open({
    'sluice.yaml':
      'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}", maxBodyBytes: 3000}\nserver: {port: 0}\n',
    password: 'testpass\n',
  });
  const answers = `--provider imap --account testuser --host 127.0.0.1 --port ${server.port} --security none --auth password --password-file password --since 2020-01-01`;
  const setup = ['webhooks', 'mail', 'setup', ...answers.split(' ')];
  const made = fine(await bench.run(setup));
  expect(made.out + made.err).toContain('INBOX');
  expect(readFileSync(join(bench.folder, 'sluice.yaml'), 'utf8')).toContain('account: testuser');

  const service = await serveBench(bench);
  const { promise: interrupt, resolve: stop } = Promise.withResolvers<void>();
  const reading = bench.run(['webhooks', 'mail', 'run', '--against', service.url], { interrupt });
  const refused = await waitFor(async () => rows(await bench.run(['webhooks', 'mail', 'list', '--json']))[0]);
  expect(refused).toMatchObject({ subject: 'large', code: 'body_too_large' });
  await waitFor(async () =>
    rows(await bench.run(['webhooks', 'mail', 'status', '--json']))[0]?.['delivered'] === 1
      ? true
      : undefined,
  );
  stop();
  fine(await reading);
  const retried = await bench.run(['webhooks', 'mail', 'retry', String(refused['id'])]);
  expect(fine(retried).out).toContain('1 message will be delivered again');
  expect(fine(await bench.run(['webhooks', 'mail', 'drop', '--all'])).out).toBe('1 message forgotten\n');
  await waitFor(async () => rows(await bench.run(['requests', '--json', '--state', 'accepted']))[0]);
});
