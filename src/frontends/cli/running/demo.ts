import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHandlerListener } from '../../../service/server/server.ts';
import type { Cli } from '../command-line.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { LocalGithub } from './demo-github.ts';

/** The demo takes half a minute; beyond this something is wrong, also on a busy machine. */
const MAX_MS = 300_000;

interface Stage {
  readonly terminal: Terminal;
  readonly folder: string;
  readonly github: LocalGithub;
  /** Ends all programs, with why. */
  readonly over: AbortController;
  readonly ended: Promise<string>[];
}

/** Plays four scenes between programs of this package and a GitHub on loopback; nothing of them stays. */
export async function demo({ terminal }: Cli): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'));
  const over = new AbortController();
  const end = (why: string): void => over.abort(new CliError(`${why}; nothing of the demo is left`, 3));
  const timer = setTimeout(end, MAX_MS, `it takes longer than ${MAX_MS / 1000} s`);
  void terminal.untilInterrupted().then(() => end('interrupted'));
  const hangUp = (): void => end('the terminal was closed');
  process.on('SIGHUP', hangUp);
  const github = new LocalGithub();
  const stage: Stage = { terminal, folder, github, over, ended: [] };
  const listener = await startHandlerListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'demo',
    handle: github.handle,
  });
  const begun = performance.now();
  try {
    await setUp(stage, listener.url);
    await play(stage);
  } catch (error) {
    throw over.signal.reason ?? error;
  } finally {
    clearTimeout(timer);
    process.off('SIGHUP', hangUp);
    over.abort();
    await Promise.all([listener.stop(), ...stage.ended]);
    // What a killed service had started may still write there.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
  terminal.out(`\nThis took ${Math.round((performance.now() - begun) / 1000)} s; nothing of it is left.`);
}

const login = 'octocat';
const repository = { id: 1, name: 'hello-world', full_name: 'octocat/hello-world', owner: { login } };
const issue = (number: number) => ({ number, title: 'Greet in French', user: { login } });
const head = { ref: 'french', repo: repository };
const pull_request = { ...issue(8), draft: false, head, base: { ref: 'main' } };
const change = (by: string, more: object): string =>
  JSON.stringify({ action: 'opened', repository, sender: { login: by }, ...more });

/** For issue #7 the agent opens a pull request that carries its mark. */
const agentOf = (api: string): string => `import { text } from 'node:stream/consumers';
const [about] = /^(Issue|Review|.* pushed) .*/m.exec(await text(process.stdin));
const opened = ${change(login, { pull_request })};
opened.pull_request.body = process.env.SLUICE_MARK;
const request = { method: 'POST', body: JSON.stringify(opened) };
if (about.startsWith('Issue #7 ')) await fetch('${api}/repos/octocat/hello-world/pulls', request);
console.log('I have read: ' + about);
`;

async function setUp(stage: Stage, api: string): Promise<void> {
  const hooks = join(stage.folder, 'hooks');
  await mkdir(hooks);
  const put = (name: string, text: string): Promise<void> =>
    writeFile(join(hooks, name), text, { mode: 0o600 });
  const here = { kind: 'command', argv: [process.execPath, join(hooks, 'agent.mjs')], cwd: 'private' };
  const laptop = { kind: 'worker', tokens: [{ file: 'laptop' }] };
  const config = {
    hooks: { enabled: true, token: { file: 'token' } },
    server: { port: 0, publicUrl: 'https://hooks.example.com' },
    gateway: { runner: 'here', heartbeat: { runner: 'echo' }, runners: { here, laptop } },
  };
  await put('sluice.yaml', JSON.stringify(config));
  await put('agent.mjs', agentOf(api));
  for (const name of ['token', 'laptop']) await put(name, randomBytes(24).toString('hex'));
  await start(stage, `add github --register octocat/hello-world --api ${api} --token-file token --yes`).done;
  const file = join('mappings', 'github.yaml');
  const recover = `recover: { token: { file: token }, target: octocat/hello-world, api: '${api}' }`;
  const mappings = (await readFile(join(hooks, file), 'utf8'))
    .replace('- id: github-ping\n', `$&  ${recover}\n`)
    .replace('- id: github-push\n', '$&  runner: laptop\n')
    .replace('{ owner: github }', "{ owner: github, agentKeys: ['hook:github:{{repository.full_name}}:'] }");
  await put(file, mappings);
}

async function play(stage: Stage): Promise<void> {
  const { github, terminal } = stage;
  const service = await serve(stage);
  terminal.out(`1. A stranger's comment starts nothing
   octocat opens issue #7; mallory, who may not write to the repository, comments on it`);
  await github.deliver('issues', change(login, { issue: issue(7) }));
  const comment = { user: { login: 'mallory' }, body: 'Merge it now!' };
  const said = change('mallory', { action: 'created', issue: issue(7), comment });
  await show(stage, `explain ${await github.deliver('issue_comment', said)}`, 'startedBy');

  terminal.out(`\n2. A review comes back to the session that opened the pull request
   the agent of issue #7 opens pull request #8, with its mark in the text; octocat reviews it`);
  const review = { user: { login }, state: 'changes_requested', body: 'Please add a test.' };
  const reviewed = change(login, { action: 'submitted', review, pull_request });
  await github.deliver('pull_request_review', reviewed);
  await show(stage, 'sessions list hook:github:octocat/hello-world:7', 'I have read', 2);

  terminal.out('\n3. The service is killed, and three deliveries fail');
  service.child.kill('SIGKILL');
  await service.done;
  for (const number of [9, 10, 11]) await github.deliver('issues', change(login, { issue: issue(number) }));
  // The service asks by itself as it starts. What it finds then is not what the command is for.
  const lagged = github.lag();
  await serve(stage);
  await lagged;
  terminal.out(`$ sluice recover\n${await start(stage, 'recover').done}`);

  terminal.out(`\n4. A second terminal takes the run as a worker
   octocat pushes; pushes have the runner "laptop", for which a worker asks`);
  const push = { ref: 'refs/heads/main', deleted: false, pusher: { name: login }, commits: [] };
  await github.deliver('push', change(login, push));
  const work = `worker ${new URL(github.target).origin} --token-file laptop -- node agent.mjs`;
  const worker = start(stage, work);
  await worker.says(/ended: ok/);
  worker.child.kill('SIGINT');
  terminal.out(`$ sluice ${work}\n${await worker.done}`);
}

/** Starts the service, and has GitHub deliver to it. */
async function serve(stage: Stage): Promise<Program> {
  const service = start(stage, 'serve');
  stage.github.target = `${await service.says(/(?<="url":")http[^"]+/)}/hooks/github`;
  return service;
}

/** Prints the lines of a command that have a word, as soon as there are so many. */
async function show(stage: Stage, command: string, word: string, count = 1): Promise<void> {
  const lines = await linesOf(stage, command, word, count);
  stage.terminal.out(`$ sluice ${command} | grep '${word}'\n${lines.join('\n')}`);
}

async function linesOf(stage: Stage, command: string, word: string, count = 1): Promise<readonly string[]> {
  const lines = (await start(stage, command).done).split('\n').filter((line) => line.includes(word));
  return lines.length < count ? linesOf(stage, command, word, count) : lines;
}

type Program = ReturnType<typeof start>;

/** Starts a command of this package as a process of its own; where it fails, the demo is over. */
function start({ terminal, folder, over, ended }: Stage, command: string) {
  over.signal.throwIfAborted();
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...command.split(' ')], {
    cwd: join(folder, 'hooks'),
    env: { ...terminal.env, XDG_STATE_HOME: join(folder, 'state') },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: over.signal,
    killSignal: 'SIGKILL',
  });
  // The signal is an error, too.
  child.on('error', () => undefined);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => child.emit('said', (said += String(chunk))));
  const done = new Promise<string>((resolve) => {
    child.on('close', (code) => {
      if (code !== 0 && !child.killed) over.abort(new CliError(`sluice ${command} failed:\n${said}`, 3));
      resolve(said.trimEnd());
    });
  });
  ended.push(done);
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((found, early) => {
      child.on('said', () => pattern.test(said) && found(pattern.exec(said)?.[0] ?? ''));
      void done.then(early);
    });
  return { child, done, says };
}
