import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { builtMain } from '../../support/built-program.ts';
import { cli } from '../../support/cli-terminal.ts';
import { readPage } from '../../support/docs.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';
import { agent, dropEnding, work } from '../../support/storage-builders.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** A worker of the program, and one in curl as the page has it, beside the service as it is built. */
const HOOK_TOKEN = 'hook-token-0123456789abcdef';
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const TIME = { timeout: 60_000, interval: 100 };

let folder: string;
/** What the workers of a test keep. */
let state: string;
let service: ServiceProcess;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-workers-'));
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks: {enabled: true, token: ${HOOK_TOKEN}, exposeRuns: true}
server: {stopGraceSeconds: 0.2}
gateway:
  runner: laptop
  heartbeat: {runner: echo, everySeconds: 0}
  runners: {laptop: {kind: worker, tokens: [{file: token}], leaseSeconds: 10}}
  workFolders: {web: .}
storage: {url: "sqlite:./store.db"}
`,
  );
  mkdirSync(join(folder, 'mappings'));
  writeFileSync(
    join(folder, 'mappings/web.yaml'),
    "- { id: web, match: { path: web }, messageTemplate: '{{text}}', sessionKey: 'hook:web', cwd: web, deliver: false }\n",
  );
  writeFileSync(
    join(folder, 'mappings/github.yaml'),
    `- { id: issue, match: { path: issue }, messageTemplate: '{{text}}', sessionKey: 'hook:{{key}}', deliver: false, conversation: { owner: repository, agentKeys: ['hook:'], mark: true } }
- { id: opened, match: { path: github }, messageTemplate: opened, sessionKey: 'hook:{{pull_request.number}}', deliver: false, startedBy: { accounts: [agent] }, conversation: { owner: repository } }
- { id: comment, match: { path: comment }, messageTemplate: '{{text}}', sessionKey: 'hook:{{key}}', deliver: false, conversation: { owner: repository, start: false } }
`,
  );
  service = await startServiceProcess(folder);
});

beforeEach(() => {
  state = mkdtempSync(join(folder, 'state-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    // A shell leaves what it has started.
    for (const signal of ['SIGCONT', 'SIGKILL'] as const) process.kill(-child.pid!, signal);
    await exited;
  }
});

afterAll(async () => {
  await service.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const url = (port = service.port): string => `http://127.0.0.1:${port}`;

function start(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess & { said: string } {
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: state, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 300_000);
  child.once('exit', () => clearTimeout(timer));
  children.push(child);
  const worker = Object.assign(child, { said: '' });
  child.stderr?.on('data', (chunk: Buffer) => (worker.said += chunk.toString()));
  return worker;
}

/** `sluice worker` with a shell script that reads its prompt from stdin. */
const startWorker = (script: string, at = url()) =>
  start(process.execPath, [builtMain(), 'worker', at, '--token-file', 'token', '--', 'sh', '-c', script]);

const send = (message: string, more: object = {}): Promise<string> =>
  hook('agent', { message, deliver: false, ...more });

async function hook(path: string, body: object): Promise<string> {
  const response = await fetch(`${url()}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${HOOK_TOKEN}` },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { readonly runId: string }).runId;
}

async function read(runId: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${HOOK_TOKEN}` };
  return (await (await fetch(`${url()}/hooks/runs/${runId}`, { headers })).json()) as Record<string, unknown>;
}

/** Leaves no run to the next test. */
async function dropAll(): Promise<void> {
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'attached' });
  await storage.drop({ kind: 'all' }, Date.now(), dropEnding);
  await storage.close();
}

const ends = (runId: string, expected: object) =>
  vi.waitFor(async () => expect(await read(runId)).toMatchObject(expected), TIME);

test('takes turns one after the other, with prompt and environment, and finishes the one under way', async () => {
  const worker = startWorker('cat; echo " by $SLUICE_RUN_ID"; sleep 1');
  await vi.waitFor(() => expect(worker.said).toContain('connected as laptop. Waiting for runs'), TIME);
  const [first, second] = [await send('one'), await send('two')];
  await ends(first, {
    state: 'completed',
    outcome: 'ok',
    reply: expect.stringMatching(`one[^]* by ${first}`) as string,
  });
  await vi.waitFor(() => expect(worker.said).toContain(`run ${second} begins`), TIME);
  const exited = once(worker, 'exit');
  worker.kill('SIGINT');
  await ends(second, { state: 'completed', outcome: 'ok' });
  const endedAt = performance.now();
  expect(await exited).toEqual([0, null]);
  // Less than it may try to hand the end over.
  expect(performance.now() - endedAt).toBeLessThan(9_000);
});

test('has the mark of its run, and hears in the same conversation of what it opened with it', async () => {
  startWorker(
    'printf "%s\\n%s\\n" "$SLUICE_SESSION_ID" "$SLUICE_MARK"; env | grep -c SLUICE_CONVERSATION; cat',
  );
  const repliesOf = async (runId: string): Promise<readonly string[]> => {
    await ends(runId, { state: 'completed', outcome: 'ok' });
    return String((await read(runId))['reply']).split('\n');
  };
  const first = await hook('issue', { key: '1', text: 'Please mend it.' });
  const [session, mark = '', addresses, ...prompt] = await repliesOf(first);
  expect(mark).toMatch(new RegExp(`^<!-- sluice-mark run=${first} mac=[\\w-]{32} -->$`));
  // The port of a service is not its machine's: it adds no key by the command.
  expect(addresses).toBe('0');
  expect(prompt).toContain(mark);
  const user = { login: 'agent' };
  const opened = await hook('github', { pull_request: { number: 2, body: mark, user }, sender: user });
  await ends(opened, { state: 'completed', outcome: 'ok', attempts: 0 });
  const [again, none] = await repliesOf(await hook('comment', { key: '2', text: 'And the tests?' }));
  // That of a run whose agent may add no key is empty.
  expect([again, none]).toEqual([session, '']);
});

test('says what is wrong with a token, an address or a command', async () => {
  const fails = async (args: readonly string[]) => {
    const env = { XDG_STATE_HOME: state };
    const interrupt = new Promise<void>(() => undefined);
    const { exitCode, err } = await cli(['worker', ...args], { cwd: folder, env, interrupt });
    return [exitCode, err];
  };
  writeFileSync(join(folder, 'wrong'), 'x'.repeat(32));
  expect(await fails([url(), '--token-file', 'wrong', '--', 'cat'])).toEqual([
    1,
    expect.stringContaining('does not know this token'),
  ]);
  expect(await fails(['http://10.0.0.1', '--token-file', 'token', '--', 'cat'])).toEqual([
    2,
    expect.stringContaining('--insecure'),
  ]);
  expect(await fails([url(), '--token-file', 'token'])).toEqual([2, expect.stringContaining('--agent')]);
  writeFileSync(join(folder, 'empty'), '');
  for (const [file, problem] of [
    ['nope', 'cannot be read (ENOENT)'],
    ['empty', 'is empty'],
  ] as const)
    expect(await fails([url(), '--token-file', file, '--', 'cat'])).toEqual([
      2,
      expect.stringContaining(`--token-file ${file} ${problem}: write the token of the runner`),
    ]);
});

test('takes neither a folder nor commands for the terminal from a service that lies', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'sluice-elsewhere-'));
  const [id, attempt] = ['run-0001', 'attempt-1'];
  const turn = { runId: id, sessionId: id, sessionKey: 'k', name: '', kind: 'hook', attempt: 1, prompt: 'p' };
  const given = { ...turn, timeoutSeconds: 60, history: [], cwd: elsewhere };
  const run = { id, attempt, leaseSeconds: 60, maxReplyBytes: 1_000, turn: given };
  const ended = Promise.withResolvers<unknown>();
  const liar = await startPlatform(({ path, body }, index) => {
    if (path.endsWith(':finish')) ended.resolve(body?.['reply']);
    return { status: 200, body: { ok: true, runner: '\u001B[2Jlaptop', run: index === 0 ? run : null } };
  });
  onTestFinished(() => liar.stop());
  const worker = startWorker('pwd', liar.url);
  expect(String(await ended.promise).trim()).toBe(realpathSync(folder));
  expect(worker.said).toMatch(/^connected as [^\p{Cc}]*laptop\./u);
});

test('tells the person at the laptop why a turn did not begin', async () => {
  const worker = start(process.execPath, [
    builtMain(),
    'worker',
    url(),
    '--token-file',
    'token',
    '--',
    'no-such-agent',
  ]);
  const id = await send('hello');
  const why = `run ${id} ended: not begun (spawn_failed: the command no-such-agent did not start (ENOENT)`;
  await vi.waitFor(() => expect(worker.said).toContain(why), TIME);
  await dropAll();
});

test('a worker in curl, from the page alone', async () => {
  const page = readPage('docs/http.md');
  const script = /```bash worker\n([^]*?)```/.exec(page)?.[1] ?? '';
  expect(script.split('\n').length).toBeLessThan(16);
  writeFileSync(join(folder, 'my-agent'), '#!/bin/sh\nwc -w | tr -d " "');
  chmodSync(join(folder, 'my-agent'), 0o755);
  start('bash', ['-c', script], { URL: url(), TOKEN, PATH: `${folder}:${process.env['PATH'] ?? ''}` });
  const runs = [await send('one two three'), await send('four')];
  for (const id of runs)
    await ends(id, { state: 'completed', outcome: 'ok', reply: expect.stringMatching(/^\d+$/) as string });
});

test('hands over the end of a turn through a restart of the service', async () => {
  const proxy = await startTcpProxy(service.port);
  onTestFinished(() => proxy.stop());
  const worker = startWorker('sleep 3; echo done', url(proxy.port));
  const id = await send('slow');
  await vi.waitFor(() => expect(worker.said).toContain('begins'), TIME);
  await service.end('SIGKILL');
  await vi.waitFor(() => expect(worker.said).toContain('ended: ok'), TIME);
  service = await startServiceProcess(folder);
  proxy.target = service.port;
  await ends(id, { state: 'completed', reply: 'done', attempts: 1 });
});

test('keeps an end that the service has not got whole, or whose token or address it does not know any more', async () => {
  const statuses = [408, 401, 404];
  const finishes: string[] = [];
  let attempt: unknown;
  const turn = { runId: 'run-00000001', sessionId: 'session-00000001', prompt: 'hello', timeoutSeconds: 60 };
  const door = await startPlatform(({ path, text, body }) => {
    if (path.endsWith(':renew')) return { status: 200, body: { ok: true } };
    if (path.endsWith(':finish')) {
      finishes.push(text);
      return { status: statuses.shift() ?? 200, body: { ok: true } };
    }
    if (attempt !== undefined) return 'hang';
    attempt = body?.['attempt'];
    const run = {
      id: turn.runId,
      attempt,
      leaseSeconds: 10,
      maxReplyBytes: 1_000,
      turn: { ...turn, history: [] },
    };
    return { status: 200, body: { ok: true, runner: 'laptop', run } };
  });
  onTestFinished(() => door.stop());
  const worker = startWorker('echo done', door.url);
  await vi.waitFor(() => expect(worker.said).toContain('its end is kept in'), TIME);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  const astray = startWorker('echo again', door.url);
  await vi.waitFor(() => expect(astray.said).toContain('its end is kept in'), TIME);
  astray.kill('SIGKILL');
  await once(astray, 'exit');
  startWorker('echo again', door.url);
  await vi.waitFor(() => expect(finishes).toHaveLength(4), TIME);
  expect(new Set(finishes).size).toBe(1);
  expect(JSON.parse(finishes[0] ?? '')).toMatchObject({ attempt, reply: 'done' });
});

test('a worker that was killed says at its next start that nobody knows the end, and its tree is gone', async () => {
  const worker = startWorker('cat > /dev/null; echo $$ > pid; exec sleep 600');
  const id = await send('lost');
  await vi.waitFor(() => expect(existsSync(join(folder, 'pid'))).toBe(true), TIME);
  const pid = Number(
    await vi.waitFor(() => {
      const text = readFileSync(join(folder, 'pid'), 'utf8').trim();
      expect(text).not.toBe('');
      return text;
    }, TIME),
  );
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  startWorker('echo again');
  await ends(id, { state: 'completed', reply: 'again', attempts: 2 });
  // Nobody may have waited for a process that has ended.
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  expect(state).toMatch(/\) Z/);
});

/** Ten minutes of sleep against a lease of 60 s, scaled: more than a lease of 10 s, until the service has judged. */
test('a laptop that slept in the middle of a turn has not lost it', async () => {
  const worker = startWorker('sleep 2; echo paid');
  const id = await send('long', { timeoutSeconds: 20 });
  await vi.waitFor(() => expect(worker.said).toContain('begins'), TIME);
  worker.kill('SIGSTOP');
  await ends(id, { state: 'queued' });
  worker.kill('SIGCONT');
  await ends(id, { state: 'completed', reply: 'paid', attempts: 1 });
}, 200_000);

test('a laptop whose turn was given away while it slept ends it when it wakes, before it takes another', async () => {
  // The other worker is on this machine, too, and ends all that has the id of its run; only this one knows the group.
  const asleep = startWorker(
    "exec env -u SLUICE_RUN_ID sh -c 'cat > /dev/null; echo begun >> asleep; while [ ! -e rested ]; do sleep 0.2; done'",
  );
  const id = await send('given away');
  await vi.waitFor(() => expect(existsSync(join(folder, 'asleep'))).toBe(true), TIME);
  asleep.kill('SIGSTOP');
  await ends(id, { state: 'queued' });
  const awake = startWorker('echo taken');
  await ends(id, { state: 'completed', reply: 'taken', attempts: 2 });
  awake.kill('SIGKILL');
  // One that is still ending could be given the next run.
  await once(awake, 'exit');
  asleep.kill('SIGCONT');
  await vi.waitFor(
    () => expect(asleep.said).toContain(`run ${id} is ended here: it was given to another worker`),
    TIME,
  );
  const next = await send('next');
  await vi.waitFor(() => expect(readFileSync(join(folder, 'asleep'), 'utf8')).toBe('begun\nbegun\n'), TIME);
  expect(await read(next)).toMatchObject({ state: 'active' });
  expect(await read(id)).toMatchObject({ reply: 'taken', attempts: 2 });
  writeFileSync(join(folder, 'rested'), '');
  await ends(next, { state: 'completed', attempts: 1 });
}, 200_000);

test('starts a coding agent in the folder that the mapping names, and continues its conversation', async () => {
  for (const made of ['bin', 'checkout']) mkdirSync(join(folder, made));
  const program = join(folder, 'bin/claude');
  writeFileSync(
    program,
    `#!/bin/sh
cat > /dev/null
echo "$PWD $*" >> "${join(folder, 'calls')}"
echo '{"type":"result","subtype":"success","result":"read it","usage":{"input_tokens":3,"output_tokens":2},"total_cost_usd":0.25,"num_turns":1}'
`,
  );
  chmodSync(program, 0o755);
  start(
    process.execPath,
    [builtMain(), 'worker', url(), '--token-file', 'token', '--agent', 'claude', '--folder', 'web=checkout'],
    { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
  );
  const post = async (text: string): Promise<string> => {
    const headers = { authorization: `Bearer ${HOOK_TOKEN}` };
    const response = await fetch(`${url()}/hooks/web`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ text }),
    });
    return ((await response.json()) as { readonly runId: string }).runId;
  };
  for (const text of ['one', 'two']) await ends(await post(text), { state: 'completed', reply: 'read it' });
  const [first = '', second = ''] = readFileSync(join(folder, 'calls'), 'utf8').split('\n');
  const session = /^(\S+) .*--session-id (\S+) /.exec(first) ?? [];
  expect(session[1]).toBe(realpathSync(join(folder, 'checkout')));
  expect(second).toContain(`--resume ${session[2]} `);
  // What its agent may do is what the worker says: only to read.
  expect(first).toMatch(/--tools Read,Glob,Grep$/);
});

test('goes on behind a proxy that cuts connections that are idle', async () => {
  const proxy = await startTcpProxy(service.port);
  try {
    const worker = startWorker('cat >/dev/null; echo ok', url(proxy.port));
    await vi.waitFor(() => expect(worker.said).toContain('connected'), TIME);
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      proxy.refuse();
      proxy.heal();
      ids.push(await send(`round ${round}`));
    }
    for (const id of ids) await ends(id, { state: 'completed', reply: 'ok', attempts: 1 });
  } finally {
    await proxy.stop();
  }
});

test('ten thousand runs that wait cost the service no memory while one worker takes them', async () => {
  await service.end('SIGTERM');
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`);
  for (let batch = 0; batch < 50; batch += 1)
    await storage.accept(
      work(
        Array.from({ length: 200 }, () => agent({ runner: 'laptop' })),
        { receivedAt: Date.now() },
      ),
    );
  await storage.close();
  service = await startServiceProcess(folder);
  const say = async (path: string, body: object): Promise<TakenRun> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${url()}/workers/runs${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as TakenRun;
  };
  /** Megabytes of the process, as a mean over so many turns. */
  const takeTurns = async (count: number): Promise<number> => {
    let sum = 0;
    for (let turn = 0; turn < count; turn += 1) {
      const { run } = await say(':take', { worker: 'one', waitSeconds: 0 });
      await say(`/${run.id}:finish`, { attempt: run.attempt, reply: 'done' });
      sum += residentMb(service.child.pid ?? 0);
    }
    return sum / count;
  };
  await takeTurns(100);
  const early = await takeTurns(50);
  await takeTurns(150);
  expect((await takeTurns(50)) / early).toBeLessThan(1.25);
}, 300_000);

interface TakenRun {
  readonly run: { readonly id: string; readonly attempt: string };
}

function residentMb(pid: number): number {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}
