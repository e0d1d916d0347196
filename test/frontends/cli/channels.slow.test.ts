import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openProject, Workbench } from '../../../src/authoring/workbench/workbench.ts';
import { openBench, serveBench, type Bench } from '../../support/cli-service.ts';
import { startPlatform, type PlatformReply, type PlatformServer } from '../../support/platform-server.ts';

const BOT = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const SENT = { ok: true, result: { message_id: 7, date: 1, chat: { id: 1, type: 'private' } } };

const plugin = (id: string, adapter: string): string => `export default {
  id: '${id}',
  settingsProblems: () => [],
  recipientProblem: () => undefined,
  open: async () => ({ id: '${id}', maxChars: 100, check: async () => ({ ok: true, account: 'me' }), send: async () => ({ kind: 'sent' }), ${adapter} }),
};`;

async function openTelegram(
  rest = '',
  sent: PlatformReply = { status: 200, body: SENT },
): Promise<Bench & { platform: PlatformServer }> {
  const platform = await startPlatform((request) =>
    request.path.endsWith('/getMe')
      ? { status: 200, body: { ok: true, result: { id: 1, is_bot: true, username: 'sluice_bot' } } }
      : sent,
  );
  onTestFinished(platform.stop);
  const telegram = `telegram: {botToken: "${BOT}", baseUrl: "${platform.url}", to: -1001234567890}`;
  return { ...openBench({ 'sluice.yaml': `channels: {${telegram}}\n${rest}` }), platform };
}

describe('channels check', () => {
  test('verifies the credentials and shows where last leads', async () => {
    const bench = await openTelegram();
    const { exitCode, out } = await bench.run(['channels', 'check']);
    expect(out).toMatch(/telegram +ok +@sluice_bot/);
    expect(out).toContain('last: telegram to -1001234567890');
    expect(exitCode).toBe(0);
  });

  test('shows a row for each channel, whatever its module does', async () => {
    const adapters = {
      throws: 'check: () => { throw new Error("no such thing") }',
      rejects: 'check: async () => Promise.reject("text")',
      nothing: 'check: async () => undefined',
      odd: 'check: async () => ({ ok: false, code: 4, message: ["a"] })',
      nameless: 'check: async () => ({ ok: true })',
      hangs: 'check: () => new Promise(() => {})',
      sticks: 'stop: () => { throw new Error("stuck") }',
    };
    const ids = Object.keys(adapters);
    const files = Object.entries(adapters).map(([id, code]) => [`${id}.mjs`, plugin(id, code)]);
    const bench = openBench({
      ...(Object.fromEntries(files) as Record<string, string>),
      'sluice.yaml': `plugins: [${ids.map((id) => `./${id}.mjs`).join(', ')}]\nchannels: {${ids.map((id) => `${id}: {}`).join(', ')}}\n`,
    });
    const { exitCode, out } = await bench.run(['channels', 'check', '--json', '--timeout', '1']);
    const { channels } = JSON.parse(out) as { channels: { channel: string; ok: boolean; code: string }[] };
    expect(Object.fromEntries(channels.map(({ channel, ok, code }) => [channel, ok ? 'ok' : code]))).toEqual({
      throws: 'unavailable',
      rejects: 'unavailable',
      nothing: 'timeout',
      odd: 'unavailable',
      nameless: 'ok',
      hangs: 'timeout',
      sticks: 'ok',
    });
    expect(exitCode).toBe(1);
    const human = await bench.run(['channels', 'check', '--timeout', '1']);
    for (const id of ids) expect(human.out).toContain(id);
    expect(human.out).toContain('no such thing');
  });
});

describe('channels send', () => {
  test('sends to the default recipient, and to last', async () => {
    const bench = await openTelegram('server: {port: 0}\n');
    await (await serveBench(bench)).stop();
    expect(await bench.run(['channels', 'send', 'telegram', 'hello'])).toMatchObject({
      exitCode: 0,
      out: 'sent to telegram -1001234567890 as 7\n',
    });
    expect(await bench.run(['channels', 'use', 'telegram', '42'])).toMatchObject({ exitCode: 0 });
    await bench.run(['channels', 'send', 'last', 'you there']);
    await bench.run(['channels', 'send', 'Telegram', 'and you', '--to', '@alerts']);
    expect(bench.platform.requests.map(({ body }) => body?.['chat_id'])).toEqual([
      -1_001_234_567_890,
      42,
      '@alerts',
    ]);
  });

  test('cuts a long text as a delivery is cut', async () => {
    const bench = await openTelegram();
    const { out } = await bench.run(['channels', 'send', 'telegram', 'a word '.repeat(900)]);
    expect(out).toBe('sent to telegram -1001234567890 as 7, in 2 messages\n');
    expect(bench.platform.requests).toHaveLength(2);
  });

  test.each([
    [['nowhere', 'x'], 2, 'there is no channel "nowhere"'],
    [['slack', 'x'], 2, 'channel slack has no settings: add channels.slack'],
    [['telegram', 'x', '--to', 'not a chat'], 2, 'a Telegram recipient is'],
  ])('says what is wrong with %j', async (args, exitCode, message) => {
    const bench = await openTelegram();
    const result = await bench.run(['channels', 'send', ...args]);
    expect(result).toMatchObject({ exitCode, err: expect.stringContaining(message) as unknown });
    expect(bench.platform.requests).toEqual([]);
  });

  test('says that a message may have arrived', async () => {
    const bench = await openTelegram('', 'reset');
    const result = await bench.run(['channels', 'send', 'telegram', 'x']);
    expect(result).toMatchObject({ exitCode: 1, err: expect.stringContaining('ambiguous: ') as unknown });
  });
});

test.each([
  [['slack', 'C0123456'], 'channel slack has no settings: add channels.slack'],
  [['nowhere'], 'there is no channel "nowhere"'],
  [['telegram', 'not a chat'], 'a Telegram recipient is'],
])('channels use refuses %j, and last stays', async (args, message) => {
  const bench = await openTelegram();
  const result = await bench.run(['channels', 'use', ...args]);
  expect(result).toMatchObject({ exitCode: 2, err: expect.stringContaining(message) as unknown });
});

describe('plugins of a folder that somebody opens', () => {
  /** Each time in another folder, as a process loads a module once: what runs writes a file beside itself. */
  const NOTES = `import { appendFileSync } from 'node:fs';
export const note = () => appendFileSync(new URL('ran', import.meta.url), 'x');
`;
  const files = {
    'sluice.yaml':
      'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}"}\nplugins: [./pager.mjs, paging]\nchannels: {pager: {}, paging: {}}\n',
    'mappings/a.yaml': `- {id: a, match: {path: a}, messageTemplate: "{{text}}", channel: pager, to: me}
- {id: b, match: {path: b}, messageTemplate: "{{text}}", channel: paging, to: me}
`,
    'test/golden/a.request.yaml': 'path: a\nbody: {text: hello}\n',
    'note.mjs': NOTES,
    'pager.mjs': `import { note } from './note.mjs';\nnote();\n${plugin('pager', '')}`,
    'node_modules/paging/package.json': '{"name": "paging", "exports": {"import": "./paging.mjs"}}',
    'node_modules/paging/paging.mjs': `import { note } from '../../note.mjs';\nnote();\n${plugin('paging', '')}`,
  };
  const COMMANDS = [
    ['check'],
    ['check', '--format', 'json'],
    ['test'],
    ['test', '--mutate'],
    ['routes'],
    ['explain', 'test/golden/a.request.yaml'],
    ['replay', 'test/golden/a.request.yaml'],
    ['doctor'],
    ['diff', '.'],
    ['types', 'a'],
    ['send', 'test/golden/a.request.yaml', '--dry-run'],
  ];
  const open = (): { bench: Bench; env: NodeJS.ProcessEnv; hasRun: () => boolean } => {
    const bench = openBench(files);
    const state = openBench();
    const env = { SLUICE_HOOK_TOKEN: 'a-hook-token-0123456789', XDG_STATE_HOME: state.folder };
    return { bench, env, hasRun: () => existsSync(join(bench.folder, 'ran')) };
  };

  test('no command, editor or agent runs them, and what a command leaves out is said', async () => {
    const { bench, env, hasRun } = open();
    for (const args of COMMANDS) {
      const { out, err } = await bench.run(args, { env });
      expect([args, hasRun()]).toEqual([args, false]);
      // Nothing is claimed of a channel that a plugin may bring.
      expect(out + err).not.toMatch(/UNKNOWN_CHANNEL|there is no channel/);
      if (args[0] !== 'types' && args[0] !== 'send')
        expect(`${args.join(' ')}: ${err}`).toMatch(/not loaded: pager\.mjs, paging|diff loads no plugins/);
    }
    const file = join(bench.folder, 'sluice.yaml');
    const project = openProject(file, env);
    for await (const { findings } of project.load({ texts: new Map(), parsed: new Map() }, true))
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    await project.close();
    const workbench = new Workbench(file, { env });
    expect((await workbench.load()).generation).toBeDefined();
    await workbench.stop();
    expect(hasRun()).toBe(false);
  });

  test('a yes holds for this folder and these files, and a variable speaks for a machine of CI', async () => {
    const ways: readonly [string, (bench: Bench) => void][] = [
      ['a file of a plugin', ({ put }) => put('note.mjs', `${NOTES}//`)],
      [
        'a file of its package',
        ({ put }) => put('node_modules/paging/package.json', '{"name": "paging", "exports": "./paging.mjs"}'),
      ],
      [
        'another plugin',
        ({ put }) => put('sluice.yaml', files['sluice.yaml'].replace('paging]', './more.mjs]')),
      ],
      [
        'a link in its place',
        ({ folder, put }) => {
          put('elsewhere.mjs', files['pager.mjs']);
          rmSync(join(folder, 'pager.mjs'));
          symlinkSync('elsewhere.mjs', join(folder, 'pager.mjs'));
        },
      ],
    ];
    for (const [what, change] of ways) {
      const { bench, env, hasRun } = open();
      bench.put('more.mjs', files['pager.mjs']);
      expect(await bench.run(['check', '--trust'], { env: { ...env, SLUICE_TRUST: 'no' } })).toMatchObject({
        exitCode: 2,
      });
      expect(hasRun()).toBe(false);
      const { err, exitCode } = await bench.run(['check', '--trust'], { env });
      expect([exitCode, err]).toEqual([
        0,
        expect.stringMatching(/^this machine loads .*pager\.mjs, paging\n$/),
      ]);
      expect([what, hasRun()]).toEqual([what, true]);
      expect((await bench.run(['routes'], { env })).err).toBe('');
      expect((await bench.run(['routes'], { env: { ...env, SLUICE_TRUST: 'no' } })).err).toBe('');
      // Another folder with the same files, and another user, said nothing.
      const other = open();
      expect((await other.bench.run(['routes'], { env })).err).toContain('not loaded');
      expect((await bench.run(['routes'], { env: other.env })).err).toContain('not loaded');
      change(bench);
      expect([what, (await bench.run(['routes'], { env })).err]).toEqual([
        what,
        expect.stringContaining('not loaded'),
      ]);
    }
    const { bench, env, hasRun } = open();
    expect(await bench.run(['routes'], { env: { ...env, SLUICE_TRUST: 'yes' } })).toMatchObject({ err: '' });
    expect(hasRun()).toBe(true);
    expect(readFileSync(join(bench.folder, 'ran'), 'utf8')).toBe('xx');
  });
});
