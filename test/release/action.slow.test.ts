/**
 * The GitHub Action, run as the runner documents it: inputs with their defaults become variables of the step, which bash
 * runs with the variables of a pull request, beside a server that speaks as GitHub's API does.
 * https://docs.github.com/en/actions/reference/variables-reference
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { builtMain } from '../support/built-program.ts';
import { openBench, START_ENV } from '../support/cli-service.ts';
import { cli } from '../support/cli-terminal.ts';
import { startProgramHere } from '../support/program-here.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAPPING =
  "id: order\nmatch: {path: shop}\naction: wake\ntextTemplate: 'Order {{id}} of <b>{{name}}</b> ```'\n";

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: {
    readonly steps: readonly {
      readonly run?: string;
      readonly uses?: string;
      readonly env?: Readonly<Record<string, string>>;
    }[];
  };
}

const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as Action;

/** A repository with a golden case, cloned as a checkout does it (one commit), with a change on top. */
async function openPullRequest(change: string): Promise<{ readonly folder: string; readonly base: string }> {
  const bench = openBench({
    'origin/sluice.yaml': 'hooks: {enabled: true, token: a-hook-token-0123456789}\n',
    'origin/mappings/shop.yaml': MAPPING,
    'origin/test/golden/shop/order.request.yaml': 'path: shop\nbody: {id: 7, name: Ada}\n',
    'origin/test/golden/shop/other.request.yaml': 'path: shop/other\nbody: {}\n',
  });
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-C', cwd, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const origin = join(bench.folder, 'origin');
  git(origin, 'init', '--initial-branch=main');
  git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await cli(['test'], { cwd: origin });
  git(origin, 'add', '.');
  git(origin, 'commit', '-m', 'base');
  const base = git(origin, 'rev-parse', 'HEAD');
  writeFileSync(join(origin, 'mappings/shop.yaml'), change);
  git(origin, 'commit', '-am', 'change');
  git(bench.folder, 'clone', '--depth=1', `file://${origin}`, 'checkout');
  return { folder: join(bench.folder, 'checkout'), base };
}

interface GitHub {
  readonly url: string;
  readonly comments: { id: number; body: string; user: { type: string }; author_association: string }[];
  /** As for a pull request from a fork. */
  mayWrite: boolean;
}

/** A comment that begins as one of the action does. */
const said = '<!-- sluice: what recorded requests become -->\nNothing changes.';

/** The three calls on comments of issues, with one comment of a stranger. */
async function startGitHub(): Promise<GitHub> {
  const stranger = { user: { type: 'User' }, author_association: 'CONTRIBUTOR' };
  const comments = [{ id: 1, body: said, ...stranger }];
  const github: GitHub & { url: string } = { url: '', comments, mayWrite: true };
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      const send = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      };
      if (headers.authorization !== 'Bearer the-token') return send(401, {});
      if (method === 'GET' && url === '/repos/ada/shop/issues/5/comments?per_page=100&page=1')
        return send(200, github.comments);
      if (!github.mayWrite) return send(403, { message: 'Resource not accessible by integration' });
      const { body } = (await json(request)) as { body: string };
      if (body.length > 65_536) return send(422, {});
      if (method === 'POST' && url === '/repos/ada/shop/issues/5/comments') {
        github.comments.push({ id: 2, body, user: { type: 'Bot' }, author_association: 'NONE' });
        return send(201, {});
      }
      const found = github.comments.find(({ id }) => url === `/repos/ada/shop/issues/comments/${id}`);
      if (method !== 'PATCH' || found === undefined) return send(404, {});
      found.body = body;
      return send(200, {});
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  github.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return github;
}

interface Ran {
  readonly code: number;
  readonly log: string;
  readonly outputs: string;
  readonly summary: string;
}

const PROGRAM = `${process.execPath} ${builtMain()}`;

/** Runs the action's own step. */
async function runAction(
  { folder, base }: { readonly folder: string; readonly base: string },
  github: GitHub,
  inputs: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const values: Record<string, string> = {
    'github.event.pull_request.base.sha': base,
    'github.token': 'the-token',
  };
  const fill = (text: string): string =>
    text.replaceAll(/\$\{\{ ([^ ]+) \}\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`nothing is known of ${name}`);
      return value;
    });
  const given = { command: PROGRAM, ...inputs };
  for (const [name, { default: usual }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = fill(given[name as keyof typeof given] ?? usual ?? '');
  const temp = join(dirname(folder), 'temp');
  mkdirSync(temp, { recursive: true });
  const file = (name: string, text = ''): string => {
    writeFileSync(join(temp, name), text);
    return join(temp, name);
  };
  const step = action.runs.steps.find(({ run }) => run !== undefined);
  const env = {
    ...START_ENV,
    HOME: temp,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: ROOT,
    GITHUB_API_URL: github.url,
    GITHUB_EVENT_PATH: file('event.json', JSON.stringify({ pull_request: { number: 5 } })),
    GITHUB_OUTPUT: file('output'),
    GITHUB_REPOSITORY: 'ada/shop',
    GITHUB_STEP_SUMMARY: file('summary'),
    GITHUB_WORKSPACE: folder,
    RUNNER_TEMP: temp,
    ...Object.fromEntries(Object.entries(step?.env ?? {}).map(([name, text]) => [name, fill(text)])),
  };
  const script = file('step.sh', step?.run);
  const { code, log } = await new Promise<{ code: number; log: string }>((done) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', script],
      { cwd: folder, env, timeout: 60_000 },
      (error, out, err) => done({ code: Number(error?.code ?? 0), log: out + err }),
    );
  });
  const read = (name: string): string => readFileSync(join(temp, name), 'utf8');
  return { code, log, outputs: read('output'), summary: read('summary') };
}

test("comments on a pull request with what changes, and replaces its own comment at the next push, never a stranger's", async () => {
  const pull = await openPullRequest(MAPPING.replace('Order', 'New order'));
  const github = await startGitHub();
  const command = await startProgramHere();
  const first = await runAction(pull, github, { command });
  expect(first.outputs).toContain('changed=1\n');
  const [, comment] = github.comments;
  expect(comment?.body).toContain('1 of 2 recorded requests change.');
  expect(comment?.body).toMatch(
    /<code>shop\/order<\/code>[^]*````diff[^]*Before:[^]*Order 7[^]*After:[^]*New order 7/,
  );
  expect(first.summary).toBe(comment?.body);
  // What the golden cases expected has changed, too.
  expect(first.code).toBe(1);
  expect(first.log).toMatch(/^::error.*order/m);

  writeFileSync(join(pull.folder, 'mappings/shop.yaml'), MAPPING);
  const second = await runAction(pull, github, { command });
  expect(second.code, second.log).toBe(0);
  expect(second.outputs).toContain('changed=0\n');
  expect(github.comments.map(({ id }) => id)).toEqual([1, 2]);
  expect(comment?.body).toContain('0 of 2 recorded requests change.');
  expect(github.comments[0]?.body).toBe(said);
});

test('reports findings as SARIF and fails', async () => {
  const pull = await openPullRequest(MAPPING.replace('textTemplate', 'textTemplat'));
  const command = await startProgramHere();
  const { code, log, outputs } = await runAction(pull, await startGitHub(), { command });
  expect(code).toBe(1);
  expect(log).toMatch(/^::error file=mappings\/shop\.yaml,line=4/m);
  const file = /^sarif=(.+)$/m.exec(outputs)?.[1] ?? '';
  const sarif = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly version: string;
    readonly runs: readonly [{ readonly results: readonly { readonly ruleId: string }[] }];
  };
  expect(sarif.version).toBe('2.1.0');
  expect(sarif.runs[0].results.map(({ ruleId }) => ruleId)).toContain('UNKNOWN_KEY');
});

/** The lines of a log that the runner obeys: github.com/actions/runner, ActionCommandManager.cs. */
function obeyed(log: string): readonly string[] {
  const found: string[] = [];
  let resumes: string | undefined;
  for (const line of log.split(/\r\n|\r|\n/)) {
    const name = /^\s*::([^: ]+)[^:]*::/.exec(line)?.[1] ?? /##\[([^\] ]+)[^\]]*\]/.exec(line)?.[1];
    if (name === undefined) continue;
    if (resumes === undefined) found.push(line.trim());
    if (name === 'stop-commands') resumes ??= line.split('::').at(-1);
    else if (name === resumes) resumes = undefined;
  }
  return found;
}

test('nothing of a recorded request, of a command or of git is obeyed by the runner, and where no comment may be written there is a summary', async () => {
  const pull = await openPullRequest(MAPPING.replace('Order', 'New order'));
  const lines = ['', '::add-mask::Ada', ' ::error file=a::b', '##[add-path]c', '::stop-commands::d', '::d::'];
  const body = JSON.stringify({ id: `7${lines.join('\n')}`, name: lines.join('\r') });
  writeFileSync(join(pull.folder, 'test/golden/shop/order.request.yaml'), `path: shop\nbody: ${body}\n`);
  // An older release of the program guards nothing itself.
  const plain = `env -u GITHUB_ACTIONS ${await startProgramHere()}`;
  for (const command of [PROGRAM, plain]) {
    const github = await startGitHub();
    github.mayWrite = false;
    const { log, summary } = await runAction(pull, github, { command });
    expect(log).toMatch(/^::notice::the comment was not written/m);
    expect(summary).toContain('1 of 2 recorded requests change.');
    expect(log).toContain('Ada');
    const own =
      /^::(?:group::sluice |endgroup::$|notice::the comment was not written|stop-commands::[0-9a-f]{32}$|(?:error|warning) file=(?:mappings|test|sluice\.yaml)\b)/;
    expect(obeyed(log).filter((line) => !own.test(line))).toEqual([]);
    expect(log).toMatch(/^::error file=test\/golden\/shop\/order\.request\.yaml,/m);
  }
});

test('every action that workflows and the action use is named by its commit', () => {
  const files = ['action.yml', '.github/workflows/verify.yml', '.github/workflows/release.yml'];
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const [, used] of text.matchAll(/uses: (\S+)/g))
      if (!used?.startsWith('./')) expect(used, file).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/);
  }
});
