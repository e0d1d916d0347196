/** What people read while `sluice dev` and `sluice serve` run. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { openBench, type Running, startBench as run, TOKEN, waitFor } from '../../support/cli-service.ts';
import { cli } from '../../support/cli-terminal.ts';
import { startProgramHere } from '../../support/program-here.ts';
import { runCommand } from '../../support/service-process.ts';

const mapping = (text: string): string =>
  `- {id: a, match: {path: a}, messageTemplate: "${text}", deliver: false}\n`;
const config = (rest = ''): string => `hooks: {enabled: true}\nserver: {port: 0}\n${rest}`;

const strict = (rest: string): string => config(rest).replace('true}', 'true, token: "${T}"}');

async function post(
  running: Running,
  path: string,
  token: string | undefined,
  body = '{"x":1}',
): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(`${running.url}/hooks/${path}`, { method: 'POST', headers, body })).status;
}

/** One `sluice dev` for the tests that need no other: each reads on from where the one before ended. */
const watched = openBench(
  {
    'sluice.yaml': config(),
    'mappings/a.yaml': mapping('one {{x}}'),
    'mappings/b.yaml': `- id: b
  match: {path: b, when: {'===': [{var: x}, 1]}}
  messageTemplate: 'one {{gone}}'
  dedupe: body
  deliver: false
`,
  },
  afterAll,
);
const dev = await run(watched, ['dev'], { TZ: 'Asia/Tokyo' }, afterAll);
const madeToken = (): string => readFileSync(join(watched.folder, '.sluice/dev-token'), 'utf8').trim();

/** What it says from now on, once a text matches. */
function listen(running: Running): (pattern: RegExp, times?: number) => Promise<unknown> {
  const from = running.err().length;
  return (pattern, times = 1) =>
    waitFor(() => (running.err().slice(from).match(pattern)?.length ?? 0) >= times || undefined);
}

test('dev says of every hook in one line what it became, of those refused at the door too', async () => {
  const said = listen(dev);
  const token = madeToken();
  expect(await post(dev, 'a', token)).toBe(202);
  expect(await post(dev, 'typo', token)).toBe(404);
  expect(await post(dev, 'a', token, '{"x":')).toBe(400);
  expect(await post(dev, 'a', 'wrong')).toBe(401);
  await said(/ {2}401 {2}/);
  const hooks = dev
    .err()
    .split('\n')
    .filter((line) => /^\d\d:\d\d:\d\d {2}\d{3} {2}/.test(line));
  expect(hooks.map((line) => line.slice(10).replace(/ {2}\(.*/, ''))).toEqual([
    expect.stringMatching(/^202 {2}\/a {2}a → agent Hook \[hook:.*\] “one 1”$/),
    '404  /typo  no_mapping_matched: no mapping takes this hook name',
    '400  /a  invalid_json: Body is not valid JSON',
    '401  /a  unauthorized: the request does not prove where it comes from',
  ]);
  const ids = hooks.slice(1).map((line) => line.slice(-37, -1));
  expect(ids.filter((id) => !dev.err().includes(` explain ${id}`))).toEqual([]);
  // Local time, as the rest of the terminal has it.
  const hour = Number(hooks[0]?.slice(0, 2));
  expect((hour + 24 - new Date().getUTCHours()) % 24).toBeOneOf([9, 8]);
  // The hint of each stands below its line.
  expect(dev.err()).toMatch(/hint: .*ends too early|expected a value/);
  expect(dev.err()).toContain('a token came');
  expect(dev.err()).not.toContain('requestId=');
  expect(dev.err()).toContain('2 mappings on');
});

test('dev says of a miss why, of what rendered empty where, and of a repeat that it is one', async () => {
  const said = listen(dev);
  const token = madeToken();
  await post(dev, 'b', token, '{"x":2}');
  await said(/✗ b: when .* is false: found 2, expected 1 .*\n {2}hint: [^]* {2}more: .* explain [\w-]{36}\n/);
  await post(dev, 'b', token);
  await said(/· messageTemplate has nothing for gone {2}mappings\/b\.yaml:3:\d+\n/);
  await post(dev, 'b', token);
  await said(/b → repeat, nothing new: agent Hook/);
});

test('dev says once what became of a reload, and compares with what it was started with', async () => {
  const said = listen(dev);
  watched.put('mappings/a.yaml', mapping('{{#if x}}'));
  await said(/not reloaded, because of the errors above/);
  expect(await post(dev, 'a', madeToken())).toBe(202);
  await said(/“one 1”.*\n {2}by the files of before: those of now have errors/);
  watched.put('mappings/a.yaml', mapping('two'));
  await said(/^reloaded: generation \w+$/m);
  watched.put('sluice.yaml', config('storage: {url: "sqlite:./other.db"}\n'));
  await said(/^reloaded: generation \w+; a change of storage\.url needs a restart$/m);
  watched.put('sluice.yaml', config());
  await said(/^reloaded: generation \w+$/gm, 2);
  expect(dev.err()).not.toMatch(/info {2}reloaded|reload rejected/);
});

test('dev says the first step until a request has come', async () => {
  const [, step = ''] = /Send the first hook:\n\n {2}(.+)\n/.exec(dev.err()) ?? [];
  expect(await paste(watched.folder, step)).toMatch(/"ok": ?true/);
  expect(await dev.end()).toBe(0);
  const again = await run(watched, ['dev']);
  await waitFor(() => again.err().match(/\nLook: .* events/) ?? undefined);
  await fetch(`${again.url}/order`, { method: 'POST', body: '{}' });
  const outside = / {2}404 {2}.* {2}not_found: .*\n {2}hint: hooks are below \/hooks\n/;
  await waitFor(() => again.err().match(outside) ?? undefined);
  expect(again.err()).not.toContain('Send the first hook:');
  expect(await again.end()).toBe(0);
});

/** How a configuration may hold its token, and whether the shell of who pastes can tell it. */
const TOKENS = {
  'in a variable': ', token: "${MY_OWN_NAME}"',
  'in a file': ', token: {file: "secret dir/token"}',
  'in the configuration': `, token: ${TOKEN}`,
};

test.each(Object.entries(TOKENS))(
  'the first step that dev prints works when it is pasted: token %s',
  async (how, token) => {
    const bench = openBench({
      'other.yaml': config().replace('true}', `true${token}}`),
      'secret dir/token': TOKEN,
      'mappings/a.yaml': mapping('x'),
    });
    const env = { MY_OWN_NAME: TOKEN };
    const dev = await run(bench, ['dev', '-c', 'other.yaml'], env);
    const [, step = ''] = /Send the first hook:\n\n {2}(.+)\n/.exec(dev.err()) ?? [];
    expect(await paste(bench.folder, step, env)).toMatch(/"ok": ?true/);
    expect(dev.err()).toContain('1 mapping on');
    if (how === 'in a file') {
      const [, look = ''] = /Then look: (.+?) ·/.exec(dev.err()) ?? [];
      expect(await paste(bench.folder, look, env)).toMatch(/wake/);
    }
    expect(await post(dev, 'gone', TOKEN)).toBe(404);
    await dev.end();
  },
);

/** Runs a line as a shell would; `npx` stands for this program. */
async function paste(
  folder: string,
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const script = `npx() { shift; "${await startProgramHere()}" "$@"; }\n${line}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  return stdout;
}

test('test and dev say what the type checker has against a transform', async () => {
  const transform = (field: string): string =>
    `type Given = { readonly payload: { readonly x: string } };
export default ({ payload }: Given) => ({ message: payload.${field} });
`;
  const bench = openBench({
    'sluice.yaml': config(),
    'package.json': '{}',
    'mappings/a.yaml': '- {id: a, match: {path: a}, messageTemplate: none, transform: {module: a.ts}}\n',
    'transforms/a.ts': transform('y'),
    'test/golden/a.request.yaml': 'path: a\nbody: {x: one}\n',
  });
  const wrong = /property 'y' does not exist[^]*transforms\/a\.ts:2:\d+/;
  const tested = await cli(['test'], { cwd: bench.folder });
  expect(tested.err).toMatch(wrong);
  expect(tested.exitCode).toBe(1);
  const dev = await run(bench, ['dev']);
  await waitFor(() => dev.err().match(wrong) ?? undefined);
  bench.put('transforms/a.ts', transform('z'));
  await waitFor(() => dev.err().match(/property 'z' does not exist/) ?? undefined);
  await dev.end();
  bench.put('transforms/a.ts', transform('x'));
  expect(await cli(['test', '--update'], { cwd: bench.folder })).toMatchObject({ exitCode: 0 });
});

const jsonLines = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('serve writes nothing but JSON lines, from findings over failing runs and reloads to the stop', async () => {
  const failing =
    'gateway: {runner: {kind: command, argv: [sh, -c, "echo no key >&2; exit 3"], cwd: private}}\n';
  const bench = openBench({ 'sluice.yaml': strict(failing), 'mappings/a.yaml': mapping('x') });
  const serve = await run(bench, ['serve'], { T: TOKEN, XDG_STATE_HOME: openBench().folder });
  const said = (pattern: RegExp): Promise<unknown> => waitFor(() => serve.err().match(pattern) ?? undefined);
  expect(await post(serve, 'a', TOKEN)).toBe(202);
  await said(/"msg":"run (failed|given up)/);
  serve.signal('SIGHUP');
  await said(/nothing has changed/);
  bench.put('sluice.yaml', strict(`${failing}metrics: {port: 9}\ngateway: 5\n`));
  serve.signal('SIGHUP');
  await said(/reload rejected/);
  bench.put('sluice.yaml', strict(`${failing}metrics: {port: 9}\n`));
  serve.signal('SIGHUP');
  await said(/need a restart/);
  expect(await serve.end()).toBe(0);
  const lines = jsonLines(serve.err());
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', needsRestart: ['metrics'], msg: expect.anything() }),
  );
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  expect(lines).toContainEqual(expect.objectContaining({ code: 'exit_3' }));
});

test('serve says in JSON lines why it did not start, with the place of each finding', async () => {
  const bench = openBench({ 'sluice.yaml': strict('gateway: 5\n') });
  const start = await runCommand(bench.folder, ['serve'], { T: TOKEN });
  expect(start.code).toBe(1);
  const lines = jsonLines(start.err);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'error', at: expect.stringMatching(/^sluice\.yaml:\d+:\d+$/) }),
  );
  // On a busy machine a thread may still write the line before when the process writes its last ones itself.
  expect(lines).toContainEqual(expect.objectContaining({ level: 'error', msg: 'the service does not run' }));
});

test('serve writes readable lines where the configuration asks for them', async () => {
  const bench = openBench();
  bench.put('sluice.yaml', strict('log: {level: debug, format: pretty}\n'));
  const pretty = await run(bench, ['serve'], { T: TOKEN });
  expect(pretty.err()).toMatch(/^\d\d:\d\d:\d\d info {2}ready url=/m);
  expect(await post(pretty, '../stranger', undefined)).toBe(404);
  await waitFor(() => pretty.err().match(/debug request/) ?? undefined);
  await pretty.end();
});
