/**
 * `sluice dev --tunnel --register`: the webhook follows the tunnel and goes with the command. GitHub is a server on
 * loopback, after "Repository webhooks" and "Repository webhook deliveries" of its REST documentation (2022-11-28); the
 * tunnel is a script that prints what cloudflared prints, dies when it is told to, and has another address each time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { githubHeaders } from '../../../src/frontends/cli/running/demo-github.ts';
import { builtMain } from '../../support/built-program.ts';
import { type Bench, openBench, START_ENV, TOKEN, waitFor } from '../../support/cli-service.ts';
import { runOnTerminal, type TerminalSteps } from '../../support/on-terminal.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const SECRET = 'secret-of-the-webhook-0123456789';
const ACCESS = 'github_pat_of_the_test_0123456789';
const REPOSITORY = '/repos/octocat/hello-world';

const CLOUDFLARED = `[ "$1" = tunnel ] || exit 9
trap 'kill $! 2>&-; rm -f "$STATE/tunnel"; exit' TERM USR1
n=$(( $(cat "$STATE/count" 2>/dev/null || echo 0) + 1 )); echo $n > "$STATE/count"
echo "$4 $$ https://tunnel-number-$n.trycloudflare.com" > "$STATE/tunnel"
echo "2026-11-22T04:00:02Z INF |  https://tunnel-number-$n.trycloudflare.com                    |" >&2
sleep 120 <&- >&- 2>&- &
wait`;

interface Hook {
  readonly id: number;
  config: { readonly url: string; readonly secret?: string };
}

interface Delivery {
  readonly id: number;
  readonly hook: number;
  readonly guid: string;
  readonly body: string;
  readonly delivered_at: string;
  readonly status_code: number;
}

interface Github {
  readonly url: string;
  readonly hooks: Hook[];
  readonly log: Delivery[];
  readonly asked: readonly ReceivedRequest[];
  /** Answers in place of what was asked. */
  fault: ((asked: ReceivedRequest) => PlatformReply | undefined) | undefined;
  /** What was asked for again, by its id. */
  readonly again: number[];
  /** Something happens; each webhook of the repository is told of it. */
  happen(n: string): Promise<void>;
}

/** What stands at the other end of the tunnel; undefined where there is none with this address. */
function through(bench: Bench, url: string): string | undefined {
  const file = join(bench.folder, 'state/tunnel');
  const [service = '', , address] = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : [];
  const { origin, pathname } = new URL(url);
  return origin === address ? service + pathname : undefined;
}

async function startGithub(bench: Bench): Promise<Github> {
  const hooks: Hook[] = [];
  const log: Delivery[] = [];
  const again: number[] = [];
  let next = 100;
  const deliver = async ({ id: hook, config }: Hook, guid: string, body: string): Promise<void> => {
    const target = through(bench, config.url);
    const headers = githubHeaders(guid, 'issues', body, config.secret ?? '');
    const answer = target && (await fetch(target, { method: 'POST', headers, body }).catch(() => undefined));
    const at = { delivered_at: new Date().toISOString(), status_code: answer ? answer.status : 502 };
    log.unshift({ id: (next += 1), hook, guid, body, ...at });
  };
  const made: Github = {
    hooks,
    log,
    again,
    fault: undefined,
    get url() {
      return platform.url;
    },
    get asked() {
      return platform.requests;
    },
    happen: async (n) => {
      for (const hook of hooks) await deliver(hook, randomUUID(), JSON.stringify({ n }));
    },
  };
  const change = ({ method, body }: ReceivedRequest, hook: Hook, rest: string): PlatformReply => {
    if (method === 'DELETE') {
      hooks.splice(hooks.indexOf(hook), 1);
      return { status: 204 };
    }
    if (method === 'PATCH' && rest === '/config') {
      hook.config = { ...hook.config, ...(body as unknown as Hook['config']) };
      return { status: 200, body: hook.config };
    }
    const own = log.filter((each) => each.hook === hook.id);
    const [, id] = /^\/deliveries\/(\d+)\/attempts$/.exec(rest) ?? [];
    if (id === undefined) return { status: 200, body: own };
    const found = own.find((each) => String(each.id) === id);
    if (found === undefined) return { status: 404 };
    again.push(found.id);
    void deliver(hook, found.guid, found.body);
    return { status: 202 };
  };
  const platform = await startPlatform((asked) => {
    const faulty = made.fault?.(asked);
    if (faulty !== undefined) return faulty;
    if (asked.headers['authorization'] !== `Bearer ${ACCESS}`)
      return { status: 401, body: { message: 'Bad credentials' } };
    const { pathname } = new URL(asked.path, 'http://x');
    if (pathname === `${REPOSITORY}/hooks` && asked.method === 'GET')
      return { status: 200, body: hooks.map((hook) => ({ ...hook, config: { url: hook.config.url } })) };
    if (pathname === `${REPOSITORY}/hooks`) {
      const { config } = asked.body as unknown as Hook;
      if (hooks.some((hook) => hook.config.url === config.url)) return { status: 422 };
      const hook = { id: (next += 1), config };
      hooks.push(hook);
      return { status: 201, body: hook };
    }
    const [, id, rest = ''] = /\/hooks\/(\d+)(\/.*)?$/.exec(pathname) ?? [];
    const hook = hooks.find((each) => String(each.id) === id);
    return hook === undefined ? { status: 404 } : change(asked, hook, rest);
  });
  onTestFinished(() => platform.stop());
  return made;
}

function openProject(): Bench {
  const bench = openBench({
    'sluice.yaml': `hooks: {enabled: true, token: '${TOKEN}'}\nserver: {port: 0}\ngateway: {runner: echo}\n`,
    'mappings/github.yaml': `- id: issues
  match: {path: github}
  verify: {scheme: github, secrets: [{file: secret}]}
  dedupe: {key: '{{headers.x-github-delivery}}', ttlSeconds: 259200}
  messageTemplate: 'about {{n}}'
  deliver: false
`,
    secret: `${SECRET}\n`,
    token: `${ACCESS}\n`,
    'bin/cloudflared': `#!/bin/sh\n${CLOUDFLARED}\n`,
  });
  mkdirSync(join(bench.folder, 'state'));
  chmodSync(join(bench.folder, 'bin/cloudflared'), 0o755);
  return bench;
}

interface Dev {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly code: Promise<number | null>;
}

function startDev(bench: Bench, github: Github, ...more: readonly string[]): Dev {
  const flags = ['--register', 'octocat/hello-world', '--api', github.url, '--token-file', 'token', '--yes'];
  const child = spawn(process.execPath, [builtMain(), 'dev', '--tunnel', ...flags, ...more], {
    cwd: bench.folder,
    env: {
      ...START_ENV,
      PATH: `${join(bench.folder, 'bin')}:/usr/bin:/bin`,
      HOME: bench.folder,
      STATE: join(bench.folder, 'state'),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, said: () => text, code };
}

/** Waits until the program has said it. */
const saying = ({ said }: Dev, what: string | RegExp, from = 0): Promise<string> =>
  waitFor(() => {
    const text = said().slice(from);
    return typeof what === 'string' ? (text.includes(what) ? what : undefined) : what.exec(text)?.[0];
  });

async function end(dev: Dev, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  dev.child.kill(signal);
  return dev.code;
}

const started = async (bench: Bench): Promise<readonly string[]> => {
  const { out } = await bench.run(['runs', '--json', '--limit', '100', '--kind', 'hook']);
  const { runs } = JSON.parse(out) as { readonly runs: readonly { readonly message: string }[] };
  return runs.map(({ message }) => /about (\S+)/.exec(message)?.[1] ?? message).toReversed();
};

const addressOf = (n: number): string => `https://tunnel-number-${String(n)}.trycloudflare.com/hooks/github`;

const otherHook = (): Hook => ({ id: 1, config: { url: 'https://hooks.example.com/hooks/github' } });

const isAlive = (pid: number): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0;

const tunnelPid = ({ folder }: Bench): number =>
  Number(readFileSync(join(folder, 'state/tunnel'), 'utf8').split(' ')[1]);

test('the webhook follows the tunnel, what was dropped comes, and nothing is left at the end', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  github.hooks.push(otherHook());
  await github.happen('before');
  const dev = startDev(bench, github);
  await saying(dev, `has the webhook for ${addressOf(1)}`);
  expect(dev.said()).toContain(`POST ${github.url}${REPOSITORY}/hooks\n`);
  expect(dev.said()).toContain(`DELETE ${github.url}${REPOSITORY}/hooks/ID\n`);
  expect(github.hooks).toMatchObject([
    { id: 1 },
    { config: { url: addressOf(1), secret: SECRET, content_type: 'json' } },
  ]);
  const own = github.hooks[1]?.id;
  await github.happen('first');
  const seen = dev.said().length;
  process.kill(tunnelPid(bench), 'SIGUSR1');
  await saying(dev, 'nothing comes through the tunnel any more', seen);
  await github.happen('dropped');
  await saying(dev, `has the webhook for ${addressOf(2)}`, seen);
  await saying(dev, 'asked for 1 that the tunnel had dropped: 1 came', seen);
  expect(github.hooks[1]).toMatchObject({ id: own, config: { url: addressOf(2), secret: SECRET } });
  expect(await started(bench)).toEqual(['first', 'dropped']);
  // What the other webhook could not deliver is nobody's business here.
  const dropped = github.log.find((each) => each.hook === own && each.status_code === 502);
  expect(github.again).toEqual([dropped?.id]);
  const pid = tunnelPid(bench);
  expect(await end(dev)).toBe(0);
  expect(github.hooks).toEqual([otherHook()]);
  expect(isAlive(pid)).toBe(false);
  expect(dev.said()).not.toContain(ACCESS);
  expect(dev.said()).not.toContain(SECRET);
  expect(dev.said()).not.toContain('may still have');
});

test('after a second signal or a kill the next one goes on with the webhook, and asks only for what came since', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  const first = startDev(bench, github);
  await saying(first, 'has the webhook for');
  github.fault = ({ method }) => (method === 'DELETE' ? 'hang' : undefined);
  first.child.kill('SIGINT');
  await waitFor(() => github.asked.find(({ method }) => method === 'DELETE'));
  expect(await end(first, 'SIGINT')).toBe(1);
  expect(first.said()).toContain(`may still have the webhook for ${addressOf(1)}`);
  github.fault = undefined;

  const second = startDev(bench, github);
  await saying(second, `has the webhook for ${addressOf(2)}`);
  expect(github.hooks).toMatchObject([{ config: { url: addressOf(2), secret: SECRET } }]);
  await end(second, 'SIGKILL');
  spawnSync('kill', ['-9', String(tunnelPid(bench))]);
  writeFileSync(join(bench.folder, 'state/tunnel'), '');
  await github.happen('between');
  // Times of the sender's clock are in whole seconds.
  await new Promise((done) => setTimeout(done, 2_500));
  const third = startDev(bench, github);
  await saying(third, `has the webhook for ${addressOf(3)}`);
  expect(github.hooks).toMatchObject([{ config: { url: addressOf(3), secret: SECRET } }]);
  await github.happen('after');
  expect(await end(third, 'SIGINT')).toBe(0);
  expect(github.hooks).toEqual([]);
  expect(github.again).toEqual([]);
  expect(await started(bench)).toEqual(['after']);
});

const REFUSALS = [
  ['GET', 404, 'there is no such place'],
  ['POST', 422, 'does not take this address, or has as many webhooks as it allows'],
] as const;

test.each(REFUSALS)(
  '%s answered %i ends it, and leaves neither webhook nor tunnel',
  async (method, status, why) => {
    const bench = openProject();
    const github = await startGithub(bench);
    github.fault = (asked) => (asked.method === method ? { status, body: {} } : undefined);
    const dev = startDev(bench, github);
    expect(await dev.code).toBe(3);
    expect(dev.said()).toContain(`GitHub answered ${String(status)}: `);
    expect(dev.said()).toContain(why);
    expect(dev.said()).toContain('"Webhooks: read and write"');
    expect(dev.said()).not.toContain('may still have');
    expect(github.hooks).toEqual([]);
    expect(existsSync(join(bench.folder, 'state/tunnel'))).toBe(false);
  },
);

test('a webhook that was made without an answer is found and taken away', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  github.fault = ({ method, body }) => {
    if (method !== 'POST') return undefined;
    github.hooks.push({ id: 77, config: (body as unknown as Hook).config });
    return { status: 502, body: {} };
  };
  const dev = startDev(bench, github);
  expect(await dev.code).toBe(3);
  expect(dev.said()).toContain('GitHub answered 502');
  expect(github.hooks).toEqual([]);
});

test('ended while GitHub hangs, it waits a moment, and the webhook that was made meanwhile goes', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  github.fault = ({ method, body }) => {
    if (method !== 'POST') return undefined;
    github.hooks.push({ id: 77, config: (body as unknown as Hook).config });
    return 'hang';
  };
  const dev = startDev(bench, github);
  await waitFor(() => (github.hooks.length > 0 ? true : undefined));
  expect(await end(dev, 'SIGINT')).toBe(0);
  expect(github.hooks).toEqual([]);
  expect(dev.said()).not.toContain('may still have');
});

test('one that has the address already is not touched', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  const there = { id: 5, config: { url: addressOf(1), secret: SECRET } };
  github.hooks.push(there);
  const dev = startDev(bench, github);
  await saying(dev, `has a webhook for ${addressOf(1)} already: it stays as it is`);
  await github.happen('one');
  expect(await end(dev)).toBe(0);
  expect(github.hooks).toEqual([there]);
  expect(github.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await started(bench)).toEqual(['one']);
});

test('what GitHub cannot do while the tunnel moves is tried again, and at the end the command that does it is named', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  const dev = startDev(bench, github);
  await saying(dev, 'has the webhook for');
  github.fault = ({ method }) => (method === 'PATCH' ? { status: 500, body: {} } : undefined);
  process.kill(tunnelPid(bench), 'SIGUSR1');
  await saying(dev, 'GitHub answered 500: look at its documentation');
  await github.happen('dropped');
  github.fault = undefined;
  await saying(dev, `has the webhook for ${addressOf(2)}`);
  await saying(dev, '1 came');
  expect(await started(bench)).toEqual(['dropped']);
  github.fault = ({ method }) => (method === 'DELETE' ? { status: 503, body: {} } : undefined);
  expect(await end(dev)).toBe(0);
  expect(github.hooks).toHaveLength(1);
  const [, command = ''] = /may still have the webhook for .* or run (.*)/.exec(dev.said()) ?? [];
  expect(command).toContain(' add github --remove octocat/hello-world --url https://tunnel-number-2');
  github.fault = undefined;
  const words = command.slice(command.indexOf('add ')).split(' ');
  expect(await bench.run([...words, '--token-file', 'token', '--yes'])).toMatchObject({ exitCode: 0 });
  expect(github.hooks).toEqual([]);
}, 120_000);

test('nobody is called before somebody has agreed, also where the question is not answered', async () => {
  const bench = openProject();
  const github = await startGithub(bench);
  const flags = `--register octocat/hello-world --api ${github.url} --token-file token --port 0`;
  const steps = (keys: string, more: TerminalSteps): TerminalSteps => [
    ['# ', `$SLUICE dev ${flags}; echo code-$((40 + $?))\n`],
    ['Send these requests of GitHub', keys],
    ...more,
  ];
  const env = { PATH: `${join(bench.folder, 'bin')}:/usr/bin:/bin`, STATE: join(bench.folder, 'state') };
  for (const keys of ['no\n', '\u0003']) {
    const { seen, missing, modes } = await runOnTerminal(bench.folder, steps(keys, [['code-42', '']]), env);
    expect(missing, seen).toBeUndefined();
    expect(modes.at(-1)).toBe(true);
    expect(seen).toContain('https://ADDRESS-OF-THE-TUNNEL/hooks/github');
    expect(seen).not.toContain('opening a tunnel');
  }
  expect(github.asked).toEqual([]);
  const agreed = steps('y\n', [
    ['q ends', 't\n'],
    ['the tunnel is closed', 't\n'],
    [`has the webhook for ${addressOf(2)}`, 'q\n'],
    ['code-40', ''],
  ]);
  const { seen, missing } = await runOnTerminal(bench.folder, agreed, env);
  expect(missing, seen).toBeUndefined();
  expect(github.hooks).toEqual([]);
}, 300_000);

test('what is wrong is said before a tunnel is opened', async () => {
  const bench = openProject();
  const spoken = async (target: string): Promise<string> => {
    const dev = await bench.run(['dev', '--register', target, '--token-file', 'token', '--yes'], {
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(dev.exitCode).toBe(2);
    expect(dev.err).not.toContain('opening a tunnel');
    return dev.err;
  };
  expect(await spoken('a/b/c')).toContain('no path here takes that');
  expect(await spoken('gitlab=a/b')).toContain('no path gitlab takes that');
  bench.put(
    'mappings/github.yaml',
    readFileSync(join(bench.folder, 'mappings/github.yaml'), 'utf8').replace(/^ {2}dedupe.*\n/m, ''),
  );
  const without = await spoken('a/b');
  expect(without).toContain('recover needs dedupe by the id of the event in the mapping issues');
  expect(without).toContain("dedupe: {key: '{{headers.x-github-delivery}}', ttlSeconds: 259200}");
});
