/** `sluice add`: what it writes checks and tests without a finding, and takes a request signed as its sender would. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { firstCase } from '../../../src/frontends/cli/setup/add-plan.ts';
import { shippedSenders } from '../../../src/engine/senders/senders.ts';
import { startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

const TOKEN = 'hook-token-of-the-test-0123456789';
const env = { SLUICE_HOOK_TOKEN: TOKEN, PATH: process.env['PATH'] };
const CONFIG = `# Kept: a comment at the top.
hooks:
  enabled: true # Kept, too.
  token: \${SLUICE_HOOK_TOKEN}
  authFailuresPerMinute: 1000
gateway:
  runner: { kind: command, argv: [cat], cwd: private }
server: { port: 0 }
`;

/** Those with mappings of their own. */
const SENDERS = shippedSenders().filter(({ mapping }) => mapping !== undefined);

let folder: string;
const runIn = (cwd: string, ...args: string[]): Promise<CliRun> => cli(args, { cwd, env });
const run = (...args: string[]): Promise<CliRun> => runIn(folder, ...args);

const folders: string[] = [];
beforeAll(openFolder);
afterAll(() => Promise.all(folders.map((each) => rm(each, { recursive: true, force: true }))));

/** Commands run in a new folder from now on. */
async function openFolder(): Promise<void> {
  folder = await makeFolder();
}

async function makeFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'sluice-add-'));
  folders.push(made);
  await writeFile(join(made, 'sluice.yaml'), CONFIG);
  await writeFile(join(made, 'issued'), 'whsec_0123456789abcdef\n');
  return made;
}

interface Delivery {
  readonly bodyFile?: string;
}

/** The first request of the first case that `add` wrote for a sender, as a file beside the configuration has it. */
async function deliveryOf(sender: (typeof SENDERS)[number]): Promise<object> {
  const file = `test/golden/${firstCase(sender.name, sender)}.request.yaml`;
  const read = parse(await readFile(join(folder, file), 'utf8')) as Delivery & {
    readonly deliveries?: readonly [Delivery];
  };
  const delivery = read.deliveries?.[0] ?? read;
  return delivery.bodyFile === undefined
    ? delivery
    : { ...delivery, bodyFile: join(dirname(file), delivery.bodyFile) };
}

describe('a sender that is added', () => {
  test('--dry-run shows everything and writes nothing', async () => {
    const { out, err, exitCode } = await run('add', 'github', '--dry-run');
    expect(exitCode).toBe(0);
    expect(out).toContain('verify: { scheme: github');
    expect(err).toContain('nothing was written');
    expect(existsSync(join(folder, 'mappings'))).toBe(false);
    expect(existsSync(join(folder, '.sluice'))).toBe(false);
  });

  test('is written with a secret of its own, says what to do there, and prints no secret', async () => {
    for (const { name, secret, title } of SENDERS) {
      const flags = secret?.from !== 'made' ? ['--secret-file', 'issued'] : [];
      // Each in a folder of its own, as a command reads all that is there; the next tests have them in one.
      const own = await makeFolder();
      const args = ['add', name, '--url', 'https://hooks.example.com', ...flags];
      const { out, err, exitCode } = await runIn(own, ...args);
      expect([name, exitCode, err]).toEqual([name, 0, '']);
      expect(out).toContain(`Set up ${title}:`);
      expect(out).toContain(`https://hooks.example.com/hooks/${name}`);
      const file = join(own, '.sluice/secrets', name);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(out).not.toContain((await readFile(file, 'utf8')).trim());
      await cp(own, folder, { recursive: true });
    }
    const config = await readFile(join(folder, 'sluice.yaml'), 'utf8');
    expect(config).toContain('# Kept: a comment at the top.');
    expect(config).toContain('# Kept, too.');
    expect(config).toContain('publicUrl: https://hooks.example.com');
    expect(await readFile(join(folder, '.sluice/.gitignore'), 'utf8')).toBe('*\n');
    expect(await readFile(join(folder, 'test/golden/.gitattributes'), 'utf8')).toBe('* -text\n');
  });

  test('has the type of what it sends, for transforms', () => {
    for (const { name } of SENDERS)
      expect(existsSync(join(folder, `transforms/${name}.types.ts`)), name).toBe(true);
    const tsc = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'transforms'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  test('passes check without a finding, and its golden cases', async () => {
    const checked = await run('check', '--json');
    expect(listIn(checked.out)).toEqual([]);
    const tested = await cli(['test'], { cwd: folder, env: { ...env, CI: '1' } });
    expect(tested).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/golden cases: 29 passed, 0 failed/),
    });
  });

  test('takes its golden cases signed as the sender signs, and refuses them unsigned', async () => {
    const log = createLogger({ destination: { write: () => true } });
    const configFile = join(folder, 'sluice.yaml');
    const service = await startService({ ...serviceAdvice, configFile, env, log });
    try {
      // One command for all, as each loads the mappings of all.
      const deliveries = await Promise.all(SENDERS.map(deliveryOf));
      await writeFile(join(folder, 'all.request.yaml'), stringify({ deliveries }));
      const statuses = async (...flags: string[]): Promise<readonly unknown[]> => {
        const against = ['--against', new URL(service.url).origin];
        const { out, err } = await run('send', 'all.request.yaml', '--json', ...flags, ...against);
        expect(out, err).not.toBe('');
        const answers = listIn<{ readonly status: number }>(out);
        return SENDERS.map(({ name }, index) => [name, answers[index]?.status]);
      };
      // Twilio reads the answer itself as a message: its status is the mapping's.
      const accepted = SENDERS.map(({ name }) => [name, name === 'twilio' ? 200 : 202]);
      expect(await statuses('--sign')).toEqual(accepted);
      expect(await statuses()).toEqual(SENDERS.map(({ name }) => [name, 401]));
    } finally {
      await service.stop();
    }
  });

  test('overwrites nothing when it is added again', async () => {
    const mapping = join(folder, 'mappings/github.yaml');
    await writeFile(mapping, '# mine\n');
    const secret = await readFile(join(folder, '.sluice/secrets/github'), 'utf8');
    const { out, err } = await run('add', 'github');
    expect(out).toContain('mappings/github.yaml  (exists already, left as it is)');
    expect(err).toContain('no mapping of the path github has "verify"');
    expect(await readFile(mapping, 'utf8')).toBe('# mine\n');
    expect(await readFile(join(folder, '.sluice/secrets/github'), 'utf8')).toBe(secret);
    await rm(mapping);
  });

  test('replies with comments on GitHub where that is asked for', async () => {
    await writeFile(join(folder, 'token'), 'github_pat_x\n');
    await rm(join(folder, 'test/golden/github'), { recursive: true });
    const { out, exitCode, err } = await run('add', 'github', '--comment', '--token-file', 'token');
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).not.toContain('github_pat_x');
    expect(await readFile(join(folder, 'sluice.yaml'), 'utf8')).toContain('github:');
    const explained = await run('explain', 'test/golden/github/pull-request-opened.request.yaml', '--json');
    expect(listIn(explained.out)[0]).toMatchObject({
      actions: [{ channel: 'github', to: 'Codertocat/Hello-World#2', deliver: true }],
    });
    expect(listIn((await run('check', '--json')).out)).toEqual([]);
  });
});

describe('add --from', () => {
  beforeAll(openFolder);

  test.each([
    [
      'a payload',
      'sample.json',
      '{"event":"build.done","id":7,"project":{"name":"web"},"steps":[{"name":"lint"}]}',
    ],
    ['a list', 'list.json', '[1,{"a":"b"}]'],
    ['a text', 'text.json', '"hello"'],
    [
      'odd keys',
      'odd.json',
      '{"a b":1,"{{x}}":2,"payload":"p","__x":{"if":{"each":"y"}},"now":"n","long":"' +
        'x'.repeat(300) +
        '"}',
    ],
    [
      'a recorded request',
      'r.request.yaml',
      `path: x\nheaders: {linear-signature: "${'0'.repeat(64)}", x-y-event: made}\nbody: {title: "it's: #1"}\n`,
    ],
  ])('makes a mapping that checks, from %s', async (_, file, text) => {
    await writeFile(join(folder, file), text);
    const name = (file.split('.')[0] ?? '').toLowerCase();
    const { exitCode, err } = await run('add', name, '--from', file);
    expect([exitCode, err]).toEqual([0, '']);
    expect(listIn((await run('check', '--json')).out)).toEqual([]);
    const expected = await readFile(join(folder, 'test/golden', name, 'sample.expected.yaml'), 'utf8');
    expect(expected).toContain('outcome: accepted');
  });

  test('leaves credentials of the sample out of the case', async () => {
    const recorded = await readFile(join(folder, 'test/golden/r/sample.request.yaml'), 'utf8');
    expect(recorded).toContain('x-y-event: made');
    expect(recorded).toMatch(/linear-signature: ['"]\[removed[^\]]*\]['"]/);
    expect(await readFile(join(folder, 'mappings/r.yaml'), 'utf8')).toContain('scheme: linear');
  });
});

test('says what is wrong with a name, a sample, an address and a flag', async () => {
  const cases = [
    [['add', 'githup'], 'sluice add githup --from FILE'],
    [['add', '../x'], 'small letters'],
    [['add', 'y', '--from', 'none.json'], 'none.json cannot be read'],
    [['add', 'y', '--from', 'sluice.yaml', '--url', 'hooks.example.com'], '--url is the beginning'],
    [['add', 'stripe', '--comment'], '--comment is for'],
  ] as const;
  for (const [args, words] of cases) expect((await run(...args)).err).toContain(words);
});
